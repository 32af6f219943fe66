// What can happen only once, by the database's own keys, however many try at once.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureCursor } from '../../data/cursors.ts';
import { isUniqueViolation } from '../../data/db/failures.ts';
import type { Db, Tx } from '../../data/db/open.ts';
import { insertDelivery } from '../../data/deliveries.ts';
import { insertEvent, newEventId } from '../../data/events.ts';
import { insertIncome } from '../../data/income.ts';
import { insertInvoice, insertOpenedAlone, invoicesByAmount } from '../../data/invoices.ts';
import { ledgerOf } from '../../data/ledger.ts';
import { insertPayment } from '../../data/payments.ts';
import { noteReading, putUnreadable } from '../../data/proofs.ts';
import { releaseAmounts, reservationsOf } from '../../data/reservations.ts';
import { insertTransfer } from '../../data/transfers.ts';
import type { Transfer } from '../../src/chains/family.ts';
import type { EventType } from '../../src/event-types.ts';
import { hashEntry, type LedgerKind } from '../../src/ledger.ts';
import { LEDGER_KEY, testLedger } from '../helpers/books.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, newInvoice, newPayment, START } from '../helpers/rows.ts';
import { recordStatements } from '../helpers/statements.ts';
import { verifies } from '../requirements.ts';

const CROWD = 12;

describe.each(databases)('once on %s', (database) => {
  let fresh: OpenDatabase;
  let db: Db;
  let merchant_id: string;
  let serial = 0;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    db = fresh.db;
    merchant_id = await addMerchant(db, 'shop');
  });
  afterAll(() => fresh.stop());

  const crowd = <T>(one: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: CROWD }, (_, at) => one(at)));

  /** How many of a crowd got through; the others must have failed at a unique key. */
  async function winners(one: (tx: Tx) => Promise<unknown>): Promise<number> {
    const ends = await crowd(() =>
      db.transaction(one).then(
        () => true,
        (error: unknown) => {
          expect(isUniqueViolation(error), String(error)).toBe(true);
          return false;
        },
      ),
    );
    return ends.filter(Boolean).length;
  }

  const insert = (values: object) => insertInvoice(db.query, newInvoice(values));

  async function invoice(values: object = {}): Promise<string> {
    const row = newInvoice({ owner_id: merchant_id, ...values });
    expect(await insert(row)).toBe(true);
    return row.id;
  }

  const entry = (kind: LedgerKind, amount_micros: bigint, invoice_id: string | null) => (tx: Tx) =>
    testLedger(db).post(tx, {
      merchant_id,
      kind,
      amount_micros,
      invoice_id,
      note: null,
      actor: 'test',
      now: START,
    });

  test('a memo is given at an address, for ever', async () => {
    verifies('memo-unique');
    const made = await crowd(() => insert({ memo: 'MEMO', status: 'expired' }));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await insert({ memo: 'MEMO', address_key: 'elsewhere' })).toBe(true);
    expect(await insert({ memo: 'MEMO', blockchain: 'bitcoin', chain: 'bitcoin' })).toBe(true);
    // Another asset of the blockchain arrives at the same address with the same memo.
    expect(await insert({ memo: 'MEMO', chain: 'ton-usdt' })).toBe(false);
    expect([await insert({ memo: null }), await insert({ memo: null })]).toEqual([true, true]);
  });

  /** An invoice with its event, as it is made where nothing else has to be written. */
  const open = (values: object) => {
    const invoice = newInvoice({ owner_id: merchant_id, ...values });
    const { id: invoice_id, owner_id, created_at } = invoice;
    const type: EventType = 'invoice.created';
    const event = {
      id: newEventId(),
      merchant_id: owner_id,
      type,
      invoice_id,
      payment_id: null,
      body: '{}',
      created_at,
    };
    return { invoice_id, written: insertOpenedAlone(db, invoice, event) };
  };
  const eventsOf = async (ids: readonly string[]) => {
    const events = db.query.selectFrom('events').select('invoice_id').where('invoice_id', 'in', ids);
    return (await events.execute()).map((event) => event.invoice_id).sort();
  };

  test('invoices made at the same moment are each written with its event, and share statements on PostgreSQL', async () => {
    verifies('memo-unique');
    const other = await addMerchant(db, 'other');
    const statements = recordStatements();
    const made = await crowd(async (at) => {
      const owner_id = [merchant_id, other, null][at % 3];
      // Two of them have drawn the same memo.
      const { invoice_id, written } = open({ owner_id, memo: `TOGETHER-${Math.max(at, 1)}` });
      return { invoice_id, at, is_written: await written };
    }).finally(() => statements.stop());
    const refused = made.filter((one) => !one.is_written);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.at).toBeLessThan(2);
    const written = made.filter((one) => one.is_written).map((one) => one.invoice_id);
    expect(await eventsOf(made.map((one) => one.invoice_id))).toEqual(written.sort());
    // The first one alone, and all that came while it was written.
    if (database === 'postgres') expect(statements.take()).toHaveLength(2);
  });

  test('more invoices than one statement takes are all written', async () => {
    const made = Array.from({ length: 50 }, () => open({}));
    expect(new Set(await Promise.all(made.map((one) => one.written)))).toEqual(new Set([true]));
    const ids = made.map((one) => one.invoice_id);
    expect(await eventsOf(ids)).toEqual(ids.sort());
  });

  test('an invoice that the database refuses fails alone', async () => {
    const made = Array.from({ length: CROWD }, (_, at) => open({ amount_usd_micros: at === 5 ? 0n : 1n }));
    const ends = await Promise.allSettled(made.map((one) => one.written));
    expect(ends.map((end) => end.status === 'fulfilled' && end.value)).toEqual(ends.map((_, at) => at !== 5));
    expect(await eventsOf(made.map((one) => one.invoice_id))).toHaveLength(CROWD - 1);
  });

  test('a reference names an invoice', async () => {
    verifies('solana-reference');
    const made = await crowd(() => insert({ reference: 'ref' }));
    expect(made.filter(Boolean)).toHaveLength(1);
  });

  test('an amount is reserved for its owner at an address in an asset, until it is given back', async () => {
    verifies('amount-unique', 'watch-24h');
    const slot = { blockchain: 'bitcoin', chain: 'bitcoin', address_key: 'unique' };
    const reserved = { ...slot, reserved: 1 as const, watch_until: START + 86_400 };
    const reserve = (values: object) => insert({ ...reserved, ...values });
    const made = await crowd(() => reserve({ amount_atomic: '700' }));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await reserve({ amount_atomic: '701' })).toBe(true);
    expect(await reserve({ amount_atomic: '700', address_key: 'other' })).toBe(true);
    const held = await reservationsOf(db.query, slot, ['699', '700', '701']);
    expect([...held.keys()].sort()).toEqual(['700', '701']);
    // Another account at the same address has all amounts of its own.
    expect(await reserve({ amount_atomic: '700', owner_id: merchant_id })).toBe(true);
    // Its end does not give it back, nor does the time after it that is not proved read: who pays late may be found yet.
    await db.query
      .updateTable('invoices')
      .set({ status: 'expired', due_at: null, ended_at: START + 300, reserved_until: START + 601 })
      .where('address_key', '=', 'unique')
      .execute();
    expect(await releaseAmounts(db, START + 600)).toBe(0);
    expect(await invoicesByAmount(db.query, { ...slot, amount_atomic: '700' })).toHaveLength(2);
    expect(await reserve({ amount_atomic: '700' })).toBe(false);
    await ensureCursor(db.query, 'bitcoin');
    const readThrough = (at: number) =>
      noteReading(db.query, 'bitcoin', { started_at: at, read_through: at });
    await readThrough(START + 600);
    expect(await releaseAmounts(db, START + 700)).toBe(0);
    await readThrough(START + 601);
    expect(await releaseAmounts(db, START + 700)).toBe(3);
    expect(await invoicesByAmount(db.query, { ...slot, amount_atomic: '700' })).toEqual([]);
    expect(await reserve({ amount_atomic: '700' })).toBe(true);
    // Of an asset that cannot be read none is given back but when its watch is over.
    await db.transaction((tx) =>
      putUnreadable(tx, 'bitcoin', [{ chain: 'bitcoin', reason: 'not found' }], START),
    );
    await db.query
      .updateTable('invoices')
      .set({ status: 'expired', due_at: null, ended_at: START + 300, reserved_until: START + 601 })
      .where('address_key', '=', 'unique')
      .where('reserved', '=', 1)
      .execute();
    expect(await releaseAmounts(db, START + 86_400)).toBe(0);
    expect(await releaseAmounts(db, START + 86_401)).toBe(1);
    await db.transaction((tx) => putUnreadable(tx, 'bitcoin', [], START));
  });

  test('an output of a transaction is stored', async () => {
    verifies('output-books-once', 'exactly-once');
    const transfer: Transfer = {
      chain: 'ton',
      address_key: 'address',
      txid: 'aa',
      index: '0',
      amount_atomic: 5n,
      memo: null,
      references: [],
      sender: null,
      height: 1,
      block_hash: 'b',
      earliest_at: START,
      latest_at: START,
      inputs: [],
      confirmations: 1,
    } as unknown as Transfer;
    const place = { disposition: 'unmatched', invoice_id: null, payment_id: null } as const;
    const store = (blockchain: string, index: string) =>
      db.transaction((tx) => insertTransfer(tx, blockchain, { ...transfer, index }, 'final', place, START));
    const rows = await crowd(() => store('ton', '0'));
    expect(rows.filter((row) => row !== undefined)).toHaveLength(1);
    expect(await store('ton', '1')).toBeDefined();
    expect(await store('solana', '0')).toBeDefined();
  });

  test('an invoice pays a fee, and credits a refill', async () => {
    verifies('exactly-once');
    await db.transaction(entry('credit', 1_000n, null));
    const sale = await invoice();
    expect(await winners(entry('fee', 10n, sale))).toBe(1);
    const refill = await invoice({ kind: 'refill' });
    expect(await winners(entry('refill', 500n, refill))).toBe(1);
    const head = db.query.selectFrom('merchants').select('prepaid_micros').where('id', '=', merchant_id);
    expect((await head.executeTakeFirst())?.prepaid_micros).toBe(1_490n);
  });

  test('a balance is spent, however many want it at once, and its chain has no gap', async () => {
    verifies('limit-never-negative', 'ledger-double-entry', 'ledger-hash-chain');
    const spender = await addMerchant(db, 'spender');
    const of = (kind: LedgerKind, amount_micros: bigint) => (tx: Tx) =>
      testLedger(db).post(tx, {
        merchant_id: spender,
        kind,
        amount_micros,
        invoice_id: null,
        note: null,
        actor: 'test',
        now: START,
      });
    await db.transaction(of('credit', 50n));
    const paid = await crowd(() => db.transaction(of('fee', 10n)));
    expect(paid.filter(Boolean)).toHaveLength(5);
    const rows = await ledgerOf(db.query, spender, 0, 100);
    expect(rows.map(({ balance_micros }) => balance_micros)).toEqual([50n, 40n, 30n, 20n, 10n, 0n]);
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const [at, { hash, ...row }] of rows.entries()) {
      expect(hashEntry(row, LEDGER_KEY)).toBe(hash);
      if (at > 0) expect(row.previous_hash).toBe(rows[at - 1]?.hash);
    }
    const head = await db.query
      .selectFrom('merchants')
      .select(['prepaid_micros', 'ledger_seq', 'ledger_hash'])
      .where('id', '=', spender)
      .executeTakeFirst();
    expect(head).toEqual({ prepaid_micros: 0n, ledger_seq: 6, ledger_hash: rows.at(-1)?.hash });
  });

  test('an invoice brings income, and its sums count it once', async () => {
    verifies('exactly-once');
    const invoice_id = await invoice();
    const income = {
      merchant_id,
      invoice_id,
      chain: 'ton',
      currency: 'ONCE',
      decimals: 9,
      amount_atomic: 7n,
      amount_usd_micros: 10n,
      fee_charged_micros: 1n,
      house: 0 as const,
      txid: null,
      webhook_status: 'none' as const,
      created_at: START,
    };
    expect(await winners((tx) => insertIncome(tx, income))).toBe(1);
    const totals = db.query.selectFrom('income_totals').select(['count', 'amount_atomic']);
    expect(await totals.where('currency', '=', 'ONCE').execute()).toEqual([{ count: 1, amount_atomic: '7' }]);
    const balance = db.query.selectFrom('balances').select('amount_atomic').where('currency', '=', 'ONCE');
    expect(await balance.execute()).toEqual([{ amount_atomic: '7' }]);
  });

  test('the confirmation of an invoice has one event, and its event is sent automatically', async () => {
    verifies('exactly-once', 'webhook-one-attempt');
    const invoice_id = await invoice();
    const write = (type: EventType) => (tx: Tx) =>
      insertEvent(tx, {
        id: newEventId(),
        merchant_id,
        type,
        invoice_id,
        payment_id: null,
        body: '{}',
        created_at: START,
      });
    expect(await winners(write('invoice.confirmed'))).toBe(1);
    expect(await winners(write('payment.late'))).toBe(CROWD);
    const event = await db.query
      .selectFrom('events')
      .select('id')
      .where('type', '=', 'invoice.confirmed')
      .executeTakeFirstOrThrow();
    const delivery = { event_id: event.id, merchant_id, url: 'https://example.com/hook', created_at: START };
    expect(await winners((tx) => insertDelivery(tx, delivery))).toBe(1);
  });

  test('an invoice shows one payment; late ones stand alongside it', async () => {
    const invoice_id = await invoice();
    const { id: _, ...payment } = newPayment({ invoice_id, status: 'detected' });
    expect(await winners((tx) => insertPayment(tx, { ...payment, main: 1 }))).toBe(1);
    expect(await winners((tx) => insertPayment(tx, { ...payment, main: null }))).toBe(CROWD);
  });

  test('of transactions that run together, the one that fails undoes its own work only', async () => {
    verifies('one-door');
    const ids = await crowd(async (at) => {
      const id = randomUUID();
      const name = `together-${++serial}`;
      const work = db.transaction(async (tx) => {
        await tx.insertInto('meta').values({ name, value: id }).execute();
        if (at % 3 === 0) throw new Error('refused');
        return name;
      });
      return work.catch(() => undefined);
    });
    const stored = await db.query
      .selectFrom('meta')
      .select('name')
      .where('name', 'like', 'together-%')
      .execute();
    expect(stored.map(({ name }) => name).sort()).toEqual(ids.filter((name) => name !== undefined).sort());
    expect(stored).toHaveLength(CROWD - CROWD / 3);
  });
});
