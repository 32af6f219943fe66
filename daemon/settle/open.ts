// Opens an invoice: its row and the event that says so.
import type { Executor } from '../../data/db/open.ts';
import { insertOpened } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { announceEvent, newEvent } from './event.ts';
import type { SettleDeps } from './step.ts';

/**
 * In the transaction of the caller, or as `Db.statement`. False where its id, memo, reference or reserved amount is taken:
 * nothing is written.
 */
export async function openInvoice(
  deps: Pick<SettleDeps, 'db' | 'config' | 'signals'>,
  on: Executor,
  invoice: InvoiceRow,
): Promise<boolean> {
  const { owner_id: merchant_id, created_at: now } = invoice;
  const event = newEvent(deps, 'invoice.created', { merchant_id, invoice, payment: null, now });
  if (!(await insertOpened(deps.db.dialect, on, invoice, event))) return false;
  announceEvent(deps, on, event);
  return true;
}
