// Which invoice a transfer pays: exact memo, exact reference or exact reserved amount, at the right time; never a guess.
import type { Interval } from './chains/family.ts';
import type { InvoiceStatus } from './invoice.ts';

/** What matching needs of an invoice. */
export interface MatchableInvoice {
  id: string;
  chain: string;
  address_key: string;
  memo: string | null;
  reference: string | null;
  amount_atomic: string;
  status: InvoiceStatus;
  /** Unix seconds, both. */
  created_at: number;
  expires_at: number;
  /** Since when it asks for its present coin, where that is not since it was made. */
  offered_at?: number | null;
}

/** What matching needs of a transfer. */
export interface MatchableTransfer extends Interval {
  chain: string;
  address_key: string;
  amount_atomic: bigint;
  memo: string | null;
  references: readonly string[];
  ambiguous?: string | null;
}

/** Invoices found by each key. */
export interface MatchCandidates<I extends MatchableInvoice> {
  /** The database guarantees at most one. */
  by_memo?: I | undefined;
  by_reference?: I | undefined;
  /** At most one of each account that uses the address, those first that go before the others. */
  by_amount?: readonly I[];
}

export type Match<I extends MatchableInvoice> =
  | { disposition: 'matched' | 'late'; invoice: I }
  | { disposition: 'unmatched'; reason: string };

/** Decides what a transfer is. `late`: it names an invoice that had ended, or was made after its time. */
export function match<I extends MatchableInvoice>(
  transfer: MatchableTransfer,
  { by_memo, by_reference, by_amount = [] }: MatchCandidates<I>,
): Match<I> {
  if (transfer.ambiguous) return { disposition: 'unmatched', reason: transfer.ambiguous };
  const pays = (invoice: I | undefined): invoice is I =>
    invoice !== undefined && invoice.chain === transfer.chain && invoice.address_key === transfer.address_key;
  if (pays(by_memo) && pays(by_reference) && by_memo.id !== by_reference.id)
    return { disposition: 'unmatched', reason: 'memo and reference name different invoices' };
  const named = [by_memo, by_reference].find(pays);
  if (named) return matchTo(transfer, named);
  // A memo that names another asset's invoice says whom it was meant for: the amount must not guess otherwise.
  const reserved = by_memo ? [] : by_amount.filter(pays);
  const invoice =
    reserved.find((one) => placeAt(transfer, one) === 'matched') ??
    reserved.find((one) => placeAt(transfer, one) === 'late') ??
    reserved[0];
  if (invoice) return matchTo(transfer, invoice);
  return { disposition: 'unmatched', reason: unmatchedReason(transfer, by_memo ?? by_reference) };
}

function matchTo<I extends MatchableInvoice>(transfer: MatchableTransfer, invoice: I): Match<I> {
  const place = placeAt(transfer, invoice);
  if (place === 'before') return { disposition: 'unmatched', reason: MADE_BEFORE };
  return { disposition: place, invoice };
}

export const MADE_BEFORE = 'made before the invoice that it would pay';

/**
 * Where a transfer that names an invoice falls: its interval must meet the invoice's time, both ends included.
 * `before`: it was made before the invoice existed, or asked for this, and cannot be meant for it.
 */
export function placeAt(
  { earliest_at, latest_at }: Interval,
  {
    status,
    created_at,
    expires_at,
    offered_at,
  }: Pick<MatchableInvoice, 'status' | 'created_at' | 'expires_at' | 'offered_at'>,
): 'matched' | 'late' | 'before' {
  if (latest_at < (offered_at ?? created_at)) return 'before';
  return status === 'created' && earliest_at <= expires_at ? 'matched' : 'late';
}

function unmatchedReason(transfer: MatchableTransfer, named: MatchableInvoice | undefined): string {
  if (named) return `names an invoice of ${named.chain}, but ${transfer.chain} was sent`;
  if (transfer.memo !== null) return 'unknown memo';
  return 'no memo and no invoice of exactly this amount';
}
