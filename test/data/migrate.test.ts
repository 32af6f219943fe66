// Migrations: each runs once, on a newer schema nothing is touched, and what is written stays written.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseError, openDb } from '../../data/db/open.ts';
import { insertEvent, newEventId } from '../../data/events.ts';
import { insertInvoice } from '../../data/invoices.ts';
import { migrate, pendingSteps } from '../../data/migrations/migrate.ts';
import { insertLog } from '../../data/payments.ts';
import { testLedger } from '../helpers/books.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, newInvoice, START } from '../helpers/rows.ts';
import { verifies } from '../requirements.ts';

describe.each(databases)('migrations on %s', (database) => {
  let fresh: OpenDatabase;
  beforeEach(async () => {
    fresh = await openDatabase(database, { empty: true });
  });
  afterEach(() => fresh.stop());

  const tableNames = async () => {
    const tables = await fresh.db.query.introspection.getTables();
    return tables.map(({ name }) => name).sort();
  };

  test('bring an empty database to the present schema, in order', async () => {
    verifies('migrations');
    expect(await tableNames()).toEqual([]);
    const pending = await pendingSteps(fresh.db);
    expect(pending.length).toBeGreaterThan(1);
    expect(pending).toEqual([...pending].sort());
    expect(await migrate(fresh.db)).toEqual(pending);
    for (const table of ['invoices', 'ledger', 'tallies', 'transfers', 'users'])
      expect(await tableNames()).toContain(table);
  });

  test('do nothing the second time', async () => {
    verifies('migrations');
    await migrate(fresh.db);
    const before = await tableNames();
    expect(await pendingSteps(fresh.db)).toEqual([]);
    expect(await migrate(fresh.db)).toEqual([]);
    expect(await tableNames()).toEqual(before);
  });

  test.runIf(database === 'postgres')('run once when two daemons start together', async () => {
    verifies('both-databases');
    const other = await fresh.another();
    const done = await Promise.all([migrate(fresh.db), migrate(other)]);
    expect(done.map((steps) => steps.length).sort()).toEqual([0, done.flat().length]);
  });

  test('refuse a newer schema and change nothing', async () => {
    verifies('migrations');
    await migrate(fresh.db);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030')`.execute(
      fresh.db.query,
    );
    const before = await tableNames();
    for (const attempt of [migrate, pendingSteps]) {
      await expect(attempt(fresh.db)).rejects.toThrow(DatabaseError);
      await expect(attempt(fresh.db)).rejects.toThrow(/newer gatewayd \(schema 9999-later\)/);
    }
    expect(await tableNames()).toEqual(before);
  });
});

describe.each(databases)('the schema on %s', (database) => {
  let fresh: OpenDatabase;
  let merchant_id: string;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    const { db } = fresh;
    merchant_id = await addMerchant(db, 'shop');
    await db.transaction(async (tx) => {
      await testLedger(db).post(tx, {
        merchant_id,
        kind: 'credit',
        amount_micros: 5n,
        invoice_id: null,
        note: null,
        actor: 'test',
        now: START,
      });
      const at = { payment_id: null, invoice_id: null, created_at: START };
      await insertLog(tx, {
        ...at,
        from_status: null,
        to_status: 'late',
        txid: null,
        confirmations: 0,
        note: null,
        actor: 'test',
      });
      await insertEvent(tx, { id: newEventId(), ...at, merchant_id, type: 'payment.late', body: '{}' });
    });
  });
  afterAll(() => fresh.stop());

  test.each(['ledger', 'payment_logs', 'events'] as const)(
    'lets no one change or delete %s',
    async (table) => {
      verifies('ledger-append-only');
      const { query } = fresh.db;
      const rows = await query.selectFrom(table).selectAll().execute();
      expect(rows).toHaveLength(1);
      const change = query.updateTable(table).set({ created_at: 0 } as never);
      await expect(change.execute()).rejects.toThrow(/append-only/);
      await expect(query.deleteFrom(table).execute()).rejects.toThrow(/append-only/);
      expect(await query.selectFrom(table).selectAll().execute()).toEqual(rows);
    },
  );

  test('lets no balance fall below zero', async () => {
    verifies('limit-never-negative');
    const { query } = fresh.db;
    const set = query.updateTable('merchants').set({ prepaid_micros: -1n }).where('id', '=', merchant_id);
    await expect(set.execute()).rejects.toThrow(/check|CHECK|ledger/);
  });

  test('knows confirmed invoices only with the time they were paid at, and open ones only with the time of their next evaluation', async () => {
    const { query } = fresh.db;
    const insert = (values: object) => insertInvoice(query, newInvoice(values));
    await expect(insert({ status: 'confirmed', paid_at: null })).rejects.toThrow(/check|CHECK/);
    await expect(insert({ status: 'expired', paid_at: 1 })).rejects.toThrow(/check|CHECK/);
    await expect(insert({ due_at: null })).rejects.toThrow(/check|CHECK/);
    await expect(insert({ status: 'settled' })).rejects.toThrow(/check|CHECK/);
    expect(await insert({})).toBe(true);
  });

  test('keeps integers of money beyond what a double holds', async () => {
    verifies('money-integers');
    const amount_usd_micros = 999_999_999_999_999n;
    const amount_atomic = (10n ** 30n + 1n).toString();
    const invoice = newInvoice({ amount_usd_micros, amount_atomic });
    await insertInvoice(fresh.db.query, invoice);
    const row = await fresh.db.query
      .selectFrom('invoices')
      .select(['amount_usd_micros', 'amount_atomic', 'created_at'])
      .where('id', '=', invoice.id)
      .executeTakeFirst();
    expect(row).toEqual({ amount_usd_micros, amount_atomic, created_at: START });
  });
});

test('SQLite writes ahead, waits for the disk at every commit and holds foreign keys', async () => {
  verifies('sqlite-durable');
  const fresh = await openDatabase('sqlite');
  const pragma = async (name: string) =>
    Object.values((await sql<object>`${sql.raw(`pragma ${name}`)}`.execute(fresh.db.query)).rows[0] ?? {})[0];
  expect(await pragma('journal_mode')).toBe('wal');
  // 2 is FULL.
  expect(Number(await pragma('synchronous'))).toBe(2);
  expect(Number(await pragma('foreign_keys'))).toBe(1);
  await fresh.stop();
});

test('a PostgreSQL server that is not there is reported, without its password', async () => {
  const opening = openDb('postgres://user:hidden@127.0.0.1:9/none');
  await expect(opening).rejects.toThrow(/cannot be reached/);
  await expect(opening).rejects.not.toThrow(/hidden/);
});
