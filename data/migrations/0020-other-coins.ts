// Invoices that buyers pay in another coin than they began with, what was asked for before, and more time for a part.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // Since when its present coin is asked for, Unix seconds; null: since it was made.
  `alter table invoices add column offered_at INT8`,
  // When it was to expire at first; null while that is when it expires.
  `alter table invoices add column first_expires_at INT8`,
  // When a part that was paid in time has prolonged it, Unix seconds.
  `alter table invoices add column prolonged_at INT8`,
  // How often its coin was changed.
  `alter table invoices add column switches INT8 not null default 0`,
  // JSON: the coins among which its buyer may choose; null: those of its unit, or none but its own.
  `alter table invoices add column payable_with text`,
  `create table former_terms (
    invoice_id text not null references invoices (id),
    owner_id text,
    chain text not null,
    blockchain text not null,
    currency text not null,
    network text not null,
    decimals INT8 not null,
    min_confirmations INT8 not null,
    amount_usd_fee_micros INT8 not null check (amount_usd_fee_micros >= 0),
    rate_usd_nanos text not null,
    amount_merchant_atomic text not null,
    amount_fee_atomic text not null,
    amount_atomic text not null,
    address text not null,
    address_key text not null,
    memo text,
    reference text,
    qr_payload text not null,
    exits text not null,
    offered_at INT8 not null,
    reserved INT8 check (reserved = 1),
    reserved_until INT8,
    watch_until INT8 not null,
    primary key (invoice_id, chain)
  ) OPTIONS`,
  `create unique index former_terms_memo on former_terms (blockchain, address_key, memo) where memo is not null`,
  `create unique index former_terms_reference on former_terms (reference) where reference is not null`,
  `create unique index former_terms_reserved on former_terms
    (blockchain, address_key, chain, amount_atomic, (coalesce(owner_id, ''))) where reserved = 1`,
  `create index former_terms_reserved_by_owner on former_terms (owner_id) where reserved = 1`,
  `create index former_terms_release on former_terms (reserved_until) where reserved = 1`,
  `create index former_terms_watched on former_terms (chain, watch_until)`,
];

interface Law {
  name: string;
  on: string;
  /** Whether the change is judged at all, by its own values alone. */
  when: string;
  holds: string;
  says: string;
}

const TERMS = [
  'chain',
  'blockchain',
  'currency',
  'decimals',
  'rate_usd_nanos',
  'amount_atomic',
  'address',
  'address_key',
  'memo',
  'reference',
];

/** The same amount at the same place for the same owner; `other` is a table. */
const sameSlot = (other: string): string => `${other}.blockchain = new.blockchain
  and ${other}.address_key = new.address_key and ${other}.chain = new.chain
  and ${other}.amount_atomic = new.amount_atomic and coalesce(${other}.owner_id, '') = coalesce(new.owner_id, '')
  and ${other}.reserved = 1`;

const freeOfFormer = {
  when: 'new.reserved = 1',
  holds: `not exists (select 1 from former_terms where ${sameSlot('former_terms')} and invoice_id <> new.id)`,
  says: 'this amount is reserved for what was asked for before',
};
const freeOfPresent = {
  when: 'new.reserved = 1',
  holds: `not exists (select 1 from invoices where ${sameSlot('invoices')} and id <> new.invoice_id)`,
  says: 'this amount is reserved for another invoice',
};

const laws: Law[] = [
  { name: 'invoice_amount_new', on: 'insert on invoices', ...freeOfFormer },
  {
    name: 'invoice_amount_free',
    on: 'update of chain, amount_atomic, reserved on invoices',
    ...freeOfFormer,
  },
  { name: 'former_amount_new', on: 'insert on former_terms', ...freeOfPresent },
  {
    name: 'former_amount_free',
    on: 'update of chain, amount_atomic, reserved on former_terms',
    ...freeOfPresent,
  },
  {
    name: 'invoice_terms_fixed',
    on: `update of ${TERMS.join(', ')} on invoices`,
    when: `old.status = 'confirmed' and (${TERMS.map((name) => `old.${name} is distinct from new.${name}`).join(' or ')})`,
    holds: 'false',
    says: 'what a confirmed invoice asked for never changes',
  },
  {
    name: 'transfer_booked_coin',
    on: 'update of booked_invoice_id on transfers',
    when: 'old.booked_invoice_id is null and new.booked_invoice_id is not null',
    holds: `not exists (select 1 from invoices where id = new.booked_invoice_id and (chain <> new.chain
      or blockchain <> new.blockchain or address_key <> new.address_key))`,
    says: 'a transfer is booked for an invoice that asks for its coin, to its address',
  },
];

const guards: Record<Dialect, (law: Law) => string[]> = {
  sqlite: ({ name, on, when, holds, says }) => [
    `create trigger law_${name} before ${on} for each row when (${when}) and not (${holds})
     begin select raise(abort, '${says}'); end`,
  ],
  postgres: ({ name, on, when, holds, says }) => [
    `create function law_${name}() returns trigger language plpgsql as $$ begin
       if not (${holds}) then raise exception '${says}' using errcode = 'check_violation'; end if;
       return new;
     end $$`,
    `create trigger law_${name} before ${on} for each row when (${when}) execute function law_${name}()`,
  ],
};

/** A payment that waits for an operator is counted for the blockchain of its coin, also when that changes. */
const moving: Record<Dialect, string[]> = { sqlite: [], postgres: [] };
for (const [name, row, count] of [
  ['tally_left', 'old', '-1'],
  ['tally_came', 'new', '1'],
] as const) {
  const on = 'after update of blockchain on payments';
  const when = `old.blockchain <> new.blockchain and old.status = new.status
    and new.status in ('held', 'late', 'unmatched', 'orphaned')`;
  const add = (
    shard: string,
  ) => `insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
    values ('payments:' || ${row}.status, ${row}.blockchain, 0, ${shard}, ${count}, 0, 0)
    on conflict (name, key, day, shard) do update set count = tallies.count + excluded.count;`;
  moving.sqlite.push(`create trigger ${name} ${on} for each row when (${when}) begin ${add('0')} end`);
  moving.postgres.push(
    `create function ${name}() returns trigger language plpgsql as $$ begin ${add('pg_backend_pid() % 64')} return null; end $$`,
    `create trigger ${name} ${on} for each row when (${when}) execute function ${name}()`,
  );
}

const undeletable: Record<Dialect, string> = {
  sqlite: `create trigger former_terms_no_delete before delete on former_terms
     begin select raise(abort, 'former_terms are never deleted'); end`,
  postgres: `create trigger former_terms_no_delete before delete on former_terms
     for each row execute function refuse_delete()`,
};

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const is_sqlite = dialect === 'sqlite';
  const tables = statements.map((text) =>
    text.replaceAll('INT8', is_sqlite ? 'integer' : 'bigint').replace('OPTIONS', is_sqlite ? 'strict' : ''),
  );
  for (const text of [...tables, ...laws.flatMap(guards[dialect]), ...moving[dialect], undeletable[dialect]])
    await sql.raw(text).execute(query);
}
