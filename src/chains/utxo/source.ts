// What the family asks of a provider, whichever it is, and what it remembers between reads.
import { hexToBytes } from '@noble/hashes/utils.js';
import { ProviderError, type Rpc, type Tip, type WatchedAddress } from '../chain.ts';
import { type Block, type Header, MalformedBytes, parseTransaction, type Transaction } from './block.ts';
import type { Ring } from './cursor.ts';

/** Remembered payments; beyond it the oldest are forgotten, which costs requests only. */
const REMEMBERED_LIMIT = 20_000;
const HASH = /^[0-9a-f]{64}$/;

export type Watched = ReadonlyMap<string, WatchedAddress>;
export type BlockTip = Tip & { hash: string };

/** Where a provider sees a transaction. `absent` may also mean that this provider has not heard of it. */
export type Presence = { in: 'mempool' } | { in: 'block'; hash: string; height: number } | { in: 'absent' };

/** A payment to ask about: a transaction and the script it pays. */
export interface Payment {
  txid: string;
  address_key: string;
}

/**
 * Yields transactions of the mempool not yielded before, all of them or those of the watched scripts.
 * What was yielded counts as read once the next is asked for.
 */
export type MempoolScan = (watched: Watched) => AsyncIterable<Transaction[]>;

export interface Source {
  hashAt(height: number): Promise<string>;
  tip(): Promise<BlockTip>;
  header(hash: string): Promise<Header>;
  block(hash: string): Promise<Block>;
  /** Called before the watched addresses are known, so that nobody watched later is missed by a listing. `now` in Unix seconds. */
  mempool(now: number): Promise<MempoolScan>;
  /** The moment before which every unconfirmed payment to the watched scripts has been listed, Unix seconds. */
  listedThrough(watched: Watched): number;
  /** By txid, as many as the provider's budget allows; the others come first next time. */
  presence(payments: readonly Payment[]): Promise<Map<string, Presence>>;
  /** Whether another transaction spends one of these outputs; false where it cannot be told. */
  spentByOther(txid: string, inputs: readonly string[]): Promise<boolean>;
}

/** An unconfirmed payment: when it was first seen, the listing before that, and what it spends. */
export interface SeenPayment {
  /** Unix seconds, both. */
  first_seen: number;
  made_after: number;
  inputs: string[];
}

/** Lives in `context.cache`. Losing it costs requests and time, never a payment. */
export interface Memory {
  tip: BlockTip | null;
  /** The ring as stored with the last page. */
  ring: Ring | null;
  /** Payments to watched addresses in blocks of the ring: txid → block hash. */
  mined: Map<string, string>;
  /** Payments to watched addresses, by txid. */
  payments: Map<string, SeenPayment>;
  /** Output → the remembered payment that spends it. */
  spends: Map<string, string>;
  /** Remembered payments whose money was seen spent by another transaction. */
  conflicted: Set<string>;
  /** Since when a pending transaction is missing (Unix seconds). */
  absent: Map<string, number>;
  /** Core: mempool transactions already read, and those still to read. */
  known: Set<string>;
  unread: string[];
  /** Core: when the last listing began that was read to its end, Unix seconds. */
  caught_up_at: number;
  /** Esplora: transactions listed per script, when the last listing began, and where the next turn starts. */
  listed: Map<string, Set<string>>;
  listed_at: Map<string, number>;
  last_script: string;
  last_asked: string;
}

export function createMemory(): Memory {
  return {
    tip: null,
    ring: null,
    mined: new Map(),
    payments: new Map(),
    spends: new Map(),
    conflicted: new Set(),
    absent: new Map(),
    known: new Set(),
    unread: [],
    caught_up_at: 0,
    listed: new Map(),
    listed_at: new Map(),
    last_script: '',
    last_asked: '',
  };
}

export function memoryIn(cache: Map<string, unknown>): Memory {
  const memory = (cache.get('utxo') as Memory | undefined) ?? createMemory();
  cache.set('utxo', memory);
  return memory;
}

/** Forgets the oldest entries of a remembered map or set. */
export function trim(remembered: Map<string, unknown> | Set<string>): void {
  for (const key of remembered.keys()) {
    if (remembered.size <= REMEMBERED_LIMIT) return;
    remembered.delete(key);
  }
}

/** Goes on after `last`, in the order of the texts, and wraps around: every one gets its turn. */
export function nextTurn(all: Iterable<string>, last: string, limit: number): string[] {
  const sorted = [...all].sort();
  const from = sorted.findIndex((text) => text > last);
  return (from < 1 ? sorted : [...sorted.slice(from), ...sorted.slice(0, from)]).slice(0, limit);
}

export const badAnswer = (rpc: Rpc, what: string) =>
  new ProviderError('bad_answer', `${rpc.provider}: ${what}`);

/** A provider behind a cache or a captive page answers anything with 200: a hash is checked to be one. */
export function asHash(rpc: Rpc, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  if (!HASH.test(text)) throw badAnswer(rpc, 'a hash was expected');
  return text;
}

export function asNumber(rpc: Rpc, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw badAnswer(rpc, 'an integer was expected');
  return value as number;
}

/** Parses bytes that the provider claims to be the block or header with this hash. */
export function parsedAs<T extends Header>(
  rpc: Rpc,
  hash: string,
  parse: (bytes: Uint8Array) => T,
  bytes: Uint8Array,
): T {
  const parsed = readable(rpc, `block ${hash}`, () => parse(bytes));
  if (parsed.hash !== hash) throw badAnswer(rpc, `block ${hash} was asked, ${parsed.hash} came`);
  return parsed;
}

/** The bytes of a transaction as the provider gave them for this txid; null where there is nothing in it to read. */
export function transactionAs(rpc: Rpc, txid: string, bytes: Uint8Array): Transaction | null {
  const transaction = readable(rpc, `transaction ${txid}`, () => parseTransaction(bytes));
  // A transaction wholly inside MWEB has no outputs here, and an identity of its own.
  if (transaction.outputs.length === 0) return null;
  if (transaction.txid !== txid) throw badAnswer(rpc, `transaction ${txid} was asked, another came`);
  return transaction;
}

/** Confirmations are counted from the tip: its height is believed where the block at that height is the tip. */
export async function provedTip(rpc: Rpc, tip: BlockTip, hashAt: Source['hashAt']): Promise<BlockTip> {
  if ((await hashAt(tip.height)) !== tip.hash)
    throw badAnswer(rpc, `the tip is not the block at its height, ${tip.height}`);
  return tip;
}

/** A JSON object; empty where something else came, so that what is looked for in it is missing. */
export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export function asBytes(rpc: Rpc, value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value.trim() : '';
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) throw badAnswer(rpc, 'hex was expected');
  return hexToBytes(text);
}

export function readable<T>(rpc: Rpc, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof MalformedBytes) throw badAnswer(rpc, `${what}: ${error.message}`);
    throw error;
  }
}
