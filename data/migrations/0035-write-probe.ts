// The row that is written to know that the database takes writes.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const words: Record<Dialect, Record<string, string>> = {
  sqlite: { INT8: 'integer', OPTIONS: 'strict' },
  postgres: { INT8: 'bigint', OPTIONS: '' },
};

const statement = `create table write_probes (
    -- 1: there is one row.
    id INT8 not null primary key,
    -- When it was written last, Unix seconds.
    written_at INT8 not null
  ) OPTIONS`;

export const compatible = true;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  await sql
    .raw(statement.replace(/\b(INT8|OPTIONS)\b/g, (word) => words[dialect][word] ?? word))
    .execute(query);
}
