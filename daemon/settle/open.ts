// Opens an invoice: its row and the event that says so.
import type { Executor } from '../../data/db/open.ts';
import { insertOpened, insertOpenedAlone } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { announceEvent, newEvent } from './event.ts';
import type { SettleDeps } from './step.ts';

type Deps = Pick<SettleDeps, 'db' | 'config' | 'signals'>;

const eventOf = (deps: Deps, invoice: InvoiceRow) => {
  const { owner_id: merchant_id, created_at: now } = invoice;
  return newEvent(deps, 'invoice.created', { merchant_id, invoice, payment: null, now });
};

/** In the transaction of the caller. False where its id, memo, reference or reserved amount is taken: nothing is written. */
export async function openInvoice(deps: Deps, on: Executor, invoice: InvoiceRow): Promise<boolean> {
  const event = eventOf(deps, invoice);
  if (!(await insertOpened(deps.db.dialect, on, invoice, event))) return false;
  announceEvent(deps, on, event);
  return true;
}

/** The same in a transaction of its own. */
export async function openInvoiceAlone(deps: Deps, invoice: InvoiceRow): Promise<boolean> {
  const event = eventOf(deps, invoice);
  if (!(await insertOpenedAlone(deps.db, invoice, event))) return false;
  announceEvent(deps, deps.db.query, event);
  return true;
}
