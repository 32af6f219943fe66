// Payments and their logs: every change of status is a row that stays.
import { type Insertable, sql, type Updateable } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { question, writer } from './db/prepared.ts';
import type { PaymentLogRow, PaymentRow, Tables } from './schema/tables.ts';

/** Most log rows that one answer shows. */
const LOGS_SHOWN = 200;

const main = question(['invoice_id'], (query, { invoice_id }: { invoice_id: string }) =>
  query
    .selectFrom('payments')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    // Written out: bound, SQLite plans the statement again at each run, because an index holds these alone.
    .where('main', '=', sql.lit(1)),
);

export async function mainPayment(query: Executor, invoice_id: string): Promise<PaymentRow | undefined> {
  return (await main(query, { invoice_id }))[0];
}

export function getPayment(query: Executor, id: string): Promise<PaymentRow | undefined> {
  return query.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A merchant's own: what was booked for another's invoice is not his, though he was first at its address. */
export function ownPayment(query: Executor, id: string, owner_id: string): Promise<PaymentRow | undefined> {
  return query
    .selectFrom('payments')
    .leftJoin('invoices', 'invoices.id', 'payments.invoice_id')
    .selectAll('payments')
    .where('payments.id', '=', id)
    .where('payments.owner_id', '=', owner_id)
    .where((is) => is.or([is('payments.invoice_id', 'is', null), is('invoices.owner_id', '=', owner_id)]))
    .executeTakeFirst();
}

/** All of a payment. */
const columns = [
  'id',
  'invoice_id',
  'main',
  'owner_id',
  'chain',
  'blockchain',
  'currency',
  'decimals',
  'status',
  'txid',
  'received_atomic',
  'amount_match',
  'confirmations',
  'listed_as',
  'listed_at',
  'created_at',
  'dismissed',
  'dismissed_at',
  'dismissed_by',
  'dismissed_note',
  'updated_at',
] as const satisfies (keyof PaymentRow)[];

const insert = writer(columns, (query, place: PaymentRow) => query.insertInto('payments').values(place));

/** Of a payment that waits, or waited for no one. */
export const UNDISMISSED = {
  dismissed: 0,
  dismissed_at: null,
  dismissed_by: null,
  dismissed_note: null,
} as const;

export async function insertPayment(
  tx: Tx,
  values: Omit<PaymentRow, 'id' | keyof typeof UNDISMISSED>,
): Promise<PaymentRow> {
  const payment = { ...values, ...UNDISMISSED, id: newId() };
  await insert(tx, payment);
  return payment;
}

/** What waits no more as late or unmatched is not dismissed either: it is booked, or its transaction has left the chain. */
export async function updatePayment(
  tx: Tx,
  id: string,
  values: Updateable<Tables['payments']>,
): Promise<void> {
  const { status } = values;
  const ends = status !== undefined && status !== 'late' && status !== 'unmatched';
  await tx
    .updateTable('payments')
    .set({ ...values, ...(ends ? UNDISMISSED : {}) })
    .where('id', '=', id)
    .execute();
}

/** Dismisses a payment that waits as late or unmatched; undefined where none does. */
export function dismissPayment(
  tx: Tx,
  id: string,
  { by, note, now }: { by: string; note: string; now: number },
): Promise<PaymentRow | undefined> {
  return tx
    .updateTable('payments')
    .set({ dismissed: 1, dismissed_at: now, dismissed_by: by, dismissed_note: note, updated_at: now })
    .where('id', '=', id)
    .where('dismissed', '=', 0)
    .where('status', 'in', ['late', 'unmatched'])
    .returningAll()
    .executeTakeFirst();
}

/** Which of these payments are dismissed. */
export async function dismissedAmong(query: Executor, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await query
    .selectFrom('payments')
    .select('id')
    .where('id', 'in', ids)
    .where('dismissed', '=', 1)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Has a dismissed payment wait again; undefined where it is not dismissed, or not by `by`. */
export function reopenPayment(
  tx: Tx,
  id: string,
  { by, now }: { by: string | null; now: number },
): Promise<PaymentRow | undefined> {
  let update = tx
    .updateTable('payments')
    .set({ ...UNDISMISSED, updated_at: now })
    .where('id', '=', id)
    .where('dismissed', '=', 1);
  if (by !== null) update = update.where('dismissed_by', '=', by);
  return update.returningAll().executeTakeFirst();
}

/** How many log rows of a payment somebody has written. */
export async function countLogsBy(query: Executor, payment_id: string, actor: string): Promise<number> {
  const { count } = await query
    .selectFrom('payment_logs')
    .select((of) => of.fn.countAll().as('count'))
    .where('payment_id', '=', payment_id)
    .where('actor', '=', actor)
    .executeTakeFirstOrThrow();
  return Number(count);
}

type Log = Omit<Insertable<Tables['payment_logs']>, 'seq'>;

const log = writer(
  [
    'id',
    'payment_id',
    'invoice_id',
    'from_status',
    'to_status',
    'txid',
    'confirmations',
    'note',
    'actor',
    'created_at',
  ],
  (query, place: Log) => query.insertInto('payment_logs').values(place),
);

export async function insertLog(tx: Tx, values: Omit<Log, 'id'>): Promise<void> {
  await log(tx, { ...values, id: newId() });
}

/** Logs of an invoice and of all its payments, oldest first. */
export function logsOfInvoice(query: Executor, invoice_id: string): Promise<PaymentLogRow[]> {
  return query
    .selectFrom('payment_logs')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    .orderBy('seq')
    .limit(LOGS_SHOWN)
    .execute();
}

export function logsOfPayment(query: Executor, payment_id: string): Promise<PaymentLogRow[]> {
  return query
    .selectFrom('payment_logs')
    .selectAll()
    .where('payment_id', '=', payment_id)
    .orderBy('seq')
    .limit(LOGS_SHOWN)
    .execute();
}

/** Invoices of an owner whose payment waits for the limit, oldest first. */
export async function heldInvoices(query: Executor, owner_id: string, limit: number): Promise<string[]> {
  const rows = await query
    .selectFrom('payments')
    .select('invoice_id')
    .where('owner_id', '=', owner_id)
    // Written out: a partial index is used only where its condition is seen.
    .where('status', '=', sql.lit('held'))
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.flatMap((row) => row.invoice_id ?? []);
}
