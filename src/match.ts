// Which invoice a transfer pays. Exact memo, exact reference or exact reserved amount; never a guess.

/** What matching needs of an invoice. */
export interface MatchableInvoice {
  id: string;
  chain: string;
  address_key: string;
  memo: string | null;
  reference: string | null;
  amount_atomic: string;
  status: string;
  expires_at: number;
}

/** What matching needs of a transfer. */
export interface MatchableTransfer {
  chain: string;
  address_key: string;
  amount_atomic: bigint;
  memo: string | null;
  references: readonly string[];
  time: number;
  ambiguous?: string | null;
}

/** Invoices found by each key; the database guarantees at most one for each. */
export interface MatchCandidates<I extends MatchableInvoice> {
  by_memo?: I | undefined;
  by_reference?: I | undefined;
  by_amount?: I | undefined;
}

export type Match<I extends MatchableInvoice> =
  | { disposition: 'matched' | 'late'; invoice: I }
  | { disposition: 'unmatched'; reason: string };

/** Decides what a transfer is. `late`: it names an invoice that had ended, or was made after its time. */
export function match<I extends MatchableInvoice>(
  transfer: MatchableTransfer,
  found: MatchCandidates<I>,
): Match<I> {
  if (transfer.ambiguous) return { disposition: 'unmatched', reason: transfer.ambiguous };
  const pays = (invoice: I | undefined): invoice is I =>
    invoice !== undefined && invoice.chain === transfer.chain && invoice.address_key === transfer.address_key;
  const { by_memo, by_reference, by_amount } = found;
  if (pays(by_memo) && pays(by_reference) && by_memo.id !== by_reference.id)
    return { disposition: 'unmatched', reason: 'memo and reference name different invoices' };
  // A memo that names another asset's invoice says whom it was meant for: the amount must not guess otherwise.
  const invoice = [by_memo, by_reference, by_memo ? undefined : by_amount].find(pays);
  if (!invoice)
    return { disposition: 'unmatched', reason: unmatchedReason(transfer, by_memo ?? by_reference) };
  return { disposition: placeAt(transfer, invoice), invoice };
}

/** Whether a transfer that names an invoice came while it could be paid. */
export const placeAt = (
  transfer: Pick<MatchableTransfer, 'time'>,
  invoice: Pick<MatchableInvoice, 'status' | 'expires_at'>,
): 'matched' | 'late' =>
  invoice.status === 'created' && transfer.time <= invoice.expires_at ? 'matched' : 'late';

function unmatchedReason(transfer: MatchableTransfer, named: MatchableInvoice | undefined): string {
  if (named) return `names an invoice of ${named.chain}, but ${transfer.chain} was sent`;
  if (transfer.memo !== null) return 'unknown memo';
  return 'no memo and no invoice of exactly this amount';
}
