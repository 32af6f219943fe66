// The secret of a deployment, as its database knows it: which one is in force, and the values that it seals.
import { sql } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { changeMeta } from './meta.ts';

/** Names in `meta`: the proof of the secret in force, of the one before while it is rotated, of all before, and what those have signed. */
export const SECRET_CHECK = 'secret_check';
const PREVIOUS_CHECK = 'previous_secret_check';
const PAST_CHECKS = 'past_secret_checks';
const RETIRED_KEYS = 'retired_keys';

export interface SecretState {
  /** The proof of the secret in force. */
  current: string;
  /** That of the one before, while values may still be sealed with it. */
  previous: string | null;
  /** The proofs of all that were in force before: one of them may have leaked, and never comes into force again. */
  past: readonly string[];
  /** What secrets before have signed, sealed; null before the first rotation. */
  retired: string | null;
}

/** In one statement; undefined where no daemon has started on this database yet. */
export async function secretState(query: Executor): Promise<SecretState | undefined> {
  const rows = await query
    .selectFrom('meta')
    .selectAll()
    .where('name', 'in', [SECRET_CHECK, PREVIOUS_CHECK, PAST_CHECKS, RETIRED_KEYS])
    .execute();
  const textOf = (name: string) => rows.find((row) => row.name === name)?.value ?? null;
  const current = textOf(SECRET_CHECK);
  if (current === null) return undefined;
  return {
    current,
    previous: textOf(PREVIOUS_CHECK),
    past: textOf(PAST_CHECKS)?.split(' ') ?? [],
    retired: textOf(RETIRED_KEYS),
  };
}

/** Puts another secret in force; false where that of `before` is not the one any more. */
export async function changeSecret(
  tx: Tx,
  { current, before, retired }: { current: string; before: SecretState; retired: string },
): Promise<boolean> {
  const previous = before.current;
  if (!(await replaceMeta(tx, SECRET_CHECK, { from: previous, to: current }))) return false;
  await changeMeta(tx, PREVIOUS_CHECK, previous);
  await changeMeta(tx, PAST_CHECKS, [...before.past, previous].join(' '));
  await changeMeta(tx, RETIRED_KEYS, retired);
  return true;
}

/** Replaces what secrets before have signed. */
export const putRetiredKeys = async (query: Executor, retired: string): Promise<void> =>
  void (await changeMeta(query, RETIRED_KEYS, retired));

/** No value is sealed with the secret before any more. */
export async function endSecretChange(query: Executor): Promise<void> {
  await query.deleteFrom('meta').where('name', '=', PREVIOUS_CHECK).execute();
}

/** Puts a secret in force where those of before are lost: they open nothing, have signed nothing, and never come back. */
export async function forgetSecret(query: Executor, current: string): Promise<void> {
  const state = await secretState(query);
  if (state !== undefined) await changeMeta(query, PAST_CHECKS, [...state.past, state.current].join(' '));
  await query.deleteFrom('meta').where('name', 'in', [PREVIOUS_CHECK, RETIRED_KEYS]).execute();
  await changeMeta(query, SECRET_CHECK, current);
}

/** False where it is no longer what was read. */
export async function replaceMeta(
  query: Executor,
  name: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('meta')
    .set({ value: to })
    .where('name', '=', name)
    .where('value', '=', from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The sealed columns of merchants. */
const columns = ['api_key_sealed', 'webhook_secret_sealed', 'previous_webhook_secret_sealed'] as const;
export type SealedColumn = (typeof columns)[number];

export interface SealedValue {
  /** Of the merchant. */
  id: string;
  column: SealedColumn;
  sealed: string;
}

/** Of so many merchants in the order of their ids, after one of them; `last` is the last of them, null where there is none. */
export async function sealedValues(
  query: Executor,
  after: string,
  limit: number,
): Promise<{ values: SealedValue[]; last: string | null }> {
  const rows = await query
    .selectFrom('merchants')
    .select(['id', ...columns])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  const values = rows.flatMap((row) =>
    columns.flatMap((column): SealedValue[] => {
      const sealed = row[column];
      return sealed === null ? [] : [{ id: row.id, column, sealed }];
    }),
  );
  return { values, last: rows.at(-1)?.id ?? null };
}

/** Replaces a sealed value; nothing happens where it is no longer what was read. */
export async function replaceSealed(tx: Tx, { id, column, sealed }: SealedValue, by: string): Promise<void> {
  await tx
    .updateTable('merchants')
    .set({ [column]: by })
    .where('id', '=', id)
    .where(column, '=', sealed)
    .execute();
}

/** The time of a PostgreSQL server, as text. */
export async function serverTime(query: Executor): Promise<string> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(query);
  return rows[0]?.now ?? '';
}

/** Whether a transaction that writes in this PostgreSQL database, and began before that time of its server, is not over. */
export async function isWrittenSince(query: Executor, time: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and backend_xid is not null
      and xact_start < ${time}::timestamptz limit 1`.execute(query);
  return rows.length > 0;
}
