// What retention has removed of events and logs, and guards that let nothing else be removed.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const tables = [
  `create table removals (
    -- 'events' or 'logs'.
    name text not null,
    -- Whose events; the empty text stands for those of no merchant, and for all logs.
    merchant_id text not null,
    -- Nothing that was removed is newer, Unix seconds.
    through_at INT8 not null,
    -- The last position that was removed from the merchant's feed; 0 for logs.
    through_position INT8 not null,
    count INT8 not null,
    primary key (name, merchant_id)
  ) OPTIONS`,
];

/** PostgreSQL has positions for feeds alone. */
const platformEvents = `create index events_of_platform on events (seq) where merchant_id is null`;

const openInvoice = `exists (select 1 from invoices where id = old.invoice_id and status = 'created')`;

/** When a row may not be removed; SQL over `old`. */
const eventStays = `not exists (select 1 from removals where name = 'events'
    and merchant_id = coalesce(old.merchant_id, '') and through_at >= old.created_at)
  or ${openInvoice} or exists (select 1 from deliveries where event_id = old.id)`;
const positionStays = `not exists (select 1 from removals where name = 'events'
    and merchant_id = old.merchant_id and through_position >= old.position)`;
/** What an operator did stays, and so does the last move of a payment: laws of the books rest on both. */
const logStays = `not exists (select 1 from removals where name = 'logs' and through_at >= old.created_at)
  or old.actor like 'operator:%' or ${openInvoice}
  or (old.payment_id is not null and not exists (select 1 from payment_logs newer
    where newer.payment_id = old.payment_id and newer.seq > old.seq
      and newer.from_status is distinct from newer.to_status))`;

const guards: Record<Dialect, (table: string, stays: string) => string[]> = {
  sqlite: (table, stays) => [
    `drop trigger ${table}_no_delete`,
    `create trigger ${table}_no_delete before delete on ${table} for each row when ${stays}
     begin select raise(abort, '${table} is append-only, but for retention'); end`,
  ],
  postgres: (table, stays) => [
    `drop trigger ${table}_append_only on ${table}`,
    `create trigger ${table}_append_only before update on ${table}
     for each row execute function refuse_change()`,
    `create function ${table}_stay() returns trigger language plpgsql as $$ begin
       if ${stays} then
         raise exception '% is append-only, but for retention', tg_table_name using errcode = 'check_violation';
       end if;
       return old;
     end $$`,
    `create trigger ${table}_no_delete before delete on ${table}
     for each row execute function ${table}_stay()`,
  ],
};

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const is_sqlite = dialect === 'sqlite';
  const statements = [
    ...tables.map((text) =>
      text.replaceAll('INT8', is_sqlite ? 'integer' : 'bigint').replace('OPTIONS', is_sqlite ? 'strict' : ''),
    ),
    ...guards[dialect]('events', eventStays),
    ...guards[dialect]('payment_logs', logStays),
    ...(is_sqlite ? [] : [platformEvents, ...guards.postgres('event_positions', positionStays)]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(query);
}
