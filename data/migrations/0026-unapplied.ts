// Money that no invoice shows is listed as `unapplied`, alone or before the kind of its invoice: what the API calls it.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const VALUES = `'sale', 'refill', 'unapplied_sale', 'unapplied_refill', 'unapplied'`;

/** The kind stays; what stands before it is the word of earlier versions. */
const renamed = `case when listed_as like '%_sale' then 'unapplied_sale'
    when listed_as like '%_refill' then 'unapplied_refill' else 'unapplied' end`;

/** SQLite drops no condition that has no name: the column goes with it, and another comes in its place. */
const replaced = [
  `alter table payments add column place text`,
  `update payments set place = case when listed_as in ('sale', 'refill') then listed_as else ${renamed} end`,
  ...['status', 'chain', 'owner', 'owner_chain'].map((by) => `drop index payments_by_${by}`),
  `alter table payments drop column listed_as`,
  `alter table payments rename column place to listed_as`,
  // Of SQLite 3.53, which both drivers have: a column that is added as not null would keep a default.
  `alter table payments alter column listed_as set not null`,
  `alter table payments add constraint payments_listed_as_check check (listed_as in (${VALUES}))`,
  `create index payments_by_status on payments (status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_chain on payments (chain, status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner on payments (owner_id, status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner_chain on payments
    (owner_id, chain, status, dismissed, listed_as, listed_at, id) where status <> 'confirmed'`,
];

const statements: Record<Dialect, string[]> = {
  sqlite: replaced,
  postgres: [
    // 0001 makes none any more; databases that are older have it.
    `alter table payments drop constraint if exists payments_listed_as_check`,
    `update payments set listed_as = ${renamed} where listed_as not in ('sale', 'refill')`,
    `alter table payments add constraint payments_listed_as_check check (listed_as in (${VALUES}))`,
  ],
};

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  for (const statement of statements[dialect]) await sql.raw(statement).execute(query);
}
