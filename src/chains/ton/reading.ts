// What one reading shares: the tip, what is known of each account, what went wrong with single ones, what may be spent.
import { type Page, ProviderError, type Tip, type Transfer } from '../family.ts';
import { isOfQuestion, TOO_LARGE } from '../or-failed.ts';
import type { Steps } from '../steps.ts';
import type { ReadAccount } from './accounts.ts';
import { extend, type History, isKnown } from './history.ts';
import type { Markers } from './markers.ts';
import type { TonContext } from './memory.ts';
import type { TonTransaction, TransactionRow } from './providers/toncenter.ts';
import { toTransfer } from './transfers.ts';

/** Shards and replicas of the indexer may be late by this much: that stretch is read again each time. */
export const OVERLAP_SECONDS = 120;
/** A transaction later than the newest tip and our clock by more than this is none. */
const FUTURE_SECONDS = 30;
/** An account that crowded others out of a page has its own requests for this long after its last full page. */
const BUSY_SECONDS = OVERLAP_SECONDS;

/**
 * Refusals of questions about several accounts that one reading answers with questions about fewer of them: one account of a
 * hundred is found with seven. Beyond, they are not about single accounts.
 */
const REFUSALS_PER_READING = 20;
const NO_SUCH_REQUEST: ReadonlySet<number | null> = new Set([404, 405]);

/** Why an account is not read further. */
export interface Problem {
  trouble: string;
  /** Whether trying again at once is of no use. */
  failed: boolean;
}

export interface Reading {
  context: TonContext;
  tip: Tip;
  markers: Markers;
  /** By account. The first one of a reading stands, until the account is read without one. */
  problems: Map<string, Problem>;
  /** Accounts of which a transaction is known that does not follow the one before. */
  broken: Set<string>;
  /** Accounts that have requests of their own, each until a moment of our clock. */
  busy: Map<string, number>;
  /** Requests left for single accounts. */
  spare: number;
  /** Refusals left that are taken to be about single accounts. */
  refusals: number;
}

export function openReading(context: TonContext, tip: Tip, markers: Markers): Reading {
  const { busy } = context.memory;
  for (const [account, until] of busy) if (until < context.now()) busy.delete(account);
  const { spare_requests: spare } = context;
  const refusals = REFUSALS_PER_READING;
  return { context, tip, markers, problems: new Map(), broken: new Set(), busy, spare, refusals };
}

/** Whether a question about several accounts may have been refused because of one of them; takes one of the refusals left. */
export function isOfFew(reading: Reading, error: unknown): error is ProviderError {
  const isRefused =
    isOfQuestion(error) &&
    (error.kind === 'rpc' || error.code === TOO_LARGE) &&
    !NO_SUCH_REQUEST.has(error.code);
  return isRefused && reading.refusals-- > 0;
}

/** The same in two parts. */
export function halves<T>(all: readonly T[]): [T[], T[]] {
  const half = Math.ceil(all.length / 2);
  return [all.slice(0, half), all.slice(half)];
}

/** Takes one of the requests for single accounts; false where none is left. */
export function spend(reading: Reading): boolean {
  if (reading.spare <= 0) return false;
  reading.spare--;
  return true;
}

export const setBusy = ({ busy, context }: Reading, { account }: ReadAccount): void =>
  void busy.set(account, context.now() + BUSY_SECONDS);

export function setProblem({ problems }: Reading, { account }: ReadAccount, problem: Problem): void {
  if (!problems.has(account)) problems.set(account, problem);
}

/** A page with what changed of the markers since the one before. */
export const pageOf = ({ markers, tip }: Reading, page: Partial<Page> = {}): Page => ({
  transfers: [],
  tip,
  accounts: markers.changes(),
  ...page,
});

export function setHistory({ markers }: Reading, read: ReadAccount, history: History): void {
  read.history = history;
  markers.setAsset(read.address_key, read.asset, { account: read.account, history });
}

/** Whether a moment of the chain may be in the time in which nothing of the account may be missing. */
export const mattersAt = ({ context }: Reading, { history }: ReadAccount, chain_time: number): boolean =>
  context.local(chain_time).latest_at >= history.since - OVERLAP_SECONDS;

function addTo(
  map: Map<ReadAccount, TonTransaction[]>,
  read: ReadAccount,
  transactions: TonTransaction[],
): void {
  const known = map.get(read);
  if (known) known.push(...transactions);
  else map.set(read, transactions);
}

/** The transactions of an answer by the accounts that are read. What cannot be read is a problem of its account alone. */
function readable(
  reading: Reading,
  accounts: ReadonlyMap<string, ReadAccount>,
  rows: readonly TransactionRow[],
): Map<ReadAccount, TonTransaction[]> {
  const { context, tip } = reading;
  const latest = Math.max(tip.time, context.now()) + FUTURE_SECONDS;
  const found = new Map<ReadAccount, TonTransaction[]>();
  for (const { account, transaction, reason } of rows) {
    const read = accounts.get(account);
    if (!read) continue;
    if (!transaction) {
      setProblem(reading, read, { trouble: reason ?? 'a transaction cannot be read', failed: true });
      continue;
    }
    // What is not in a masterchain block yet may never be.
    if (transaction.emulated || transaction.mc_block_seqno === null) continue;
    if (transaction.now > latest) {
      const trouble = `transaction ${transaction.hash} is ${transaction.now - latest} seconds in the future`;
      setProblem(reading, read, { trouble, failed: true });
    } else if (!isKnown(read.history, transaction)) addTo(found, read, [transaction]);
  }
  return found;
}

/**
 * The credits among these rows that are not read yet; the histories of their accounts grow by all that follows. With
 * `collect` they do not, and the transactions are put there, for rows that come before what is known.
 */
export function* takeRows(
  reading: Reading,
  accounts: ReadonlyMap<string, ReadAccount>,
  rows: readonly TransactionRow[],
  collect?: Map<ReadAccount, TonTransaction[]>,
): Steps<Transfer[]> {
  const transfers: Transfer[] = [];
  for (const [read, transactions] of readable(reading, accounts, rows)) {
    const links: TonTransaction[] = [];
    for (const transaction of transactions) {
      yield;
      try {
        const matters = mattersAt(reading, read, transaction.now);
        const transfer = matters && toTransfer(transaction, read, reading.tip, reading.context.local);
        if (transfer) transfers.push(transfer);
        links.push(transaction);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        setProblem(reading, read, { trouble: error.message, failed: true });
      }
    }
    if (collect) addTo(collect, read, links);
    else grow(reading, read, links);
  }
  return transfers;
}

/** Adds transactions to the history of their account. */
export function grow(reading: Reading, read: ReadAccount, links: readonly TonTransaction[]): void {
  const { history, is_broken } = extend(read.history, links, (link) => mattersAt(reading, read, link.now));
  if (is_broken) reading.broken.add(read.account);
  setHistory(reading, read, history);
}
