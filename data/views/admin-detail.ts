// Everything stored about one invoice or one payment, for the operator; each list within a limit.
import { sql } from 'kysely';
import type { Executor } from '../db/database.ts';
import type { EventRow, IncomeRow, LedgerRow, PaymentRow, TransferRow } from '../schema/tables.ts';

/** Most payments, transfers or events of one invoice that one answer shows. */
const SHOWN = 200;

/** What rows belong to: an invoice, or a payment that no invoice shows. */
export type Subject = { invoice_id: string } | { payment_id: string };

const columnOf = (subject: Subject) =>
  'invoice_id' in subject
    ? (['invoice_id', subject.invoice_id] as const)
    : (['payment_id', subject.payment_id] as const);

/** The payment an invoice shows first, then its late ones, oldest first. */
export function paymentsOf(query: Executor, invoice_id: string): Promise<PaymentRow[]> {
  return query
    .selectFrom('payments')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    .orderBy((of) => of.fn.coalesce('main', of.lit(0)), 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(SHOWN)
    .execute();
}

/** Oldest first, those that are gone included. */
export function transfersOf(query: Executor, subject: Subject): Promise<TransferRow[]> {
  const [column, id] = columnOf(subject);
  return query
    .selectFrom('transfers')
    .selectAll()
    .where(column, '=', id)
    .orderBy('earliest_at')
    .orderBy('id')
    .limit(SHOWN)
    .execute();
}

/** Oldest first. */
export function eventsOf(query: Executor, subject: Subject): Promise<EventRow[]> {
  const [column, id] = columnOf(subject);
  let select = query.selectFrom('events').selectAll().where(column, '=', id);
  // Payments with an invoice are found by it.
  if (column === 'payment_id') select = select.where('invoice_id', 'is', null);
  return select.orderBy('seq').limit(SHOWN).execute();
}

/** The events of each of these, oldest first. */
export async function eventIdsOf(
  query: Executor,
  subjects: readonly Subject[],
  limit: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (const subject of subjects) {
    if (ids.length >= limit) break;
    ids.push(...(await eventsOf(query, subject)).map((event) => event.id));
  }
  return ids.slice(0, limit);
}

export function ledgerOfInvoice(query: Executor, invoice_id: string): Promise<LedgerRow[]> {
  return query.selectFrom('ledger').selectAll().where('invoice_id', '=', invoice_id).orderBy('seq').execute();
}

export function getLedgerEntry(query: Executor, id: string): Promise<LedgerRow | undefined> {
  return query.selectFrom('ledger').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The latest entries of a merchant, newest first. */
export function latestEntries(query: Executor, merchant_id: string, limit: number): Promise<LedgerRow[]> {
  return query
    .selectFrom('ledger')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

export function incomeOfInvoice(query: Executor, invoice_id: string): Promise<IncomeRow | undefined> {
  return query.selectFrom('income').selectAll().where('invoice_id', '=', invoice_id).executeTakeFirst();
}

/** Addresses of a blockchain that are watched at `now`, and its transfers that are not final. */
export async function watchCounts(
  query: Executor,
  blockchain: string,
  now: number,
): Promise<{ watched: number; pending: number }> {
  const count = (row: { count: number | bigint | string }) => Number(row.count);
  const watched = await query
    .selectFrom('watches')
    .select((of) => of.fn.countAll().as('count'))
    .where('blockchain', '=', blockchain)
    .where('watch_until', '>=', now)
    .executeTakeFirstOrThrow();
  const pending = await query
    .selectFrom('transfers')
    .select((of) => of.fn.countAll().as('count'))
    .where('blockchain', '=', blockchain)
    .where('state', '=', sql.lit('pending'))
    .executeTakeFirstOrThrow();
  return { watched: count(watched), pending: count(pending) };
}
