// Transfers that only a look-up has shown: they confirm nothing until a reading shows them too.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  await sql
    .raw(`alter table transfers add column unread ${integer} check (unread is null or unread = 1)`)
    .execute(query);
}
