// What reading an EVM network costs: requests and calls a minute, which grow with addresses and never with invoices.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { watchAddress } from '../../data/invoices.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { Network } from '../../src/chains/family.ts';
import { builtIn } from '../../src/chains/gateways.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';

interface Cost {
  network: EvmNetwork;
  side: Network;
  poll_seconds: number;
  /** Requests and calls of a minute with one address: the usual, and once a minute what is read a second time. */
  requests: number;
  calls: number;
}

const costs: Cost[] = [
  { network: networks.ethereum, side: 'mainnet', poll_seconds: 12, requests: 17, calls: 38 },
  { network: networks.base, side: 'mainnet', poll_seconds: 6, requests: 32, calls: 88 },
  { network: networks.polygon, side: 'mainnet', poll_seconds: 6, requests: 22, calls: 60 },
  { network: networks.bsc, side: 'mainnet', poll_seconds: 6, requests: 34, calls: 74 },
  { network: networks.arbitrum, side: 'mainnet', poll_seconds: 6, requests: 36, calls: 80 },
];

describe.runIf(hasAnvil)('reading an EVM network', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    chain = await startAnvil({ chain_id: 1, block_seconds: 1, tokens: [{ address: TOKEN }], history: 10 });
  });
  afterAll(() => chain?.stop());

  /** What a minute of readings asks for, with so many addresses, each of which was paid once before. */
  async function minuteOf({ network, side, poll_seconds }: Cost, addresses: number, payments: number) {
    const front = createFront(chain.ask);
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, side, now: () => chain.now() };
    const observer = createEvmObserver(options);
    const watched = Array.from({ length: addresses }, () => observer.watch());
    await observer.read();
    for (const to of watched.slice(0, payments)) await chain.payToken(TOKEN, to, 1n);
    const tick = async () => {
      const blocks = Math.max(1, Math.round(poll_seconds / network.block_seconds));
      if (blocks > 3) await chain.grow(blocks, poll_seconds);
      else await chain.mine(blocks, poll_seconds / blocks);
      await observer.read();
    };
    for (let waited = 0; waited < 130; waited += poll_seconds) await tick();
    expect(observer.transfers.size).toBe(Math.min(addresses, payments));
    front.requests.length = 0;
    for (let waited = 0; waited < 60; waited += poll_seconds) await tick();
    const bytes = Math.max(...front.requests.map((request) => JSON.stringify(request).length));
    return { requests: front.requests.length, calls: front.requests.flat().length, bytes };
  }

  it.each(costs)('costs so many requests a minute on $network.name, whatever was paid', async (cost) => {
    verifies('read-per-batch');
    const [idle, busy] = [await minuteOf(cost, 1, 0), await minuteOf(cost, 1000, 40)];
    const { requests, calls } = idle;
    const { network, side } = cost;
    if (process.env.EVM_COSTS) console.log(cost.network.name, idle, busy);
    // A thousand balances are two calls. Where they alone are asked, so are the numbers of eight addresses in each reading.
    const { found_by } = network.coins[side];
    const more = found_by === 'log' ? 0 : 60 / cost.poll_seconds;
    expect(busy.requests).toBe(requests);
    if (found_by !== 'balances') expect(busy.calls).toBe(calls + more);
    else expect(busy.calls).toBeLessThanOrEqual(calls + more * (1 + 2 * 8));
    expect(requests).toBeLessThanOrEqual(cost.requests);
    expect(calls).toBeLessThanOrEqual(cost.calls);
  });

  // Ten thousand take minutes: EVM_COSTS=1 measures them too.
  it.runIf(process.env.EVM_COSTS).each(costs)(
    'costs so many requests for ten thousand addresses on $network.name',
    async (cost) => {
      const found = await minuteOf(cost, 10_000, 0);
      console.log(cost.network.name, 10_000, found);
      expect(found.requests).toBeLessThan(10 * cost.requests);
    },
    600_000,
  );

  it.runIf(process.env.EVM_COSTS).each(costs)(
    'takes so long from the block of a payment to its last confirmation on $network.name',
    async ({ network, side, poll_seconds }) => {
      const [id] = Object.entries(networks).find(([, each]) => each === network) ?? [];
      const sold = builtIn.values.find(({ blockchain }) => blockchain === id);
      const front = createFront(chain.ask);
      const gateways = [gatewayOf(network, { chain: 'a-token', token_contract: TOKEN })];
      const observer = createEvmObserver({ network, gateways, rpc: front.rpc, side, now: () => chain.now() });
      const to = observer.watch();
      await observer.read();
      await chain.payToken(TOKEN, to, 1n);
      await chain.mine();
      const paid_at = chain.now();
      const isConfirmed = (): boolean => {
        const [seen] = observer.to(to);
        return (
          seen !== undefined && (seen.final || seen.confirmations >= (sold?.min_confirmations ?? Infinity))
        );
      };
      const blocks = Math.max(1, Math.round(poll_seconds / network.block_seconds));
      for (let tick = 0; tick < 100 && !isConfirmed(); tick++) {
        await chain.grow(blocks, poll_seconds);
        await observer.read();
      }
      expect(isConfirmed()).toBe(true);
      console.log(network.name, sold?.min_confirmations, 'blocks', chain.now() - paid_at, 'seconds');
    },
    120_000,
  );

  it.each([costs[2]] as Cost[])('grows with each thousand addresses on $network.name', async (cost) => {
    const [one, two] = [await minuteOf(cost, 1000, 0), await minuteOf(cost, 2001, 0)];
    if (process.env.EVM_COSTS) console.log(cost.network.name, one, two);
    expect(two.calls).toBeGreaterThan(one.calls);
    expect(two.requests).toBeLessThan(3 * one.requests);
    expect(two.bytes).toBeLessThan(cost.network.batch.bytes + 20_000);
  });
});

// The whole daemon, once for one network: it takes a minute, and EVM_COSTS=1 has it measured.
describe.runIf(hasAnvil && process.env.EVM_COSTS)('the daemon, on Base', () => {
  let chain: EvmChain;
  let test: TestApp;
  afterEach(async () => {
    await test?.stop();
    await chain?.stop();
  });

  /** Open invoices of one merchant, at these addresses in turn, each for an amount of its own. */
  async function fillInvoices(owner_id: string, keys: readonly string[], count: number): Promise<void> {
    const now = chain.now();
    const [open_until, watch_until] = [now + 100_000, now + 200_000];
    for (const address_key of keys) {
      const watch = { blockchain: 'base', address_key, address: address_key, since: now };
      await watchAddress(test.app.db.query, { ...watch, open_until, watch_until });
    }
    const at = `json_extract('${JSON.stringify(keys)}', '$[' || (i % ${keys.length}) || ']')`;
    await sql
      .raw(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
        insert into invoices (id, owner_id, kind, chain, blockchain, currency, network, decimals, min_confirmations,
          amount_usd_micros, amount_usd_fee_micros, rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic,
          amount_atomic, address, address_key, qr_payload, exits, status, amount_match, confirmations,
          created_at, expires_at, due_at, watch_until, reserved)
        select printf('%08x-0000-4000-8000-%012x', i, i), '${owner_id}', 'sale', 'base-usdc', 'base', 'USDC', 'testnet', 6, 15,
          20000000, 0, '1000000000', 20000000 + 100 * i, '0', 20000000 + 100 * i, ${at}, ${at}, '0x', '{}', 'created', 'none', 0,
          ${now}, ${open_until}, ${open_until}, ${watch_until}, 1
        from n where ${count} > 0`)
      .execute(test.app.db.query);
  }

  it.each([1, 1000])(
    'asks as often with 100,000 open invoices as with none, at %i addresses',
    async (addresses) => {
      verifies('read-per-batch');
      const found: [invoices: number, requests: number, seconds: number][] = [];
      for (const count of [0, 100, 100_000]) {
        const chain_id = networks.base.chain_ids.testnet;
        chain = await startAnvil({ chain_id, block_seconds: 2, tokens: [{ address: TOKEN }], history: 200 });
        const front = createFront(chain.ask);
        const source = sourceOf(front.rpc);
        test = await startApp({
          settings: { 'gateways.base-usdc.enabled': 'true', 'gateways.base.enabled': 'true' },
          source: (id) => (id === 'base' ? source : undefined),
          single: true,
        });
        test.clock.set(chain.now());
        const merchant = await test.merchant();
        await credit(test, merchant.id, 1_000_000_000n);
        const keys = Array.from({ length: addresses }, () => freshAddress());
        await setWallet(test.app, merchant.id, 'base', keys[0] as string);
        const paid = await create(test, merchant, 'base-usdc');
        await fillInvoices(merchant.id, keys, count);
        const open = test.app.db.query.selectFrom('invoices').where('status', '=', 'created').select('id');
        expect(await open.execute()).toHaveLength(count + 1);
        const pass = async () => {
          await chain.grow(3, 6);
          test.clock.set(chain.now());
          await test.app.observer.poll('base');
          await test.app.observer.tick();
        };
        for (let poll = 0; poll < 22; poll++) await pass();
        front.requests.length = 0;
        const began = performance.now();
        for (let poll = 0; poll < 10; poll++) await pass();
        found.push([count, front.requests.length, (performance.now() - began) / 1000]);
        await chain.payToken(TOKEN, paid.address_key, BigInt(paid.amount_atomic));
        for (let poll = 0; poll < 6; poll++) await pass();
        expect((await invoiceRow(test, paid.id)).status).toBe('confirmed');
        await test.stop();
        await chain.stop();
      }
      console.log('open invoices, requests and seconds of a minute', addresses, found);
      expect(new Set(found.map(([, requests]) => requests)).size).toBe(1);
    },
    600_000,
  );
});
