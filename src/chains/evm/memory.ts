// What one process caches between readings of an EVM chain: losing it costs requests and time, never a payment.
import type { AccountProof, ReadContext, Rpc } from '../family.ts';
import type { Header, Receipt, Transaction } from './answers.ts';
import type { EvmCursor, Held } from './cursor.ts';
import type { Host } from './hosts.ts';

/** Where a reading ended: what is up to there may be read a second time a while later. */
export interface Mark {
  height: number;
  hash: string;
  /** Unix seconds. */
  at: number;
}

/** One address, as far as coins were read. */
export interface Account {
  /** What it has there by all that was read; null where that is not known. */
  balance: bigint | null;
  /** The height of which that was its balance by the chain itself. */
  exact: number;
  /** When this was noted, Unix seconds by our clock, and at which height. */
  time: number;
  height: number;
}

export type Accounts = Map<string, Account>;

/** What watched addresses had at one block. */
export interface Look {
  block: Header;
  balances: ReadonlyMap<string, bigint>;
}

/** One address, as far as final blocks were read. */
export interface SolidAccount {
  /** What it has there by all that was read and listed; null where that is not known. */
  balance: bigint | null;
  /** The height of which that was its balance by the chain itself, and the one at which it was noted. */
  exact: number;
  height: number;
  /** What it had beyond that, or less, in the last look: listed, or taken off, once another look has it as well. */
  more: { amount: bigint; height: number; hash: string; time: number } | null;
}

export type SolidAccounts = Map<string, SolidAccount>;

/** An address at a block. What is null is not known. */
export interface Point {
  height: number;
  hash: string;
  /** Unix seconds of the chain's clock. */
  time: number | null;
  balance: bigint | null;
  /** How many transactions it made. */
  nonce: number | null;
  /** Whether it runs code, its own or what it delegated to. */
  has_code: boolean;
}

/** What is known of what came to an address and left it. */
export interface Passing {
  /** All up to here. */
  seen: Point;
  /** Something may have left it before this: the blocks up to here are read, and how far they were. */
  next: Point | null;
  at: Pick<Point, 'height' | 'hash'>;
  /** What transactions moved, in the blocks read since `seen`. */
  moved: bigint;
  /** What else was listed since then, by the block that showed it. */
  listed: readonly (readonly [height: number, amount: bigint])[];
  /** When it was checked last, and until when that is done in each reading; Unix seconds. */
  checked_at: number;
  restless_until: number;
  /** What was stated of it last: as of `AccountProof`; undefined where nothing was. */
  stated: Pick<AccountProof, 'read_through' | 'trouble'> | undefined;
}

export type Passings = Map<string, Passing>;

/** What is listed where blocks are read a second time, and one provider, which is read, has no receipt of. */
export interface Absent {
  /** Transactions, each with the block that it should stand in. */
  names: Set<string>;
  /** How many of them it listed itself, and how many another one alone did. */
  own: number;
  others: number;
  /** How many were asked about in this reading. */
  asked: number;
}

export interface Memory {
  /** What is known of each provider. */
  hosts: WeakMap<Rpc, Host>;
  /** The cursor as stored with the last page. */
  cursor: EvmCursor | null;
  /** Ends of readings that were not read a second time yet, oldest first. */
  marks: Mark[];
  /** When everything was read a second time last, and since when that fails; Unix seconds. */
  second_at: number;
  failing_since: number | null;
  /** Of the blocks that are not proved yet, by provider: the next one that is read may have what this one has not. */
  absent: WeakMap<Rpc, Absent>;
  /** When the head that is read was the newest block last, Unix seconds. */
  newest: { height: number; at: number } | null;
  /** Since when a provider has another, shorter chain than was read, Unix seconds; null where none has. */
  shorter_since: number | null;
  /** When the tag `finalized` was asked for last, Unix seconds. */
  finalized_at: number;
  /** Decimals of contracts that were read, and since when that is the answer, Unix seconds. */
  decimals: Map<string, { value: number; since: number }>;
  /** When contracts that could not be read were asked last, Unix seconds. */
  decimals_at: number;
  /** How long they are left alone then, seconds. */
  decimals_pause: number;
  /**
   * By transaction that lost its block: since when another one has its number, Unix seconds, the head at that time, and the
   * block of that other one where it was found.
   */
  replaced: Map<string, { at: number; height: number; time: number | undefined; by: Held | null }>;
  /** By transaction that lost its block: until when it can be mined again, Unix seconds of the chain, as far as that is known. */
  expiries: Map<string, number>;
  /** What was asked of transactions for a page that is not stored yet, by their hash: the next try continues there. */
  proofs: Map<string, Proof>;
  /** Accounts as far as coins were read, up to this block; null where they must be read from the database. */
  accounts: { height: number; hash: string; all: Accounts } | null;
  /** Accounts as far as final blocks were read; null where they must be read from the database. */
  solid: { height: number; hash: string; all: SolidAccounts } | null;
  /** When their balances were read last, Unix seconds, and since when and why that fails. */
  solid_at: number;
  solid_failing: { since: number; why: string } | null;
  /** Why coins could not be read the last time; null where they could. */
  coin_trouble: string | null;
  /** Where reading coins stood when it fell behind, and when, Unix seconds; null where it is not behind. */
  coin_began: { height: number; at: number } | null;
  /** Balances seen ahead of where coins stand, oldest first. */
  looks: Look[];
  /** When a provider had no state of an older block last, Unix seconds. */
  no_state_at: number;
  /** Until when coins are asked of another provider first, Unix seconds. */
  coin_other_until: number;
  /** What came to addresses and left them, as far as it is known; and why blocks could not be read for it the last time. */
  passing: Passings;
  passing_trouble: string | null;
  /** Whether blocks have left the chain since that was held against where coins stand. */
  has_fallen: boolean;
  /** Blocks that the cursor does not hold, of which it is known that they are on its chain. */
  verified: Map<number, Header>;
  /** Of blocks too far below one that it holds: which one stood there, and since when that is the answer, Unix seconds. */
  seen_once: Map<number, { hash: string; at: number }>;
  /** How often each block was asked about that is not known to be on that chain. */
  tried: Map<number, number>;
}

/** What a node has of one transaction. */
export interface Proof {
  receipt: Receipt;
  /** Null where the network does not number transactions. */
  transaction: Transaction | null;
}

export type EvmContext = ReadContext & { memory: Memory };

export const createMemory = (): Memory => ({
  hosts: new WeakMap(),
  cursor: null,
  marks: [],
  second_at: 0,
  failing_since: null,
  absent: new WeakMap(),
  newest: null,
  shorter_since: null,
  finalized_at: 0,
  decimals: new Map(),
  decimals_at: 0,
  decimals_pause: 0,
  replaced: new Map(),
  expiries: new Map(),
  proofs: new Map(),
  accounts: null,
  solid: null,
  solid_at: 0,
  solid_failing: null,
  coin_trouble: null,
  coin_began: null,
  looks: [],
  no_state_at: Number.NEGATIVE_INFINITY,
  coin_other_until: 0,
  passing: new Map(),
  passing_trouble: null,
  has_fallen: false,
  verified: new Map(),
  seen_once: new Map(),
  tried: new Map(),
});

/** Of the provider that is read now. */
export function absentOf({ memory: { absent }, rpc }: EvmContext): Absent {
  const known = absent.get(rpc) ?? { names: new Set(), own: 0, others: 0, asked: 0 };
  absent.set(rpc, known);
  return known;
}
