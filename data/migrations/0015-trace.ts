// The id of the request that made an invoice, for the lines of the log that follow from it.
import { type Kysely, sql } from 'kysely';

export const compatible = false;

export async function up(query: Kysely<never>): Promise<void> {
  // As the answer's X-Request-Id was; null for what an earlier version made.
  await sql.raw('alter table invoices add column request_id text').execute(query);
}
