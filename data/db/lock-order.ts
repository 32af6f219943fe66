// One order for rows that several transactions write: two of them never wait for each other in a circle.
import type { Db } from './database.ts';

/** Most rows that one statement loads. */
const ROWS_PER_QUERY = 500;

/** The same, sorted by a text of each. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows
    .map((row) => [keyOf(row), row] as const)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, row]) => row);

interface Selection<Row> {
  execute(): Promise<Row[]>;
  forNoKeyUpdate(): Selection<Row>;
}

/**
 * Rows loaded for change, by id; those that are not there are left out. `select` names the rows of some ids, in their
 * order: on PostgreSQL each is locked until the transaction ends, SQLite's writer is alone anyway.
 */
export async function lockInOrder<Row extends { id: string }>(
  db: Pick<Db, 'dialect'>,
  ids: readonly string[],
  select: (ids: readonly string[]) => Selection<Row>,
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  const sorted = [...new Set(ids)].sort();
  for (let start = 0; start < sorted.length; start += ROWS_PER_QUERY) {
    const selection = select(sorted.slice(start, start + ROWS_PER_QUERY));
    const found = await (db.dialect === 'postgres' ? selection.forNoKeyUpdate() : selection).execute();
    for (const row of found) rows.set(row.id, row);
  }
  return rows;
}
