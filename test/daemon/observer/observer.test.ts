// The observer over a real connection: gateways that were switched off, readers that overtake each other, hostile comments.
import { describe, expect, it, onTestFinished } from 'vitest';
import { guarded } from '../../../daemon/observer/providers/guard.ts';
import { openRpc, type RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { getCursor, moveCursor } from '../../../data/cursors.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import type {
  ChainReader,
  NamedTransaction,
  ReadContext,
  ReadRequest,
  Rpc,
} from '../../../src/chains/family.ts';
import { findBlockchain } from '../../../src/chains/gateways.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { type Database, databases, newDatabase } from '../../helpers/database.ts';
import { doubleFamily, namedRpc } from '../../helpers/family.ts';
import { json, serve } from '../../helpers/local-server.ts';
import { create, credit, fundedMerchant, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { unasked_provider } from '../../helpers/reading.ts';
import { INDEXED_FROM, type Indexer, serveTon } from '../../helpers/ton-indexer.ts';
import { verifies } from '../../requirements.ts';

/** Enough for every invoice of these tests. */
const CREDIT_MICROS = 1_000_000_000n;

/** A database that outlives the daemons of one test. */
async function makeDatabase(database: Database): Promise<string> {
  const { url, remove } = await newDatabase(database);
  onTestFinished(remove);
  return url;
}

describe.each(databases)('the observer on %s', (database) => {
  async function daemon(indexer: Indexer, database_url: string, disabled: readonly string[] = []) {
    const off = disabled.map((chain) => [`gateways.${chain}.enabled`, false]);
    const test = await startApp({
      single: true,
      database,
      database_url,
      settings: {
        'blockchains.ton.url': indexer.url,
        'blockchains.ton.requests_per_second': '1000',
        'gateways.ton-usdt.enabled': false,
        ...Object.fromEntries(off),
      },
    });
    test.clock.set(indexer.now);
    return test;
  }

  const check = (test: TestApp, { id }: InvoiceRow, { key }: TestMerchant) =>
    test.fetch('POST', `/v1/invoices/${id}/check`, { key });

  /** A daemon that reads this indexer, and an invoice on TON of a merchant with credit. */
  async function sell(indexer: Indexer) {
    const test = await daemon(indexer, await makeDatabase(database));
    onTestFinished(() => test.stop());
    const merchant = await fundedMerchant(test);
    return { test, merchant, invoice: await create(test, merchant, 'ton') };
  }

  it('takes the payment of an invoice whose blockchain was switched off meanwhile', async () => {
    const indexer = await serveTon();
    const url = await makeDatabase(database);
    const before = await daemon(indexer, url);
    const merchant = await fundedMerchant(before);
    const invoice = await create(before, merchant, 'ton');
    await before.stop();

    const after = await daemon(indexer, url, ['ton']);
    onTestFinished(() => after.stop());
    const refused = await after.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '10' },
    });
    expect(refused.json.code).toBe('unknown_chain');
    indexer.now += 10;
    after.clock.set(indexer.now);
    indexer.pay(invoice);
    expect((await check(after, invoice, merchant)).json).toMatchObject({ status: 'confirmed' });
    expect(after.app.observer.status().map(({ blockchain }) => blockchain)).toContain('ton');
  });

  it('books a held payment of a blockchain that was switched off when credit comes', async () => {
    const indexer = await serveTon();
    const url = await makeDatabase(database);
    const before = await daemon(indexer, url);
    const merchant = await before.merchant();
    const invoice = await create(before, merchant, 'ton');
    indexer.pay(invoice);
    expect((await check(before, invoice, merchant)).status).toBe(402);
    await before.stop();

    const after = await daemon(indexer, url, ['ton']);
    onTestFinished(() => after.stop());
    await credit(after, merchant.id, CREDIT_MICROS, { wake: true });
    expect((await invoiceRow(after, invoice.id)).status).toBe('confirmed');
  });

  it('expires an unpaid invoice of a blockchain that was switched off, and then leaves the chain alone', async () => {
    const indexer = await serveTon();
    const url = await makeDatabase(database);
    const before = await daemon(indexer, url);
    const merchant = await before.merchant();
    const invoice = await create(before, merchant, 'ton');
    await before.stop();

    const after = await daemon(indexer, url, ['ton']);
    onTestFinished(() => after.stop());
    indexer.now = invoice.expires_at + 30;
    after.clock.set(indexer.now);
    // It takes two answers to believe that an account has no transaction at all.
    for (const status of ['created', 'expired']) {
      await after.app.observer.poll('ton');
      await after.app.observer.tick();
      expect((await invoiceRow(after, invoice.id)).status).toBe(status);
    }
    indexer.pay(invoice);
    await after.app.observer.poll('ton');
    const late = await after.app.db.query.selectFrom('payments').selectAll().executeTakeFirstOrThrow();
    expect(late).toMatchObject({ status: 'late', invoice_id: invoice.id });

    after.clock.set(invoice.watch_until + 3600);
    const { asked } = indexer;
    await expect(after.app.observer.poll('ton')).rejects.toMatchObject({ name: 'ProviderError' });
    expect(indexer.asked).toBe(asked);
    expect(after.app.observer.status().map(({ blockchain }) => blockchain)).not.toContain('ton');
  });

  it('finds a payment at the first check, also when another reader moves the cursor meanwhile', async () => {
    const indexer = await serveTon();
    const { test, merchant, invoice } = await sell(indexer);
    await check(test, invoice, merchant);
    indexer.pay(invoice);
    let overtaken = 0;
    indexer.beforeTip = async () => {
      if (overtaken === 2) return;
      const { version } = await test.app.db.query
        .selectFrom('cursors')
        .select('version')
        .where('blockchain', '=', 'ton')
        .executeTakeFirstOrThrow();
      await test.app.db.transaction((tx) => moveCursor(tx, 'ton', version, {}));
      overtaken++;
    };
    expect((await check(test, invoice, merchant)).json).toMatchObject({ status: 'confirmed' });
    expect(overtaken).toBe(2);
  });

  it('asks the next provider in the same check when the first one fails', async () => {
    const indexer = await serveTon();
    const failing = await serve((_, response) => json(response, 'out of order', 500));
    const source = openRpc({
      blockchain: 'ton',
      family: { identify: async () => 'testnet', providers: [] },
      network: 'testnet',
      providers: [failing.url, indexer.url].map((url) => ({ provider: 'toncenter', url })),
      requests_per_second: 1000,
      clock: { ms: () => INDEXED_FROM * 1000 },
    });
    const settings = { 'gateways.ton-usdt.enabled': false };
    const test = await startApp({
      single: true,
      database,
      settings,
      source: (id) => (id === 'ton' ? source : undefined),
    });
    onTestFinished(() => test.stop());
    test.clock.set(INDEXED_FROM);
    const merchant = await fundedMerchant(test);
    const invoice = await create(test, merchant, 'ton');
    indexer.pay(invoice);
    expect((await check(test, invoice, merchant)).json).toMatchObject({ status: 'confirmed' });
    expect(failing.requests.length).toBeGreaterThan(0);
    // With no one left to ask it says so.
    indexer.beforeTip = () => Promise.reject(new Error('out of order too'));
    const other = await create(test, merchant, 'ton');
    expect((await check(test, other, merchant)).status).toBe(503);
  });

  it('goes from URL to URL of the settings, in one check and back when the first one is there again', async () => {
    verifies('urls-failover');
    const indexer = await serveTon();
    let isDown = true;
    const answer = async (path: string) => (await fetch(new URL(path, indexer.url))).json();
    const first = await serve(({ path }, response) => {
      if (isDown) json(response, 'out of order', 500);
      else void answer(path).then((value) => json(response, value));
    });
    const test = await startApp({
      single: true,
      database,
      settings: {
        'blockchains.ton.urls': `${first.url} ${indexer.url}`,
        'gateways.ton-usdt.enabled': false,
      },
    });
    onTestFinished(() => test.stop());
    test.clock.set(INDEXED_FROM);
    const merchant = await fundedMerchant(test);
    const invoice = await create(test, merchant, 'ton');
    indexer.pay(invoice);
    expect((await check(test, invoice, merchant)).json).toMatchObject({ status: 'confirmed' });
    const states = () =>
      test.app.observer
        .status()
        .find(({ blockchain }) => blockchain === 'ton')
        ?.providers.map(({ state }) => state);
    expect(states()).toEqual(['down', 'ok']);
    isDown = false;
    test.clock.advance(60);
    indexer.now += 60;
    const before = first.requests.length;
    const other = await create(test, merchant, 'ton');
    indexer.pay(other);
    expect((await check(test, other, merchant)).json).toMatchObject({ status: 'confirmed' });
    expect(states()).toEqual(['ok', 'ok']);
    expect(first.requests.length).toBeGreaterThan(before);
  });

  it('asks the next provider what one person wants to know, and calls an odd answer to it no outage', async () => {
    verifies('urls-failover', 'account-own-trouble');
    const double = doubleFamily('ton');
    let status = 500;
    const nodes = [
      await serve(({ path }, response) => json(response, 'out of order', path === '/known' ? status : 502)),
      await serve(({ path }, response) =>
        path === '/known' ? json(response, 'a token') : json(response, 'no such thing', 404),
      ),
    ];
    const source = openRpc({
      blockchain: 'ton',
      family: { identify: async () => 'testnet', providers: [] },
      network: 'testnet',
      providers: nodes.map(({ url }) => ({ provider: 'toncenter', url })),
      requests_per_second: 1000,
      clock: { ms: () => INDEXED_FROM * 1000 },
    });
    const test = await startApp({
      single: true,
      database,
      source: (id) => (id === 'ton' ? source : undefined),
    });
    onTestFinished(() => test.stop());
    test.clock.set(INDEXED_FROM);
    double.inspectAddress = async (rpc, key) => String(await rpc.json(`/${key}`));
    const { observer } = test.app;
    expect(await observer.inspectAddress('ton', 'known')).toBe('a token');
    expect(source.status()).toMatchObject([{ state: 'ok', backoff_until: null }, { state: 'ok' }]);
    status = 502;
    expect(await observer.inspectAddress('ton', 'known')).toBe('a token');
    for (let asked = 0; asked < 5; asked++)
      await expect(observer.inspectAddress('ton', 'odd')).rejects.toMatchObject({ kind: 'rpc', code: 404 });
    expect(source.status()).toMatchObject([{ state: 'down' }, { state: 'ok', backoff_until: null }]);
    expect(await observer.inspectAddress('ton', 'known')).toBe('a token');
  });

  it.each(['read', 'recheck', 'lookUp'] as const)(
    'asks the next provider where an answer to %s makes its family throw, and logs the error',
    async (where) => {
      verifies('answers-bounded');
      const double = doubleFamily('ton');
      const log: string[] = [];
      const throwing = async ({ rpc }: { rpc: Rpc }) => {
        if ((await rpc.json('/name')) === 'odd') throw new RangeError('Maximum call stack size exceeded');
        return [];
      };
      double[where] = throwing;
      const nodes = [
        await serve((_, response) => json(response, 'odd')),
        await serve((_, response) => json(response, 'sane')),
      ];
      const source = openRpc({
        blockchain: 'ton',
        family: { identify: async () => 'testnet', providers: [] },
        network: 'testnet',
        providers: nodes.map(({ url }) => ({ provider: 'toncenter', url })),
        requests_per_second: 1000,
        clock: { ms: () => INDEXED_FROM * 1000 },
      });
      const reader = guarded(
        findBlockchain('ton')?.family.open() as ChainReader,
        {
          error: (_: unknown, line?: string) => void log.push(line ?? ''),
        } as never,
      );
      const ask = () =>
        source.use(async (rpc) => {
          const context = { rpc } as ReadContext;
          if (where === 'read') for await (const _ of reader.read(context, {} as ReadRequest));
          if (where === 'recheck') await reader.recheck(context, [], null);
          if (where === 'lookUp') await reader.lookUp(context, {} as NamedTransaction);
          return 'done';
        });
      await expect(ask()).rejects.toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
      expect(await ask()).toBe('done');
      expect(source.status()).toMatchObject([{ state: 'down' }, { state: 'ok' }]);
      expect(log).toHaveLength(1);
      await source.close();
    },
  );

  it('does not take a failure of the database for one of the provider', async () => {
    const double = doubleFamily('ton');
    const broken = new Error('the database is away');
    double.read = async (_, { addresses }) => {
      await addresses();
      return [];
    };
    const reader = guarded(
      findBlockchain('ton')?.family.open() as ChainReader,
      { error: expect.fail } as never,
    );
    const request = { addresses: () => Promise.reject(broken) } as unknown as ReadRequest;
    const pages = reader.read({ rpc: namedRpc('x') } as ReadContext, request);
    await expect(pages[Symbol.asyncIterator]().next()).rejects.toBe(broken);
  });

  it('leaves to single accounts half of what the provider takes in one pause, as it answers now', async () => {
    verifies('account-own-trouble', 'pace-own-url');
    const double = doubleFamily('solana');
    const spare: number[] = [];
    double.read = async ({ spare_requests }) => {
      spare.push(spare_requests);
      return [];
    };
    let requests_per_second = 50;
    const source: RpcSource = {
      ...double.source,
      use: (work) => work(namedRpc('own'), 'own'),
      status: () => [{ ...unasked_provider, provider: 'own', requests_per_second }],
    };
    const test = await startApp({
      single: true,
      database,
      source: (id) => (id === 'solana' ? source : undefined),
    });
    onTestFinished(() => test.stop());
    await create(test, await test.merchant(), 'solana');
    for (const each of [50, 6, 0.5]) {
      requests_per_second = each;
      await test.app.observer.poll('solana');
    }
    expect(spare).toEqual([100, 12, 4]);
  });

  it('answers 503 to an answer that no database can keep, and tells the operator of it', async () => {
    const indexer = await serveTon();
    const binary = await serve((_, response) => response.end('\x1f\x8b\0\0 not JSON'));
    const { test, merchant, invoice } = await sell({ ...indexer, url: binary.url });
    expect(await check(test, invoice, merchant)).toMatchObject({
      status: 503,
      json: { code: 'provider_unavailable' },
    });
    const cursor = await getCursor(test.app.db.query, 'ton');
    expect(cursor?.last_error).toContain('not JSON');
  });

  it('adds nothing up with itself that is listed twice, and says when an amount changes', async () => {
    const test = await daemon(await serveTon(), await makeDatabase(database));
    onTestFinished(() => test.stop());
    const merchant = await fundedMerchant(test);
    const invoice = await create(test, merchant, 'bitcoin');
    const half = transferTo(test, invoice, { amount_atomic: BigInt(invoice.amount_atomic) / 2n });
    expect(await observe(test, 'bitcoin', [half, { ...half }])).toEqual([]);
    const transfers = await test.app.db.query.selectFrom('transfers').selectAll().execute();
    expect(transfers).toMatchObject([
      { disposition: 'unmatched', amount_atomic: String(half.amount_atomic) },
    ]);
    await observe(test, 'bitcoin', [{ ...half, amount_atomic: 1n }]);
    expect(await test.app.db.query.selectFrom('transfers').selectAll().execute()).toEqual(transfers);
    expect(test.log.join('')).toContain('"alert":"transfer_contradicted"');
  });

  it('reads on after a comment that no database can keep', async () => {
    const indexer = await serveTon();
    const { test, merchant, invoice } = await sell(indexer);
    indexer.pay(invoice, 'A\0B');
    indexer.pay(invoice);
    expect((await check(test, invoice, merchant)).json).toMatchObject({ status: 'confirmed' });
    const payments = await test.app.db.query.selectFrom('payments').select('status').execute();
    expect(payments.map(({ status }) => status).sort()).toEqual(['confirmed', 'unmatched']);
  });
});
