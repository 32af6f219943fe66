// Requests for single accounts: what they lack is read along their own chain of transactions, a page of each at a time.
import type { Page } from '../family.ts';
import { isOfQuestion } from '../or-failed.ts';
import { inTurns } from '../steps.ts';
import type { ReadAccount } from './accounts.ts';
import type { Position } from './history.ts';
import { getTransactions, isFull, PAGE_LIMIT, type TransactionRow } from './providers/toncenter.ts';
import {
  isOfFew,
  OVERLAP_SECONDS,
  type Problem,
  pageOf,
  type Reading,
  setBusy,
  setHistory,
  setProblem,
  spend,
  takeRows,
} from './reading.ts';
import { type Target, wantedHash } from './states.ts';

/** Transactions asked for by their hashes in one request. */
const BATCH_HASHES = 100;
/** What is usually missing at one end of a history is one transaction, and the next one ends the search. */
const HASH_ROUNDS = 2;

/**
 * Reads by their hashes the transactions that accounts lack at the ends of their histories: many accounts share a
 * request, and few lack more than one.
 */
export async function* readByHash(
  reading: Reading,
  targets: readonly (readonly [ReadAccount, Target])[],
): AsyncGenerator<Page> {
  const requested = new Set<string>();
  for (let round = 0; round < HASH_ROUNDS; round++) {
    const wanted = targets.flatMap(([read, target]) => {
      const hash = wantedHash(read, target);
      return hash === null || requested.has(hash) ? [] : [{ read, hash }];
    });
    for (let first = 0; first < wanted.length; first += BATCH_HASHES) {
      if (!spend(reading)) return;
      const batch = wanted.slice(first, first + BATCH_HASHES);
      for (const { hash } of batch) requested.add(hash);
      const hash = batch.map((each) => each.hash);
      let rows: TransactionRow[];
      try {
        rows = await getTransactions(reading.context.rpc, { hash, sort: 'asc' });
      } catch (error) {
        if (!isOfFew(reading, error)) throw error;
        return; // Each account has a request of its own then.
      }
      const meant = rows.filter((row) =>
        batch.some(({ read, hash }) => row.account === read.account && row.hash === hash),
      );
      const accounts = new Map(batch.map(({ read }) => [read.account, read]));
      yield pageOf(reading, {
        transfers: await inTurns(reading.context.rpc, takeRows(reading, accounts, meant)),
      });
    }
  }
}

/**
 * Reads on where the account's history ends, or `back` where it begins: one page. What is still missing then is a problem
 * of the account. Throws ProviderError only where the provider as a whole cannot be asked.
 */
export async function* readSingle(reading: Reading, read: ReadAccount, back: boolean): AsyncGenerator<Page> {
  const { last, front } = read.history;
  const expected = back ? front : last;
  reading.broken.delete(read.account);
  reading.problems.delete(read.account);
  let rows: TransactionRow[];
  try {
    rows = await getTransactions(reading.context.rpc, queryOf(read, back));
  } catch (error) {
    // An odd answer to a question about one account says nothing about the others.
    if (!isOfQuestion(error)) throw error;
    return setProblem(reading, read, { trouble: error.message, failed: true });
  }
  const taking = takeRows(reading, new Map([[read.account, read]]), rows);
  const transfers = await inTurns(reading.context.rpc, taking);
  const differs = expected && mismatch(reading, read, rows, { expected, back });
  const problem = differs ?? remainder(reading, read, rows, back);
  if (problem) setProblem(reading, read, problem);
  yield pageOf(reading, { transfers });
}

function queryOf({ account, history: { since, last, front } }: ReadAccount, back: boolean) {
  const query = { account: [account], limit: PAGE_LIMIT };
  if (back && front) return { ...query, end_lt: front.lt, sort: 'desc' as const };
  const start = last ? { start_lt: last.lt } : { start_utime: since - OVERLAP_SECONDS };
  return { ...query, ...start, sort: 'asc' as const };
}

/** Whether the page lacks the transaction that it was asked from. */
function mismatch(
  reading: Reading,
  read: ReadAccount,
  rows: readonly TransactionRow[],
  { expected, back }: { expected: Position; back: boolean },
): Problem | null {
  const { differing } = reading.context.memory;
  const [first] = rows;
  if (first?.hash === expected.hash) {
    differing.delete(read.account);
    return null;
  }
  const lt = first?.transaction?.lt;
  if (!first || (back && lt !== undefined && lt < expected.lt))
    return { trouble: NOT_THERE_YET, failed: false };
  // A second answer without what was read before is believed so far that all is read again.
  if (differing.delete(read.account)) setHistory(reading, read, { ...read.history, last: null, front: null });
  else differing.add(read.account);
  return { trouble: DIFFERS, failed: true };
}

/** What the page leaves unread, as far as it shows. */
function remainder(
  reading: Reading,
  read: ReadAccount,
  rows: readonly TransactionRow[],
  back: boolean,
): Problem | null {
  if (reading.broken.has(read.account)) return { trouble: MISSING, failed: true };
  if (back && read.history.front === null) return null;
  if (!isFull(rows)) return back ? { trouble: NOT_THERE_YET, failed: false } : null;
  setBusy(reading, read);
  const trouble = `busy: ${rows.length} transactions were read at once, and more are unread`;
  return { trouble, failed: false };
}

export const NOT_THERE_YET = 'the provider does not have all of its transactions yet';
export const MISSING = 'a transaction is missing between those that the provider has';
const DIFFERS = 'the provider has other transactions than those that were read';
