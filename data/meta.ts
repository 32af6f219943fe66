// Single values that belong to the database as a whole.
import { sql } from 'kysely';
import type { Executor } from './db/database.ts';
import { lookup } from './db/prepared.ts';

/** Name of when a backup was made last, Unix seconds. */
export const LAST_BACKUP_AT = 'last_backup_at';
/** Name of what tells the backups of this deployment from those of others in one directory. */
export const DEPLOYMENT = 'deployment';
/** Name of when a heartbeat arrived last at `heartbeat_url`, Unix seconds. */
export const LAST_HEARTBEAT_AT = 'last_heartbeat_at';

/** Name of whose sign-in with the password that the first start has made is awaited; empty once it was. */
export const FIRST_PASSWORD = 'first_password';

/** Asks the database anything at all; throws where it does not answer. */
export const ping = lookup((query) => query.selectNoFrom(sql.lit(1).as('one')));

/** Stores `value` under this name where there is none yet; returns the one that is stored. */
export async function keepMeta(query: Executor, name: string, value: string): Promise<string> {
  await query
    .insertInto('meta')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await query
    .selectFrom('meta')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return row.value;
}

/** All names that begin so, with what follows; `prefix` has no wildcard. */
export async function metaNames(query: Executor, prefix: string): Promise<string[]> {
  const rows = await query.selectFrom('meta').select('name').where('name', 'like', `${prefix}%`).execute();
  return rows.map(({ name }) => name);
}

/** The value under this name; undefined where there is none. */
export async function findMeta(query: Executor, name: string): Promise<string | undefined> {
  const row = await query.selectFrom('meta').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

/** Sets the value under this name; false where it was the same before. */
export async function changeMeta(query: Executor, name: string, value: string): Promise<boolean> {
  const result = await query
    .insertInto('meta')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }).where('meta.value', '<>', value))
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Gives this value, under that name, another name; false where another value or none is there. */
export async function renameMeta(
  query: Executor,
  { name, value }: { name: string; value: string },
  to: string,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('meta')
    .set({ name: to })
    .where('name', '=', name)
    .where('value', '=', value)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Takes the value under this name away, if there is one. */
export async function forgetMeta(query: Executor, name: string): Promise<void> {
  await query.deleteFrom('meta').where('name', '=', name).execute();
}
