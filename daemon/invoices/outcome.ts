// What comes of a fact that was applied to an invoice: the invoice, or the refusal that says why not.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import type { InvoiceStatus } from '../../src/invoice.ts';
import type { App } from '../context.ts';
import { apply, type Outcome } from '../settle/settle.ts';

/** The invoice after a fact that may be refused. */
export function invoiceOf(outcome: Outcome | undefined): InvoiceRow {
  if (!outcome) throw new Refusal('invoice_not_found');
  const { invoice, verdict } = outcome;
  if (verdict.verdict !== 'refused') return invoice;
  throw verdict.code === 'invoice_ended' ? hasEnded(invoice) : new Refusal(verdict.code);
}

/** The invoice after a request to end it; refused where payment or clock, which are evaluated first, have ended it otherwise. */
export function invoiceIn(status: InvoiceStatus, outcome: Outcome | undefined): InvoiceRow {
  const invoice = invoiceOf(outcome);
  if (invoice.status !== status) throw hasEnded(invoice);
  return invoice;
}

/** `extra` says what the caller can do, where that is not to create a new one. */
export const hasEnded = ({ status }: InvoiceRow, extra: Record<string, unknown> = {}): Refusal =>
  new Refusal('invoice_ended', { detail: `The invoice has ended: it is ${status}`, extra });

/** Cancels an invoice for its buyer. Refuses with `invoice_not_found` or `invoice_ended`. */
export async function cancelInvoice(app: App, id: string): Promise<InvoiceRow> {
  return invoiceIn('cancelled', await apply(app, id, { fact: { kind: 'cancel' }, actor: 'buyer' }));
}
