// Writes a move of an invoice: status, payment, money, income, event and delivery, all or nothing.
import { noteSale } from '../../data/addresses.ts';
import { afterCommit } from '../../data/db/after-commit.ts';
import { insertDelivery } from '../../data/deliveries.ts';
import { insertIncome } from '../../data/income.ts';
import { moveInvoice } from '../../data/invoices.ts';
import { insertLog } from '../../data/payments.ts';
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow, PaymentRow, TransferRow } from '../../data/schema/tables.ts';
import { endTerms } from '../../data/terms.ts';
import { bookTransfers, MANUAL_INDEX, placeTransfers } from '../../data/transfers.ts';
import { GRACE_SECONDS, type Sum, type Verdict } from '../../src/invoice.ts';
import { missingPrepaid, platformFee } from '../../src/ledger.ts';
import { webhookTarget, writeEvent } from './event.ts';
import { wakeHeld } from './held.ts';
import { writePayment } from './payment.ts';
import type { Request, Step } from './step.ts';
import { watchOffers } from './terms.ts';
import { placeLate } from './unapplied.ts';

type Moved = Extract<Verdict, { verdict: 'moved' }>;

/** Writes a verdict that ends or confirms the invoice; returns the invoice as it is now. Throws where a row moved under its lock. */
export async function writeMoved(
  before: Step,
  verdict: Moved,
  transfers: readonly TransferRow[],
  request: Request,
): Promise<InvoiceRow> {
  const { tx, invoice, now } = before;
  const step = { ...before, note: noteOf(before, verdict, request) };
  const confirmed = verdict.to === 'confirmed';
  const counted = countedTransfers(before, verdict, transfers, request);
  const txid = verdict.sum.txid ?? (confirmed ? (request.txid ?? simulatedTxid(request, invoice)) : null);
  const sum =
    confirmed && counted.length === 0 ? manualSum(invoice, verdict, txid) : { ...verdict.sum, txid };
  // Booking ties those that are counted to the payment in the same step.
  const tied = confirmed ? [] : counted;
  const written = verdict.payment ? await writePayment(step, verdict.payment, sum, tied) : null;
  const ending = invoice.status === 'created';
  const watch_until = ending ? now + GRACE_SECONDS : invoice.watch_until;
  const reserved_until = reservedUntil(before, transfers);
  const moved = {
    ...invoice,
    status: verdict.to,
    payment_id: written?.payment.id ?? invoice.payment_id,
    ...(ending || confirmed ? shown(sum) : {}),
    paid_at: confirmed ? now : null,
    ended_at: now,
    due_at: null,
    watch_until,
    ...(ending ? { reserved_until: invoice.reserved === null ? null : reserved_until } : {}),
  };
  if (!(await moveInvoice(tx, invoice.status, moved)))
    throw new Error(`invoice ${invoice.id} moved under its lock`);
  const ended = { ...step, invoice: moved };
  // An invoice that outlived the daemon ends later than was foreseen: its late payments are read as long as others'.
  if (moved.watch_until > invoice.watch_until) await watchOffers(tx, moved);
  if (ending && invoice.switches > 0) await endTerms(tx, invoice.id, { watch_until, reserved_until });
  if (confirmed) await writeConfirmed(ended, verdict, written?.payment ?? null, counted);
  else await writeEnded(ended, written?.payment ?? null, transfers);
  return ended.invoice;
}

/** How long an amount that no one paid is not reserved again: a payment that comes a little late must not pay another's invoice. */
const UNPAID_AMOUNT_SECONDS = 3600;

/** When an invoice that ends now gives back the amounts that it has reserved. */
function reservedUntil({ invoice, own, now }: Step, transfers: readonly TransferRow[]): number {
  const unpaid = transfers.length === 0 && own.length === 0 && invoice.payment_id === null;
  return now + (unpaid ? UNPAID_AMOUNT_SECONDS : GRACE_SECONDS);
}

const bounds = {
  unread: 'its account was not proved read past its end',
  pending: 'its payment was not final',
  held: 'the limit did not cover its payment, or no second provider had it',
} as const;

/** A request to simulate may find real money, or the time over: that is no simulation. */
function noteOf({ note }: Step, verdict: Moved, { fact }: Request): string | null {
  if (verdict.bound) return `ended by the outer bound of 24 hours: ${bounds[verdict.bound]}`;
  if (fact.kind !== 'simulate' || verdict.simulated) return note;
  return verdict.credit_missing ? 'simulated: the limit was credited, the payment is real' : null;
}

/** What an invoice says of the money that came to it; once it has ended, only money that is booked changes that. */
const shown = (sum: Sum) => ({
  amount_match: sum.amount_match,
  received_atomic: sum.received_atomic > 0n ? sum.received_atomic.toString() : null,
  txid: sum.txid,
  confirmations: sum.confirmations,
});

/** Which transfers pay: the final ones; confirmed by an operator, all of them; none when simulated. */
function countedTransfers(
  { counts }: Step,
  verdict: Moved,
  transfers: readonly TransferRow[],
  request: Request,
): readonly TransferRow[] {
  if (verdict.to !== 'confirmed') return transfers;
  if (verdict.simulated) return [];
  return request.fact.kind === 'resolve' ? transfers : transfers.filter(counts);
}

const simulatedTxid = (request: Request, invoice: InvoiceRow): string | null =>
  request.fact.kind === 'simulate' ? `simulated-${invoice.id}` : null;

/** Confirmed without a transfer of ours: what was asked for counts as received. */
const manualSum = (invoice: InvoiceRow, verdict: Moved, txid: string | null) => ({
  ...verdict.sum,
  txid,
  received_atomic: BigInt(invoice.amount_atomic),
  amount_match: 'exact' as const,
});

async function writeConfirmed(
  step: Step,
  verdict: Moved,
  payment: PaymentRow | null,
  counted: readonly TransferRow[],
): Promise<void> {
  const { deps, tx, invoice, now, own } = step;
  const ids = counted.map((row) => row.id);
  const booking = { invoice_id: invoice.id, payment_id: invoice.payment_id, now };
  if (!(await bookTransfers(tx, ids, booking)))
    throw new Error(`a transfer of invoice ${invoice.id} was booked by another meanwhile`);
  for (const row of own) {
    // A late one that the invoice's own payment listed would be hidden behind what is booked now.
    const is_own = row.payment_id === payment?.id;
    const is_unassigned = row.disposition === 'matched' || is_own;
    const is_free = row.state !== 'gone' && row.booked_invoice_id === null && !ids.includes(row.id);
    if (is_unassigned && is_free) await placeLate(step, row, is_own ? payment : null);
  }
  noteWaited(step, counted);
  const seller = holderOf(invoice);
  if (seller !== null && counted.some((row) => row.idx !== MANUAL_INDEX))
    await noteSale(tx, { ...invoice, owner_id: seller, now });
  const url = await webhookTarget(tx, invoice);
  if (invoice.owner_id !== null) await bookMoney(step, invoice.owner_id, verdict, url !== null);
  const event = await writeEvent(deps, tx, 'invoice.confirmed', {
    merchant_id: invoice.owner_id,
    invoice,
    payment,
    now,
  });
  if (url !== null)
    await insertDelivery(tx, { event_id: event, merchant_id: invoice.owner_id, url, created_at: now });
}

/** How long buyer and merchant waited from the first sight of the payment; nothing was seen of a simulated one. */
function noteWaited({ deps, tx, invoice, now }: Step, counted: readonly TransferRow[]): void {
  if (counted.length === 0) return;
  const waited_seconds = now - Math.min(...counted.map((row) => row.first_seen_at));
  afterCommit(tx, () => deps.metrics.payment_confirmed_seconds.observe([invoice.blockchain], waited_seconds));
}

async function bookMoney(
  step: Step,
  merchant_id: string,
  verdict: Moved,
  has_webhook: boolean,
): Promise<void> {
  const { deps, tx, invoice, now, actor, note, head, house } = step;
  const entry = { merchant_id, invoice_id: invoice.id, note, actor, now };
  if (invoice.kind === 'refill') {
    await deps.ledger.post(tx, { ...entry, head, kind: 'refill', amount_micros: invoice.amount_usd_micros });
    await wakeHeld(deps.db, tx, merchant_id);
    return;
  }
  const fee = house ? 0n : platformFee(invoice.amount_usd_micros);
  const missing =
    verdict.credit_missing && !house
      ? missingPrepaid(head?.prepaid_micros ?? 0n, invoice.amount_usd_micros)
      : 0n;
  if (missing > 0n)
    await deps.ledger.post(tx, { ...entry, head, kind: 'demo_credit', amount_micros: missing });
  const charge = {
    ...entry,
    head: missing > 0n ? undefined : head,
    kind: 'fee' as const,
    amount_micros: fee,
  };
  if (fee > 0n && !(await deps.ledger.post(tx, charge)))
    throw new Error(`the prepaid balance of ${merchant_id} does not cover a fee that was checked`);
  await insertIncome(tx, {
    merchant_id,
    invoice_id: invoice.id,
    chain: invoice.chain,
    currency: invoice.currency,
    decimals: invoice.decimals,
    amount_atomic: BigInt(invoice.received_atomic ?? invoice.amount_atomic),
    amount_usd_micros: invoice.amount_usd_micros,
    fee_charged_micros: fee,
    house: house ? 1 : 0,
    txid: invoice.txid,
    webhook_status: has_webhook ? 'pending' : 'none',
    created_at: now,
  });
}

async function writeEnded(
  step: Step,
  payment: PaymentRow | null,
  transfers: readonly TransferRow[],
): Promise<void> {
  const { deps, tx, invoice, now, actor, note } = step;
  await placeTransfers(
    tx,
    transfers.map((row) => row.id),
    { disposition: 'late' },
    now,
  );
  if (!payment)
    await insertLog(tx, {
      payment_id: null,
      invoice_id: invoice.id,
      from_status: null,
      to_status: invoice.status,
      txid: null,
      confirmations: 0,
      note,
      actor,
      created_at: now,
    });
  await writeEvent(deps, tx, `invoice.${invoice.status}`, {
    merchant_id: invoice.owner_id,
    invoice,
    payment,
    now,
  });
  if (payment?.status === 'late')
    await writeEvent(deps, tx, 'payment.late', { merchant_id: invoice.owner_id, invoice, payment, now });
}
