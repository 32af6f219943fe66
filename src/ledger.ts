// The prepaid ledger's arithmetic: double entry, append-only, each entry chained to the one before by its hash.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { divideHalfUp } from './money.ts';

/** A refill of S raises the limit by S × this. */
export const REFILL_CREDIT_MULTIPLIER = 100n;
/** Share of each confirmed volume that is debited, in basis points: 1 %. */
export const PLATFORM_FEE_BASIS_POINTS = 100n;
const BASIS = 10_000n;

/** Previous hash of a merchant's first entry. */
export const GENESIS_HASH = '0'.repeat(64);

export type LedgerKind = 'refill' | 'fee' | 'credit' | 'demo_credit';

export interface LedgerEntry {
  id: string;
  merchant_id: string;
  seq: number;
  kind: LedgerKind;
  debit_account: string;
  credit_account: string;
  amount_micros: bigint;
  /** Prepaid balance after the entry. */
  balance_micros: bigint;
  invoice_id: string | null;
  note: string | null;
  actor: string;
  /** Unix seconds. */
  created_at: number;
  previous_hash: string;
}

/** The head of a merchant's chain. */
export interface LedgerHead {
  prepaid_micros: bigint;
  ledger_seq: number;
  ledger_hash: string;
}

/** Where the other side of a merchant's prepaid balance is booked. */
const counterAccounts: Record<LedgerKind, string> = {
  refill: 'platform:refills',
  fee: 'platform:fees',
  credit: 'platform:credits',
  demo_credit: 'platform:demo',
};

/** The fee of a confirmed volume, USD micros, to the nearest micro. */
export const platformFee = (volume_micros: bigint): bigint =>
  divideHalfUp(volume_micros * PLATFORM_FEE_BASIS_POINTS, BASIS);

/** The limit that a prepaid balance stands for, USD micros. */
export const limitOf = (prepaid_micros: bigint): bigint => prepaid_micros * REFILL_CREDIT_MULTIPLIER;

/** Whether a prepaid balance covers an invoice of this volume. */
export const covers = (prepaid_micros: bigint, volume_micros: bigint): boolean =>
  limitOf(prepaid_micros) >= volume_micros && prepaid_micros >= platformFee(volume_micros);

/** What must be credited, USD micros, so that the balance covers the volume; zero when it does. */
export function missingPrepaid(prepaid_micros: bigint, volume_micros: bigint): bigint {
  const byLimit = (volume_micros + REFILL_CREDIT_MULTIPLIER - 1n) / REFILL_CREDIT_MULTIPLIER;
  const fee = platformFee(volume_micros);
  const required = byLimit > fee ? byLimit : fee;
  return required > prepaid_micros ? required - prepaid_micros : 0n;
}

type EntryRequest = Pick<
  LedgerEntry,
  'id' | 'merchant_id' | 'kind' | 'amount_micros' | 'invoice_id' | 'note' | 'actor' | 'created_at'
>;

/** The next entry of a chain and its hash; null when the balance would fall below zero. */
export function nextEntry(head: LedgerHead, request: EntryRequest): (LedgerEntry & { hash: string }) | null {
  const prepaid = `merchant:${request.merchant_id}:prepaid`;
  const counter = counterAccounts[request.kind];
  const isFee = request.kind === 'fee';
  const balance = head.prepaid_micros + (isFee ? -request.amount_micros : request.amount_micros);
  if (balance < 0n) return null;
  const entry: LedgerEntry = {
    ...request,
    seq: head.ledger_seq + 1,
    debit_account: isFee ? prepaid : counter,
    credit_account: isFee ? counter : prepaid,
    balance_micros: balance,
    previous_hash: head.ledger_hash,
  };
  return { ...entry, hash: hashEntry(entry) };
}

/** SHA-256 in hex over the entry's fields in fixed order, the previous hash among them. */
export function hashEntry(entry: LedgerEntry): string {
  const fields = [
    entry.previous_hash,
    entry.id,
    entry.merchant_id,
    entry.seq,
    entry.kind,
    entry.debit_account,
    entry.credit_account,
    entry.amount_micros.toString(),
    entry.balance_micros.toString(),
    entry.invoice_id,
    entry.note,
    entry.actor,
    entry.created_at,
  ];
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(fields))));
}
