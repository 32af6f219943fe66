// What a provider stated of a transaction that somebody named gives its index to what is read there, where that is not the same.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

/** What a transfer is, besides its index. */
const FIXED = ['id', 'blockchain', 'txid', 'chain', 'address_key', 'amount_atomic'];
const SAYS = 'what a transfer is never changes';

const changed = (columns: readonly string[]): string =>
  columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');
const when = changed([...FIXED, 'idx']);
const holds = `not (${changed(FIXED)}) and new.idx = 'stated ' || new.id
  and coalesce(new.unread = 1, false) and new.state = 'gone' and new.booked_invoice_id is null`;
const on = `update of ${[...FIXED, 'idx'].join(', ')} on transfers`;

const statements: Record<Dialect, string[]> = {
  sqlite: [
    'drop trigger law_transfer_fixed',
    `create trigger law_transfer_fixed before ${on} for each row when (${when}) and not (${holds})
     begin select raise(abort, '${SAYS}'); end`,
  ],
  postgres: [
    'drop trigger law_transfer_fixed on transfers',
    'drop function law_transfer_fixed()',
    `create function law_transfer_fixed() returns trigger language plpgsql as $$ begin
       if not (${holds}) then raise exception '${SAYS}' using errcode = 'check_violation'; end if;
       return new;
     end $$`,
    `create trigger law_transfer_fixed before ${on} for each row when (${when}) execute function law_transfer_fixed()`,
  ],
};

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  for (const statement of statements[dialect]) await sql.raw(statement).execute(query);
}
