// How many rows a list has: counted up to a bound, by the index that the list itself is read by.
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from './db/database.ts';

/** More are not counted. */
export const COUNTED_MOST = 10_000;

export interface Total {
  total: number;
  /** Whether there are others that were not counted. */
  total_is_more: boolean;
}

/** One more than are counted tells whether there are others. */
export const COUNT_LIMIT = COUNTED_MOST + 1;

/** How many rows a statement has, which ends itself at COUNT_LIMIT. */
export async function countRows(query: Executor, rows: RawBuilder<unknown>): Promise<Total> {
  const { rows: counted } = await sql<{ count: number | bigint | string }>`select count(*) as count
    from (${rows}) as listed`.execute(query);
  const count = Number(counted[0]?.count ?? 0);
  return { total: Math.min(count, COUNTED_MOST), total_is_more: count > COUNTED_MOST };
}
