// What an account asks for, and lists that the operator is shown without reading whole tables.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const statements = [
  // Whether events of refills are posted to the account's webhook, as those of sales are.
  `alter table merchants add column webhook_refills integer not null default 0`,
  // Refills are payments to the deployment, even if a merchant asks; who sold more at an address goes before others.
  `delete from address_accounts`,
  `alter table address_accounts add column sold_micros BIGINT not null default 0`,
  `insert into address_accounts (blockchain, address_key, owner_id, since, first_sale_at, sold_micros)
    select blockchain, address_key, holder, min(created_at), min(sold_at),
      cast(coalesce(sum(case when sold_at is not null then amount_usd_micros end), 0) as BIGINT)
    from (
      select blockchain, address_key, created_at, amount_usd_micros,
        case when kind = 'refill' then '' else coalesce(owner_id, '') end as holder,
        case when status = 'confirmed' and kind = 'sale' and received_atomic is not null
          and txid is not null and txid not like 'simulated-%' then paid_at end as sold_at
      from invoices) as asked
    group by blockchain, address_key, holder`,
  `create unique index invoices_reserved_refill on invoices (blockchain, address_key, chain, amount_atomic)
    where reserved = 1 and kind = 'refill'`,
  `alter table address_accounts add column shared integer`,
  `update address_accounts set shared = 1 where exists (
    select 1 from address_accounts as other
    where other.blockchain = address_accounts.blockchain and other.address_key = address_accounts.address_key
      and other.owner_id <> address_accounts.owner_id)`,
  `create index address_accounts_shared on address_accounts (blockchain, address_key) where shared = 1`,
  `create index contradictions_open_by_time on contradictions (created_at, id) where closed_at is null`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  for (const statement of statements) await sql.raw(statement.replaceAll('BIGINT', integer)).execute(query);
}
