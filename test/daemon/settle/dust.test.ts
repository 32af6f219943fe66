// A page of any length is stored in slices; what is below any price worth asking is counted, and listed to no one.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CursorMoved, recordPage } from '../../../daemon/settle/settle.ts';
import { ROWS_PER_SLICE } from '../../../daemon/settle/slices.ts';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { ensureCursor, getCursor } from '../../../data/cursors.ts';
import type { Tx } from '../../../data/db/open.ts';
import { openSnapshot } from '../../../data/db/snapshot.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import type { Page, Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create,
  follow,
  fundedMerchant,
  invoiceRow,
  observe,
  readThrough,
  transferRow,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { moreWallets, setWallet } from '../../helpers/people.ts';
import { recordStatements } from '../../helpers/statements.ts';
import { verifies } from '../../requirements.ts';

const EVM = 'base-usdc';
const settings = { 'gateways.base-usdc.enabled': true, 'gateways.polygon-usdc.enabled': true };

describe.each(databases)('dust on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let invoice: InvoiceRow;
  beforeEach(async () => {
    service = await startApp({ database, settings, single: true });
    merchant = await fundedMerchant(service);
    await setWallet(service.app, merchant.id, 'base', moreWallets.base ?? '');
    await setWallet(service.app, merchant.id, 'polygon', moreWallets.base ?? '');
    invoice = await create(service, merchant, EVM);
    await ensureCursor(service.app.db.query, 'base');
  });
  afterEach(async () => {
    expect(await brokenLaws()).toEqual([]);
    await service.stop();
  });

  const brokenLaws = async () => {
    const { config } = service.app;
    const books = await openSnapshot(config.database_url);
    try {
      const results = await verifyLaws(await verifyInput(books, config, service.clock.now()), {
        laws: [5, 6, 8, 9],
      });
      return results.filter(({ ok }) => !ok);
    } finally {
      await books.close();
    }
  };
  const dustTo = (parts: Partial<Transfer> = {}) =>
    transferTo(service, invoice, { amount_atomic: 1n, ...parts });
  const flood = (rows: number, parts: Partial<Transfer> = {}) =>
    Array.from({ length: rows }, () => dustTo(parts));
  const counted = () =>
    service.app.db.query
      .selectFrom('dust')
      .select(['chain', 'address_key', 'count', 'amount_atomic'])
      .orderBy('address_key')
      .execute();
  const sum = async () => {
    const rows = await counted();
    return {
      count: rows.reduce((total, { count }) => total + count, 0),
      amount: rows.reduce((total, { amount_atomic }) => total + BigInt(amount_atomic), 0n),
    };
  };
  const unlisted = async () =>
    (await service.app.db.query.selectFrom('payments').selectAll().where('invoice_id', 'is', null).execute())
      .length;
  const rowsStored = async () =>
    (await service.app.db.query.selectFrom('transfers').select('id').execute()).length;
  const cursorRow = async () => {
    const row = await getCursor(service.app.db.query, 'base');
    if (!row) throw new Error('no cursor');
    return row;
  };
  /** Stores a page at the cursor as it is, in a daemon that is killed before so many transactions. */
  const storeUntil = async (page: Page, transactions = Number.POSITIVE_INFINITY, version?: number) => {
    const { app, clock } = service;
    let left = transactions;
    const transaction: typeof app.db.transaction = (work) => {
      if (left-- <= 0) throw new Error('killed');
      return app.db.transaction(work);
    };
    const gateways = app.gateways.filter((gateway) => gateway.blockchain === 'base');
    const scope = { blockchain: 'base', gateways, now: clock.now() };
    return recordPage(
      { ...app, db: { ...app.db, transaction } },
      scope,
      version ?? (await cursorRow()).version,
      page,
    );
  };
  const pageOf = (transfers: Transfer[], height: number): Page => ({
    transfers,
    cursor: { height },
    tip: { height, hash: `block-${height}`, time: service.clock.now() },
    ranges: [{ scope: 'height', from: height, to: height }],
  });

  test('is counted by address and day, and neither listed nor notified of', async () => {
    verifies('dust-counted');
    await observe(service, 'base', flood(3));
    service.clock.advance(24 * 3600);
    await observe(service, 'base', flood(2));
    expect(await sum()).toEqual({ count: 5, amount: 5n });
    expect(await counted()).toHaveLength(2);
    expect(await unlisted()).toBe(0);
    const events = await service.app.db.query
      .selectFrom('events')
      .select('type')
      .where('type', '=', 'payment.unmatched')
      .execute();
    expect(events).toEqual([]);
  });

  test('is what is below a cent; a cent is listed', async () => {
    verifies('dust-counted');
    await observe(service, 'base', [dustTo({ amount_atomic: 9_999n }), dustTo({ amount_atomic: 10_000n })]);
    expect(await sum()).toEqual({ count: 1, amount: 9_999n });
    expect(await unlisted()).toBe(1);
  });

  test('is counted once, however often and by how many daemons it is read', async () => {
    verifies('dust-once');
    const transfers = flood(ROWS_PER_SLICE + 5);
    await observe(service, 'base', transfers);
    await observe(service, 'base', transfers);
    const { version } = await cursorRow();
    const twice = await Promise.allSettled([
      storeUntil(pageOf([...transfers, ...flood(40)], 7), undefined, version),
      storeUntil(pageOf(transfers, 7), undefined, version),
    ]);
    expect(twice.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
    await storeUntil(pageOf(transfers, 8));
    const { count } = await sum();
    expect(count).toBe(await rowsStored());
  });

  test('is none where it names an invoice, or is exactly what one asks for', async () => {
    verifies('dust-counted');
    const small = await create(service, merchant, EVM, { amount: '0.005' });
    const memoed = await create(service, merchant, 'ton');
    await observe(service, 'base', [transferTo(service, small), dustTo()]);
    await observe(service, 'ton', [
      transferTo(service, memoed, { amount_atomic: 1n }),
      transferTo(service, memoed, { amount_atomic: BigInt(memoed.amount_atomic) - 1n }),
    ]);
    expect((await invoiceRow(service, small.id)).status).toBe('confirmed');
    expect((await invoiceRow(service, memoed.id)).status).toBe('confirmed');
    expect(await sum()).toEqual({ count: 1, amount: 1n });
  });

  test('is none where an open invoice at the address asks for less, or one on another network for as much', async () => {
    verifies('dust-counted');
    const small = await create(service, merchant, EVM, { amount: '0.005' });
    const near = BigInt(small.amount_atomic) + 1n;
    const there = await create(service, merchant, 'polygon-usdc', { amount: '0.004' });
    expect(there.address_key).toBe(small.address_key);
    await observe(service, 'base', [
      dustTo({ amount_atomic: near }),
      dustTo({ amount_atomic: BigInt(there.amount_atomic) }),
      dustTo({ amount_atomic: BigInt(there.amount_atomic) - 1n }),
    ]);
    expect(await unlisted()).toBe(2);
    expect((await sum()).count).toBe(1);
  });

  test('that is replaced, leaves the chain and comes back is counted while it is there', async () => {
    verifies('dust-once');
    const placed = { height: 5, block_hash: 'block-5' };
    const [lost, stays, waiting] = [dustTo(placed), dustTo(placed), dustTo(unconfirmed)];
    await observe(service, 'base', [lost, stays, waiting]);
    expect(await sum()).toEqual({ count: 3, amount: 3n });
    await observe(service, 'base', [], { orphaned_blocks: ['block-5'] });
    const gone = { ...unconfirmed, state: 'gone' as const, reason: 'replaced' };
    await follow(
      service,
      'base',
      [lost, waiting].map(({ txid, index }) => ({ txid, index, ...gone })),
    );
    expect(await sum()).toEqual({ count: 1, amount: 1n });
    // Mined again at another place, and what was gone is back.
    await observe(
      service,
      'base',
      [lost, stays].map((each) => ({ ...each, height: 6, block_hash: 'block-6' })),
    );
    expect(await sum()).toEqual({ count: 2, amount: 2n });
    expect((await transferRow(service, lost)).state).toBe('final');
  });

  test('is what very many transfers below a cent are that name one invoice, open or ended; what pays it stays its own', async () => {
    verifies('dust-counted');
    const open = await create(service, merchant, 'ton');
    const named = (rows: number, parts: Partial<Transfer> = {}) =>
      Array.from({ length: rows }, () => transferTo(service, open, { amount_atomic: 1n, ...parts }));
    await observe(service, 'ton', named(150));
    await observe(service, 'ton', named(60));
    const ofInvoice = async () =>
      (
        await service.app.db.query
          .selectFrom('transfers')
          .select('id')
          .where('invoice_id', '=', open.id)
          .execute()
      ).length;
    expect(await ofInvoice()).toBe(100);
    expect(await sum()).toEqual({ count: 110, amount: 110n });
    await observe(service, 'ton', named(1, { amount_atomic: BigInt(open.amount_atomic) - 100n }));
    expect(await invoiceRow(service, open.id)).toMatchObject({
      status: 'confirmed',
      received_atomic: open.amount_atomic,
    });
    await observe(service, 'ton', named(50));
    expect(await sum()).toEqual({ count: 160, amount: 160n });
    expect(await unlisted()).toBe(0);
  });

  test('is no part that a transaction stored which was begun once more', async () => {
    verifies('dust-counted');
    const open = await create(service, merchant, 'ton');
    const { db } = service.app;
    const { transaction } = db;
    const twice: typeof transaction = async (work) => {
      const undone = new Error('it is begun once more');
      const first = transaction(async (tx) => {
        await work(tx);
        throw undone;
      });
      await expect(first).rejects.toBe(undone);
      return transaction(work);
    };
    Object.assign(db, { transaction: twice });
    const parts = Array.from({ length: 60 }, () => transferTo(service, open, { amount_atomic: 1n }));
    await observe(service, 'ton', parts);
    Object.assign(db, { transaction });
    expect(await invoiceRow(service, open.id)).toMatchObject({ received_atomic: '60' });
    expect(await sum()).toEqual({ count: 0, amount: 0n });
  });

  test('of a token that only looks like the asset is stored, and in no sum of it', async () => {
    verifies('dust-counted');
    const ambiguous = 'another token of this name';
    await observe(service, 'base', [...flood(2), ...flood(5, { ambiguous, amount_atomic: 7n })]);
    expect(await sum()).toEqual({ count: 2, amount: 2n });
    expect(await rowsStored()).toBe(7);
    expect(await unlisted()).toBe(0);
  });

  test('that an operator gives to an invoice counts there, and as dust no more', async () => {
    verifies('dust-once');
    const given = dustTo();
    await observe(service, 'base', [given, dustTo()]);
    await confirmByOperator(service, invoice.id, { txid: given.txid });
    const { status, received_atomic } = await invoiceRow(service, invoice.id);
    expect({ status, received_atomic }).toEqual({ status: 'confirmed', received_atomic: '1' });
    expect(await sum()).toEqual({ count: 1, amount: 1n });
  });

  test('is shown as sums to the operator', async () => {
    verifies('dust-shown');
    await observe(service, 'base', flood(3));
    const { token } = await service.superuser();
    const { json } = await service.fetch('GET', '/api/v1/admin/observers', { token });
    const base = json.observers.find(({ blockchain }: { blockchain: string }) => blockchain === 'base');
    expect(base.dust).toEqual([
      {
        chain: EVM,
        address_key: invoice.address_key,
        day: new Date(service.clock.now() * 1000).toISOString().slice(0, 10),
        count: 3,
        amount: '0.000003',
        currency: 'USDC',
      },
    ]);
    expect(base.unmatched_count).toBe(0);
  });

  test('costs statements in proportion to its rows, in transactions of as many at most', async () => {
    verifies('page-slices');
    const measure = async (rows: number) => {
      const recording = recordStatements();
      const longest: number[] = [];
      const { app } = service;
      const transaction: typeof app.db.transaction = async <T>(work: (tx: Tx) => Promise<T>) => {
        let value: T | undefined;
        const own = await recording.during(async () => {
          value = await app.db.transaction(work);
        });
        longest.push(own.length);
        return value as T;
      };
      const gateways = app.gateways.filter((gateway) => gateway.blockchain === 'base');
      const scope = { blockchain: 'base', gateways, now: service.clock.now() };
      const page = pageOf(
        Array.from({ length: rows }, (_, at) =>
          dustTo({ amount_atomic: BigInt(at % 9_000) + 1n, memo: `m${at}` }),
        ),
        rows,
      );
      await recordPage({ ...app, db: { ...app.db, transaction } }, scope, (await cursorRow()).version, page);
      recording.stop();
      return { slices: longest.length, most: Math.max(...longest), all: longest.reduce((a, b) => a + b, 0) };
    };
    const few = await measure(8 * ROWS_PER_SLICE);
    const many = await measure(40 * ROWS_PER_SLICE);
    expect([few.slices, many.slices]).toEqual([8, 40]);
    expect(many.most).toBe(few.most);
    expect(many.most).toBeLessThan(ROWS_PER_SLICE);
    expect(many.all / many.slices).toBeLessThanOrEqual(few.all / few.slices + 1);
  }, 60_000);

  test('a page that is not stored to its end moves nothing, and is read again', async () => {
    verifies('page-slices');
    const paying = transferTo(service, invoice, { height: 7, block_hash: 'block-7' });
    const page = pageOf([paying, ...flood(3 * ROWS_PER_SLICE, { height: 7, block_hash: 'block-7' })], 7);
    const before = await cursorRow();
    await expect(storeUntil(page, 2)).rejects.toThrow('killed');
    const { cursor, tip_height, read_through } = await cursorRow();
    expect({ cursor, tip_height, read_through }).toEqual({
      cursor: before.cursor,
      tip_height: before.tip_height,
      read_through: before.read_through,
    });
    expect(await service.app.db.query.selectFrom('read_ranges').selectAll().execute()).toEqual([]);
    expect(await rowsStored()).toBe(2 * ROWS_PER_SLICE);
    await storeUntil(page);
    expect(await rowsStored()).toBe(page.transfers.length);
    expect((await sum()).count).toBe(3 * ROWS_PER_SLICE);
    expect(await transferRow(service, paying)).toMatchObject({ height: 7, block_hash: 'block-7' });
    await readThrough(service, 'base');
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
  });

  test('what a page placed in blocks that was not stored to its end stands in none, until a page has them', async () => {
    verifies('page-slices');
    const paying = transferTo(service, invoice, { height: 7, block_hash: 'lost-7', confirmations: 1 });
    const before = dustTo({ height: 6, block_hash: 'block-6' });
    await storeUntil(pageOf([before], 6));
    const page = pageOf([paying, ...flood(3 * ROWS_PER_SLICE, { height: 7, block_hash: 'lost-7' })], 7);
    await expect(storeUntil(page, 3)).rejects.toThrow('killed');
    // The provider that is read next has another branch, without any of them.
    await storeUntil(pageOf([], 7));
    expect(await transferRow(service, paying)).toMatchObject({
      state: 'pending',
      height: null,
      block_hash: null,
    });
    expect(await transferRow(service, before)).toMatchObject({ height: 6, block_hash: 'block-6' });
    const placed = await service.app.db.query
      .selectFrom('transfers')
      .select('id')
      .where('block_hash', '=', 'lost-7')
      .execute();
    expect(placed).toEqual([]);
    // And mined there in its next block.
    await storeUntil(pageOf([{ ...paying, height: 8, block_hash: 'block-8', confirmations: 64 }], 8));
    expect(await transferRow(service, paying)).toMatchObject({ height: 8, block_hash: 'block-8' });
  });

  test('a daemon that is overtaken between two slices stops there', async () => {
    verifies('page-slices');
    const { version } = await cursorRow();
    const page = pageOf(flood(4 * ROWS_PER_SLICE, { height: 7, block_hash: 'block-7' }), 7);
    await expect(storeUntil(page, 2)).rejects.toThrow('killed');
    await storeUntil(pageOf([], 9));
    await expect(storeUntil(page, undefined, version + 2)).rejects.toThrow(CursorMoved);
    expect((await cursorRow()).cursor).toEqual({ height: 9 });
    expect(await rowsStored()).toBe(2 * ROWS_PER_SLICE);
  });

  test('outputs of one transaction add up in whatever slice they come', async () => {
    verifies('page-slices');
    const txid = 'ab'.repeat(32);
    const half = BigInt(invoice.amount_atomic) / 2n;
    const parts = [half, BigInt(invoice.amount_atomic) - half].map((amount_atomic, index) =>
      transferTo(service, invoice, { txid, index: String(index), amount_atomic }),
    );
    await observe(service, 'base', [...flood(ROWS_PER_SLICE - 1), ...parts, ...flood(3)]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
  });

  test('thousands of outputs of one transaction, and of as many addresses, take no more for each', async () => {
    verifies('page-slices');
    const txid = 'cd'.repeat(32);
    const outputs = Array.from({ length: 120 }, (_, index) => dustTo({ txid, index: String(index) }));
    const spread = Array.from({ length: 120 }, (_, index) =>
      dustTo({ txid, index: `other-${index}`, address_key: `0x${String(index).padStart(40, '0')}` }),
    );
    const recording = recordStatements();
    await observe(service, 'base', [...outputs, ...spread]);
    const statements = recording.take().length;
    recording.stop();
    expect(statements).toBeLessThan(8 * 240);
    expect((await sum()).count).toBe(240);
  }, 60_000);
});
