// Late and unmatched payments that a person has dealt with elsewhere: they wait no longer, and are booked by nothing.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // 1 while it is dismissed; a column of its own, because lists are cut by it.
  `alter table payments add column dismissed INT8 not null default 0 check (dismissed in (0, 1))`,
  // Unix seconds.
  `alter table payments add column dismissed_at INT8`,
  // `operator:` or `merchant:` and the id of who did it.
  `alter table payments add column dismissed_by text`,
  // Whatever moves a payment ends its dismissal; who dismissed it, and why, is always known.
  `alter table payments add column dismissed_note text check (
    (dismissed = 0 and dismissed_at is null and dismissed_by is null and dismissed_note is null)
    or (dismissed = 1 and dismissed_at is not null and dismissed_by is not null and dismissed_note is not null
      and status in ('late', 'unmatched')))`,
  ...['status', 'chain', 'owner', 'owner_chain', 'blockchain'].map((by) => `drop index payments_by_${by}`),
  `create index payments_by_status on payments (status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_chain on payments (chain, status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner on payments (owner_id, status, dismissed, listed_as, listed_at, id)
    where status <> 'confirmed'`,
  `create index payments_by_owner_chain on payments
    (owner_id, chain, status, dismissed, listed_as, listed_at, id) where status <> 'confirmed'`,
  `create index payments_by_blockchain on payments (blockchain, status, listed_at, id)
    where status in ('late', 'unmatched') and dismissed = 0`,
];

/**
 * What waits is counted by status: a dismissed payment is not counted, until it waits again. Where its status changes at
 * the same time, the trigger of that one takes away what is given back here.
 */
function tally(dialect: Dialect): string[] {
  const add = `insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
    values ('payments:' || old.status, old.blockchain, 0, ${dialect === 'sqlite' ? '0' : 'pg_backend_pid() % 64'},
      old.dismissed - new.dismissed, 0, 0)
    on conflict (name, key, day, shard) do update set count = tallies.count + excluded.count;`;
  const on = 'after update of dismissed on payments for each row when (old.dismissed <> new.dismissed)';
  return dialect === 'sqlite'
    ? [`create trigger tally_dismissed ${on} begin ${add} end`]
    : [
        `create function tally_dismissed() returns trigger language plpgsql as $$ begin ${add} return null; end $$`,
        `create trigger tally_dismissed ${on} execute function tally_dismissed()`,
      ];
}

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const text of [...statements, ...tally(dialect)])
    await sql.raw(text.replaceAll('INT8', integer)).execute(query);
}
