// What one process caches between readings of Solana: losing it costs requests, never payments.
import type { ReadContext, Rpc } from '../family.ts';
import { newSlotPace, type SlotPace } from './pace.ts';
import { type Caller, type Learnt, nothingLearnt, type SignatureInfo } from './providers/rpc.ts';

/** Accounts of which a list of signatures is cached while it is worked off, about 200 kB each; the least used goes first. */
const LISTS_LIMIT = 200;

/** As far as an account is listed. */
export interface Listing {
  /** Not read yet, newest first; failed transactions included, they only mark the place. */
  entries: SignatureInfo[];
  /** Those of the first page. */
  newest: readonly SignatureInfo[];
  /** The oldest listed: the next page begins after it. */
  last: SignatureInfo | undefined;
  /** Whether it goes back to what was read before. */
  is_complete: boolean;
  /** Whether newer ones were left out to keep it short: they are listed again later. */
  is_cut: boolean;
  /** What was read before, is old enough to be in every node's list, and is not in this one so far. */
  missing: ReadonlySet<string>;
  /** The newest that is older than the watch. */
  newest_old: SignatureInfo | undefined;
}

export interface Memory {
  /** Readings so far. */
  tick: number;
  /** Token account by owner, token program and mint. */
  token_accounts: Map<string, string>;
  /** When an account was listed last: the reading, and the tip's time then. */
  listed: Map<string, { tick: number; time: number }>;
  /** The reading in which an account that is behind had its turn last. */
  served: Map<string, number>;
  /** What an account held when reading it failed last. */
  attempted: Map<string, string>;
  /** The newest slot of an account that is behind of which transactions were read ahead of their turn. */
  newest_read: Map<string, number>;
  /** Owners that are no wallets, with the reason. */
  refused: Map<string, string>;
  /** Where the next reading begins among the accounts: the first one that this one had no requests left for. */
  begin_at: string | undefined;
  /** Since when a transaction is proved to be gone, Unix seconds. */
  missing: Map<string, number>;
  /** How fast slots pass, and how old a tip is. */
  pace: SlotPace;
  /** What each provider has shown by its refusals. */
  learnt: WeakMap<Rpc, Learnt>;
  listOf(key: string): { listing: Listing; is_new: boolean } | undefined;
  cacheList(key: string, listing: Listing): void;
  dropList(key: string): void;
}

/** What the readings of one process share. */
export interface SolanaContext extends ReadContext {
  memory: Memory;
}

export function createMemory(): Memory {
  const lists = new Map<string, { listing: Listing; tick: number }>();
  const memory: Memory = {
    tick: 0,
    token_accounts: new Map(),
    listed: new Map(),
    served: new Map(),
    attempted: new Map(),
    newest_read: new Map(),
    refused: new Map(),
    begin_at: undefined,
    missing: new Map(),
    pace: newSlotPace(),
    learnt: new WeakMap(),
    listOf(key) {
      const found = lists.get(key);
      return found && { listing: found.listing, is_new: found.tick === memory.tick };
    },
    cacheList(key, listing) {
      lists.delete(key);
      lists.set(key, { listing, tick: memory.tick });
      const [least_used] = lists.keys();
      if (lists.size > LISTS_LIMIT && least_used !== undefined) lists.delete(least_used);
    },
    dropList: (key) => void lists.delete(key),
  };
  return memory;
}

/** The provider that is asked now, with what it has shown of itself. */
export function callerOf({ rpc, memory: { learnt } }: SolanaContext): Caller {
  const known = learnt.get(rpc) ?? nothingLearnt(rpc.limits);
  learnt.set(rpc, known);
  return { call: (method, params) => rpc.call(method, params), learnt: known };
}

/** Forgets accounts that are watched no more. */
export function forgetOthers(memory: Memory, keys: ReadonlySet<string>): void {
  const { listed, served, attempted, newest_read } = memory;
  for (const each of [listed, served, attempted, newest_read])
    for (const key of each.keys()) if (!keys.has(key)) each.delete(key);
}
