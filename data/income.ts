// Income: one record per confirmed sale, and running sums so that no answer adds up a whole history.
import type { Selectable } from 'kysely';
import type { Executor, Reader, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { question, writer } from './db/prepared.ts';
import type { IncomeRow, Tables, WebhookStatus } from './schema/tables.ts';

export interface NewIncome {
  merchant_id: string;
  invoice_id: string;
  chain: string;
  currency: string;
  decimals: number;
  amount_atomic: bigint;
  amount_usd_micros: bigint;
  fee_charged_micros: bigint;
  /** 1 where its merchant is the operator's own: then there is no fee. */
  house: 0 | 1;
  txid: string | null;
  webhook_status: WebhookStatus;
  /** Unix seconds. */
  created_at: number;
}

export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

type IncomeValues = Omit<IncomeRow, 'seq'>;

const insert = writer(
  [
    'id',
    'merchant_id',
    'invoice_id',
    'chain',
    'currency',
    'decimals',
    'amount_atomic',
    'amount_usd_micros',
    'fee_charged_micros',
    'txid',
    'webhook_status',
    'house',
    'created_at',
  ],
  (query, place: IncomeValues) => query.insertInto('income').values(place),
);

/** Records income and adds it to the day's and the currency's sums; the merchant's row is locked by the fee before. */
export async function insertIncome(tx: Tx, income: NewIncome): Promise<void> {
  await insert(tx, { ...income, id: newId(), amount_atomic: income.amount_atomic.toString() });
  await addToTotals(tx, income);
  await addToBalance(tx, income);
}

type Total = Selectable<Tables['income_totals']>;
type Balance = Selectable<Tables['balances']>;

const totalOf = question(
  ['merchant_id', 'day', 'currency'],
  (query, { merchant_id, day, currency }: Pick<Total, 'merchant_id' | 'day' | 'currency'>) =>
    query
      .selectFrom('income_totals')
      .selectAll()
      .where('merchant_id', '=', merchant_id)
      .where('day', '=', day)
      .where('currency', '=', currency),
);

const putTotal = writer(
  [
    'merchant_id',
    'day',
    'currency',
    'decimals',
    'count',
    'amount_atomic',
    'amount_usd_micros',
    'fee_charged_micros',
  ],
  (query, { merchant_id, day, currency, ...sums }: Total) =>
    query
      .insertInto('income_totals')
      .values({ merchant_id, day, currency, ...sums })
      .onConflict((conflict) => conflict.columns(['merchant_id', 'day', 'currency']).doUpdateSet(sums)),
);

async function addToTotals(tx: Tx, income: NewIncome): Promise<void> {
  const key = { merchant_id: income.merchant_id, day: dayOf(income.created_at), currency: income.currency };
  const [known] = await totalOf(tx, key);
  await putTotal(tx, {
    ...key,
    ...addCoins(known, income),
    count: (known?.count ?? 0) + 1,
    amount_usd_micros: (known?.amount_usd_micros ?? 0n) + income.amount_usd_micros,
    fee_charged_micros: (known?.fee_charged_micros ?? 0n) + income.fee_charged_micros,
  });
}

const balanceOf = question(
  ['merchant_id', 'currency'],
  (query, { merchant_id, currency }: Pick<Balance, 'merchant_id' | 'currency'>) =>
    query
      .selectFrom('balances')
      .selectAll()
      .where('merchant_id', '=', merchant_id)
      .where('currency', '=', currency),
);

const putBalance = writer(
  ['merchant_id', 'currency', 'decimals', 'amount_atomic'],
  (query, { merchant_id, currency, ...sum }: Balance) =>
    query
      .insertInto('balances')
      .values({ merchant_id, currency, ...sum })
      .onConflict((conflict) => conflict.columns(['merchant_id', 'currency']).doUpdateSet(sum)),
);

async function addToBalance(tx: Tx, income: NewIncome): Promise<void> {
  const { merchant_id, currency } = income;
  const [known] = await balanceOf(tx, { merchant_id, currency });
  await putBalance(tx, { merchant_id, currency, ...addCoins(known, income) });
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
