// Writes the event of a change, and the one automatic delivery of a confirmation.

import { afterCommit } from '../../data/db/after-commit.ts';
import type { Tx } from '../../data/db/open.ts';
import { insertEvent, newEventId } from '../../data/events.ts';
import { getMerchant } from '../../data/merchants.ts';
import type { InvoiceRow, PaymentRow } from '../../data/schema/tables.ts';
import type { EventType } from '../../src/event-types.ts';
import { webhookBody } from '../../src/webhook.ts';
import { presentInvoice, presentPayment } from '../invoices/present.ts';
import type { SettleDeps } from './step.ts';

export interface EventSubject {
  merchant_id: string | null;
  invoice: InvoiceRow | null;
  payment: PaymentRow | null;
  /** Unix seconds. */
  now: number;
}

/** Stores an event and returns its id. The body is what a webhook would carry, to the byte. */
export async function writeEvent(
  deps: SettleDeps,
  tx: Tx,
  type: EventType,
  subject: EventSubject,
): Promise<string> {
  const { invoice, payment, now } = subject;
  const id = newEventId();
  await insertEvent(tx, id, {
    merchant_id: subject.merchant_id,
    type,
    invoice_id: invoice?.id ?? null,
    payment_id: payment?.id ?? null,
    body: webhookBody({
      type,
      created_at: now,
      invoice: invoice && { ...presentInvoice(invoice, deps.config.public_url), kind: invoice.kind },
      payment: payment && presentPayment(payment, invoice),
    }),
    created_at: now,
  });
  const { merchant_id } = subject;
  if (merchant_id !== null) afterCommit(tx, () => deps.signals.announce('events', merchant_id));
  return id;
}

/** Where the confirmation of an invoice is posted; null for nowhere. */
export async function webhookTarget(tx: Tx, invoice: InvoiceRow): Promise<string | null> {
  if (invoice.callback_url !== null) return invoice.callback_url;
  if (invoice.owner_id === null) return null;
  const merchant = await getMerchant(tx, invoice.owner_id);
  // A receiver that takes each webhook for a sale must not be sent a refill that it did not ask for.
  if (invoice.kind === 'refill' && merchant?.webhook_refills !== 1) return null;
  return merchant?.webhook_url ?? null;
}
