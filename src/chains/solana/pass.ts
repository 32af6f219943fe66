// What one pass over the watched Solana accounts shares, and what it knows of each account it visits.
import type { ProviderError, ReadContext, Tip, WatchedAddress } from '../family.ts';
import type { AccountCursor, Observed } from './cursor.ts';
import type { Memory } from './memory.ts';
import type { Caller, SolanaTransaction } from './providers/rpc.ts';
import type { Asset } from './transfers.ts';

export interface SolanaLimits {
  /** What the protocol allows in one answer: 1000. */
  signatures_per_page: number;
  /** Transactions stored together, after which the account's cursor moves. */
  transactions_per_page: number;
  /** Transactions asked for at a time. */
  transactions_at_once: number;
  /** Readings after which an account is listed although its balance did not change. */
  sweep_ticks: number;
  /** Accounts listed so in one reading. */
  sweeps_per_tick: number;
}

/** A wallet, or its token account of one mint. */
export interface WatchedAccount {
  key: string;
  /** Gateway id. */
  chain: string;
  owner: WatchedAddress;
  /** Null for the wallet itself. */
  mint: string | null;
}

/** What one pass over all accounts shares. */
export interface Pass {
  context: ReadContext;
  rpc: Caller;
  /** Requests made through `rpc` in this pass. */
  spent(): number;
  limits: SolanaLimits;
  tip: Tip;
  assets: readonly Asset[];
  memory: Memory;
  /** A payment that makes the token account touches the wallet too: read once. */
  transactions: Map<string, SolanaTransaction>;
  /** Why transactions could not be read, by signature. */
  failures: Map<string, string>;
  /** Accounts with more work than could be done at once. */
  deferred: Visit[];
  /** Accounts of which the node reported what they hold … */
  answered: number;
  /** … and those of which it did not, each asked for alone. */
  unanswered: { account: WatchedAccount; error: ProviderError }[];
  /** Why some others were not answered for. */
  unanswered_error?: ProviderError;
}

/** One account to be read, with what it holds now. */
export interface Visit {
  account: WatchedAccount;
  /** As stored. */
  cursor: AccountCursor | undefined;
  observed: Observed;
}
