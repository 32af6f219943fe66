// The daemons that share a database, as each describes itself, and which of them the operator drains.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statement = `create table daemons (
  id text primary key,
  host text not null,
  pid integer not null,
  version text not null,
  -- Unix seconds.
  started_at BIGINT not null,
  last_seen_at BIGINT not null,
  -- Blockchains that it reads, separated by spaces.
  reads text not null,
  -- Webhooks that are under way.
  delivering integer not null,
  draining_at BIGINT
)`;

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  await sql.raw(statement.replaceAll('BIGINT', dialect === 'sqlite' ? 'integer' : 'bigint')).execute(query);
}
