// What the family asks of a provider, whichever it is.
import { ProviderError, type ProviderKind, type Rpc, type WatchedAddress } from '../family.ts';
import { inTurns } from '../steps.ts';
import {
  type Block,
  type Header,
  MalformedBytes,
  parseHeader,
  readAlone,
  readBlock,
  type Transaction,
} from './block.ts';
import type { BlockTip, Memory } from './memory.ts';

/** A whole block in hexadecimal, with all that Litecoin appends. */
export const BLOCK_BYTES = 16 * 1024 * 1024;
const HASH = /^[0-9a-f]{64}$/;

export type Watched = ReadonlyMap<string, WatchedAddress>;

/** An unconfirmed transaction, and since when this process knows it, Unix seconds. */
export interface Sighting {
  transaction: Transaction;
  seen_at: number;
}

/** A block by the word of a provider; one that does not name its hash has null. */
export interface PaidBlock {
  height: number;
  hash: string | null;
}

/** A list of unconfirmed transactions as the provider gave it. */
export interface Listing {
  /** Whose payments it lists; null: everybody's. */
  script: string | null;
  /** When it was asked for, Unix seconds. */
  at: number;
  /** Where something in it could not be read: when the last list before that was asked for, Unix seconds. */
  whole_at?: number;
  txids: ReadonlySet<string>;
  /** Blocks that the same answer shows payments in. */
  paid_in?: readonly PaidBlock[];
  /** The newest block of the host that gave the list; null where it does not say. */
  tip_hash?: string | null;
  /** Whether nothing is cut off and everything in it was read. */
  complete: boolean;
  /** Why it is not, for the operator. */
  trouble: string | null;
  /** Whether asking again at once is of no use. */
  failed: boolean;
}

export interface ListRequest {
  watched: Watched;
  /** Scripts to list before the others, and those that must be listed though no invoice of theirs is open. */
  urgent: readonly string[];
  followed: Iterable<string>;
  /** Scripts to leave alone. */
  paused: ReadonlySet<string>;
  /** Lists the urgent ones only, once more. */
  again: boolean;
  /** When everything was listed last, Unix seconds; 0 where it never was. */
  listed_at: number;
  /** Unix seconds. */
  now(): number;
  spare_requests: number;
}

/** Where a provider has a transaction; its block is null while it is unconfirmed. */
export interface Located {
  transaction: Transaction;
  block: { hash: string; height: number } | null;
}

export interface Source {
  hashAt(height: number): Promise<string>;
  tip(): Promise<BlockTip>;
  header(hash: string): Promise<Header>;
  block(hash: string): Promise<Block>;
  /**
   * Lists unconfirmed transactions and yields those not yielded before. What was yielded counts as read once the next is
   * asked for. Returns what was listed.
   */
  list(request: ListRequest): AsyncGenerator<Sighting[], Listing[]>;
  /**
   * Whether one list shows everything that this provider knows. Where several hosts answer for each other, one that lags
   * may have answered: what was made before a list is proved by the list after it.
   */
  lists_alone: boolean;
  /** The transaction that spends an output (`txid:vout`), proved by its bytes; null where the provider has none. */
  spender(output: string): Promise<Transaction | null>;
  /** Null where the provider has no such transaction. */
  locate(txid: string): Promise<Located | null>;
}

/** A kind of provider of block chains, and how one is asked. */
export interface SourceKind extends ProviderKind {
  open(rpc: Rpc, memory: Memory): Source;
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

/** Reads bytes that the provider claims to be the header with this hash. */
export function headerAs(rpc: Rpc, hash: string, bytes: Uint8Array): Header {
  return asAsked(
    rpc,
    hash,
    readable(rpc, `block ${hash}`, () => parseHeader(bytes)),
  );
}

/** The same of a whole block. */
export async function blockAs(rpc: Rpc, hash: string, bytes: Uint8Array): Promise<Block> {
  const block = inTurns(rpc, readBlock(bytes)).catch(asBadAnswer(rpc, `block ${hash}`));
  return asAsked(rpc, hash, await block);
}

function asAsked<T extends Header>(rpc: Rpc, hash: string, read: T): T {
  if (read.hash !== hash) throw badAnswer(rpc, `block ${hash} was asked, ${read.hash} came`);
  return read;
}

/** The bytes of a transaction as the provider gave them for this txid; null where there is nothing in it to read. */
export async function transactionAs(rpc: Rpc, txid: string, bytes: Uint8Array): Promise<Transaction | null> {
  const read = inTurns(rpc, readAlone(bytes)).catch(asBadAnswer(rpc, `transaction ${txid}`));
  const transaction = await read;
  // A transaction wholly inside MWEB has no outputs here, and an identity of its own.
  if (transaction.outputs.length === 0) return null;
  if (transaction.txid !== txid) throw badAnswer(rpc, `transaction ${txid} was asked, another came`);
  return transaction;
}

/** The height of a tip is believed where the block at that height is the tip. */
export async function provedTip(rpc: Rpc, tip: BlockTip, hashAt: Source['hashAt']): Promise<BlockTip> {
  if ((await hashAt(tip.height)) !== tip.hash)
    throw badAnswer(rpc, `the tip is not the block at its height, ${tip.height}`);
  return tip;
}

/** A JSON object; empty where something else came, so that what is wanted of it is missing. */
export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export function asBytes(rpc: Rpc, value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value.trim() : '';
  const bytes = Buffer.from(text, 'hex');
  // It stops at the first character that is no digit, and takes capital letters.
  if (bytes.length === 0 || bytes.length * 2 !== text.length || /[A-F]/.test(text))
    throw badAnswer(rpc, 'hex was expected');
  return bytes;
}

export function readable<T>(rpc: Rpc, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    return asBadAnswer(rpc, what)(error);
  }
}

const asBadAnswer =
  (rpc: Rpc, what: string) =>
  (error: unknown): never => {
    if (error instanceof MalformedBytes) throw badAnswer(rpc, `${what}: ${error.message}`);
    throw error;
  };
