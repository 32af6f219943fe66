// What one process caches between readings of a block chain: losing it costs requests and time, never a payment.
import type { PendingTransfer, ReadContext, Tip } from '../family.ts';
import type { Ring } from './cursor.ts';

/** Cached payments; beyond it the oldest are evicted, which costs requests only. */
const CACHE_LIMIT = 20_000;

export type BlockTip = Tip & { hash: string };

/** A payment to a watched address that is not final. */
export interface SeenPayment {
  /** Unix seconds. */
  seen_at: number;
  inputs: readonly string[];
  /** Its outputs that are transfers of ours. */
  indexes: Set<string>;
}

/** When the last two complete lists of a script were asked for, Unix seconds; 0 where there was none. */
export interface ListTimes {
  before: number;
  last: number;
}

/** A transaction of a node's mempool: since when it is known, and a mark of each script that it pays. */
export interface KnownTransaction {
  seen_at: number;
  payees: string;
}

/** When a transaction that could not be read was listed first, and when everything was listed before that; Unix seconds. */
export interface MissedTransaction {
  seen_at: number;
  listed_before: number;
}

export interface Memory {
  /** Hash of the first block of a test network. */
  genesis: string | null;
  tip: BlockTip | null;
  /** The tip of the last reading, and when it was asked for, Unix seconds. */
  seen_tip: { hash: string; at: number } | null;
  /** Blocks that came between two readings: when, Unix seconds, and how old they were by our clock. */
  arrivals: { at: number; age_seconds: number }[];
  /** How far our clock may be ahead of the time of blocks. */
  ahead_seconds: number;
  /** The ring as stored with the last page. */
  ring: Ring | null;
  /** Whether the last reading read all blocks that there were. */
  is_whole: boolean;
  /** Payments to watched addresses in blocks that were read: txid → block hash. */
  mined: Map<string, string>;
  /** Payments to watched addresses, by txid. */
  payments: Map<string, SeenPayment>;
  /** Output → the cached payments that spend it. */
  spends: Map<string, Set<string>>;
  /** Since when a pending transaction is missing from the lists (Unix seconds). */
  absent: Map<string, number>;
  /** When the last complete list of everything was asked for, Unix seconds; 0 where there was none. */
  all_listed_at: number;
  /** The same, though something in it could not be read yet. */
  last_list_at: number;
  /** The same of single scripts. */
  list_times: Map<string, ListTimes>;
  /** Scripts whose stored proof is ahead of the rest. */
  ahead: Set<string>;
  /** Core: mempool transactions already read, those still to read, and the scripts that were watched meanwhile. */
  known: Map<string, KnownTransaction>;
  unread: string[];
  /** Core: transactions that were listed and that the node did not have. */
  missed: Map<string, MissedTransaction>;
  indexed: Set<string>;
  /** Esplora: transactions read of each script, and the turn in which each script was asked for. */
  read: Map<string, Set<string>>;
  turns: Map<string, number>;
  turn: number;
  /** The output whose spender was asked for last. */
  last_output: string;
}

/** What the readings of one process share. */
export interface UtxoContext extends ReadContext {
  memory: Memory;
}

export function createMemory(): Memory {
  return {
    genesis: null,
    tip: null,
    seen_tip: null,
    arrivals: [],
    ahead_seconds: 0,
    ring: null,
    is_whole: false,
    mined: new Map(),
    payments: new Map(),
    spends: new Map(),
    absent: new Map(),
    all_listed_at: 0,
    last_list_at: 0,
    list_times: new Map(),
    ahead: new Set(),
    known: new Map(),
    unread: [],
    missed: new Map(),
    indexed: new Set(),
    read: new Map(),
    turns: new Map(),
    turn: 0,
    last_output: '',
  };
}

/** What was stored earlier, or by another daemon, is recognised by what it spends. */
export function notePending(memory: Memory, pending: readonly PendingTransfer[]): void {
  for (const { txid, index, inputs, first_seen_at, block_hash } of pending) {
    notePayment(memory, { txid, inputs }, index, first_seen_at);
    if (block_hash === null) memory.mined.delete(txid);
    else memory.mined.set(txid, block_hash);
  }
}

/** Notes a payment to a watched address, or one more output of it, and since when it is known (Unix seconds). */
export function notePayment(
  memory: Memory,
  { txid, inputs }: { txid: string; inputs: readonly string[] },
  index: string,
  seen_at: number,
): void {
  const known = memory.payments.get(txid);
  if (known) {
    known.indexes.add(index);
    known.seen_at = Math.min(known.seen_at, seen_at);
    return;
  }
  memory.payments.set(txid, { seen_at, inputs, indexes: new Set([index]) });
  for (const input of inputs) memory.spends.set(input, (memory.spends.get(input) ?? new Set()).add(txid));
  trimPayments(memory);
}

/** Evicts the oldest payments, and what they spend. */
function trimPayments({ payments, spends }: Memory): void {
  for (const [txid, { inputs }] of payments) {
    if (payments.size <= CACHE_LIMIT) return;
    payments.delete(txid);
    for (const input of inputs) {
      const left = spends.get(input);
      left?.delete(txid);
      if (left?.size === 0) spends.delete(input);
    }
  }
}

/** Evicts the oldest entries of a cache. */
export function trim(cache: Map<string, unknown> | Set<string>): void {
  for (const key of cache.keys()) {
    if (cache.size <= CACHE_LIMIT) return;
    cache.delete(key);
  }
}
