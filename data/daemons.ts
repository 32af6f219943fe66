// The daemons of a database: how each describes itself, and what the operator asks of it.
import { sql } from 'kysely';
import type { Executor } from './db/database.ts';
import type { DaemonRow } from './schema/tables.ts';

/** Daemons that the operator is shown. */
const SHOWN_MOST = 200;

/** Stores how a daemon describes itself; since when it is to drain, null where it is not. */
export async function describeDaemon(
  query: Executor,
  { id, ...described }: Omit<DaemonRow, 'draining_at'>,
): Promise<number | null> {
  const { reads, delivering, last_seen_at, secrets } = described;
  const row = await query
    .insertInto('daemons')
    .values({ id, ...described, draining_at: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ reads, delivering, last_seen_at, secrets }))
    .returning('draining_at')
    .executeTakeFirstOrThrow();
  return row.draining_at;
}

/** In the order of their starts. */
export function listDaemons(query: Executor): Promise<DaemonRow[]> {
  return query
    .selectFrom('daemons')
    .selectAll()
    .orderBy('started_at')
    .orderBy('id')
    .limit(SHOWN_MOST)
    .execute();
}

/** Several, in no order. */
export async function daemonsById(query: Executor, ids: readonly string[]): Promise<DaemonRow[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('daemons').selectAll().where('id', 'in', ids).execute();
}

/** All that were seen since then (Unix seconds), in the order of their starts. */
export function daemonsSeenSince(query: Executor, since: number): Promise<DaemonRow[]> {
  return query
    .selectFrom('daemons')
    .selectAll()
    .where('last_seen_at', '>=', since)
    .orderBy('started_at')
    .orderBy('id')
    .execute();
}

/**
 * Ids of those that were alive when any was seen last: while nothing can be written, all read the same.
 */
export async function daemonsInCharge(query: Executor, silent_seconds: number): Promise<string[]> {
  const rows = await query
    .selectFrom('daemons')
    .select('id')
    .where('last_seen_at', '>=', (newest) =>
      newest
        .selectFrom('daemons as newest')
        .select(({ fn }) => sql<number>`${fn.max('newest.last_seen_at')} - ${silent_seconds}`.as('since')),
    )
    .orderBy('id')
    .limit(SHOWN_MOST)
    .execute();
  return rows.map(({ id }) => id);
}

/** Asks a daemon to drain, where it was not asked before; undefined where there is none. */
export async function drainDaemon(query: Executor, id: string, now: number): Promise<DaemonRow | undefined> {
  await query
    .updateTable('daemons')
    .set({ draining_at: now })
    .where('id', '=', id)
    .where('draining_at', 'is', null)
    .execute();
  return query.selectFrom('daemons').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Removes a daemon that ends, and those that were not seen since `seen_before` (Unix seconds). */
export async function removeDaemons(
  query: Executor,
  gone: { id: string; seen_before: number },
): Promise<void> {
  await query
    .deleteFrom('daemons')
    .where((row) => row.or([row('id', '=', gone.id), row('last_seen_at', '<', gone.seen_before)]))
    .execute();
}
