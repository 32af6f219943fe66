// What the holder of a key may do to an invoice besides reading it: have the chain read now, and simulate a payment.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { everyOffer } from '../../data/terms.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';
import { apply } from '../settle/settle.ts';
import { ownedInvoice } from './find.ts';
import { refuseShortLimit } from './limit.ts';
import { invoiceIn } from './outcome.ts';

/**
 * Reads the chain now, also for each coin that it asked for before, and evaluates the invoice; one that has ended is returned as
 * it is. Refuses with `invoice_not_found` or `limit_exhausted`; throws ProviderError where the chain of its coin is not read.
 */
export async function checkInvoice(app: App, owner: Owner, id: string): Promise<InvoiceRow> {
  const invoice = await ownedInvoice(app, owner, id);
  if (invoice.status !== 'created') return invoice;
  await app.observer.pollInTime(invoice.blockchain, [invoice]).catch(async (error: unknown) => {
    // The caller can do something about a short limit, and is refused for it also while the chain cannot be reached.
    // Read again: it may have been booked in the meantime.
    if (error instanceof ProviderError) await refuseShortLimit(app, await ownedInvoice(app, owner, id));
    throw error;
  });
  const [, ...former] = await everyOffer(app.db.query, invoice);
  for (const offer of former)
    await app.observer.pollInTime(offer.blockchain, [offer]).catch((error: unknown) => {
      // What it asks for now was read; the observer comes back for the rest.
      if (!(error instanceof ProviderError)) throw error;
    });
  const outcome = await apply(app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'merchant' });
  if (!outcome) throw new Refusal('invoice_not_found');
  await refuseShortLimit(app, outcome.invoice);
  return outcome.invoice;
}

/** Confirms an invoice without a payment. Refuses with `invoice_not_found`, `demo_off` or `invoice_ended`. */
export async function simulateInvoice(app: App, owner: Owner, id: string): Promise<InvoiceRow> {
  const invoice = await ownedInvoice(app, owner, id);
  if (app.config.network !== 'testnet' || !app.config.demo) throw new Refusal('demo_off');
  const outcome = await apply(app, invoice.id, {
    fact: { kind: 'simulate' },
    actor: 'merchant',
    note: 'simulated: no coin moved',
  });
  return invoiceIn('confirmed', outcome);
}
