// Single values that belong to the database as a whole.
import type { Executor } from './open.ts';

/** Keeps `value` under this name where there is none yet; returns the one that is kept. */
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
