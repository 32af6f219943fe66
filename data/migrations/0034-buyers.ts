// What one buyer has begun to pay is shown to him again: each purchase of his is one invoice, until that is paid or over.
import { type Kysely, sql } from 'kysely';

const statements = [
  'alter table invoices add column buyer text',
  // Whatever becomes of an invoice changes nothing of it: no law of the shop window may ever keep money from being booked.
  'create unique index invoices_of_buyer on invoices (buyer) where buyer is not null',
];

export const compatible = false;

export async function up(query: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(query);
}
