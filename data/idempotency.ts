// Idempotency keys: one row for each caller and key, first as a claim, then with the answer.
import type { Db, Executor } from './open.ts';

/** Old rows removed with each new claim: more than are added, so that the table never grows without end. */
const FORGOTTEN_AT_ONCE = 20;

export interface IdempotencyClaim {
  caller: string;
  key: string;
  request_hash: string;
  /** For what the request makes, unless an earlier claim of it has one. */
  resource_id: string;
  /** Unix seconds, as the two below. */
  now: number;
  /** Older answers count no more. */
  forget_before: number;
  /** An older claim without answer died with its process, or was given up. */
  abandoned_before: number;
}

export type ClaimResult =
  /** `again`: an earlier claim of this request came to no known end; `resource_id` is the one that it had. */
  | { state: 'claimed'; resource_id: string; again: boolean }
  | { state: 'in_progress' }
  | { state: 'mismatch' }
  | { state: 'answered'; status: number; body: string };

/** Claims the key for this request, or says what became of the one that has it. */
export function claimIdempotent(db: Db, claim: IdempotencyClaim): Promise<ClaimResult> {
  const { caller, key, request_hash, resource_id, now, forget_before, abandoned_before } = claim;
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
          }))
          .where((row) =>
            row.or([
              row('idempotency.created_at', '<', forget_before),
              row.and([
                row('idempotency.status', 'is', null),
                row('idempotency.request_hash', '=', request_hash),
                row('idempotency.created_at', '<', abandoned_before),
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
    if (first.status === null) return { state: 'in_progress' };
    return { state: 'answered', status: first.status, body: first.body ?? '' };
  });
}

/** Keeps the answer of a claimed request. */
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
 * Lets the same request, and no other, take over a claim at once, under the same `resource_id`: for one of which nobody
 * knows whether it was done. `at`: Unix seconds, before every `abandoned_before` to come.
 */
export async function giveUpIdempotent(
  query: Executor,
  { caller, key, resource_id, at }: { caller: string; key: string; resource_id: string; at: number },
): Promise<void> {
  await query
    .updateTable('idempotency')
    .set({ created_at: at })
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('resource_id', '=', resource_id)
    .where('status', 'is', null)
    .execute();
}

/** Frees a claimed key whose request came to nothing. */
export async function releaseIdempotent(
  query: Executor,
  { caller, key }: { caller: string; key: string },
): Promise<void> {
  await query
    .deleteFrom('idempotency')
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('status', 'is', null)
    .execute();
}
