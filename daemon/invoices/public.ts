// What a buyer is shown of an invoice, as text that is kept while the invoice stays as it is: wallets and shops ask
// for it again and again until it is paid.
import { getInvoice, invoiceState, stateOf } from '../../data/invoices.ts';
import { getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { Prepared } from '../http/handler.ts';
import { presentInvoice } from './present.ts';

/** Invoices whose text is kept, about 2 kB each. */
const KEPT = 5_000;
const kept = new WeakMap<App['db'], Map<string, { state: string; answer: Prepared }>>();

/** The answer of `getPublicInvoice`. Each time the database is asked: for the invoice, or whether it is still the same. */
export async function publicInvoice(app: App, id: string): Promise<Prepared> {
  const known = kept.get(app.db) ?? new Map();
  kept.set(app.db, known);
  const found = known.get(id);
  if (found && (await invoiceState(app.db, id))?.state === found.state) return found.answer;
  const row = await getInvoice(app.db.query, id);
  if (!row) throw new Refusal('invoice_not_found');
  const body = getPublicInvoice.response.parse(presentInvoice(row, app.config.public_url));
  const answer = new Prepared({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (known.size >= KEPT) known.clear();
  // Of the row that was presented: it may have moved on since the state was read.
  known.set(id, { state: stateOf(row), answer });
  return answer;
}
