// The pages, fragments and images that buyers see.
import { getInvoice } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/tables.ts';
import type { payQrPng, payQrSvg } from '../../src/api/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { drawQrPng, drawQrSvg } from '../checkout/qr.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';

/** The payload of an invoice never changes. */
const QR_HEADERS = { 'cache-control': 'public, max-age=86400, immutable' };

export const checkout: Handlers<readonly [typeof payQrSvg, typeof payQrPng]> = {
  async payQrSvg({ params }, { app }) {
    const invoice = await findInvoice(app, params.invoice_id);
    return { body: await drawQrSvg(invoice.qr_payload), headers: QR_HEADERS };
  },
  async payQrPng({ params }, { app }) {
    const invoice = await findInvoice(app, params.invoice_id);
    return { body: await drawQrPng(invoice.qr_payload), headers: QR_HEADERS };
  },
};

async function findInvoice(app: App, id: string): Promise<InvoiceRow> {
  const invoice = await getInvoice(app.db.query, id);
  if (!invoice) throw new Refusal('invoice_not_found');
  return invoice;
}
