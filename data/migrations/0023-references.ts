// Whatever a person has of a payment finds it: the end of an id, a memo alone, an order of whichever account.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

/** Tables whose ids are shown by their last eight characters. */
const shortened = ['invoices', 'payments', 'events', 'units', 'merchants', 'contradictions'];

const statements = [
  ...shortened.map((table) => `create index ${table}_by_tail on ${table} (TAIL)`),
  // As unique as before, and asked by the memo alone too.
  `drop index invoices_memo`,
  `create unique index invoices_memo on invoices (memo, blockchain, address_key) where memo is not null`,
  `drop index invoices_by_ref`,
  `create index invoices_by_ref on invoices (external_ref, owner_id, created_at, id)
    where external_ref is not null`,
  // Those with one address, in the order in which they are listed.
  `drop index users_by_email`,
  `create index users_by_email on users (email, created_at)`,
  // Of what pays no open invoice, what its payer wrote.
  `create index transfers_by_memo on transfers (memo) where memo is not null and disposition <> 'matched'`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const tail = dialect === 'sqlite' ? 'substr(id, -8)' : 'right(id, 8)';
  for (const statement of statements) await sql.raw(statement.replace('TAIL', tail)).execute(query);
}
