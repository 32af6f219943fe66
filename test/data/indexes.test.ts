// Each index of invoices and events serves a question that no other index answers; an invoice that is made enters few.
import { type CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../data/db/open.ts';
import {
  chainsWatchedUntil,
  DUE_BEGIN,
  dueInvoices,
  getInvoice,
  invoiceByMemo,
  invoiceOfBuyer,
  invoicesByAmount,
  invoicesByReference,
  listInvoices,
  OPEN_BEGIN,
  overdueInvoices,
} from '../../data/invoices.ts';
import { dueReceipts } from '../../data/receipts.ts';
import { idsByPart } from '../../data/references.ts';
import { hasReserved, releaseAmounts } from '../../data/reservations.ts';
import { eventsOf } from '../../data/views/admin-detail.ts';
import { candidatesFor, listEntries } from '../../data/views/admin-list.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, insertAll, newInvoice, START } from '../helpers/rows.ts';
import { recordStatements } from '../helpers/statements.ts';

const MANY = 3_000;
const page = { skip: 0, limit: 20 };
const slot = { blockchain: 'ton', address_key: 'wallet', chain: 'ton' };
const NOW = START + 10 * 86_400;

/** What asks for what each index of invoices holds; the key of the table is asked by id. */
const served: Record<string, (db: Db, owner_id: string) => Promise<unknown>> = {
  invoices_memo: ({ query }) => invoiceByMemo(query, 'ton', 'wallet', 'NONE'),
  invoices_reference: ({ query }) => invoicesByReference(query, ['none']),
  invoices_reserved: ({ query }) => invoicesByAmount(query, { ...slot, amount_atomic: '1' }),
  invoices_reserved_by_owner: ({ query }, owner_id) => hasReserved(query, { owner_id, kind: 'sale' }, 20),
  invoices_of_buyer: ({ query }) => invoiceOfBuyer(query, 'no one'),
  invoices_release: (db) => releaseAmounts(db, START - 1),
  invoices_due: ({ query }) => dueInvoices(query, 'ton', { horizon: START, after: DUE_BEGIN, limit: 9 }),
  invoices_by_owner: ({ query }, owner_id) => listInvoices(query, { owner_id, limit: 9 }),
  invoices_by_ref: ({ query }, owner_id) => listInvoices(query, { owner_id, external_ref: 'x', limit: 9 }),
  invoices_open: ({ query }) => overdueInvoices(query, { before: START, after: OPEN_BEGIN, limit: 9 }),
  invoices_open_by_owner: (db, owner_id) => listEntries(db, { owner_id, status: 'created', ...page }),
  invoices_open_at: ({ query }) =>
    candidatesFor(query, { ...slot, amount_atomic: '1', first_seen_at: START }),
  invoices_by_status: (db) => listEntries(db, { status: 'expired', ...page }),
  invoices_by_chain: ({ query }) =>
    chainsWatchedUntil(query, { blockchain: 'ton', chains: ['ton'], open: false, now: NOW }),
  invoices_by_owner_status: (db, owner_id) => listEntries(db, { owner_id, status: 'expired', ...page }),
  invoices_by_owner_chain: (db, owner_id) =>
    listEntries(db, { owner_id, chain: 'ton', status: 'expired', ...page }),
  invoices_with_email: ({ query }) => dueReceipts(query, NOW, 20),
  invoices_by_tail: (db) => idsByPart(db, 'invoices', '0123abcd', undefined),
  events_by_tail: (db) => idsByPart(db, 'events', '0123abcd', undefined),
  events_by_invoice: ({ query }) => eventsOf(query, { invoice_id: 'none' } as never),
};

/** Unique, for their own sake: a second refill never has the amount of the first. */
const constraints = ['invoices_reserved_refill', 'events_confirmed_once'];
/** What an invoice of a chain with memos is entered in when it is made, besides its key. */
const ENTERED = [
  'invoices_by_owner',
  'invoices_by_ref',
  'invoices_by_tail',
  'invoices_due',
  'invoices_memo',
  'invoices_open',
  'invoices_open_at',
  'invoices_open_by_owner',
];

describe.each(databases)('the indexes of invoices on %s', (database) => {
  let fresh: OpenDatabase;
  let owner_id: string;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    owner_id = await addMerchant(fresh.db, 'shop');
    const other = await addMerchant(fresh.db, 'other-shop');
    const statuses = ['created', 'expired', 'cancelled', 'failed'] as const;
    const rows = Array.from({ length: MANY }, (_, at) => {
      const status = statuses[at % statuses.length] ?? 'created';
      return newInvoice({
        owner_id: at % 100 === 0 ? owner_id : other,
        chain: at % 3 === 0 ? 'ton-usdt' : 'ton',
        blockchain: 'ton',
        status,
        created_at: START + at,
        expires_at: START + at + 300,
        due_at: status === 'created' ? START + at + 300 : null,
        ended_at: status === 'created' ? null : START + at + 1,
        external_ref: `order-${at}`,
        reserved: at % 2 === 0 ? 1 : null,
        reserved_until: at % 2 === 0 && status !== 'created' ? START + at : null,
        amount_atomic: `${at}`,
        amount_merchant_atomic: `${at}`,
      });
    });
    await insertAll(fresh.db, 'invoices', rows);
    await sql`analyze`.execute(fresh.db.query);
  });
  afterAll(() => fresh.stop());

  test.each(Object.keys(served))('%s serves', async (index) => {
    const recording = recordStatements();
    await served[index]?.(fresh.db, owner_id);
    const asked = recording.take();
    recording.stop();
    const plans = await Promise.all(asked.map((query) => planOf(fresh.db, query)));
    expect(plans.join('\n')).toContain(index);
  });

  test('are those that serve, and no others', async () => {
    const all = await indexesOf(fresh.db, ['invoices', 'events']);
    const known = [
      ...Object.keys(served),
      ...constraints,
      'events_of_platform',
      'events_by_payment',
      'events_by_merchant',
    ];
    expect(all.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
    await expect(getInvoice(fresh.db.query, 'none')).resolves.toBeUndefined();
  });

  test('hold an invoice that is made in few of them', async () => {
    const entered = (await indexesOf(fresh.db, ['invoices'])).filter(({ text }) => entersNew(text));
    expect(entered.map(({ name }) => name).sort()).toEqual(ENTERED);
  });
});

/** Whether an open invoice with a memo, and neither a reference, nor an amount of its own, nor an address, nor a buyer that is known, meets the condition of an index. */
const entersNew = (text: string): boolean => !/\bwhere\b.*(reserved|reference|email|buyer|<>)/is.test(text);

async function indexesOf(db: Db, tables: readonly string[]): Promise<{ name: string; text: string }[]> {
  const names = sql.join(tables.map((table) => sql.lit(table)));
  const { rows } = await (db.dialect === 'sqlite'
    ? sql<{ name: string; text: string }>`select name, sql as text from sqlite_schema
        where type = 'index' and sql is not null and tbl_name in (${names})`
    : sql<{ name: string; text: string }>`select indexname as name, indexdef as text from pg_indexes
        where schemaname = current_schema() and tablename in (${names})
          and indexname not like '%_pkey' and indexname not like '%_key'`
  ).execute(db.query);
  return rows;
}

async function planOf(db: Db, query: CompiledQuery): Promise<string> {
  if (db.dialect === 'sqlite') {
    const text = `explain query plan ${query.sql}`;
    const { rows } = await db.query.executeQuery<{ detail: string }>({ ...query, sql: text });
    return rows.map(({ detail }) => detail).join('\n');
  }
  return db.transaction(async (tx) => {
    // A test's tables are so small that reading and sorting all of them is cheap.
    for (const way of ['seqscan', 'bitmapscan', 'sort'])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx);
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': string }>({
      ...query,
      sql: `explain ${query.sql}`,
    });
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}
