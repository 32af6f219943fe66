// The prepaid ledger's arithmetic: double entry, append-only, each entry chained to the one before by its hash.
import { hmac } from '@noble/hashes/hmac.js';
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
  /** 1: SHA-256, which anybody can compute; 2: HMAC-SHA-256. */
  hash_version: 1 | 2;
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

/** The next entry of a chain and its hash under the key of the ledger; null when the balance would fall below zero. */
export function nextEntry(
  head: LedgerHead,
  request: EntryRequest,
  key: Uint8Array,
): (LedgerEntry & { hash: string }) | null {
  const balance = head.prepaid_micros + signedAmount(request);
  if (balance < 0n) return null;
  const entry: LedgerEntry = {
    ...request,
    ...accountsOf(request),
    seq: head.ledger_seq + 1,
    balance_micros: balance,
    previous_hash: head.ledger_hash,
    hash_version: 2,
  };
  return { ...entry, hash: hashEntry(entry, key) };
}

/** What an entry adds to the prepaid balance, USD micros. */
export const signedAmount = ({ kind, amount_micros }: Pick<LedgerEntry, 'kind' | 'amount_micros'>): bigint =>
  kind === 'fee' ? -amount_micros : amount_micros;

/** The two sides of an entry. */
export function accountsOf({ kind, merchant_id }: Pick<LedgerEntry, 'kind' | 'merchant_id'>) {
  const prepaid = `merchant:${merchant_id}:prepaid`;
  const counter = counterAccounts[kind];
  return kind === 'fee'
    ? { debit_account: prepaid, credit_account: counter }
    : { debit_account: counter, credit_account: prepaid };
}

/** The hash of an entry in hex, after its version; entries of version 1 need no key. */
export function hashEntry(entry: LedgerEntry, key: Uint8Array): string {
  const text = utf8ToBytes(entryText(entry));
  return bytesToHex(entry.hash_version === 1 ? sha256(text) : hmac(sha256, key, text));
}

/** What is hashed: the entry's fields in fixed order, the previous hash among them. */
export function entryText(entry: LedgerEntry): string {
  const fields = [
    ...(entry.hash_version === 1 ? [] : [entry.hash_version]),
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
  return JSON.stringify(fields);
}

/** Where a merchant's chain stood when the ledger got its key: what is before it can be rewritten no more either. */
export interface SealedHead {
  merchant_id: string;
  seq: number;
  hash: string;
}

/** The seal of a head, in hex, under the key of the ledger. */
export const sealHead = ({ merchant_id, seq, hash }: SealedHead, key: Uint8Array): string =>
  bytesToHex(hmac(sha256, key, utf8ToBytes(JSON.stringify(['seal', merchant_id, seq, hash]))));
