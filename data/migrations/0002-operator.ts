// What the operator's view reads: running sums that triggers keep in the writing transaction, and its indexes.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const integer: Record<Dialect, string> = { sqlite: 'integer', postgres: 'bigint' };
const options: Record<Dialect, string> = { sqlite: 'strict', postgres: '' };

/**
 * Writers of one PostgreSQL connection add to rows of their own, so that no row is hot: a sum is spread over as
 * many rows as connections write. SQLite has one writer.
 */
const SHARDS = 64;
const shard: Record<Dialect, string> = { sqlite: '0', postgres: `pg_backend_pid() % ${SHARDS}` };

const talliesTable = (dialect: Dialect): string => `create table tallies (
    name text not null,
    key text not null,
    day ${integer[dialect]} not null,
    shard integer not null,
    count ${integer[dialect]} not null,
    amount_micros ${integer[dialect]} not null,
    fee_micros ${integer[dialect]} not null,
    primary key (name, key, day, shard)
  ) ${options[dialect]}`;

/** What one change adds to which sum; texts are SQL over `new` and `old`. */
interface Rule {
  on: string;
  when?: string;
  name: string;
  key?: string;
  /** Days since 1970, UTC; absent where the sum has no days. */
  day?: string;
  count: string;
  amount_micros?: string;
  fee_micros?: string;
}

const confirmedSale = `new.status = 'confirmed' and new.kind = 'sale'`;
const sale = { name: 'sales', key: 'new.currency', day: 'new.paid_at / 86400', count: '1' };
const attention = `('held', 'late', 'unmatched', 'orphaned')`;
const undelivered = `('failed', 'unknown')`;

/** A status that changes leaves one sum before it enters the other. */
const rules: Rule[] = [
  { on: 'insert on users', name: 'users', count: '1' },
  {
    on: 'update of deleted_at on users',
    when: 'old.deleted_at is null and new.deleted_at is not null',
    name: 'users',
    count: '-1',
  },
  { on: 'insert on merchants', name: 'merchants', count: '1' },
  { on: 'insert on units', name: 'units', count: '1' },
  { on: 'delete on units', name: 'units', count: '-1' },
  { on: 'insert on invoices', name: 'invoices', key: 'new.status', count: '1' },
  {
    on: 'update of status on invoices',
    when: 'old.status <> new.status',
    name: 'invoices',
    key: 'old.status',
    count: '-1',
  },
  {
    on: 'update of status on invoices',
    when: 'old.status <> new.status',
    name: 'invoices',
    key: 'new.status',
    count: '1',
  },
  {
    on: 'insert on invoices',
    when: 'new.owner_id is not null',
    name: 'owner_invoices',
    key: 'new.owner_id',
    count: '1',
  },
  { on: 'insert on invoices', when: confirmedSale, ...sale, amount_micros: 'new.amount_usd_micros' },
  {
    on: 'update of status on invoices',
    when: `old.status <> new.status and ${confirmedSale}`,
    ...sale,
    amount_micros: 'new.amount_usd_micros',
  },
  {
    on: 'insert on ledger',
    name: 'ledger',
    key: 'new.kind',
    day: 'new.created_at / 86400',
    count: '1',
    amount_micros: 'new.amount_micros',
  },
  {
    on: 'insert on income',
    name: 'owner_income',
    key: 'new.merchant_id',
    count: '1',
    amount_micros: 'new.amount_usd_micros',
    fee_micros: 'new.fee_charged_micros',
  },
  {
    on: 'insert on income',
    when: `new.webhook_status in ${undelivered}`,
    name: 'webhooks',
    key: 'new.webhook_status',
    count: '1',
  },
  {
    on: 'update of webhook_status on income',
    when: `old.webhook_status <> new.webhook_status and old.webhook_status in ${undelivered}`,
    name: 'webhooks',
    key: 'old.webhook_status',
    count: '-1',
  },
  {
    on: 'update of webhook_status on income',
    when: `old.webhook_status <> new.webhook_status and new.webhook_status in ${undelivered}`,
    name: 'webhooks',
    key: 'new.webhook_status',
    count: '1',
  },
  {
    on: 'insert on payments',
    when: `new.status in ${attention}`,
    name: `'payments:' || new.status`,
    key: 'new.blockchain',
    count: '1',
  },
  {
    on: 'update of status on payments',
    when: `old.status <> new.status and old.status in ${attention}`,
    name: `'payments:' || old.status`,
    key: 'old.blockchain',
    count: '-1',
  },
  {
    on: 'update of status on payments',
    when: `old.status <> new.status and new.status in ${attention}`,
    name: `'payments:' || new.status`,
    key: 'new.blockchain',
    count: '1',
  },
];

/** The trigger of a rule; PostgreSQL fires those of one table in the order of their names. */
function trigger(rule: Rule, at: number, dialect: Dialect): string[] {
  const id = `tally_${String(at + 1).padStart(2, '0')}`;
  const name = rule.name.includes("'") ? rule.name : `'${rule.name}'`;
  const values = [
    name,
    rule.key ?? `''`,
    rule.day ?? '0',
    shard[dialect],
    rule.count,
    rule.amount_micros ?? '0',
    rule.fee_micros ?? '0',
  ];
  const add = `insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
    values (${values.join(', ')})
    on conflict (name, key, day, shard) do update set
      count = tallies.count + excluded.count,
      amount_micros = tallies.amount_micros + excluded.amount_micros,
      fee_micros = tallies.fee_micros + excluded.fee_micros;`;
  const when = rule.when ? `when (${rule.when})` : '';
  if (dialect === 'sqlite')
    return [`create trigger ${id} after ${rule.on} for each row ${when} begin ${add} end`];
  return [
    `create function ${id}() returns trigger language plpgsql as $$ begin ${add} return null; end $$`,
    `create trigger ${id} after ${rule.on} for each row ${when} execute function ${id}()`,
  ];
}

/** Each leads with what may be asked for and ends with the order of the list; columns of few values stand between. */
const indexes = [
  `create index invoices_by_status on invoices (status, kind, created_at, id)`,
  `create index invoices_by_chain on invoices (chain, status, kind, created_at, id)`,
  `create index invoices_by_owner_status on invoices (owner_id, status, kind, created_at, id)`,
  `create index invoices_by_owner_chain on invoices (owner_id, chain, status, kind, created_at, id)`,
  `create index invoices_open_at on invoices (blockchain, address_key, chain, created_at, id, amount_atomic)
    where status = 'created'`,
  `create index payments_by_status on payments (status, listed_as, listed_at, id) where status <> 'confirmed'`,
  `create index payments_by_chain on payments (chain, status, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner on payments (owner_id, status, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner_chain on payments (owner_id, chain, status, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_blockchain on payments (blockchain, status, listed_at, id)
    where status in ('late', 'unmatched')`,
  `create index events_by_invoice on events (invoice_id, seq) where invoice_id is not null`,
  `create index events_by_payment on events (payment_id, seq) where invoice_id is null`,
  `create index merchants_by_time on merchants (created_at, id)`,
  `create index merchants_by_prepaid on merchants (prepaid_micros, id) where ledger_seq > 0`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const triggers = rules.flatMap((rule, at) => trigger(rule, at, dialect));
  for (const statement of [talliesTable(dialect), ...triggers, ...indexes])
    await sql.raw(statement).execute(query);
}
