// Writes what is seen of a payment while its invoice waits.
import { updateOpenInvoice } from '../../data/invoices.ts';
import { mainPayment } from '../../data/payments.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { GRACE_SECONDS, type Verdict } from '../../src/invoice.ts';
import { writeEvent } from './event.ts';
import { writePayment } from './payment.ts';
import type { Step } from './step.ts';
import { watchOffers } from './terms.ts';

type Waiting = Extract<Verdict, { verdict: 'waiting' }>;

export async function writeWaiting(
  step: Step,
  verdict: Waiting,
  transfers: readonly TransferRow[],
): Promise<InvoiceRow> {
  const { deps, tx, invoice, now } = step;
  const { sum, payment: status } = verdict;
  const absent = transfers.length === 0 && invoice.payment_id === null;
  const written = status === null || absent ? null : await writePayment(step, status, sum, transfers);
  const values = {
    payment_id: written?.payment.id ?? invoice.payment_id,
    amount_match: sum.amount_match,
    received_atomic: sum.received_atomic > 0n ? sum.received_atomic.toString() : null,
    txid: sum.txid,
    confirmations: sum.confirmations,
    due_at: nextEvaluation(step, verdict, transfers),
    watch_until: await watchedUntil(step),
  };
  const changed = (Object.keys(values) as (keyof typeof values)[]).some(
    (key) => values[key] !== invoice[key],
  );
  if (!changed) return invoice;
  const seen = { ...invoice, ...values };
  if (!(await updateOpenInvoice(tx, seen))) throw new Error(`invoice ${invoice.id} moved under its lock`);
  if (written?.moved && (status === 'detected' || status === 'confirming')) {
    const type = `payment.${status}` as const;
    const payment = (await mainPayment(tx, invoice.id)) ?? null;
    await writeEvent(deps, tx, type, { merchant_id: invoice.owner_id, invoice: seen, payment, now });
  }
  return seen;
}

/**
 * An open invoice outlives the watch on its address where the daemon was down for days, or the clock is days ahead: it is
 * watched again, or nothing would be read, neither its payment nor the time by the chain's clock.
 */
async function watchedUntil({ tx, invoice, now }: Step): Promise<number> {
  if (invoice.watch_until >= now) return invoice.watch_until;
  const watch_until = now + GRACE_SECONDS;
  await watchOffers(tx, { ...invoice, watch_until }, watch_until);
  return watch_until;
}

/**
 * When the clock must evaluate it again: at the end of the invoice's time, or, while a payment made in time waits for
 * confirmations or the limit, at the end of the grace. Everything in between is evaluated when it happens.
 */
function nextEvaluation(
  { invoice, counts }: Step,
  verdict: Waiting,
  transfers: readonly TransferRow[],
): number {
  const waits = verdict.limit_exhausted || !transfers.every(counts);
  return waits ? invoice.expires_at + GRACE_SECONDS : invoice.expires_at;
}
