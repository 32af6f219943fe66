// The tables of running: what is watched, how far each blockchain was read, who reads it, and what is counted.

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
  last_ok_at: number | null;
  last_error: string | null;
  last_error_at: number | null;
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
