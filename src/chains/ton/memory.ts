// What one process caches between readings of TON: losing it costs requests, never payments.
import type { ReadContext } from '../family.ts';
import type { PaceSample } from '../pace.ts';

/** A masterchain block that was the tip of a reading. */
export interface KnownTip {
  start_lt: bigint;
  /** Unix seconds of the chain's clock. */
  time: number;
}

/** A master that the network did not know when it was asked for, Unix seconds. */
interface MissingMaster {
  at: number;
  reason: string;
}

export interface Memory {
  /** Tips of earlier readings, oldest first. */
  tips: KnownTip[];
  /** Some of the same, by their heights. */
  paced: PaceSample[];
  /** Whether the indexer has ever answered for the states of accounts. */
  answers_states: boolean;
  /** Accounts of which the last answer had no transaction. */
  absent: Set<string>;
  /** Accounts that have requests of their own, each until a moment of our clock, Unix seconds. */
  busy: Map<string, number>;
  /** When each account had a request of its own last, Unix seconds. */
  served: Map<string, number>;
  /** Accounts whose last page lacked the transaction that it was asked from. */
  differing: Set<string>;
  /** Jetton masters that named a wallet. */
  masters: Set<string>;
  missing_masters: Map<string, MissingMaster>;
}

/** What the readings of one process share. */
export interface TonContext extends ReadContext {
  memory: Memory;
}

export const createMemory = (): Memory => ({
  tips: [],
  paced: [],
  answers_states: false,
  absent: new Set(),
  busy: new Map(),
  served: new Map(),
  differing: new Set(),
  masters: new Set(),
  missing_masters: new Map(),
});
