// What an invoice costs PostgreSQL when it is made and moved: the same sums and the same conditions in less of its time. SQLite
// compiles both into the statement, and stays as it is.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

/** As the sums were made: a row of its own for each of so many connections. */
const SHARDS = 64;

const sum = (name: string, key: string, count: '+ 1' | '- 1'): string => {
  const place = `name = '${name}' and key = ${key} and day = 0 and shard = mine`;
  return `update tallies set count = count ${count} where ${place};
    if not found then
      insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
      values ('${name}', ${key}, 0, mine, 0 ${count}, 0, 0)
      on conflict (name, key, day, shard) do update set count = tallies.count ${count};
    end if;`;
};

const sale = `if new.status = 'confirmed' and new.kind = 'sale' then
      insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
      values ('sales', new.currency, new.paid_at / 86400, mine, 1, new.amount_usd_micros, 0)
      on conflict (name, key, day, shard) do update set
        count = tallies.count + 1, amount_micros = tallies.amount_micros + excluded.amount_micros;
    end if;`;

/** One trigger for what six did. A row of a sum is there nearly always: it is added to, and inserted only where it is missing. */
const tallied = (name: string, sums: string): string =>
  `create function ${name}() returns trigger language plpgsql as $$
   declare mine integer := pg_backend_pid() % ${SHARDS}; begin
     ${sums}
     return null;
   end $$`;

const sums = [
  ...['06', '07', '08', '09', '10', '11'].flatMap((at) => [
    `drop trigger tally_${at} on invoices`,
    `drop function tally_${at}()`,
  ]),
  tallied(
    'tally_invoice_made',
    `${sum('invoices', 'new.status', '+ 1')}
     if new.owner_id is not null then ${sum('owner_invoices', 'new.owner_id', '+ 1')} end if;
     ${sale}`,
  ),
  `create trigger tally_invoice_made after insert on invoices for each row execute function tally_invoice_made()`,
  tallied(
    'tally_invoice_moved',
    `${sum('invoices', 'old.status', '- 1')} ${sum('invoices', 'new.status', '+ 1')} ${sale}`,
  ),
  `create trigger tally_invoice_moved after update of status on invoices for each row
   when (old.status <> new.status) execute function tally_invoice_moved()`,
];

/**
 * PostgreSQL reads the text of each condition and plans it again for every statement that writes, which took a tenth of what an
 * invoice costs. A function is planned once for each connection.
 */
const conditions = [
  `create function is_sound_invoice(kind text, status text, amount_match text, reserved integer, usd bigint, fee bigint,
     paid_at bigint, due_at bigint) returns boolean language plpgsql immutable parallel safe as $$ begin
     return kind in ('sale', 'refill')
       and status in ('created', 'confirmed', 'expired', 'cancelled', 'failed')
       and amount_match in ('none', 'exact', 'over', 'under')
       and coalesce(reserved, 1) = 1
       and usd > 0 and fee >= 0
       and (status = 'confirmed') = (paid_at is not null)
       and (status = 'created') = (due_at is not null);
   end $$`,
  `alter table invoices add constraint invoices_are_sound check (is_sound_invoice(kind, status, amount_match, reserved,
     amount_usd_micros, amount_usd_fee_micros, paid_at, due_at))`,
  ...[
    'kind_check',
    'status_check',
    'amount_match_check',
    'reserved_check',
    'amount_usd_micros_check',
    'amount_usd_fee_micros_check',
    'check',
    'check1',
  ].map((name) => `alter table invoices drop constraint invoices_${name}`),
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return;
  for (const statement of [...sums, ...conditions]) await sql.raw(statement).execute(query);
}
