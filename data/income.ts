// Income: one record per confirmed sale, and running sums so that no answer adds up a whole history.

import type { Executor, Reader, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import type { IncomeRow, WebhookStatus } from './schema/tables.ts';

export interface NewIncome {
  merchant_id: string;
  invoice_id: string;
  chain: string;
  currency: string;
  decimals: number;
  amount_atomic: bigint;
  amount_usd_micros: bigint;
  fee_charged_micros: bigint;
  txid: string | null;
  webhook_status: WebhookStatus;
  /** Unix seconds. */
  created_at: number;
}

export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** Records income and adds it to the day's and the currency's sums; the merchant's row is locked by the fee before. */
export async function insertIncome(tx: Tx, income: NewIncome): Promise<void> {
  await tx
    .insertInto('income')
    .values({ ...income, id: newId(), amount_atomic: income.amount_atomic.toString() })
    .execute();
  await addToTotals(tx, income);
  await addToBalance(tx, income);
}

async function addToTotals(tx: Tx, income: NewIncome): Promise<void> {
  const key = { merchant_id: income.merchant_id, day: dayOf(income.created_at), currency: income.currency };
  const known = await tx
    .selectFrom('income_totals')
    .selectAll()
    .where('merchant_id', '=', key.merchant_id)
    .where('day', '=', key.day)
    .where('currency', '=', key.currency)
    .executeTakeFirst();
  const sum = addCoins(known, income);
  const values = {
    ...sum,
    count: (known?.count ?? 0) + 1,
    amount_usd_micros: (known?.amount_usd_micros ?? 0n) + income.amount_usd_micros,
    fee_charged_micros: (known?.fee_charged_micros ?? 0n) + income.fee_charged_micros,
  };
  await tx
    .insertInto('income_totals')
    .values({ ...key, ...values })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'day', 'currency']).doUpdateSet(values))
    .execute();
}

async function addToBalance(tx: Tx, income: NewIncome): Promise<void> {
  const known = await tx
    .selectFrom('balances')
    .selectAll()
    .where('merchant_id', '=', income.merchant_id)
    .where('currency', '=', income.currency)
    .executeTakeFirst();
  const values = addCoins(known, income);
  await tx
    .insertInto('balances')
    .values({ merchant_id: income.merchant_id, currency: income.currency, ...values })
    .onConflict((conflict) => conflict.columns(['merchant_id', 'currency']).doUpdateSet(values))
    .execute();
}

/** Adds amounts of one currency that may have different decimals on different chains. */
function addCoins(known: { decimals: number; amount_atomic: string } | undefined, income: NewIncome) {
  const decimals = Math.max(known?.decimals ?? 0, income.decimals);
  const scaled = (amount: bigint, from: number): bigint => amount * 10n ** BigInt(decimals - from);
  const before = known ? scaled(BigInt(known.amount_atomic), known.decimals) : 0n;
  return { decimals, amount_atomic: (before + scaled(income.amount_atomic, income.decimals)).toString() };
}

export interface IncomeFilter {
  merchant_id: string;
  skip: number;
  limit: number;
  /** `YYYY-MM-DD` UTC, both inclusive. */
  from_date?: string | undefined;
  to_date?: string | undefined;
}

const DAY_SECONDS = 86_400;
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

/** Newest first, with the number of all that the filter finds. */
export async function listIncome(
  db: Reader,
  filter: IncomeFilter,
): Promise<{ rows: IncomeRow[]; count: number }> {
  let select = db.query.selectFrom('income').selectAll().where('merchant_id', '=', filter.merchant_id);
  let totals = db.query
    .selectFrom('income_totals')
    .select((of) => of.fn.sum<number | bigint | string | null>('count').as('count'))
    .where('merchant_id', '=', filter.merchant_id);
  if (filter.from_date !== undefined) {
    select = select.where('created_at', '>=', startOf(filter.from_date));
    totals = totals.where('day', '>=', filter.from_date);
  }
  if (filter.to_date !== undefined) {
    select = select.where('created_at', '<', startOf(filter.to_date) + DAY_SECONDS);
    totals = totals.where('day', '<=', filter.to_date);
  }
  const rows = await select
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(filter.limit)
    .offset(filter.skip)
    .execute();
  const counted = await totals.executeTakeFirst();
  return { rows, count: Number(counted?.count ?? 0) };
}

/** Confirmed income per currency. */
export function balancesOf(query: Executor, merchant_id: string) {
  return query
    .selectFrom('balances')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .orderBy('currency')
    .execute();
}
