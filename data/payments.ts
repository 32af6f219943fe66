// Payments and their logs: every change of status is a row that stays.
import { type Insertable, sql, type Updateable } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import type { PaymentLogRow, PaymentRow, Tables } from './schema/tables.ts';

/** Most log rows that one answer shows. */
const LOGS_SHOWN = 200;

export function mainPayment(query: Executor, invoice_id: string): Promise<PaymentRow | undefined> {
  return (
    query
      .selectFrom('payments')
      .selectAll()
      .where('invoice_id', '=', invoice_id)
      // Written out: bound, SQLite plans the statement again at each run, because an index holds these alone.
      .where('main', '=', sql.lit(1))
      .executeTakeFirst()
  );
}

export function getPayment(query: Executor, id: string): Promise<PaymentRow | undefined> {
  return query.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function insertPayment(
  tx: Tx,
  values: Omit<Insertable<Tables['payments']>, 'id'>,
): Promise<PaymentRow> {
  return tx
    .insertInto('payments')
    .values({ ...values, id: newId() })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updatePayment(
  tx: Tx,
  id: string,
  values: Updateable<Tables['payments']>,
): Promise<void> {
  await tx.updateTable('payments').set(values).where('id', '=', id).execute();
}

export async function insertLog(
  tx: Tx,
  log: Omit<Insertable<Tables['payment_logs']>, 'id' | 'seq'>,
): Promise<void> {
  await tx
    .insertInto('payment_logs')
    .values({ ...log, id: newId() })
    .execute();
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
