// Limits that hold over all daemons of a PostgreSQL database: the calls of each caller within the last minute.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // Not in the log of the server: after a crash of it, everyone may call again.
  `create unlogged table call_windows (
    caller text primary key,
    -- Unix milliseconds of each call that counted.
    calls bigint[] not null,
    -- Whether the last call counted.
    counted boolean not null,
    until_ms bigint not null
  )`,
  `create index call_windows_by_end on call_windows (until_ms)`,
];

/** A SQLite file has one daemon, which counts in its memory. */
export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return;
  for (const statement of statements) await sql.raw(statement).execute(query);
}
