// Receipts that are still to be mailed: the addresses that invoices carry until their receipt was sent.
import { type SqlBool, sql } from 'kysely';
import type { Executor } from './db/database.ts';

export interface DueReceipt {
  id: string;
  customer_email: string;
  paid_at: number | null;
  receipt_due_at: number | null;
}

/** Written out, because a partial index is used only where its condition stands in the statement. */
const hasEmail = sql<SqlBool>`customer_email is not null`;

/** Of confirmed invoices, those that may be sent now, in Unix seconds. */
export async function dueReceipts(query: Executor, now: number, limit: number): Promise<DueReceipt[]> {
  const rows = await query
    .selectFrom('invoices')
    .select(['id', 'customer_email', 'paid_at', 'receipt_due_at'])
    .where(hasEmail)
    .where('status', '=', 'confirmed')
    .where('receipt_due_at', '<=', now)
    .limit(limit)
    .execute();
  return rows as DueReceipt[];
}

/** Takes the turn to send it until `next_at`; false where another daemon has it. */
export async function claimReceipt(
  query: Executor,
  { id, receipt_due_at }: DueReceipt,
  next_at: number,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('invoices')
    .set({ receipt_due_at: next_at })
    .where('id', '=', id)
    .where('receipt_due_at', '=', receipt_due_at)
    .where(hasEmail)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The receipt was sent, or is given up: the address is forgotten. */
export async function forgetEmail(query: Executor, id: string): Promise<void> {
  await query
    .updateTable('invoices')
    .set({ customer_email: null, receipt_due_at: null })
    .where('id', '=', id)
    .execute();
}

/** Forgets the addresses of invoices that ended unpaid and are watched no more. Unix seconds. */
export async function forgetUnpaidEmails(query: Executor, now: number): Promise<void> {
  await query
    .updateTable('invoices')
    .set({ customer_email: null, receipt_due_at: null })
    .where(hasEmail)
    .where('status', 'in', ['expired', 'cancelled', 'failed'])
    .where('watch_until', '<', now)
    .execute();
}
