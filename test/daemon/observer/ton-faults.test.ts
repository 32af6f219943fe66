// A daemon that reads a real TON chain through bad providers and alongside hostile merchants: who paid in time is confirmed.
import { describe, expect, it, onTestFinished } from 'vitest';
import { watchAddress } from '../../../data/invoices.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { ton } from '../../../src/chains/ton/family.ts';
import { startTonChain, type TonWallet } from '../../chains/ton-chain.ts';
import { startApp, type TestMerchant } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { type Database, databases } from '../../helpers/database.ts';
import { create, fundedMerchant, invoiceRow } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const USDT = 'ton-usdt';
/** Between two readings. */
const PAUSE_SECONDS = 8;
/** Readings after which a sane provider has given everything. */
const READINGS = 6;
const master = gatewaysOf('testnet').find(({ chain }) => chain === USDT)?.token_contract ?? '';

async function openWorld(database: Database, clock_ahead_seconds = 0) {
  const chain = await startTonChain({ clock: 'manual' });
  onTestFinished(() => chain.stop());
  const jetton = await chain.deployJetton({ address: master });
  const payer = await chain.createWallet();
  const shop = await chain.createWallet();
  await chain.mintTo({ jetton, to: payer, amount: 1_000_000_000n });
  chain.advanceTime(600);
  let ahead_seconds = clock_ahead_seconds;
  const clock = testClock(chain.now() + ahead_seconds);
  const settings = { 'blockchains.ton.url': chain.url, 'blockchains.ton.requests_per_second': '1000' };
  const service = await startApp({ single: true, database, clock, settings });
  onTestFinished(() => service.stop());
  const { app } = service;

  async function merchantAt(address_text: string): Promise<TestMerchant> {
    const merchant = await fundedMerchant(service, `shop-${address_text}@example.com`);
    await setWallet(app, merchant.id, 'ton', address_text);
    return merchant;
  }

  return {
    chain,
    clock,
    service,
    jetton,
    shop,
    merchantAt,
    create: (merchant: TestMerchant, gateway: string) => create(service, merchant, gateway, { amount: '10' }),
    pass(seconds: number) {
      chain.advanceTime(seconds);
      clock.set(chain.now() + ahead_seconds);
    },
    /** Sets the machine's clock right. */
    setClock() {
      clock.step(-ahead_seconds);
      ahead_seconds = 0;
    },
    /** Reads and lets the clock judge, as the observer does again and again; failures of providers are its own. */
    async observe(times = 1) {
      for (let time = 0; time < times; time++) {
        this.pass(PAUSE_SECONDS);
        await app.observer.poll('ton').catch(() => undefined);
        await app.observer.tick();
      }
    },
    status: async ({ id }: InvoiceRow) => (await invoiceRow(service, id)).status,
    /** Pays in full; returns the txid. */
    async pay({ chain: gateway, amount_atomic, memo }: InvoiceRow, to: TonWallet = shop): Promise<string> {
      const paid = { from: payer, to, amount: BigInt(amount_atomic), comment: memo ?? undefined };
      const { txid } =
        gateway === USDT ? await chain.sendJetton({ ...paid, jetton }) : await chain.sendTon(paid);
      return txid;
    },
    transfersOf: (txid: string) =>
      app.db.query.selectFrom('transfers').selectAll().where('txid', '=', txid).execute(),
  };
}

describe.each(databases)('TON on %s', (database) => {
  it.each(['ton', USDT])(
    'confirms in %s what was paid in time while a replica stood still',
    async (gateway) => {
      verifies('end-proved');
      const world = await openWorld(database);
      const { chain } = world;
      const merchant = await world.merchantAt(world.shop.address);
      await world.observe(2);
      const invoice = await world.create(merchant, gateway);
      await world.observe(2);
      const { seqno } = chain.tip();
      chain.lag({ transactions: () => chain.tip().seqno - seqno });
      await world.pay(invoice);
      await world.observe();
      // Past its end, and past what is read again each time.
      for (let reading = 0; reading < 20; reading++) {
        world.pass(12);
        await world.observe();
        expect(await world.status(invoice)).toBe('created');
      }
      world.pass(30);
      await world.observe();
      chain.lag({});
      await world.observe(READINGS);
      expect(await world.status(invoice)).toBe('confirmed');
      const other = await world.create(merchant, gateway);
      world.pass(310);
      await world.observe(READINGS);
      expect(await world.status(other)).toBe('expired');
    },
  );

  it('confirms what was paid in time where each answer is another replica’s', async () => {
    verifies('end-proved');
    const world = await openWorld(database);
    const { chain } = world;
    const merchant = await world.merchantAt(world.shop.address);
    await world.observe(2);
    // Every so manieth answer is of a replica that is up to date, the others are of some that are not.
    const lagging = (every: number, seconds: readonly number[]) => {
      let asked = 0;
      return () => (++asked % every === 0 ? 0 : chain.blocksWithin(seconds[asked % seconds.length] ?? 0));
    };
    chain.lag({
      masterchainInfo: lagging(2, [20, 150]),
      transactions: lagging(9, [200, 300, 140]),
      accountStates: lagging(3, [60, 250]),
    });
    const invoices: InvoiceRow[] = [];
    for (let each = 0; each < 4; each++) {
      const invoice = await world.create(merchant, each % 2 === 0 ? 'ton' : USDT);
      world.pass(260);
      invoices.push(invoice);
      await world.pay(invoice);
      await world.observe(12);
      expect(await world.status(invoice)).not.toBe('expired');
    }
    chain.lag({});
    await world.observe(READINGS);
    expect(await Promise.all(invoices.map(world.status))).toEqual(invoices.map(() => 'confirmed'));
  });

  it.each([
    ['in one batch, after its owner', 0, false],
    ['in one batch, before its owner', 0, true],
    ['in two batches, after its owner', 120, false],
    ['in two batches, before its owner', 120, true],
  ])(
    'confirms what came to a jetton wallet that a hostile merchant set as his own: %s',
    async (_name, others, isFirst) => {
      verifies('address-no-wallet', 'address-shared');
      const world = await openWorld(database);
      const { service, chain } = world;
      for (let each = 0; each < others; each++) {
        const raw = `0:${(each * 2 + 1).toString(16).padStart(2, '0').repeat(32)}`;
        const { address, key: address_key } = ton.normalizeAddress(raw, 'testnet');
        const until = { open_until: world.clock.now() + 10_000, watch_until: world.clock.now() + 10_000 };
        const watch = { blockchain: 'ton', address, address_key, since: world.clock.now(), ...until };
        await watchAddress(service.app.db.query, watch);
      }
      const wallet = await chain.jettonWallet(world.jetton, world.shop);
      const [victim, hostile] = [
        await world.merchantAt(world.shop.address),
        await world.merchantAt(wallet.toRawString()),
      ];
      const create_his = () => world.create(hostile, 'ton');
      const his = isFirst ? await create_his() : null;
      await world.observe(2);
      const invoice = await world.create(victim, USDT);
      if (!isFirst) await create_his();
      // All jetton wallets are known only after some readings.
      await world.observe(10);
      const txid = await world.pay(invoice);
      await world.observe(READINGS);
      expect(await world.status(invoice)).toBe('confirmed');
      expect(await world.transfersOf(txid)).toMatchObject([
        { chain: USDT, address_key: world.shop.key, amount_atomic: invoice.amount_atomic },
      ]);
      // His own invoices wait for what cannot be read there.
      world.pass(400);
      await world.observe(2);
      if (his) expect(await world.status(his)).toBe('created');
    },
  );

  it('refuses a jetton wallet and a jetton master as wallets, and takes one that cannot be asked about', async () => {
    verifies('address-no-wallet');
    const world = await openWorld(database);
    const { service, chain } = world;
    const merchant = await world.merchantAt(world.shop.address);
    const set = (address: string) =>
      service.fetch('PUT', '/api/v1/merchant/wallets', {
        token: merchant.token,
        body: { blockchain: 'ton', address },
      });
    const wallet = await chain.jettonWallet(world.jetton, world.shop);
    await world.create(merchant, USDT);
    const paid = await world.create(merchant, USDT);
    await world.pay(paid);
    for (const address of [wallet.toRawString(), world.jetton.at.toRawString()]) {
      const { status, json } = await set(address);
      expect([status, json.code]).toEqual([400, 'invalid_address']);
      expect(json.detail).toMatch(/is a jetton (wallet|master), not a wallet/);
    }
    expect((await set(world.shop.address)).status).toBe(200);
    chain.fail('server_error', { path: '/runGetMethod', times: 100 });
    expect((await set(wallet.toRawString())).status).toBe(200);
    chain.forgive();
    // A provider that failed is left alone for a while.
    world.pass(120);
    await world.observe(2);
    await expect(world.create(merchant, 'ton')).rejects.toThrow('no_wallet');
  });

  it('confirms what came while the jetton wallet was read as that of another, before it was known whose it is', async () => {
    const world = await openWorld(database);
    const { chain } = world;
    const wallet = await chain.jettonWallet(world.jetton, world.shop);
    const [victim, hostile] = [
      await world.merchantAt(world.shop.address),
      await world.merchantAt(wallet.toRawString()),
    ];
    await world.create(hostile, 'ton');
    chain.fail('server_error', { path: '/runGetMethod', times: 100 });
    const invoice = await world.create(victim, USDT);
    const txid = await world.pay(invoice);
    await world.observe(2);
    expect(await world.transfersOf(txid)).toMatchObject([{ chain: 'ton' }]);
    chain.forgive();
    world.pass(60);
    await world.observe(READINGS);
    expect(await world.status(invoice)).toBe('confirmed');
  });

  it('answers every check of a shop while another names a contract that the indexer cannot show', async () => {
    verifies('question-no-outage');
    const world = await openWorld(database);
    const { chain, service, clock } = world;
    const [shop, hostile] = [
      await world.merchantAt(world.shop.address),
      await world.merchantAt((await chain.createWallet()).address),
    ];
    chain.refuse((path, _, body) => {
      if (path !== '/runGetMethod' || !body.includes('abba')) return null;
      return body.includes('get_wallet_data') ? 501 : 500;
    });
    const invoice = await world.create(shop, 'ton');
    const answered: number[] = [];
    for (let time = 0; time < 8; time++) {
      const address = `0:${'AB'.repeat(30)}BA${time.toString(16).padStart(2, '0')}`;
      const body = { blockchain: 'ton', address };
      await service.fetch('PUT', '/api/v1/merchant/wallets', { token: hostile.token, body });
      const { status } = await service.fetch('POST', `/v1/invoices/${invoice.id}/check`, { key: shop.key });
      answered.push(status);
      clock.advance(1);
    }
    expect(answered).toEqual(Array(8).fill(200));
    const [provider] = service.app.observer.status().flatMap(({ providers }) => providers);
    expect(provider).toMatchObject({ failures: 0, state: 'ok', backoff_until: null });
  });

  it('reads the others where one account takes the indexer too long', async () => {
    verifies('question-no-outage');
    const world = await openWorld(database);
    const { chain, service } = world;
    const slow = await chain.createWallet();
    const [shop, crowded] = [
      await world.merchantAt(world.shop.address),
      await world.merchantAt(slow.address),
    ];
    const asks = (query: URLSearchParams) =>
      [...query.getAll('account'), ...query.getAll('address')].includes(slow.at.toRawString().toUpperCase());
    chain.refuse((path, query) => (asks(query) ? (path === '/accountStates' ? 422 : 500) : null));
    const [his, invoice] = [await world.create(crowded, 'ton'), await world.create(shop, 'ton')];
    await world.observe(2);
    await world.pay(invoice);
    await world.observe(2);
    expect(await world.status(invoice)).toBe('confirmed');
    const unpaid = await world.create(shop, 'ton');
    world.pass(310);
    await world.observe(READINGS);
    expect(await world.status(unpaid)).toBe('expired');
    // Of what cannot be read, nothing is proved.
    expect(await world.status(his)).toBe('created');
    const [provider] = service.app.observer.status().flatMap(({ providers }) => providers);
    expect(provider).toMatchObject({ failures: 0, state: 'ok', backoff_until: null });
  });

  it('holds invoices open whose jetton master was not found, and refuses new ones meanwhile', async () => {
    verifies('asset-unreadable');
    const world = await openWorld(database);
    const { chain } = world;
    const merchant = await world.merchantAt(world.shop.address);
    chain.answerMethods(false);
    const invoice = await world.create(merchant, USDT);
    await world.observe(2);
    await world.pay(invoice);
    // The coin of the same blockchain is sold and ends as ever.
    const coin = await world.create(merchant, 'ton');
    world.pass(310);
    await world.observe(READINGS);
    expect(await world.status(invoice)).toBe('created');
    expect(await world.status(coin)).toBe('expired');
    await expect(world.create(merchant, USDT)).rejects.toThrow(/asset_unreadable/);
    chain.answerMethods(true);
    world.pass(60);
    await world.observe(READINGS);
    expect(await world.status(invoice)).toBe('confirmed');
    expect(await world.status(await world.create(merchant, USDT))).toBe('created');
  });

  it.each([
    ['between two readings', true],
    ['before it was read', false],
  ])(
    'stores what came to an address that was watched by a clock that is ahead, which was set right %s',
    async (_name, is_read) => {
      const world = await openWorld(database, 2_000);
      const { chain, service } = world;
      const merchant = await world.merchantAt(world.shop.address);
      const neighbour = await world.merchantAt((await chain.createWallet()).address);
      await world.create(neighbour, 'ton');
      await world.observe(2);
      expect(service.app.clock_check.trouble()).not.toBeNull();
      const invoice = await world.create(merchant, 'ton');
      if (is_read) await world.observe(2);
      world.setClock();
      if (is_read) await world.observe(2);
      // Beyond what is read again each time, and before the time that the invoice was dated.
      world.pass(200);
      const txid = await world.pay(invoice);
      // Where it was not read, it is in the future no more by then.
      world.pass(is_read ? 200 : 2_000);
      await world.observe(READINGS);
      expect(await world.transfersOf(txid)).toMatchObject([{ amount_atomic: invoice.amount_atomic }]);
      const { since } = await service.app.db.query
        .selectFrom('watches')
        .select('since')
        .where('address_key', '=', world.shop.key)
        .executeTakeFirstOrThrow();
      expect(since).toBeLessThanOrEqual(invoice.created_at - 2_000);
    },
  );
});
