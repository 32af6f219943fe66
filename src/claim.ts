// What a payer's own claim comes to: what was found for his invoice, and nothing of what others paid.
import { cleanText } from './clean.ts';
import type { AmountMatch, InvoiceStatus, PaymentStatus } from './invoice.ts';

/** What is found, from the best to the worst. */
export const claimFindings = [
  'confirmed',
  'confirming',
  'processing',
  'partial',
  'late',
  'unmatched',
  'not_found',
  'not_readable',
] as const;
export type ClaimFinding = (typeof claimFindings)[number];

/** Why money that is there counts for no invoice; `not_an_id`: what was entered cannot name a transaction. */
export const claimReasons = [
  'memo_missing',
  'memo_other',
  'other_asset',
  'other_network',
  'look_alike',
  'amount_differs',
  'unclear',
  'not_an_id',
] as const;
export type ClaimReason = (typeof claimReasons)[number];

/** What judging needs of the invoice that the claim is made for. */
export interface ClaimedInvoice {
  id: string;
  blockchain: string;
  chain: string;
  memo: string | null;
  amount_atomic: string;
  status: InvoiceStatus;
  amount_match: AmountMatch;
  /** Unix seconds. */
  created_at: number;
}

/** What judging needs of a transfer to its address. */
export interface ClaimedTransfer {
  blockchain: string;
  chain: string;
  memo: string | null;
  amount_atomic: string;
  ambiguous: string | null;
  disposition: 'matched' | 'late' | 'unmatched';
  invoice_id: string | null;
  booked_invoice_id: string | null;
  state: 'pending' | 'final' | 'gone';
  /** Unix seconds. */
  latest_at: number;
}

export interface ClaimVerdict<T> {
  found: ClaimFinding;
  reason: ClaimReason | null;
  /** The transfers that it speaks of, all of one asset; empty where nothing was found. */
  transfers: readonly T[];
}

/** State of what counts for the invoice. `payment_status`: of its own payment; null without one. */
export function stateOfClaim(
  { status, amount_match }: Pick<ClaimedInvoice, 'status' | 'amount_match'>,
  payment_status: PaymentStatus | null,
): ClaimFinding {
  if (status === 'confirmed') return 'confirmed';
  if (payment_status === null || payment_status === 'orphaned') return 'not_found';
  if (payment_status === 'held') return 'processing';
  if (amount_match === 'under') return 'partial';
  return status === 'created' && payment_status !== 'late' ? 'confirming' : 'late';
}

/**
 * Judges the transfers that the named transaction made to the invoice's address. What is booked for or matched to another
 * invoice, and what was made before this one, is as if it were not there.
 */
export function judgeClaim<T extends ClaimedTransfer>(
  invoice: ClaimedInvoice,
  payment_status: PaymentStatus | null,
  transfers: readonly T[],
): ClaimVerdict<T> {
  const live = transfers.filter(({ state }) => state !== 'gone');
  const own = live.filter(({ invoice_id }) => invoice_id === invoice.id);
  const counted = own.filter(({ disposition }) => disposition === 'matched');
  if (counted.length > 0)
    return { found: stateOfClaim(invoice, payment_status), reason: null, transfers: counted };
  if (own.length > 0) return { found: 'late', reason: null, transfers: own };
  const free = live.filter((each) => isFree(each) && each.latest_at >= invoice.created_at);
  // The nearest to what was asked for: money of the right asset before any other.
  const nearest = free.toSorted((one, other) => distance(invoice, one) - distance(invoice, other))[0];
  if (!nearest) return { found: 'not_found', reason: null, transfers: [] };
  const alike = free.filter(
    ({ blockchain, chain, ambiguous }) =>
      blockchain === nearest.blockchain && chain === nearest.chain && ambiguous === nearest.ambiguous,
  );
  return { found: 'unmatched', reason: reasonOf(invoice, alike), transfers: alike };
}

const isFree = ({ disposition, invoice_id, booked_invoice_id }: ClaimedTransfer): boolean =>
  disposition === 'unmatched' && invoice_id === null && booked_invoice_id === null;

const distance = (invoice: ClaimedInvoice, { blockchain, chain, ambiguous }: ClaimedTransfer): number =>
  (blockchain === invoice.blockchain ? 0 : 4) +
  (chain === invoice.chain ? 0 : 2) +
  (ambiguous === null ? 0 : 1);

/** By the invoice that is claimed alone: what matching noted may name another. */
function reasonOf(invoice: ClaimedInvoice, transfers: readonly ClaimedTransfer[]): ClaimReason {
  const [first] = transfers;
  if (!first) return 'unclear';
  if (first.ambiguous !== null) return 'look_alike';
  if (first.blockchain !== invoice.blockchain) return 'other_network';
  if (first.chain !== invoice.chain) return 'other_asset';
  if (invoice.memo !== null && transfers.every(({ memo }) => memo === null)) return 'memo_missing';
  if (invoice.memo !== null && transfers.every(({ memo }) => memo !== invoice.memo)) return 'memo_other';
  const sum = transfers.reduce((total, { amount_atomic }) => total + BigInt(amount_atomic), 0n);
  return sum === BigInt(invoice.amount_atomic) ? 'unclear' : 'amount_differs';
}

/** Longest text that is searched for an id. */
export const MAX_PASTED = 512;
/** A hash in base64, as some explorers show it. */
const BASE64_HASH = /^[\w+/-]{43}=?$/;
/** A hash in hex, or a signature in base58, alone or somewhere in a link. */
const WITHIN = /(?<![0-9a-z])(?:(?:0x)?[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})(?![0-9a-z])/i;
/** What may be sent to a provider: no sign that means something in a URL. */
const PLAIN = /^[0-9a-z]{64,90}$/i;

/**
 * The transaction that a person names, as a blockchain stores its ids; also out of a link to an explorer. Null where
 * nothing in the text can be one.
 */
export function findTxid(text: string, normalizeTxid: (text: string) => string): string | null {
  const trimmed = cleanText(text.slice(0, MAX_PASTED));
  const id = BASE64_HASH.test(trimmed) ? trimmed : WITHIN.exec(trimmed)?.[0];
  const txid = id === undefined ? '' : normalizeTxid(id);
  return PLAIN.test(txid) ? txid : null;
}
