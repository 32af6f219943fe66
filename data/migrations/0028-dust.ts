// Dust is counted by address and day, and a page of a blockchain is stored in parts.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // The day that it is counted in; null where it is no dust.
  `alter table transfers add column dust_day INT8`,
  // At which version of the cursor it was placed in its block; null where no cursor stands behind it.
  `alter table transfers add column placed_version INT8`,
  `create index transfers_placed on transfers (blockchain, placed_version) where placed_version is not null`,
  // Pages are stored to their end up to this version.
  `alter table cursors add column whole_version INT8 not null default 0`,
  `create table dust (
    blockchain text not null,
    chain text not null,
    address_key text not null,
    -- Days since 1970, UTC.
    day INT8 not null,
    count INT8 not null check (count >= 0),
    amount_atomic text not null,
    updated_at INT8 not null,
    primary key (blockchain, address_key, chain, day)
  ) OPTIONS`,
  `create index dust_by_day on dust (blockchain, day, count)`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const is_sqlite = dialect === 'sqlite';
  for (const text of statements)
    await sql
      .raw(
        text
          .replaceAll('INT8', is_sqlite ? 'integer' : 'bigint')
          .replace('OPTIONS', is_sqlite ? 'strict' : ''),
      )
      .execute(query);
}
