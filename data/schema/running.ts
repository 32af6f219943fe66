// The tables of running: what is watched, how far each blockchain and account was read, who reads, and what is counted.
import type { Generated } from 'kysely';
import type { Once } from './columns.ts';

export interface WatchesTable {
  blockchain: string;
  address_key: string;
  address: string;
  since: number;
  /** Until when an invoice may still be open. */
  open_until: number;
  watch_until: number;
}

export interface CursorsTable {
  blockchain: string;
  /** JSON of the family. */
  cursor: string | null;
  /** Raised at every move; a move is a compare-and-set on it. */
  version: number;
  tip_height: number | null;
  tip_hash: string | null;
  tip_time: number | null;
  /** When the last complete reading began, Unix seconds of our clock. */
  last_ok_at: number | null;
  last_error: string | null;
  last_error_at: number | null;
  /** Everything made before is stored, of every account without a proof of its own; Unix seconds of our clock. */
  read_through: number | null;
}

/** How far single accounts were read, where that is not as far as the rest of their blockchain. */
export interface AccountProofsTable {
  blockchain: string;
  address_key: string;
  chain: string;
  /** The account on the chain that holds the asset for the address. */
  account: string;
  /** Everything made before is stored, Unix seconds of our clock; null: nothing is proved. */
  read_through: number | null;
  /** Why it is not read further. */
  trouble: string | null;
  /** Failures in a row. */
  failures: number;
  failed_since: number | null;
  /** It is left alone until then. */
  retry_at: number | null;
  updated_at: number;
}

/** Assets whose contract, mint or master cannot be read. */
export interface UnreadableAssetsTable {
  blockchain: string;
  chain: string;
  reason: string;
  since: number;
}

/** Who has asked for payments to an address. */
export interface AddressAccountsTable {
  blockchain: string;
  address_key: string;
  /** The merchant; the empty text stands for the deployment itself. */
  owner_id: Once<string>;
  since: Once<number>;
  /** When a payment read from the chain was first booked for him there. */
  first_sale_at: number | null;
  /** Volume of what was booked for him there, in USD: who has sold more goes before the others. */
  sold_micros: Generated<bigint>;
  /** 1 where another uses the address too. */
  shared: 1 | null;
}

/** What two sources say differently of one thing, until a person closes it. */
export interface ContradictionsTable {
  id: Once<string>;
  blockchain: Once<string>;
  kind: Once<string>;
  /** What it is about; at most one of a kind is open for it. */
  subject: Once<string>;
  txid: Once<string | null>;
  invoice_id: Once<string | null>;
  /** JSON object: what each side says. */
  details: string;
  /** How often it was met. */
  count: number;
  created_at: Once<number>;
  updated_at: number;
  closed_at: number | null;
  closed_by: string | null;
  note: string | null;
}

export interface AccountCursorsTable {
  blockchain: string;
  account: string;
  cursor: string;
  updated_at: number;
}

export interface ReadRangesTable {
  blockchain: string;
  scope: string;
  from_position: number;
  to_position: number;
  updated_at: number;
}

export interface IdempotencyTable {
  caller: string;
  key: string;
  request_hash: string;
  /** Id of what the request makes: the same again where its process died midway. */
  resource_id: string;
  /** Null while the first request is in progress. */
  status: number | null;
  body: string | null;
  created_at: number;
  /** The daemon that works on it, or did. */
  holder: string | null;
}

export interface LeasesTable {
  name: string;
  holder: string;
  until_ms: number;
}

/** Running sums that triggers keep; see migrations/0002-operator.ts. A sum is that of all its shards. */
export interface TalliesTable {
  name: string;
  key: string;
  /** Days since 1970, UTC; 0 where the sum has no days. */
  day: number;
  shard: number;
  count: number;
  amount_micros: bigint;
  fee_micros: bigint;
}
