// Idempotency keys: one row for each caller and key, first as a claim, then with the answer.
import { sql } from 'kysely';
import type { Db, Executor, Tx } from './db/database.ts';

/** A daemon holds a lease of this name and its own id as long as it lives. */
export const INSTANCE_LEASE = 'instance:';

/** Old rows removed with each new claim: more than are added, so that the table never grows without end. */
const FORGOTTEN_AT_ONCE = 20;

export interface IdempotencyClaim {
  caller: string;
  key: string;
  request_hash: string;
  /** For what the request makes, unless an earlier claim of it has one. */
  resource_id: string;
  /** The daemon that will work on it. */
  holder: string;
  now_ms: number;
  /** How long answers count. */
  retention_seconds: number;
  /** A claim without answer can be taken over by then, however alive its holder is. */
  in_progress_seconds: number;
}

export type ClaimResult =
  /** `again`: an earlier claim of this request came to no known end; `resource_id` is the one that it had. */
  | { state: 'claimed'; resource_id: string; again: boolean }
  /** `free_in_ms`: when it can be taken over; null while this daemon works on it. */
  | { state: 'in_progress'; free_in_ms: number | null }
  | { state: 'mismatch' }
  | { state: 'answered'; status: number; body: string };

/** Claims the key for this request, or says what became of the one that has it. */
export function claimIdempotent(db: Db, claim: IdempotencyClaim): Promise<ClaimResult> {
  const { caller, key, request_hash, resource_id, holder, now_ms } = claim;
  const now = Math.floor(now_ms / 1000);
  const forget_before = now - claim.retention_seconds;
  return db.transaction(async (tx) => {
    const old = tx
      .selectFrom('idempotency')
      .select(['caller', 'key'])
      .where('created_at', '<', forget_before)
      .orderBy('created_at')
      .limit(FORGOTTEN_AT_ONCE);
    for (const row of await old.execute())
      await tx
        .deleteFrom('idempotency')
        .where('caller', '=', row.caller)
        .where('key', '=', row.key)
        .where('created_at', '<', forget_before)
        .execute();
    // A row that may be taken over: forgotten, or a claim of this very request that has no known end.
    const claimed = await tx
      .insertInto('idempotency')
      .values({
        caller,
        key,
        request_hash,
        resource_id,
        status: null,
        body: null,
        created_at: now,
        holder,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['caller', 'key'])
          .doUpdateSet((update) => ({
            request_hash,
            resource_id: update
              .case()
              .when('idempotency.created_at', '<', forget_before)
              .then(update.ref('excluded.resource_id'))
              .else(update.ref('idempotency.resource_id'))
              .end(),
            status: null,
            body: null,
            created_at: now,
            holder,
          }))
          .where((row) =>
            row.or([
              row('idempotency.created_at', '<', forget_before),
              row.and([
                row('idempotency.status', 'is', null),
                row('idempotency.request_hash', '=', request_hash),
                row.or([
                  row('idempotency.created_at', '<', now - claim.in_progress_seconds),
                  row('idempotency.holder', 'is', null),
                  isGone(db, claim),
                ]),
              ]),
            ]),
          ),
      )
      .returning('resource_id')
      .executeTakeFirst();
    if (claimed) return { state: 'claimed', ...claimed, again: claimed.resource_id !== resource_id };
    const first = await tx
      .selectFrom('idempotency')
      .selectAll()
      .where('caller', '=', caller)
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    if (first.request_hash !== request_hash) return { state: 'mismatch' };
    if (first.status === null) return { state: 'in_progress', free_in_ms: await freeIn(tx, first, claim) };
    return { state: 'answered', status: first.status, body: first.body ?? '' };
  });
}

/** Whether the holder of a claim is another daemon that lives no more: a SQLite file has no other. */
function isGone({ dialect }: Db, { holder, now_ms }: IdempotencyClaim) {
  const is_other = sql<boolean>`idempotency.holder <> ${holder}`;
  if (dialect === 'sqlite') return is_other;
  return sql<boolean>`${is_other} and not exists (select 1 from leases
    where leases.name = ${sql.lit(INSTANCE_LEASE)} || idempotency.holder and leases.until_ms >= ${now_ms})`;
}

async function freeIn(
  tx: Tx,
  { holder, created_at }: { holder: string | null; created_at: number },
  claim: IdempotencyClaim,
): Promise<number | null> {
  if (holder === claim.holder) return null;
  const lease = await tx
    .selectFrom('leases')
    .select('until_ms')
    .where('name', '=', `${INSTANCE_LEASE}${holder}`)
    .executeTakeFirst();
  const at_last_ms = (created_at + claim.in_progress_seconds + 1) * 1000;
  return Math.min(lease?.until_ms ?? 0, at_last_ms) - claim.now_ms;
}

/** Stores the answer of a claimed request. */
export async function answerIdempotent(
  query: Executor,
  answer: { caller: string; key: string; status: number; body: string },
): Promise<void> {
  const { caller, key, status, body } = answer;
  await query
    .updateTable('idempotency')
    .set({ status, body })
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('status', 'is', null)
    .execute();
}

/**
 * Lets the same request, and no other, take over a claim at once, under the same `resource_id`: for one of which it is
 * not known whether it was done.
 */
export async function giveUpIdempotent(
  query: Executor,
  { caller, key, resource_id }: { caller: string; key: string; resource_id: string },
): Promise<void> {
  await query
    .updateTable('idempotency')
    .set({ holder: null })
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('resource_id', '=', resource_id)
    .where('status', 'is', null)
    .execute();
}

/** Frees a key that this daemon has claimed for a request that came to nothing. */
export async function releaseIdempotent(
  query: Executor,
  { caller, key, holder }: { caller: string; key: string; holder: string },
): Promise<void> {
  await query
    .deleteFrom('idempotency')
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('holder', '=', holder)
    .where('status', 'is', null)
    .execute();
}
