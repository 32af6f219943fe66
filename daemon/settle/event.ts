// Writes the event of a change, and the one automatic delivery of a confirmation.

import { afterCommit } from '../../data/db/after-commit.ts';
import type { Executor, Tx } from '../../data/db/open.ts';
import { insertEvent, type NewEvent, newEventId } from '../../data/events.ts';
import { webhookAddress } from '../../data/merchants.ts';
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

/** Stores the event of a change and returns its id. */
export async function writeEvent(
  deps: SettleDeps,
  tx: Tx,
  type: EventType,
  subject: EventSubject,
): Promise<string> {
  const event = newEvent(deps, type, subject);
  await insertEvent(tx, event);
  announceEvent(deps, tx, event);
  return event.id;
}

/** Wakes those who wait for events of its merchant, when it is durable. */
export function announceEvent(
  { signals }: Pick<SettleDeps, 'signals'>,
  on: Executor,
  { merchant_id }: NewEvent,
): void {
  if (merchant_id !== null) afterCommit(on, () => signals.announce('events', merchant_id));
}

/** The event of a change; its body is what a webhook would carry, to the byte. */
export function newEvent(
  { config }: Pick<SettleDeps, 'config'>,
  type: EventType,
  { merchant_id, invoice, payment, now }: EventSubject,
): NewEvent {
  return {
    id: newEventId(),
    merchant_id,
    type,
    invoice_id: invoice?.id ?? null,
    payment_id: payment?.id ?? null,
    body: webhookBody({
      type,
      created_at: now,
      invoice: invoice && Object.assign(presentInvoice(invoice, config.public_url), { kind: invoice.kind }),
      payment: payment && presentPayment(payment, invoice),
    }),
    created_at: now,
  };
}

/** Where the confirmation of an invoice is posted; null for nowhere. */
export async function webhookTarget(tx: Tx, invoice: InvoiceRow): Promise<string | null> {
  if (invoice.callback_url !== null) return invoice.callback_url;
  if (invoice.owner_id === null) return null;
  const merchant = await webhookAddress(tx, invoice.owner_id);
  // A receiver that takes each webhook for a sale must not be sent a refill that it did not ask for.
  if (invoice.kind === 'refill' && merchant?.webhook_refills !== 1) return null;
  return merchant?.webhook_url ?? null;
}
