// What payers say that they have paid, for shops and operators to read.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  `create table claims (
    id text primary key,
    invoice_id text not null references invoices (id),
    -- The invoice's; null for the platform key.
    owner_id text,
    -- The empty text stands for a claim that names no transaction.
    txid text not null check (length(txid) <= 128),
    found text not null,
    reason text,
    -- Of what was found; null where nothing was.
    chain text,
    currency text,
    decimals INT8,
    amount_atomic text,
    seen_at INT8,
    -- The late or unmatched payment that it names.
    payment_id text references payments (id),
    times INT8 not null check (times > 0),
    created_at INT8 not null,
    updated_at INT8 not null,
    unique (invoice_id, txid)
  ) OPTIONS`,
  'create index claims_by_invoice on claims (invoice_id, id)',
  'create index claims_by_owner on claims (owner_id, id)',
  'create index claims_by_payment on claims (payment_id, id) where payment_id is not null',
  'create index claims_by_age on claims (updated_at)',
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
