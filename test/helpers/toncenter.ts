// A toncenter v3 indexer in memory, for tests that need its answers and no executor: rows, states, the last block.
import type { Json } from '../../src/chains/family.ts';

/** The elector, which has a transaction in every masterchain block. */
const BEACON = `-1:${'3'.repeat(64)}`;
/** More than rows in any block. */
const LT_PER_BLOCK = 10_000_000;
const NO_HASH = Buffer.alloc(32).toString('base64');

/** What a test says of a transaction; its place in the chain of its account is added. */
export interface IndexedTransaction {
  /** Raw form with upper-case hex. */
  account: string;
  /** Unix seconds. */
  now: number;
  mc_block_seqno: number;
  [field: string]: unknown;
}

export type IndexedRow = IndexedTransaction & {
  /** Base64. */
  hash: string;
  lt: string;
  prev_trans_lt: string;
  prev_trans_hash: string;
};

/** What a request asks for, whether it came over HTTP or not; one value or many of each. */
type Query = Record<string, Json | undefined>;

/** The first row of a sorted list for which this holds; the list's length where none is. */
function firstAt(rows: readonly IndexedRow[], holds: (row: IndexedRow) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(rows[middle] as IndexedRow)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const byTime = (one: IndexedRow, other: IndexedRow) =>
  one.now - other.now || Number(one.lt) - Number(other.lt);

/** `seqno` and `now` are of the last masterchain block. Rows are to be added in the order of their time. */
export function createToncenter(last: () => { seqno: number; now: number }) {
  const by_account = new Map<string, IndexedRow[]>();
  const by_hash = new Map<string, IndexedRow>();
  const rowsOf = (account: string) => by_account.get(account) ?? [];
  const lastOf = (account: string) => rowsOf(account).at(-1);

  /** Returns the row as it will be answered. */
  function add(transaction: IndexedTransaction): IndexedRow {
    const { account, mc_block_seqno } = transaction;
    const before = lastOf(account);
    const serial = by_hash.size + 1;
    const hash = Buffer.alloc(32);
    hash.writeUInt32BE(serial);
    const row = {
      ...transaction,
      hash: hash.toString('base64'),
      lt: String(mc_block_seqno * LT_PER_BLOCK + serial),
      prev_trans_lt: before?.lt ?? '0',
      prev_trans_hash: before?.hash ?? NO_HASH,
    };
    by_hash.set(row.hash, row);
    if (before) rowsOf(account).push(row);
    else by_account.set(account, [row]);
    return row;
  }

  function masterchainInfo() {
    const { seqno, now } = last();
    const start_lt = String(seqno * LT_PER_BLOCK);
    return { last: { seqno, gen_utime: String(now), global_id: -3, start_lt } };
  }

  function transactions(query: Query) {
    const hashes = valuesOf(query.hash);
    if (hashes.length > 0) return { transactions: hashes.flatMap((hash) => by_hash.get(hash) ?? []) };
    const number = (name: string, otherwise: number) => Number(query[name] ?? otherwise);
    const [from, to] = [number('start_utime', 0), number('end_utime', Number.MAX_SAFE_INTEGER)];
    const [from_lt, to_lt] = [number('start_lt', 0), number('end_lt', Number.MAX_SAFE_INTEGER)];
    const accounts = valuesOf(query.account);
    const found = accounts.flatMap((account) => {
      const rows = rowsOf(account);
      const begin = firstAt(rows, ({ now, lt }) => now >= from && Number(lt) >= from_lt);
      return rows.slice(
        begin,
        firstAt(rows, ({ now, lt }) => now > to || Number(lt) > to_lt),
      );
    });
    if (accounts.length > 1) found.sort(byTime);
    if (query.sort === 'desc') found.reverse();
    const offset = number('offset', 0);
    return { transactions: found.slice(offset, offset + number('limit', 10)) };
  }

  function accountStates(query: Query) {
    const states = valuesOf(query.address).flatMap((address) => {
      if (address === BEACON) return [stateOf(address, String(last().seqno * LT_PER_BLOCK), NO_HASH)];
      const row = lastOf(address);
      return row ? [stateOf(address, row.lt, row.hash)] : [];
    });
    return { accounts: states };
  }

  return {
    add,
    /** The answer to a path below the API's; undefined where it has no such path. */
    answer(path: string, query: Query): unknown {
      if (path === '/masterchainInfo') return masterchainInfo();
      if (path === '/transactions') return transactions(query);
      if (path === '/accountStates') return accountStates(query);
      return undefined;
    },
  };
}

const stateOf = (address: string, last_transaction_lt: string, last_transaction_hash: string) => ({
  address,
  status: 'uninit',
  last_transaction_lt,
  last_transaction_hash,
});

const valuesOf = (value: Json | undefined): string[] =>
  value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String);

/** The query of a URL, with every value as a list. */
export function queryOf(url: URL): Query {
  const query: Query = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    query[name] = name === 'account' || name === 'hash' || name === 'address' ? values : (values[0] ?? '');
  }
  return query;
}
