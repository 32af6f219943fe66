// Which mail addresses are proved to be their user's, and the new one that a user has asked for. Those of before count as proved.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // Unix seconds; null: not proved yet.
  `alter table users add column email_proved_at BIGINT`,
  `alter table users add column pending_email text`,
  `update users set email_proved_at = created_at`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const statement of statements) await sql.raw(statement.replaceAll('BIGINT', integer)).execute(query);
}
