// The shared reading of a stretch of time: one request per hundred accounts, in which none crowds out the others.
import { type Page, ProviderError } from '../family.ts';
import { inTurns } from '../steps.ts';
import type { ReadAccount } from './accounts.ts';
import { getTransactions, isFull, type TonTransaction, type TransactionRow } from './providers/toncenter.ts';
import { halves, isOfFew, pageOf, type Reading, setBusy, takeRows } from './reading.ts';

/** Accounts in one query; about 8 kB of URL, what proxies let through. */
const BATCH_ACCOUNTS = 100;
/** Pages of one stretch and batch of accounts; more means a provider that ignores the offset. */
const PAGES_LIMIT = 1000;
/** Where a page is full, an account with more rows than this is read by requests of its own; the more pages, the fewer rows. */
const FAIR_ROWS = 500;

export interface Slice {
  /** Unix seconds of the chain's clock, both; null: as far as the indexer goes. */
  from: number;
  to: number | null;
}

type Collected = Map<ReadAccount, TonTransaction[]>;

/** Reads the stretch for all these accounts but the busy ones, which have requests of their own. */
export async function* readWindow(
  reading: Reading,
  accounts: readonly ReadAccount[],
  slice: Slice,
  collect?: Collected,
): AsyncGenerator<Page> {
  const shared = accounts.filter(({ account }) => !reading.busy.has(account));
  for (let first = 0; first < shared.length; first += BATCH_ACCOUNTS)
    yield* readBatch(reading, shared.slice(first, first + BATCH_ACCOUNTS), slice, collect);
}

/** One account that its provider cannot be asked about with others has requests of its own, too. */
async function* readBatch(
  reading: Reading,
  accounts: readonly ReadAccount[],
  { from, to }: Slice,
  collect: Collected | undefined,
): AsyncGenerator<Page> {
  const batch = new Map(accounts.map((each) => [each.account, each]));
  const counts = new Map<string, number>();
  let [start, offset] = [from, 0];
  let first: string | null = null;
  for (let page = 1; page <= PAGES_LIMIT; page++) {
    let rows: TransactionRow[];
    try {
      rows = await getTransactions(reading.context.rpc, {
        account: [...batch.keys()],
        start_utime: start,
        end_utime: to ?? undefined,
        sort: 'asc',
        offset,
      });
    } catch (error) {
      if (!isOfFew(reading, error)) throw error;
      const rest = [...batch.values()];
      if (rest.length === 1) setBusy(reading, rest[0] as ReadAccount);
      else for (const part of halves(rest)) yield* readBatch(reading, part, { from: start, to }, collect);
      return;
    }
    if (first !== null && rows[0]?.hash === first)
      throw new ProviderError('bad_answer', 'toncenter /transactions: gives the same page again');
    const transfers = await inTurns(reading.context.rpc, takeRows(reading, batch, rows, collect));
    if (transfers.length > 0) yield pageOf(reading, { transfers });
    if (!isFull(rows)) return;
    const crowding = countCrowding(
      counts,
      rows.filter(({ account }) => batch.has(account)),
      page,
    );
    if (crowding.length === 0) {
      offset += rows.length;
      first = rows[0]?.hash ?? null;
      continue;
    }
    for (const account of crowding) {
      const read = batch.get(account);
      if (read) setBusy(reading, read);
      batch.delete(account);
      counts.delete(account);
    }
    if (batch.size === 0) return;
    // Everything before the last row's second is read; the others continue there.
    start = rows.findLast(({ transaction }) => transaction)?.transaction?.now ?? start;
    offset = 0;
    first = null;
  }
  throw new ProviderError('bad_answer', `toncenter /transactions: more than ${PAGES_LIMIT} pages`);
}

/** Counts the rows of each account; names those that have more than their share after so many pages. */
function countCrowding(
  counts: Map<string, number>,
  rows: readonly TransactionRow[],
  pages: number,
): string[] {
  for (const { account } of rows) counts.set(account, (counts.get(account) ?? 0) + 1);
  return [...counts].filter(([, count]) => count * pages > FAIR_ROWS).map(([account]) => account);
}
