// Depth in seconds of the chain's own time, next to the number of blocks; and how fast each chain makes blocks.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  ...['invoices', 'former_terms'].flatMap((table) => [
    `alter table ${table} add column confirm_seconds INT8`,
    `alter table ${table} add column until_final INT8 not null default 0`,
  ]),
  `alter table transfers add column depth_seconds INT8`,
  // Millionths of a second for one block: the median over some minutes, and over an hour.
  `alter table cursors add column pace_recent_micros INT8`,
  `alter table cursors add column pace_hour_micros INT8`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const statement of statements) await sql.raw(statement.replaceAll('INT8', integer)).execute(query);
}
