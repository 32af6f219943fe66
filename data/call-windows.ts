// Calls of the last minute that all daemons of a PostgreSQL database count together.
import { sql } from 'kysely';
import type { Executor } from './db/database.ts';

/** Callers without a recent call that are forgotten at once: more than come to be between two times. */
const FORGOTTEN_AT_ONCE = 200;

export interface CountedCall {
  /** Who calls, as a hash. */
  caller: string;
  /** Calls that may be made within the window. */
  most: number;
  now_ms: number;
  window_ms: number;
}

/**
 * Counts one call in one statement; milliseconds to wait where `most` calls were made within the window (then it is not
 * counted). What was counted by clocks that are ahead counts too.
 */
export async function countCall(query: Executor, call: CountedCall): Promise<number> {
  const { caller, most, now_ms, window_ms } = call;
  const now = sql`cast(${now_ms} as bigint)`;
  const recent = sql`unnest(w.calls) as one(at)
    where one.at > ${now} - ${sql.lit(window_ms)} and one.at < ${now} + ${sql.lit(window_ms)}`;
  const { rows } = await sql<{ counted: boolean; oldest: bigint | number | null }>`
    insert into call_windows as w (caller, calls, counted, until_ms)
    values (${caller}, array[${now}], true, ${now} + ${sql.lit(window_ms)})
    on conflict (caller) do update set
      counted = (select count(*) < ${most} from ${recent}),
      calls = (select case when count(*) < ${most} then array_agg(one.at order by one.at) || ${now}
        else array_agg(one.at order by one.at) end from ${recent}),
      until_ms = ${now} + ${sql.lit(window_ms)}
    returning counted, calls[cardinality(calls) - ${most} + 1] as oldest`.execute(query);
  const row = rows[0];
  if (!row || row.counted) return 0;
  return Math.max(1, Number(row.oldest ?? now_ms) + window_ms - now_ms);
}

/** Forgets callers whose last call is past the window. */
export async function forgetCalls(query: Executor, now_ms: number): Promise<void> {
  await sql`delete from call_windows where caller in (
    select caller from call_windows where until_ms < ${now_ms} order by until_ms
    limit ${sql.lit(FORGOTTEN_AT_ONCE)} for update skip locked)`.execute(query);
}
