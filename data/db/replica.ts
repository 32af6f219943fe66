// A read replica of PostgreSQL: it answers only once it has replayed all that was committed when it was asked.
import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Reader } from './database.ts';

/** A replica that has not caught up by then lags too far. */
const CATCH_UP_MS = 100;
/** How often it is asked meanwhile. */
const STEP_MS = 4;
/** One that failed or lagged is left alone for so long. */
const LEFT_ALONE_MS = 2_000;

export interface ReplicaOptions {
  /** Connections to the replica; none is opened before the first question. */
  replica: Kysely<Tables>;
  primary: Kysely<Tables>;
  /** Called when it is used no more, with the reason, and with null when it is used again. */
  onChange?: ((reason: string | null) => void) | undefined;
}

/** Why the replica does not answer. */
class Unfit extends Error {
  override name = 'Unfit';
}

/** As the primary stood: which cluster it is, and how far its log was written. */
interface Position {
  cluster: string;
  lsn: string;
}

/**
 * Runs `work`, which reads and nothing else, on the replica where that knows everything that was committed before the call,
 * by any daemon; else on the primary. What fails on the replica is asked of the primary.
 */
export function openReplica({
  replica,
  primary,
  onChange,
}: ReplicaOptions): <T>(work: (on: Reader) => Promise<T>) => Promise<T> {
  const currentPosition = shared(() => positionOf(primary));
  let left_alone_until_ms = 0;
  let reported: string | null = null;

  const report = (reason: string | null) => {
    if (reported === reason) return;
    reported = reason;
    onChange?.(reason);
  };

  return async (work) => {
    const here = () => work({ dialect: 'postgres', query: primary });
    if (performance.now() < left_alone_until_ms) return here();
    const position = await currentPosition();
    try {
      const answer = await replica
        .transaction()
        .setAccessMode('read only')
        .execute(async (tx) => {
          await catchUp(tx, position);
          return work({ dialect: 'postgres', query: tx });
        });
      report(null);
      return answer;
    } catch (error) {
      left_alone_until_ms = performance.now() + LEFT_ALONE_MS;
      // A failure of the question itself repeats there.
      const answer = await here();
      report((error as Error).message);
      return answer;
    }
  };
}

async function positionOf(primary: Kysely<Tables>): Promise<Position> {
  // What is committed is on the primary's disk: only that is ever sent to a replica.
  const { rows } = await sql<Position>`
    select system_identifier::text as cluster, pg_current_wal_flush_lsn()::text as lsn
    from pg_control_system()`.execute(primary);
  return rows[0] as Position;
}

/** Within a transaction, so that a balancer or a pooler does not change the replica between this and the question. */
async function catchUp(tx: Transaction<Tables>, { cluster, lsn }: Position): Promise<void> {
  const give_up_at_ms = performance.now() + CATCH_UP_MS;
  for (;;) {
    const { rows } = await sql<{ is_replica: boolean; cluster: string; has_replayed: boolean | null }>`
      select pg_is_in_recovery() as is_replica, system_identifier::text as cluster,
        pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as has_replayed
      from pg_control_system()`.execute(tx);
    const [state] = rows;
    if (!state?.is_replica || state.cluster !== cluster) throw new Unfit('it is no replica of this database');
    if (state.has_replayed) return;
    if (performance.now() >= give_up_at_ms) throw new Unfit(`it is more than ${CATCH_UP_MS} ms behind`);
    await delay(STEP_MS);
  }
}

/** Those that come while `ask` is under way share the next one: none gets an answer to what was asked before it came. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const asked = ask();
      running = asked.catch(() => undefined);
      return asked;
    });
    return next;
  };
}
