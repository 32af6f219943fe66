// When a provider of each blockchain answered last, and since when none does, for all daemons of a database to know.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

/** Both Unix seconds. */
const columns = ['answered_at', 'blind_since'];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const column of columns)
    await sql.raw(`alter table cursors add column ${column} ${type}`).execute(query);
}
