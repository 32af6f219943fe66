// The operator's own shop, which has neither limit nor fee; and when a merchant was notified that its limit is used up.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const columns = [
  // Unix seconds; null for every other merchant.
  `alter table merchants add column house_since INT8`,
  // When the event of a used-up limit was written last, Unix seconds.
  `alter table merchants add column limit_noted_at INT8`,
  // 1 where it was booked without fee, because its merchant was the operator's own at that time.
  `alter table income add column house integer not null default 0 check (house in (0, 1))`,
];

/** Income without fee is the house's alone, and whether it is stays as it was booked. */
const laws = [
  {
    name: 'income_house',
    on: 'insert on income',
    when: 'new.house = 1',
    holds: `new.fee_charged_micros = 0
      and exists (select 1 from merchants where id = new.merchant_id and house_since is not null)`,
    says: 'only a merchant of the house sells without fee',
  },
  {
    name: 'income_house_fixed',
    on: 'update of house on income',
    when: 'old.house <> new.house',
    holds: 'false',
    says: 'whether income was of the house never changes',
  },
];

const guards: Record<Dialect, (law: (typeof laws)[number]) => string[]> = {
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

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  const statements = [
    ...columns.map((text) => text.replace('INT8', integer)),
    ...laws.flatMap(guards[dialect]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(query);
}
