// Merchants as the operator sees them: found by a part of their name, with figures from running sums.
import { sql } from 'kysely';
import type { Executor } from '../db/database.ts';
import type { WalletRow } from '../schema/tables.ts';
import { type Rollup, rollups } from './rollups.ts';

/** Most merchants that are counted as near their limit. */
const NEAR_COUNTED = 1_000;

export interface MerchantFigures {
  id: string;
  slug: string;
  prepaid_micros: bigint;
  house_since: number | null;
  created_at: number;
  email: string;
  full_name: string | null;
  is_active: number;
  units: number;
  last_invoice_at: number | null;
  invoices: number;
  /** Confirmed sales: how many, their volume and the fees. */
  income: Pick<Rollup, 'count' | 'amount_micros' | 'fee_micros'>;
  wallets: string[];
}

const withUsers = (query: Executor) =>
  query.selectFrom('merchants').innerJoin('users', 'users.id', 'merchants.id');

/** Slug or email address contains `q`, or the id is `q`. A search reads all merchants, never their invoices. */
function matching(query: Executor, q: string | undefined) {
  const select = withUsers(query);
  if (q === undefined) return select;
  const text = q.trim().toLowerCase();
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return select.where(
    sql<boolean>`(merchants.slug like ${pattern} escape '\\' or users.email like ${pattern} escape '\\'
      or merchants.id = ${text})`,
  );
}

/** A page of merchants, newest first, and how many there are. */
export async function listMerchants(
  query: Executor,
  { q, skip, limit }: { q?: string | undefined; skip: number; limit: number },
): Promise<{ rows: MerchantFigures[]; count: number }> {
  const page = await matching(query, q)
    .select('merchants.id')
    .orderBy('merchants.created_at', 'desc')
    .orderBy('merchants.id', 'desc')
    .limit(limit)
    .offset(skip)
    .execute();
  const ids = page.map((row) => row.id);
  const figures = await figuresOf(query, ids);
  return {
    rows: figures.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)),
    count: await countMerchants(query, q),
  };
}

async function countMerchants(query: Executor, q: string | undefined): Promise<number> {
  if (q === undefined) return (await rollups(query, ['merchants']))[0]?.count ?? 0;
  const counted = await matching(query, q)
    .select((of) => of.fn.countAll<number | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(counted.count);
}

/** The figures of these merchants, in no order. */
export async function figuresOf(query: Executor, ids: readonly string[]): Promise<MerchantFigures[]> {
  if (ids.length === 0) return [];
  const rows = await withUsers(query)
    .select(['merchants.id', 'merchants.slug', 'merchants.prepaid_micros', 'merchants.created_at'])
    .select('merchants.house_since')
    .select(['users.email', 'users.full_name', 'users.is_active'])
    .select([
      sql<number>`(select count(*) from units where units.merchant_id = merchants.id)`.as('units'),
      sql<number | null>`(select i.created_at from invoices i where i.owner_id = merchants.id
        order by i.created_at desc, i.id desc limit 1)`.as('last_invoice_at'),
    ])
    .where('merchants.id', 'in', ids)
    .execute();
  const sums = await rollups(query, ['owner_invoices', 'owner_income'], { keys: ids });
  const wallets: Pick<WalletRow, 'merchant_id' | 'blockchain'>[] = await query
    .selectFrom('wallets')
    .select(['merchant_id', 'blockchain'])
    .where('merchant_id', 'in', ids)
    .orderBy('blockchain')
    .execute();
  const none = { count: 0, amount_micros: 0n, fee_micros: 0n };
  return rows.map((row) => {
    const sum = (name: string) => sums.find((one) => one.name === name && one.key === row.id);
    return {
      ...row,
      invoices: sum('owner_invoices')?.count ?? 0,
      income: sum('owner_income') ?? none,
      wallets: wallets.flatMap((wallet) => (wallet.merchant_id === row.id ? wallet.blockchain : [])),
    };
  });
}

export interface NearLimit {
  id: string;
  slug: string;
  prepaid_micros: bigint;
}

/** Living merchants that have had a prepaid balance and now have less than `below_micros`; lowest first. */
export async function merchantsNearLimit(
  query: Executor,
  below_micros: bigint,
  limit: number,
): Promise<{ rows: NearLimit[]; count: number }> {
  const near = withUsers(query)
    .select(['merchants.id', 'merchants.slug', 'merchants.prepaid_micros'])
    .where('merchants.ledger_seq', '>', sql.lit(0))
    .where('merchants.prepaid_micros', '<', below_micros)
    .where('merchants.house_since', 'is', null)
    .where('users.deleted_at', 'is', null)
    .orderBy('merchants.prepaid_micros')
    .orderBy('merchants.id');
  const counted = await query
    .selectFrom(near.limit(NEAR_COUNTED).as('near'))
    .select((of) => of.fn.countAll<number | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return { rows: await near.limit(limit).execute(), count: Number(counted.count) };
}
