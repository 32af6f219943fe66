// The operator's list in every combination of its filters: the right rows in the right order, from indexes alone.
import { randomUUID } from 'node:crypto';
import { type CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../data/db/open.ts';
import { toJson } from '../../data/schema/json.ts';
import {
  type AdminEntry,
  CANDIDATES_SHOWN,
  candidatesFor,
  type EntryFilter,
  entriesOfPayments,
  entryKeys,
  listEntries,
} from '../../data/views/admin-list.ts';
import type { PaymentStatus } from '../../src/invoice.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, insertAll, newInvoice, newPayment, START } from '../helpers/rows.ts';

const INVOICES = 1_500;
const chains = [
  ['ton', 'ton'],
  ['ton', 'ton-usdt'],
  ['bitcoin', 'bitcoin'],
] as const;
const statuses = [
  'created',
  'confirmed',
  'confirmed',
  'confirmed',
  'expired',
  'cancelled',
  'failed',
] as const;

/** What an entry is to the filters, held alongside the database to compare with. */
interface Known {
  id: string;
  at: number;
  kind: string | null;
  chain: string;
  owner: string | null;
  /** Of the invoice, where it stands in the list without a status. */
  status: string | null;
  payment_status: string | null;
}

const words = [
  undefined,
  'created',
  'confirmed',
  'expired',
  'cancelled',
  'failed',
  'held',
  'late',
  'unmatched',
  'detected',
  'confirming',
  'orphaned',
  'dismissed',
];

describe.each(databases)('the operator list on %s', (dialect) => {
  let fresh: OpenDatabase;
  let db: Db;
  let known: Known[];
  const owners: string[] = [];

  beforeAll(async () => {
    fresh = await openDatabase(dialect);
    db = fresh.db;
    for (const slug of ['one-shop', 'two-shop', 'three-shop']) owners.push(await addMerchant(db, slug));
    known = await seed(db, owners);
    await sql`analyze`.execute(db.query);
  });
  afterAll(() => fresh.stop());

  const filters = function* (): Generator<Omit<EntryFilter, 'skip' | 'limit'>> {
    for (const status of words)
      for (const kind of [undefined, 'sale', 'refill'])
        for (const chain of [undefined, 'bitcoin', 'solana'])
          for (const owner_id of [undefined, owners[1]]) yield { status, kind, chain, owner_id };
  };

  const ofInvoices: (string | undefined)[] = [
    undefined,
    'created',
    'confirmed',
    'expired',
    'cancelled',
    'failed',
  ];
  const expected = ({ status, kind, chain, owner_id }: Omit<EntryFilter, 'skip' | 'limit'>): Known[] =>
    known
      .filter((entry) => {
        const found = ofInvoices.includes(status) ? entry.status : entry.payment_status;
        return (
          (status === undefined || found === status) &&
          (kind === undefined || entry.kind === kind) &&
          (chain === undefined || entry.chain === chain) &&
          (owner_id === undefined || entry.owner === owner_id)
        );
      })
      .sort((a, b) => b.at - a.at);

  const timeOf = ({ unapplied, payment, invoice }: AdminEntry) =>
    unapplied ? payment?.listed_at : invoice?.created_at;
  const idOf = ({ unapplied, payment, invoice }: AdminEntry) => (unapplied ? payment : invoice)?.id ?? '';

  test('every combination of filters finds what belongs to it, newest first, page by page', async () => {
    for (const filter of filters()) {
      const label = JSON.stringify(filter);
      const want = expected(filter);
      const allowed = new Set(want.map((entry) => entry.id));
      const got: AdminEntry[] = [];
      for (let skip = 0; skip <= 40; skip += 20)
        got.push(...(await listEntries(db, { ...filter, skip, limit: 20 })));
      expect(got.length, label).toBe(Math.min(60, want.length));
      expect(new Set(got.map(idOf)).size, label).toBe(got.length);
      expect(
        got.filter((entry) => !allowed.has(idOf(entry))),
        label,
      ).toEqual([]);
      expect(got.map(timeOf), label).toEqual(want.slice(0, got.length).map((entry) => entry.at));
    }
  });

  test('no combination of filters scans, sorts or leaves the indexes', async () => {
    for (const filter of filters()) {
      const statement = entryKeys(dialect, { ...filter, skip: 0, limit: 51 });
      // Of a chain without rows PostgreSQL knows that there are none; any index will do.
      if (!statement || filter.chain === 'solana') continue;
      const plan = await planOf(db, statement.compile(db.query));
      expect(plan.faults, `${JSON.stringify(filter)}\n${plan.text}`).toEqual([]);
    }
  });

  test('an unmatched transfer names the open invoices of its address and asset, nearest amount first', async () => {
    const at = START + 10_000_000;
    const make = (amount: number, values = {}) =>
      newInvoice({ address_key: 'busy', created_at: at, amount_atomic: String(amount), ...values });
    const near = make(1_000_001);
    const exact = make(1_000_000);
    const crowd = Array.from({ length: 30 }, (_, each) => make(5_000_000 + each));
    const others = [
      make(1_000_000, { chain: 'ton-usdt' }),
      make(1_000_000, { address_key: 'elsewhere' }),
      make(1_000_000, { status: 'expired' }),
      make(1_000_000, { created_at: at + 100 }),
    ];
    await insertAll(db, 'invoices', [near, ...crowd, exact, ...others]);
    const search = { blockchain: 'ton', chain: 'ton', amount_atomic: '1000000', first_seen_at: at + 10 };
    const found = await candidatesFor(db.query, { ...search, address_key: 'busy' });
    expect(found).toHaveLength(CANDIDATES_SHOWN);
    expect(found.slice(0, 3).map((row) => row.id)).toEqual([exact.id, near.id, crowd[0]?.id]);
    expect(await candidatesFor(db.query, { ...search, address_key: 'no one' })).toEqual([]);

    const payment = newPayment({ created_at: at + 10 });
    await insertAll(db, 'payments', [payment]);
    await insertAll(db, 'transfers', [transferOf(payment.id, at + 10)]);
    const [entry] = await entriesOfPayments(db.query, [payment.id]);
    expect(entry?.candidates).toBe(CANDIDATES_SHOWN);
  });
});

const transferOf = (payment_id: string, seen: number) => ({
  id: randomUUID(),
  blockchain: 'ton',
  txid: randomUUID(),
  idx: '0',
  chain: 'ton',
  address_key: 'busy',
  amount_atomic: '1000000',
  memo: null,
  reference_keys: toJson([]),
  sender: null,
  ambiguous: null,
  height: 1,
  block_hash: 'block',
  earliest_at: seen,
  latest_at: seen,
  inputs: toJson([]),
  confirmations: 1,
  state: 'final' as const,
  disposition: 'unmatched' as const,
  invoice_id: null,
  payment_id,
  booked_invoice_id: null,
  first_seen_at: seen,
  updated_at: seen,
});

const dismissal = {
  dismissed: 1,
  dismissed_at: START,
  dismissed_by: 'operator:1',
  dismissed_note: 'sent back',
} as const;

async function seed(db: Db, owners: string[]): Promise<Known[]> {
  const invoices: ReturnType<typeof newInvoice>[] = [];
  const payments: ReturnType<typeof newPayment>[] = [];
  const known: Known[] = [];
  for (let each = 0; each < INVOICES; each++) {
    const [blockchain, chain] = chains[each % 7 === 0 ? 2 : each % 2] ?? chains[0];
    const invoice = newInvoice({
      owner_id: each % 11 === 0 ? null : (owners[each % 3] ?? null),
      kind: each % 13 === 0 ? 'refill' : 'sale',
      blockchain,
      chain,
      status: statuses[(each * 5) % statuses.length] ?? 'created',
      created_at: START + each * 10,
    });
    invoices.push(invoice);
    const of = { invoice_id: invoice.id, owner_id: invoice.owner_id, blockchain, chain };
    const main = mainStatus(invoice.status, each);
    const isDismissed = main === 'late' && each % 4 === 0;
    if (main)
      payments.push(
        newPayment({
          ...of,
          main: 1,
          status: main,
          listed_as: invoice.kind,
          listed_at: invoice.created_at,
          ...(isDismissed ? dismissal : {}),
        }),
      );
    const shared = { kind: invoice.kind, chain, owner: invoice.owner_id ?? null };
    const payment_status = isDismissed ? 'dismissed' : main === 'confirmed' ? null : main;
    known.push({ ...shared, id: invoice.id, at: invoice.created_at, status: invoice.status, payment_status });
    for (const status of unappliedStatuses(each)) {
      const alone = status === 'unmatched' || each % 2 === 0;
      const at = invoice.created_at + 3;
      const unapplied = newPayment({
        ...of,
        ...(alone ? { invoice_id: null } : {}),
        status,
        listed_as: alone ? 'unapplied' : `unapplied_${invoice.kind}`,
        listed_at: at,
        ...(status !== 'orphaned' && each % 3 === 0 ? dismissal : {}),
      });
      payments.push(unapplied);
      const kind = alone ? null : invoice.kind;
      const payment_status = unapplied.dismissed === 1 ? 'dismissed' : status;
      known.push({ ...shared, id: unapplied.id, at, kind, status: null, payment_status });
    }
  }
  await insertAll(db, 'invoices', invoices);
  await insertAll(db, 'payments', payments);
  return known;
}

function mainStatus(invoice: string, each: number): PaymentStatus | null {
  if (invoice === 'confirmed') return 'confirmed';
  if (invoice === 'created')
    return (['detected', 'confirming', 'held', 'orphaned', null] as const)[each % 5] ?? null;
  return each % 6 === 0 ? 'late' : null;
}

/** A late payment alongside its invoice, one that matches nothing, and those that vanished. */
function unappliedStatuses(each: number): ('late' | 'unmatched' | 'orphaned')[] {
  if (each % 97 === 0) return ['orphaned'];
  if (each % 61 === 0) return ['unmatched'];
  return each % 59 === 0 && each % 2 === 1 ? ['late'] : [];
}

interface PlanNode {
  'Node Type': string;
  Plans?: PlanNode[];
}

/** The plan as text, with every step in it that would grow with the number of rows. */
async function planOf(db: Db, query: CompiledQuery): Promise<{ text: string; faults: string[] }> {
  if (db.dialect === 'sqlite') {
    const { rows } = await db.query.executeQuery<{ detail: string }>({
      ...query,
      sql: `explain query plan ${query.sql}`,
    });
    const lines = rows.map((row) => row.detail);
    const fault = (line: string) =>
      /TEMP B-TREE/.test(line) || (/^(SCAN|SEARCH)/.test(line) && !/COVERING INDEX/.test(line));
    return { text: lines.join('\n'), faults: lines.filter(fault) };
  }
  const root = await db.transaction(async (tx) => {
    // A test's tables are so small that reading and sorting all of them looks cheap.
    for (const way of ['seqscan', 'bitmapscan', 'sort'])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx);
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({
      ...query,
      sql: `explain (format json) ${query.sql}`,
    });
    return rows[0]?.['QUERY PLAN'][0]?.Plan as PlanNode;
  });
  // Each part ends at its own limit; what is above only merges pages.
  const parts = (node: PlanNode): PlanNode[] =>
    node['Node Type'] === 'Limit' && node !== root ? [node] : (node.Plans ?? [node]).flatMap(parts);
  const nodes = (node: PlanNode): string[] => [node['Node Type'], ...(node.Plans ?? []).flatMap(nodes)];
  const faults = parts(root).filter((part) => nodes(part).join() !== 'Limit,Index Only Scan');
  return { text: JSON.stringify(root, null, 1), faults: faults.map((part) => nodes(part).join()) };
}
