// Finds an invoice for who asks; another's is answered like an absent one.
import { getInvoice } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';
import { requirePublic } from './withheld.ts';

/** Id of the merchant that a key stands for; null for the platform key. */
export const ownerId = (owner: Owner): string | null =>
  owner.kind === 'merchant' ? owner.merchant.id : null;

/** Refuses with `invoice_not_found`. */
export async function findInvoice({ db }: Pick<App, 'db'>, id: string): Promise<InvoiceRow> {
  const invoice = await getInvoice(db.query, id);
  if (!invoice) throw new Refusal('invoice_not_found');
  return invoice;
}

/** An invoice of which the public may read. Refuses with `invoice_not_found` and `invoice_withheld`. */
export async function findPublicInvoice(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  id: string,
): Promise<InvoiceRow> {
  const invoice = await findInvoice(app, id);
  requirePublic(app, invoice);
  return invoice;
}

/** An invoice of this owner. Refuses with `invoice_not_found`. */
export async function ownedInvoice(app: Pick<App, 'db'>, owner: Owner, id: string): Promise<InvoiceRow> {
  const invoice = await findInvoice(app, id);
  if (invoice.owner_id !== ownerId(owner)) throw new Refusal('invoice_not_found');
  return invoice;
}
