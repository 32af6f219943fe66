// Running sums of the whole deployment, maintained by triggers: what the dashboard shows without reading a single invoice.
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from '../db/database.ts';

export interface Rollup {
  name: string;
  key: string;
  count: number;
  amount_micros: bigint;
  fee_micros: bigint;
}

const total = <T>(column: RawBuilder<unknown>): RawBuilder<T> =>
  sql<T>`cast(coalesce(sum(${column}), 0) as bigint)`;

/** The sums of these names; with `keys` only of these. */
export function rollups(
  query: Executor,
  names: readonly string[],
  { keys }: { keys?: readonly string[] } = {},
): Promise<Rollup[]> {
  let select = query
    .selectFrom('tallies')
    .select([
      'name',
      'key',
      total<number>(sql.ref('count')).as('count'),
      total<bigint>(sql.ref('amount_micros')).as('amount_micros'),
      total<bigint>(sql.ref('fee_micros')).as('fee_micros'),
    ])
    .where('name', 'in', names);
  if (keys) select = select.where('key', 'in', keys);
  return select.groupBy(['name', 'key']).orderBy('name').orderBy('key').execute();
}

/** The sums of one name by days: all, and from each of the given days on. Days since 1970, UTC. */
export async function rollupsSince(
  query: Executor,
  names: readonly string[],
  days: readonly number[],
): Promise<(Rollup & { since_micros: bigint[] })[]> {
  const since = days.map(
    (day, at) =>
      sql`${total(sql`case when day >= ${day} then amount_micros else 0 end`)} as ${sql.ref(`since${at}_micros`)}`,
  );
  const { rows } = await sql<Rollup & Record<string, bigint>>`
    select name, key,
      ${total(sql.ref('count'))} as count,
      ${total(sql.ref('amount_micros'))} as amount_micros,
      ${total(sql.ref('fee_micros'))} as fee_micros,
      ${sql.join(since)}
    from tallies where name in (${sql.join(names)}) group by name, key order by name, key`.execute(query);
  return rows.map((row) => ({
    ...row,
    since_micros: days.map((_, at) => row[`since${at}_micros`] ?? 0n),
  }));
}
