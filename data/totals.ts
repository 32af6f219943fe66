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

/** How many rows a table has, or those with one value of an indexed column (null: those without any). */
export function countTable(
  query: Executor,
  table: 'ledger' | 'events' | 'units' | 'contradictions',
  where: readonly [column: string, value: string | null] | null,
): Promise<Total> {
  const those =
    where === null
      ? sql``
      : where[1] === null
        ? sql` where ${sql.ref(where[0])} is null`
        : sql` where ${sql.ref(where[0])} = ${where[1]}`;
  return countRows(query, sql`select 1 from ${sql.table(table)}${those} limit ${COUNT_LIMIT}`);
}
