// What a buyer sees: the state of a checkout, from its invoice, its payment and the clock.
import type { AmountMatch, InvoiceStatus, PaymentStatus } from './invoice.ts';

/** Every state that the pages have words for, in the order a payment goes through them. */
export const checkoutStates = [
  'waiting',
  'closing',
  'orphaned',
  'underpaid',
  'seen',
  'processing',
  'confirmed',
  'overpaid',
  'expired',
  'cancelled',
  'failed',
  'late',
  'incomplete',
] as const;

export type CheckoutState = (typeof checkoutStates)[number];

export interface CheckoutFacts {
  status: InvoiceStatus;
  amount_match: AmountMatch;
  /** Unix seconds. */
  expires_at: number;
  /** Of the invoice's own payment; null without one. */
  payment_status: PaymentStatus | null;
}

/** `now` in Unix seconds. After its time an open invoice asks for no more money: it is `closing` until it ends. */
export function checkoutState(facts: CheckoutFacts, now: number): CheckoutState {
  const { status, amount_match, payment_status } = facts;
  if (status === 'confirmed') return amount_match === 'over' ? 'overpaid' : 'confirmed';
  // What came in time and was too little is not late: only the rest is missing.
  if (status !== 'created' && payment_status === 'late')
    return amount_match === 'under' ? 'incomplete' : 'late';
  if (status !== 'created') return status;
  if (payment_status === 'held') return 'processing';
  if (amount_match === 'exact' || amount_match === 'over') return 'seen';
  if (now >= facts.expires_at) return 'closing';
  if (amount_match === 'under') return 'underpaid';
  return payment_status === 'orphaned' ? 'orphaned' : 'waiting';
}

const DAY_SECONDS = 86_400;

/**
 * Whether an invoice ended so long ago that the public reads no more of it than how. `now` in Unix seconds;
 * 0 days: never.
 */
export const isWithheld = (
  { ended_at }: { ended_at: number | null },
  { now, public_days }: { now: number; public_days: number },
): boolean => ended_at !== null && public_days > 0 && now >= ended_at + public_days * DAY_SECONDS;

/** Whether the buyer is asked to send money now. */
export const isPayable = (state: CheckoutState): boolean =>
  state === 'waiting' || state === 'underpaid' || state === 'orphaned';
