// A network and tokens that the settings add, in a whole daemon over a real node: known everywhere, checked on the chain, and not
// taken out of the settings while a payment may still come.
import { sql } from 'kysely';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { providers } from '../../daemon/doctor/chains.ts';
import { assertGatewaysMatch } from '../../daemon/process/known-gateways.ts';
import type { Config } from '../../daemon/settings/config.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { freshAddress } from './evm-observer.ts';
import { startFaultyServer } from './faulty-server.ts';

const CHAIN_ID = 10_200;
const USDC = `0x${'a1'.repeat(20)}`;
/** Its contract has others than the settings say. */
const WETH = `0x${'a2'.repeat(20)}`;
const DAY_SECONDS = 24 * 3600;

let chain: EvmChain;
let test: TestApp;
let later: TestApp | undefined;
let merchant: TestMerchant;
afterEach(async () => {
  await later?.stop();
  await test.stop();
  await chain.stop();
});

const gnosis = { id: 'gnosis', name: 'Gnosis', coin: 'XDAI', block_seconds: 5, min_confirmations: 4 };
const usdc = { id: 'gnosis-usdc', blockchain: 'gnosis', currency: 'USDC', token_contract: USDC, decimals: 6 };
const weth = {
  id: 'gnosis-weth',
  blockchain: 'gnosis',
  currency: 'WETH',
  token_contract: WETH,
  decimals: 6,
  priced_as: 'ETH',
};

const settingsOf = (chain_id = CHAIN_ID): Record<string, string> => ({
  custom_blockchains: JSON.stringify([{ ...gnosis, chain_id }]),
  custom_gateways: JSON.stringify([usdc, weth]),
  'blockchains.gnosis.url': chain.url,
  'blockchains.gnosis.requests_per_second': '1000',
  'gateways.base-usdc.enabled': 'true',
  'rates.usd.WETH': '2500',
});

async function open(settings?: Record<string, string>): Promise<void> {
  // What examines a deployment goes by the true time.
  const start_time = Math.floor(Date.now() / 1000) - 600;
  const tokens = [{ address: USDC }, { address: WETH, decimals: 18 }];
  chain = await startAnvil({ chain_id: CHAIN_ID, block_seconds: 5, tokens, history: 20, start_time });
  test = await startApp({ settings: settings ?? settingsOf(), single: true, clock: testClock(chain.now()) });
  merchant = await test.merchant();
  await credit(test, merchant.id, 1_000_000_000n);
}
async function read(of = test): Promise<void> {
  of.clock.set(chain.now());
  await of.app.observer.poll('gnosis');
  await of.app.observer.tick();
}
const setWallet = (body: object) =>
  test.fetch('PUT', '/api/v1/merchant/wallets', { token: merchant.token, body });

it.runIf(hasAnvil)(
  'is known to wallets, lists and pages, sells, and does not while its contract is another',
  async () => {
    verifies('custom-checked', 'custom-gateways');
    await open();
    await read();
    const contract = await setWallet({ blockchain: 'gnosis', address: USDC });
    expect(contract.status, contract.text).toBe(400);
    const wallet = freshAddress();
    const everywhere = await setWallet({ blockchain: 'base', address: wallet, everywhere: true });
    expect(everywhere.status, everywhere.text).toBe(200);
    const { json: known } = await test.fetch('GET', '/api/v1/merchant/wallets', { token: merchant.token });
    const here = known.wallets.find((each: { blockchain: string }) => each.blockchain === 'gnosis');
    expect(here).toMatchObject({ blockchain_name: 'Gnosis', currencies: ['USDC', 'WETH'] });
    const { json: listed } = await test.fetch('GET', '/v1/gateways');
    const gateway = JSON.stringify(listed);
    for (const word of ['gnosis-usdc', 'USDC on Gnosis', 'gnosis-weth']) expect(gateway).toContain(word);
    const invoice = await create(test, merchant, 'gnosis-usdc');
    const page = await test.fetch('GET', `/pay/${invoice.id}`);
    expect(page.text).toContain('Gnosis');
    await chain.payToken(USDC, invoice.address_key, BigInt(invoice.amount_atomic));
    await chain.grow(6);
    await read();
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    // The contract was asked, and has 18: it is asked again before that counts, and sells nothing in either case.
    const [found] = test.app.observer.unreadable('gnosis');
    expect(found).toMatchObject({ chain: 'gnosis-weth' });
    await expect(create(test, merchant, 'gnosis-weth')).rejects.toThrow('503');
    await chain.grow(14, 70);
    await read();
    expect(test.app.observer.unreadable('gnosis')).toMatchObject([
      { reason: expect.stringContaining('has 18 decimals, not 6') },
    ]);
    const doctor = await examine(test.app.config);
    expect(doctor).toMatchObject([
      { of: 'provider gnosis', status: expect.stringMatching('ok|warning') },
      { of: 'gateway gnosis-weth', status: 'failed' },
    ]);
  },
);

/** What `gatewayd doctor` finds of this network. */
async function examine(config: Config) {
  const only = Object.fromEntries(
    config.chains.values.map(({ chain: id }) => [
      id,
      { ...config.gateways[id], enabled: id.startsWith('gnosis') },
    ]),
  );
  const found = await providers({
    config: { ...config, gateways: only },
    origins: new Map(),
    settings: [],
    now: chain.now(),
    ntp: undefined,
  });
  return found.filter(({ of }) => of.includes('gnosis'));
}

it.runIf(hasAnvil)('of another chain id than its provider has, is not read', async () => {
  await open();
  const other = { ...test.app.config, ...(await configOf(settingsOf(10_201))) };
  expect(await examine(other)).toMatchObject([
    { status: 'failed', says: expect.stringContaining('serves chain 10200, not Gnosis (chain 10201)') },
  ]);
});

it.runIf(hasAnvil)('whose provider serves no logs is not read, where no other one does', async () => {
  verifies('command-doctor');
  await open();
  const silent = await startFaultyServer(
    async ({ body }) => {
      const calls = [JSON.parse(body)].flat() as { id: number; method: string; params: unknown[] }[];
      const error = { code: -32_601, message: 'eth_getLogs is disabled' };
      const answers = calls.map(async ({ id, method, params }) =>
        method === 'eth_getLogs' ? { id, error } : { id, result: await chain.ask(method, ...params) },
      );
      const all = await Promise.all(answers);
      return { body: JSON.stringify(body.startsWith('[') ? all : all[0]) };
    },
    () => '',
  );
  onTestFinished(() => silent.stop());
  const findings = async (urls: string[]) => {
    const gnosis = { ...test.app.config.blockchains.gnosis, url: undefined, urls };
    const blockchains = { ...test.app.config.blockchains, gnosis };
    const found = await examine({ ...test.app.config, blockchains } as Config);
    return found.filter(({ says }) => says.includes('serves no logs')).map(({ status }) => status);
  };
  expect(await findings([silent.url])).toEqual(['failed']);
  expect(await findings([silent.url, chain.url])).toEqual(['warning']);
});

/** Of a daemon on the same database with other settings. */
async function configOf(settings: Record<string, string>): Promise<Config> {
  later = await startApp({
    settings,
    database_url: test.app.config.database_url,
    single: true,
    clock: testClock(chain.now()),
  });
  return later.app.config;
}

it('notes what may be sold all at once, so that a kill in between leaves no half of it', async () => {
  await open();
  const { db, config } = test.app;
  await sql`delete from meta where name like 'sold:%'`.execute(db.schema);
  await sql`create trigger killed before insert on meta when new.name = 'sold:solana-usdc' begin select raise(abort, 'killed'); end`.execute(
    db.schema,
  );
  await expect(assertGatewaysMatch(db, config, chain.now())).rejects.toThrow('killed');
  const { rows } = await sql`select name from meta where name like 'sold:%'`.execute(db.schema);
  expect(rows).toEqual([]);
  await sql`drop trigger killed`.execute(db.schema);
  await assertGatewaysMatch(db, config, chain.now());
});

it.runIf(hasAnvil)(
  'that is taken out with an invoice open is missed at the next start; switched off it is still read',
  async () => {
    verifies('custom-removed');
    await open();
    const matches = (config: Config, now = chain.now()) => assertGatewaysMatch(test.app.db, config, now);
    await matches(test.app.config);
    await read();
    const wallet = await setWallet({ blockchain: 'gnosis', address: freshAddress() });
    expect(wallet.status, wallet.text).toBe(200);
    const invoice = await create(test, merchant, 'gnosis-usdc');
    const without = { ...test.app.config, ...(await configOf({})) };
    await expect(matches(without)).rejects.toThrow(
      /invoices through gnosis-usdc .* name it in custom_gateways again/,
    );
    await later?.stop();
    const other = { ...settingsOf(), custom_gateways: JSON.stringify([{ ...usdc, decimals: 18 }, weth]) };
    const changed = await configOf(other);
    await expect(matches(changed)).rejects.toThrow(
      /USDC with 6 decimals.* and the settings name USDC with 18/,
    );
    await later?.stop();
    const renumbered = await configOf(settingsOf(10_201));
    await expect(matches(renumbered)).rejects.toThrow('gnosis is chain 10200 in this database, not 10201');
    await later?.stop();
    const off = await configOf({ ...settingsOf(), 'gateways.gnosis-usdc.enabled': 'false' });
    await matches(off);
    await expect(create(later as TestApp, merchant, 'gnosis-usdc')).rejects.toThrow('unknown_chain');
    await chain.payToken(USDC, invoice.address_key, BigInt(invoice.amount_atomic));
    await chain.grow(6);
    await read(later);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    // Once nothing can come any more it may be left out, and be another asset.
    await matches(without, chain.now() + 3 * DAY_SECONDS);
    await matches(changed, chain.now() + 3 * DAY_SECONDS);
  },
);
