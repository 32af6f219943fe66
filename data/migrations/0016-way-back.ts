// What buyers see of a shop and where they return to; pictures; and the mail that a receipt goes to.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // JSON: name, logo, support, site, legal line, and the hosts that buyers may be led to. Null where nothing is set.
  `alter table merchants add column profile text`,
  // JSON: picture, and where buyers return to.
  `alter table units add column shop text`,
  // 1 where search engines may list its page.
  `alter table units add column listed integer not null default 0 check (listed in (0, 1))`,
  // JSON: title, description, picture, and where its buyer returns to; as it was when the invoice was made.
  `alter table invoices add column shop text`,
  // Where the receipt goes; null once it was sent, and where none is wanted.
  `alter table invoices add column customer_email text`,
  // Not before then is sending it tried again, Unix seconds.
  `alter table invoices add column receipt_due_at INT8`,
  `create index invoices_with_email on invoices (status, receipt_due_at) where customer_email is not null`,
  `create table pictures (
    id text not null primary key,
    -- The merchant, or the empty text for the platform.
    owner_id text not null,
    type text not null,
    -- In base64.
    data text not null,
    -- Unix seconds.
    used_at INT8 not null
  ) OPTIONS`,
  `create index pictures_by_owner on pictures (owner_id, used_at)`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const is_sqlite = dialect === 'sqlite';
  for (const statement of statements) {
    const text = statement
      .replaceAll('INT8', is_sqlite ? 'integer' : 'bigint')
      .replace('OPTIONS', is_sqlite ? 'strict' : '');
    await sql.raw(text).execute(query);
  }
}
