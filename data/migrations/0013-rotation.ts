// What a rotation leaves valid for a while: a merchant's key and webhook secret of before, and which secrets a daemon knows.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // As api_key_hash; null: no key but the present one works.
  `alter table merchants add column previous_api_key_hash text`,
  // Unix seconds; from then on it does not count.
  `alter table merchants add column previous_api_key_ends_at BIGINT`,
  `create index merchants_previous_key on merchants (previous_api_key_hash) where previous_api_key_hash is not null`,
  `alter table merchants add column previous_webhook_secret_sealed text`,
  `alter table merchants add column previous_webhook_secret_ends_at BIGINT`,
  // Proofs of the secrets that it can open values of, separated by spaces; it seals with the first.
  `alter table daemons add column secrets text not null default ''`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const statement of statements) await sql.raw(statement.replaceAll('BIGINT', integer)).execute(query);
}
