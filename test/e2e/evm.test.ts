// A merchant is paid through every gateway of the EVM family, those of the settings too, on real nodes: in full, in part, too
// much, late, and on a branch that is left; each webhook is seen once.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyChains } from '../../daemon/verify/chain.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { hasAnvil } from '../chains/evm-chain.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { startWorld, type World } from './evm-world.ts';
import { openReceiver, type Receiver } from './receiver.ts';

/** Signatures of webhooks are checked by the true time. */
const START = Math.floor(Date.now() / 1000) - 300;
const CREDIT_MICROS = 1_000_000_000_000n;
/** More than any of them waits for. */
const DEEP = 150;
const SETUP_MS = 120_000;

interface Shop {
  gateway: Gateway;
  merchant: TestMerchant;
  secret: string;
  late: InvoiceRow;
}

describe.skipIf(!hasAnvil)('through every gateway of the EVM family', () => {
  let world: World;
  let test: TestApp;
  let receiver: Receiver;
  const shops: Shop[] = [];
  /** Invoices whose webhook must come, and come once. */
  const confirmed: { shop: Shop; id: string }[] = [];

  beforeAll(async () => {
    [world, receiver] = await Promise.all([startWorld(START), openReceiver()]);
    test = await startApp({
      database: hasPostgres ? 'postgres' : 'sqlite',
      settings: { webhook_allow_private: true, ...world.settings },
      clock: testClock(world.now()),
      single: true,
    });
    await read();
    for (const gateway of test.app.gateways.filter(({ chain }) => world.gateways.includes(chain)))
      shops.push(await openShop(gateway));
    await read();
  }, SETUP_MS);
  afterAll(async () => {
    await test?.stop();
    await receiver?.close();
    await world?.stop();
  });

  async function openShop(gateway: Gateway): Promise<Shop> {
    const merchant = await test.merchant(`${gateway.chain}@example.com`);
    await credit(test, merchant.id, CREDIT_MICROS);
    await setWallet(test.app, merchant.id, gateway.blockchain, world.of(gateway.blockchain).freshWallet());
    const account = await test.fetch('PATCH', '/api/v1/merchant/account', {
      token: merchant.token,
      body: { webhook_url: receiver.url },
    });
    expect(account.status, account.text).toBe(200);
    const late = await create(test, merchant, gateway.chain);
    return { gateway, merchant, secret: account.json.webhook_secret, late };
  }

  /** The daemon reads all of them and lets the clock evaluate, as it does on its own. */
  async function read(): Promise<void> {
    test.clock.set(world.now());
    await Promise.all(world.chains.map(({ blockchain }) => test.app.observer.poll(blockchain)));
    await test.app.observer.tick();
  }
  async function pass(blocks: number, seconds = blocks): Promise<void> {
    await world.grow(blocks, seconds);
    await read();
  }

  const invoiceOf = ({ merchant, gateway }: Shop) => create(test, merchant, gateway.chain);
  const pay = ({ gateway }: Shop, invoice: InvoiceRow, more = 0n, from?: string) =>
    world
      .of(gateway.blockchain)
      .pay(gateway, invoice.address_key, BigInt(invoice.amount_atomic) + more, from);
  /** By gateway, what `find` has of it. */
  const byGateway = async <T>(find: (shop: Shop, at: number) => Promise<T>): Promise<Record<string, T>> =>
    Object.fromEntries(
      await Promise.all(shops.map(async (shop, at) => [shop.gateway.chain, await find(shop, at)])),
    );
  const all = <T>(value: T): Record<string, T> =>
    Object.fromEntries(world.gateways.map((chain) => [chain, value]));
  const statuses = (invoices: readonly InvoiceRow[]) =>
    byGateway(async (_, at) => (await invoiceRow(test, (invoices[at] as InvoiceRow).id)).status);
  const listed = (txids: readonly string[]) =>
    byGateway(async (_, at) => {
      const rows = await test.app.db.query
        .selectFrom('payments')
        .select('status')
        .where('txid', '=', txids[at] as string)
        .execute();
      return rows.map(({ status }) => status).join();
    });

  it('an exact payment confirms; less and more than was asked for are listed and pay nothing', async () => {
    verifies('custom-gateways');
    expect(shops.map(({ gateway }) => gateway.chain).toSorted()).toEqual(world.gateways.toSorted());
    const [paid, under, over] = [
      await Promise.all(shops.map(invoiceOf)),
      await Promise.all(shops.map(invoiceOf)),
      await Promise.all(shops.map(invoiceOf)),
    ];
    const txids: string[] = [];
    const others: string[][] = [[], []];
    for (const [at, shop] of shops.entries()) {
      txids.push(await pay(shop, paid[at] as InvoiceRow));
      others[0]?.push(await pay(shop, under[at] as InvoiceRow, -1n));
      others[1]?.push(await pay(shop, over[at] as InvoiceRow, 1n));
    }
    await pass(1);
    expect(await statuses(paid)).toEqual(all('created'));
    await pass(DEEP);
    expect(await statuses(paid)).toEqual(all('confirmed'));
    expect(await listed(txids)).toEqual(all('confirmed'));
    for (const more of others) expect(await listed(more)).toEqual(all('unmatched'));
    for (const invoices of [under, over]) expect(await statuses(invoices)).toEqual(all('created'));
    const rows = await byGateway(async ({ merchant, gateway }) => {
      const { json } = await test.fetch('GET', '/api/v1/merchant/income', { token: merchant.token });
      return json.data.map((row: { txid: string; chain: string }) => [row.txid, row.chain === gateway.chain]);
    });
    expect(rows).toEqual(
      Object.fromEntries(shops.map(({ gateway }, at) => [gateway.chain, [[txids[at], true]]])),
    );
    for (const [at, shop] of shops.entries()) confirmed.push({ shop, id: (paid[at] as InvoiceRow).id });
  }, 60_000);

  it('one whose block is left is confirmed once, where it is mined again', async () => {
    const paid = await Promise.all(shops.map(invoiceOf));
    const again = new Map<string, [txid: string, offset: number][]>();
    const txids: string[] = [];
    for (const [at, shop] of shops.entries()) {
      const { blockchain } = shop.gateway;
      const txid = await pay(shop, paid[at] as InvoiceRow, 0n, world.of(blockchain).node.freshPayer());
      txids.push(txid);
      again.set(blockchain, [...(again.get(blockchain) ?? []), [`0x${txid.replace(/^0x/, '')}`, 1]]);
    }
    await pass(3);
    expect(await listed(txids)).toEqual(all('confirming'));
    await Promise.all(world.chains.map(({ blockchain, node }) => node.reorg(3, again.get(blockchain))));
    await read();
    expect(await statuses(paid)).toEqual(all('created'));
    await pass(DEEP);
    expect(await statuses(paid)).toEqual(all('confirmed'));
    expect(await listed(txids)).toEqual(all('confirmed'));
    for (const [at, shop] of shops.entries()) confirmed.push({ shop, id: (paid[at] as InvoiceRow).id });
  }, 60_000);

  it('one that comes when its invoice has ended is listed as late', async () => {
    for (let minute = 0; minute < 5; minute++) await pass(10, 61);
    const late = shops.map((shop) => shop.late);
    expect(await statuses(late)).toEqual(all('expired'));
    const txids: string[] = [];
    for (const shop of shops) txids.push(await pay(shop, shop.late));
    await pass(1);
    await pass(DEEP);
    expect(await listed(txids)).toEqual(all('late'));
    expect(await statuses(late)).toEqual(all('expired'));
  }, 60_000);

  it('the books are as the chains have it, read again from their beginning', async () => {
    verifies('verify-chain');
    for (let minute = 0; minute < 2; minute++) await pass(10, 61);
    const { config, clock } = test.app;
    const books = await openSnapshot(config.database_url);
    try {
      const balances = await verifyChains(books, {
        config,
        clock: { ms: clock.ms, monotonic_ms: () => performance.now() },
        since: null,
        sleep: async () => {
          await world.grow(1, 10);
          test.clock.set(world.now());
        },
        patience_ms: 20_000,
      });
      const found = await byGateway(async ({ gateway, late }) =>
        balances.filter(
          ({ chain, address_key }) => chain === gateway.chain && address_key === late.address_key,
        ),
      );
      const right = { ok: true, unread: null, faults: [] };
      for (const [chain, of] of Object.entries(found))
        expect([chain, of]).toEqual([chain, [expect.objectContaining(right)]]);
    } finally {
      await books.close();
    }
  }, 120_000);

  it('each webhook is seen once, signed, and of what was confirmed alone', async () => {
    await until('every webhook', async () => (receiver.hooks.length >= confirmed.length ? true : undefined));
    for (const { shop, id } of confirmed) {
      const hooks = receiver.hooks.filter(({ invoice_id }) => invoice_id === id);
      expect([shop.gateway.chain, hooks.length]).toEqual([shop.gateway.chain, 1]);
      const [{ body, headers }] = hooks as [Receiver['hooks'][number]];
      const event = new Webhook(shop.secret).verify(body, headers) as { type: string };
      expect(event.type).toBe('invoice.confirmed');
    }
    expect(receiver.hooks).toHaveLength(confirmed.length);
  }, 60_000);
});
