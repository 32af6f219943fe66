// What proves that nothing was missed: times as intervals, how far each account was read, and what contradicts.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const words: Record<Dialect, Record<string, string>> = {
  sqlite: { INT8: 'integer', OPTIONS: 'strict' },
  postgres: { INT8: 'bigint', OPTIONS: '' },
};

/** A transfer may have been made at any moment of an interval; before, the earlier end of it was all that was stored. */
const intervals = [
  `alter table transfers rename column chain_time to earliest_at`,
  `alter table transfers add column latest_at INT8 not null default 0`,
  `update transfers set latest_at = earliest_at`,
  `alter table transfers add column inputs text not null default '[]'`,
  `alter table transfers add column blockhash text`,
  `alter table transfers add column witness text`,
  // Families whose credits stand in no block of their own gave every one the same index: it names account and asset now.
  `update transfers set idx = chain || ':' || address_key
    where idx = '0' and height is not null and block_hash is null`,
  `create index transfers_inputs on transfers (blockchain, address_key, first_seen_at) where inputs <> '[]'`,
];

const proofs = [
  `alter table cursors add column read_through INT8`,
  // Where accounts are read one by one, there is no cursor of all, and nothing is proved of all.
  `update cursors set read_through = last_ok_at where cursor is not null`,
  `create table account_proofs (
    blockchain text not null,
    address_key text not null,
    chain text not null,
    account text not null,
    read_through INT8,
    trouble text,
    failures integer not null,
    failed_since INT8,
    retry_at INT8,
    updated_at INT8 not null,
    primary key (blockchain, address_key, chain)
  ) OPTIONS`,
  `create index account_proofs_troubled on account_proofs (blockchain, failed_since) where trouble is not null`,
  `create table unreadable_assets (
    blockchain text not null,
    chain text not null,
    reason text not null,
    since INT8 not null,
    primary key (blockchain, chain)
  ) OPTIONS`,
];

/** An address may serve several accounts; who had a confirmed sale there first goes before the others. */
const addresses = [
  `create table address_accounts (
    blockchain text not null,
    address_key text not null,
    owner_id text not null,
    since INT8 not null,
    first_sale_at INT8,
    primary key (blockchain, address_key, owner_id)
  ) OPTIONS`,
  `create index address_accounts_by_owner on address_accounts (owner_id, blockchain)`,
  `insert into address_accounts (blockchain, address_key, owner_id, since, first_sale_at)
    select blockchain, address_key, coalesce(owner_id, ''), min(created_at),
      min(case when status = 'confirmed' and received_atomic is not null
        and txid is not null and txid not like 'simulated-%' then paid_at end)
    from invoices group by blockchain, address_key, coalesce(owner_id, '')`,
];

/** An amount is reserved for one owner; at an address of several each has all amounts, and one order says whose it is. */
const reservations = [
  `alter table invoices add column reserved_until INT8`,
  `update invoices set reserved_until = watch_until where reserved = 1 and status <> 'created'`,
  `alter table invoices add column caller text`,
  `drop index invoices_reserved`,
  `create unique index invoices_reserved on invoices
    (blockchain, address_key, chain, amount_atomic, (coalesce(owner_id, ''))) where reserved = 1`,
  `drop index invoices_release`,
  `create index invoices_release on invoices (reserved_until) where reserved = 1`,
  // In one total order, so that a reader of what is due can continue where it stopped.
  `drop index invoices_due`,
  `create index invoices_due on invoices (blockchain, due_at, id) where due_at is not null`,
  `drop index invoices_overdue`,
  `create index invoices_overdue on invoices (expires_at, id) where due_at is not null`,
  `create index invoices_reserved_by_owner on invoices (owner_id, unit_id) where reserved = 1`,
];

/** What two sources say differently of one thing; a person closes it. */
const contradictions = [
  `create table contradictions (
    id text primary key,
    blockchain text not null,
    kind text not null,
    subject text not null,
    txid text,
    invoice_id text references invoices (id),
    details text not null,
    count integer not null,
    created_at INT8 not null,
    updated_at INT8 not null,
    closed_at INT8,
    closed_by text,
    note text,
    check ((closed_at is null) = (closed_by is null))
  ) OPTIONS`,
  `create unique index contradictions_open on contradictions (blockchain, kind, subject) where closed_at is null`,
  `create index contradictions_by_time on contradictions (created_at, id)`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const translate = (text: string): string =>
    text.replace(/\b(INT8|OPTIONS)\b/g, (word) => words[dialect][word] ?? word);
  for (const statement of [...intervals, ...proofs, ...addresses, ...reservations, ...contradictions])
    await sql.raw(translate(statement)).execute(query);
}
