// What becomes of an invoice: one pure function from its state and a fact to a verdict.
import { covers } from './ledger.ts';

export type InvoiceStatus = 'created' | 'confirmed' | 'expired' | 'cancelled' | 'failed';
export type PaymentStatus =
  | 'detected'
  | 'confirming'
  | 'held'
  | 'confirmed'
  | 'orphaned'
  | 'late'
  | 'unmatched';
export type AmountMatch = 'none' | 'exact' | 'over' | 'under';

/** How long an invoice outlives its time while a payment made in time is waited for, and how long late ones are still watched for. */
export const GRACE_SECONDS = 24 * 3600;

export interface InvoiceState {
  status: InvoiceStatus;
  amount_atomic: bigint;
  /** Unix seconds. */
  expires_at: number;
  min_confirmations: number;
}

/** A transfer that was matched to the invoice and is not gone. */
export interface SeenTransfer {
  amount_atomic: bigint;
  confirmations: number;
  /** Whether it counts: the chain calls it final, or it is as deep as this invoice asks, and every provider that must agree does. */
  final: boolean;
  txid: string;
}

/** What is known at the moment of deciding. */
export interface Knowledge {
  /** Unix seconds. */
  now: number;
  /** Everything made before this moment to the invoice's own account is read and stored; Unix seconds, 0 if never. */
  read_through: number;
  /** Whether our clock can be believed: as long as it cannot, nothing ends by it. */
  clock_trusted: boolean;
  /** Whether the grace may end what was not read: not before there was time to read it since the start. */
  may_end_unread: boolean;
  /** Matched to the invoice and not gone, oldest first. */
  transfers: readonly SeenTransfer[];
  /** Whether the invoice shows a payment, though every transfer of it may be gone. */
  has_payment: boolean;
  /** The owner's prepaid balance and the invoice's volume, USD micros; null where no limit applies. */
  prepaid: { balance_micros: bigint; volume_micros: bigint } | null;
}

/** When an invoice ends, and what has changed that. Unix seconds. */
interface InvoiceTimes {
  created_at: number;
  expires_at: number;
  /** Null while that is when it expires. */
  first_expires_at: number | null;
  /** When a part has prolonged it. */
  prolonged_at: number | null;
}

/** How long its buyer had in the beginning, in seconds. */
const usualSeconds = ({ created_at, expires_at, first_expires_at }: InvoiceTimes): number =>
  (first_expires_at ?? expires_at) - created_at;

/** When an invoice expires whose buyer chooses another coin now: in its usual time, which all choices add once at most. */
export function switchedUntil(times: InvoiceTimes, now: number): number {
  const usual = usualSeconds(times);
  const first = times.first_expires_at ?? times.expires_at;
  return Math.max(times.expires_at, Math.min(now, first) + usual);
}

/** A part of what is asked for that is smaller than one of so many gives no more time: that must cost something. */
const PROLONGING_PART = 2n;

/** When an invoice expires that has received a part in time: its usual time later, once; null where it stays as it is. */
export function prolongedUntil(
  invoice: InvoiceTimes & Pick<InvoiceState, 'status' | 'amount_atomic'>,
  { received, now }: { received: bigint; now: number },
): number | null {
  const { status, amount_atomic, prolonged_at, expires_at } = invoice;
  const is_part = received < amount_atomic && received * PROLONGING_PART >= amount_atomic;
  if (status !== 'created' || prolonged_at !== null || !is_part) return null;
  const until = expires_at + usualSeconds(invoice);
  return until > now ? until : null;
}

/**
 * Why an invoice is decided about. `evaluate`: transfers, the limit or the time may have changed. `cancel` is the buyer's,
 * `simulate` the merchant's in demo mode, `resolve` the operator's.
 */
export type Fact =
  | { kind: 'evaluate' }
  | { kind: 'cancel' }
  | { kind: 'simulate' }
  | { kind: 'resolve'; action: 'expire' | 'fail' | 'confirm' };

/** What the transfers amount to. */
export interface Sum {
  received_atomic: bigint;
  amount_match: AmountMatch;
  /** Of the least confirmed transfer; 0 with none. */
  confirmations: number;
  txid: string | null;
}

export type Verdict =
  /**
   * The status changes. `credit_missing`: what the limit lacks is first credited (simulate). `simulated`: no transfer
   * pays it. `bound`: it ends by the outer bound of the grace alone, and what it still waited for.
   */
  | {
      verdict: 'moved';
      to: InvoiceStatus;
      payment: PaymentStatus | null;
      sum: Sum;
      credit_missing?: true;
      simulated?: true;
      bound?: 'unread' | 'pending' | 'held';
    }
  /** The status stays; the payment may change, null leaves it. */
  | { verdict: 'waiting'; payment: PaymentStatus | null; sum: Sum; limit_exhausted?: true }
  | { verdict: 'unchanged' }
  | {
      verdict: 'refused';
      code:
        | 'invoice_ended'
        | 'payment_detected'
        | 'limit_exhausted'
        | 'transfer_booked'
        | 'transaction_unknown';
    };

/**
 * Decides what becomes of an invoice; changes nothing itself. Whatever the fact, the transfers and the clock are judged
 * first, so that no one cancels or simulates what is paid or over. An invoice that has ended moves by `resolve` only.
 */
export function decide(invoice: InvoiceState, fact: Fact, known: Knowledge): Verdict {
  if (fact.kind === 'resolve') return resolve(invoice, fact.action, known);
  if (invoice.status !== 'created') return decideEnded(invoice, fact);
  const found = evaluate(invoice, known);
  if (fact.kind === 'evaluate' || found.verdict === 'moved') return found;
  if (fact.kind === 'cancel') {
    if (known.transfers.length > 0) return { verdict: 'refused', code: 'payment_detected' };
    return { verdict: 'moved', to: 'cancelled', payment: endedPayment(known), sum: addUp(invoice, []) };
  }
  const settled = { verdict: 'moved', to: 'confirmed', payment: 'confirmed', credit_missing: true } as const;
  // Only the limit is missing: the real payment is what is booked.
  if (found.verdict === 'waiting' && found.limit_exhausted)
    return { ...settled, sum: addUp(invoice, known.transfers.filter(isFinal)) };
  const sum = addUp(invoice, []);
  return {
    ...settled,
    simulated: true,
    sum: {
      ...sum,
      received_atomic: invoice.amount_atomic,
      amount_match: 'exact',
      confirmations: invoice.min_confirmations,
    },
  };
}

function decideEnded(invoice: InvoiceState, fact: Fact): Verdict {
  const same =
    fact.kind === 'evaluate' ||
    (fact.kind === 'cancel' && invoice.status === 'cancelled') ||
    (fact.kind === 'simulate' && invoice.status === 'confirmed');
  return same ? { verdict: 'unchanged' } : { verdict: 'refused', code: 'invoice_ended' };
}

/**
 * Transfers and clock: enough final money confirms; time is judged before the limit. An invoice ends only when its own
 * account is read past its end and nothing that came in time still waits, or by the outer bound of the grace.
 */
function evaluate(invoice: InvoiceState, known: Knowledge): Verdict {
  const sum = addUp(invoice, known.transfers);
  const final = known.transfers.filter(isFinal);
  const pending = final.length < known.transfers.length;
  const enough = total(final) >= invoice.amount_atomic;
  const expired = { verdict: 'moved', to: 'expired', payment: endedPayment(known), sum } as const;
  const isRead = known.read_through >= invoice.expires_at;
  const isOverdue = known.now >= invoice.expires_at + GRACE_SECONDS;
  if (known.clock_trusted && known.may_end_unread && isOverdue) {
    if (enough) return { ...expired, bound: 'held' };
    return pending || !isRead ? { ...expired, bound: pending ? 'pending' : 'unread' } : expired;
  }
  if (enough) {
    const { prepaid } = known;
    if (prepaid && !covers(prepaid.balance_micros, prepaid.volume_micros))
      return { verdict: 'waiting', payment: 'held', sum, limit_exhausted: true };
    return { verdict: 'moved', to: 'confirmed', payment: 'confirmed', sum: addUp(invoice, final) };
  }
  const isOver = known.now >= invoice.expires_at && isRead;
  if (known.clock_trusted && isOver && !pending) return expired;
  return { verdict: 'waiting', payment: waitingPayment(known.transfers), sum };
}

const isFinal = (transfer: SeenTransfer): boolean => transfer.final;

function waitingPayment(transfers: readonly SeenTransfer[]): PaymentStatus {
  if (transfers.length === 0) return 'orphaned';
  return transfers.every((transfer) => transfer.confirmations === 0) ? 'detected' : 'confirming';
}

function resolve(invoice: InvoiceState, action: 'expire' | 'fail' | 'confirm', known: Knowledge): Verdict {
  if (invoice.status === 'confirmed')
    return action === 'confirm' ? { verdict: 'unchanged' } : { verdict: 'refused', code: 'invoice_ended' };
  const sum = addUp(invoice, known.transfers);
  if (action === 'confirm') {
    const { prepaid } = known;
    if (prepaid && !covers(prepaid.balance_micros, prepaid.volume_micros))
      return { verdict: 'refused', code: 'limit_exhausted' };
    return { verdict: 'moved', to: 'confirmed', payment: 'confirmed', sum };
  }
  const to = action === 'expire' ? 'expired' : 'failed';
  if (invoice.status === to) return { verdict: 'unchanged' };
  if (invoice.status === 'cancelled') return { verdict: 'refused', code: 'invoice_ended' };
  // What an ended invoice had received is listed already, and follows its own transfers.
  const payment = invoice.status === 'created' ? endedPayment(known) : null;
  return { verdict: 'moved', to, payment, sum };
}

/** Money that came to an invoice which ends without it is late: listed, never booked automatically. Where all of it is gone, so is the payment. */
function endedPayment({ transfers, has_payment }: Knowledge): PaymentStatus | null {
  if (transfers.length > 0) return 'late';
  return has_payment ? 'orphaned' : null;
}

/** Adds transfers up against the amount. */
export function addUp(invoice: InvoiceState, transfers: readonly SeenTransfer[]): Sum {
  const received = total(transfers);
  const difference = received - invoice.amount_atomic;
  return {
    received_atomic: received,
    amount_match: received === 0n ? 'none' : difference === 0n ? 'exact' : difference > 0n ? 'over' : 'under',
    confirmations:
      transfers.length === 0 ? 0 : Math.min(...transfers.map((transfer) => transfer.confirmations)),
    txid: transfers.at(-1)?.txid ?? null,
  };
}

const total = (transfers: readonly SeenTransfer[]): bigint =>
  transfers.reduce((sum, transfer) => sum + transfer.amount_atomic, 0n);
