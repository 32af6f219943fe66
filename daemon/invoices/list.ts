// The invoices of an owner, page by page, newest first.
import { countInvoices, listInvoices } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Total } from '../../data/totals.ts';
import type { InvoiceStatus } from '../../src/invoice.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';
import { ownedInvoice, ownerId } from './find.ts';

export interface InvoiceQuery {
  /** A status; `settled` means `confirmed`. */
  status?: InvoiceStatus | 'settled' | undefined;
  external_ref?: string | undefined;
  /** Id of the last invoice of the page before. */
  after?: string | undefined;
  limit: number;
  /** Whether all are counted. */
  count?: boolean | undefined;
}

/** Refuses with `invoice_not_found` where `after` is no invoice of this owner. */
export async function invoicePage(
  app: App,
  owner: Owner,
  { limit, after, external_ref, status, count }: InvoiceQuery,
): Promise<{ rows: InvoiceRow[]; has_more: boolean } & Partial<Total>> {
  if (after !== undefined) await ownedInvoice(app, owner, after);
  const filter = {
    owner_id: ownerId(owner),
    status: status === 'settled' ? 'confirmed' : status,
    external_ref,
    after,
    limit: limit + 1,
  };
  const rows = await app.db.readList(({ query }) => listInvoices(query, filter));
  const total = count ? await app.db.readList(({ query }) => countInvoices(query, filter)) : {};
  return { rows: rows.slice(0, limit), has_more: rows.length > limit, ...total };
}
