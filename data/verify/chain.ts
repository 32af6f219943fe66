// Law 22: what a blockchain has for each watched address and asset is what the books say of it, but for what is named.
import type { Transfer, WatchedAddress } from '../../src/chains/family.ts';
import type { Executor } from '../db/database.ts';
import { provedThrough } from '../proofs.ts';
import type { TransferRow } from '../schema/tables.ts';
import { MANUAL_INDEX } from '../transfers.ts';

/** Scopes of ranges: of blocks, of all accounts by time; others are of single accounts, by time. */
const BLOCKS = 'height';
const ALL_ACCOUNTS = 'utime';
/** What a provider showed no later than this after it was made is stored, where a range is not proved any better. */
const LAG_SECONDS = 180;

/** Why the books and the chain may differ with nothing wrong; atomic units, less than zero where the books have more. */
export interface Exclusions {
  /** Made before its address was watched, or before the time from which on the chain is read. */
  before_the_watch: bigint;
  /** Made after what the books say is proved. */
  not_proved_yet: bigint;
  /** In no block, and may still be dropped. */
  in_no_block: bigint;
  /** Booked by an operator without a transaction of the chain. */
  booked_by_hand: bigint;
}

/** A credit of which the books and the chain say different things. */
export interface ChainFault {
  fault: 'missing in the books' | 'not on the chain' | 'another amount' | 'gone in the books';
  txid: string;
  index: string;
  stored_atomic: string | null;
  chain_atomic: string | null;
  height: number | null;
  booked_invoice_id: string | null;
}

/** One watched address in one asset: `on_chain` = `matched` + `late` + `unmatched` + `dust` + all exclusions, where it is `ok`. */
export interface AccountBalance {
  blockchain: string;
  address: string;
  address_key: string;
  /** Gateway id. */
  chain: string;
  /** Unix seconds: everything made before is stored, as the books say; 0 where nothing is proved, and nothing compared. */
  proved_through: number;
  on_chain: bigint;
  matched: bigint;
  late: bigint;
  unmatched: bigint;
  /** Below any price worth asking: counted, and not listed. */
  dust: bigint;
  exclusions: Exclusions;
  /** What is left: more than zero where the chain has more. */
  difference: bigint;
  faults: ChainFault[];
  ok: boolean;
  /** Why the chain could not be read as far as the books are proved; null where it was. */
  unread: string | null;
}

/** A watched address in one asset, as the books have it. */
export interface StoredAccount {
  blockchain: string;
  chain: string;
  watched: WatchedAddress;
  proved_through: number;
  transfers: readonly TransferRow[];
}

/** Stretches of blocks that were read, of blockchains that count blocks; null of others. */
export type BlockRanges = readonly { from_position: number; to_position: number }[] | null;

export async function storedAccount(
  query: Executor,
  { blockchain, chain, watched }: Pick<StoredAccount, 'blockchain' | 'chain' | 'watched'>,
): Promise<StoredAccount> {
  const address_key = watched.key;
  const transfers = await query
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('chain', '=', chain)
    .execute();
  const proved_through = await provedThrough(query, { blockchain, address_key, chain });
  return { blockchain, chain, watched, proved_through, transfers };
}

export async function blockRanges(query: Executor, blockchain: string): Promise<BlockRanges> {
  const ranges = await query
    .selectFrom('read_ranges')
    .select(['from_position', 'to_position'])
    .where('blockchain', '=', blockchain)
    .where('scope', '=', BLOCKS)
    .execute();
  return ranges.length > 0 ? ranges : null;
}

/** Until when the books say that they have read, by the account on the chain or for all; Unix seconds. */
export async function readUntil(
  query: Executor,
  blockchain: string,
): Promise<(account: string | undefined) => number> {
  const rows = await query
    .selectFrom('read_ranges')
    .select((of) => ['scope', of.fn.max('to_position').as('to')])
    .where('blockchain', '=', blockchain)
    .where('scope', '<>', BLOCKS)
    .groupBy('scope')
    .execute();
  const until = new Map(rows.map(({ scope, to }) => [scope, Number(to) - LAG_SECONDS]));
  return (account) => Math.max(0, until.get(ALL_ACCOUNTS) ?? 0, until.get(account ?? '') ?? 0);
}

export interface Compared {
  credits: readonly Transfer[];
  ranges: BlockRanges;
  /** How much earlier than `latest_at` says a transaction's block may be, seconds: 0 where the chain keeps time. */
  slack_seconds: number;
  unread: string | null;
}

/** Holds one account of the books against what the chain has for it. */
export function compareAccount(stored: StoredAccount, compared: Compared): AccountBalance {
  const { blockchain, chain, watched, proved_through } = stored;
  const balance: AccountBalance = {
    blockchain,
    address: watched.address,
    address_key: watched.key,
    chain,
    proved_through,
    on_chain: 0n,
    matched: 0n,
    late: 0n,
    unmatched: 0n,
    dust: 0n,
    exclusions: { before_the_watch: 0n, not_proved_yet: 0n, in_no_block: 0n, booked_by_hand: 0n },
    difference: 0n,
    faults: [],
    ok: false,
    unread: compared.unread,
  };
  const credits = new Map(compared.credits.map((credit) => [`${credit.txid} ${credit.index}`, credit]));
  for (const row of stored.transfers) {
    const key = `${row.txid} ${row.idx}`;
    countStored(balance, { stored, compared }, row, credits.get(key));
    credits.delete(key);
  }
  for (const credit of credits.values()) {
    balance.on_chain += credit.amount_atomic;
    const why = whyUnstored({ stored, compared }, credit);
    if (why) balance.exclusions[why] += credit.amount_atomic;
    else balance.faults.push(faultOf('missing in the books', undefined, credit));
  }
  const excluded = Object.values(balance.exclusions).reduce((sum, each) => sum + each, 0n);
  balance.difference =
    balance.on_chain - balance.matched - balance.late - balance.unmatched - balance.dust - excluded;
  balance.ok = balance.unread === null && balance.faults.length === 0 && balance.difference === 0n;
  return balance;
}

interface Both {
  stored: StoredAccount;
  compared: Compared;
}

function countStored(balance: AccountBalance, both: Both, row: TransferRow, credit?: Transfer): void {
  const amount = BigInt(row.amount_atomic);
  if (row.idx === MANUAL_INDEX) {
    const isRead = both.stored.transfers.some(({ txid, idx }) => txid === row.txid && idx !== MANUAL_INDEX);
    // What the chain showed later counts, and not what was booked by hand before.
    if (isRead) return;
    balance[row.disposition] += amount;
    balance.exclusions.booked_by_hand -= amount;
    return;
  }
  if (credit) balance.on_chain += credit.amount_atomic;
  if (row.state === 'gone' && row.booked_invoice_id === null) {
    if (!credit) return;
    if (credit.height === null) balance.exclusions.in_no_block += credit.amount_atomic;
    else balance.faults.push(faultOf('gone in the books', row, credit));
    return;
  }
  balance[row.dust_day === null ? row.disposition : 'dust'] += amount;
  if (credit?.amount_atomic === amount) return;
  if (credit) {
    balance.faults.push(faultOf('another amount', row, credit));
    return;
  }
  const why = whyUnread(both, row);
  if (why) balance.exclusions[why] -= amount;
  else balance.faults.push(faultOf('not on the chain', row));
}

const isBefore = (latest_at: number, { stored, compared }: Both): boolean =>
  latest_at - compared.slack_seconds < stored.watched.since;

/** Why a credit of the chain need not be stored; null where it must. */
function whyUnstored(both: Both, credit: Transfer): keyof Exclusions | null {
  if (isBefore(credit.latest_at, both)) return 'before_the_watch';
  if (credit.height === null) return 'in_no_block';
  return isProved(both, credit.height, credit.latest_at) ? null : 'not_proved_yet';
}

/** Why a stored credit need not have been read again; null where it must. */
function whyUnread(both: Both, row: TransferRow): keyof Exclusions | null {
  if (isBefore(row.latest_at, both)) return 'before_the_watch';
  if (row.height === null && row.booked_invoice_id === null) return 'in_no_block';
  return isProved(both, row.height, row.latest_at) ? null : 'not_proved_yet';
}

/** Whether the books say that they have read where this stands. */
function isProved({ stored, compared }: Both, height: number | null, latest_at: number): boolean {
  const { ranges } = compared;
  if (ranges === null || height === null) return latest_at < stored.proved_through;
  return ranges.some(({ from_position, to_position }) => height >= from_position && height <= to_position);
}

const faultOf = (fault: ChainFault['fault'], row?: TransferRow, credit?: Transfer): ChainFault => ({
  fault,
  txid: credit?.txid ?? row?.txid ?? '',
  index: credit?.index ?? row?.idx ?? '',
  stored_atomic: row?.amount_atomic ?? null,
  chain_atomic: credit?.amount_atomic.toString() ?? null,
  height: credit?.height ?? row?.height ?? null,
  booked_invoice_id: row?.booked_invoice_id ?? null,
});
