// Opens an invoice: its row and the event that says so.
import type { Tx } from '../../data/db/open.ts';
import { insertInvoice } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { writeEvent } from './event.ts';
import type { SettleDeps } from './step.ts';

/** In the transaction of the caller. False where its id, memo, reference or reserved amount is taken: nothing is written. */
export async function openInvoice(deps: SettleDeps, tx: Tx, invoice: InvoiceRow): Promise<boolean> {
  if (!(await insertInvoice(tx, invoice))) return false;
  const { owner_id: merchant_id, created_at: now } = invoice;
  await writeEvent(deps, tx, 'invoice.created', { merchant_id, invoice, payment: null, now });
  return true;
}
