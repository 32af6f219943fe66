// What is below any price worth asking: its transfers are stored like all others, and counted by address and day.
import { type Insertable, sql } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { inOrder } from './db/lock-order.ts';
import { words } from './db/words.ts';
import type { DustRow, Tables } from './schema/tables.ts';

/** What transfers of one address, asset and day come to. */
export type DustSum = Pick<DustRow, 'blockchain' | 'chain' | 'address_key' | 'day' | 'count'> & {
  amount_atomic: bigint;
};

type Counted = Pick<DustRow, 'blockchain' | 'chain' | 'address_key'> & {
  dust_day: number | null;
  amount_atomic: string | bigint;
};

const keyOf = ({ blockchain, address_key, chain, day }: DustSum): string =>
  `${blockchain} ${address_key} ${chain} ${String(day).padStart(8, '0')}`;

/** The sums of those transfers that are dust. */
export function sumDust(transfers: readonly Counted[]): DustSum[] {
  const sums = new Map<string, DustSum>();
  for (const { blockchain, chain, address_key, dust_day, amount_atomic } of transfers) {
    if (dust_day === null) continue;
    const one = {
      blockchain,
      chain,
      address_key,
      day: dust_day,
      count: 1,
      amount_atomic: BigInt(amount_atomic),
    };
    const sum = sums.get(keyOf(one));
    if (!sum) sums.set(keyOf(one), one);
    else {
      sum.count++;
      sum.amount_atomic += one.amount_atomic;
    }
  }
  return inOrder([...sums.values()], keyOf);
}

/** Adds transfers to what is counted of their days; `now` in Unix seconds. */
export async function countDust(
  tx: Tx,
  dialect: 'sqlite' | 'postgres',
  transfers: readonly Counted[],
  now: number,
): Promise<void> {
  const values = sumDust(transfers).map(
    (sum): Insertable<Tables['dust']> => ({
      ...sum,
      amount_atomic: sum.amount_atomic.toString(),
      updated_at: now,
    }),
  );
  if (values.length === 0) return;
  await tx
    .insertInto('dust')
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(['blockchain', 'address_key', 'chain', 'day']).doUpdateSet({
        count: sql<number>`dust.count + excluded.count`,
        amount_atomic: sql.raw<string>(words[dialect].plus('dust.amount_atomic', 'excluded.amount_atomic')),
        updated_at: now,
      }),
    )
    .execute();
}

/** Takes transfers out of what is counted: they left the chain, or pay an invoice by an operator's word. */
export async function uncountDust(
  tx: Tx,
  dialect: 'sqlite' | 'postgres',
  transfers: readonly Counted[],
  now: number,
): Promise<void> {
  for (const { blockchain, chain, address_key, day, count, amount_atomic } of sumDust(transfers))
    await tx
      .updateTable('dust')
      .set({
        count: sql<number>`count - ${count}`,
        amount_atomic: sql<string>`${sql.raw(words[dialect].plus('amount_atomic', `'${-amount_atomic}'`))}`,
        updated_at: now,
      })
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('chain', '=', chain)
      .where('day', '=', day)
      .execute();
}

/** Transfers that are no dust any more. */
export async function releaseDust(
  tx: Tx,
  dialect: 'sqlite' | 'postgres',
  transfers: readonly (Counted & { id: string })[],
  now: number,
): Promise<void> {
  const ids = transfers.flatMap(({ id, dust_day }) => (dust_day === null ? [] : id));
  if (ids.length === 0) return;
  await uncountDust(tx, dialect, transfers, now);
  await tx.updateTable('transfers').set({ dust_day: null, updated_at: now }).where('id', 'in', ids).execute();
}

/** Days at all addresses of a merchant that are read. */
const DAYS_READ = 1_000;

/** The days since `day` at addresses that this merchant alone uses, the latest first. */
export async function dustOfOwner(
  query: Executor,
  { owner_id, day, limit }: { owner_id: string; day: number; limit: number },
): Promise<DustRow[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .innerJoin('dust', (join) =>
      join
        .onRef('dust.blockchain', '=', 'address_accounts.blockchain')
        .onRef('dust.address_key', '=', 'address_accounts.address_key'),
    )
    .selectAll('dust')
    .where('address_accounts.owner_id', '=', owner_id)
    .where('address_accounts.shared', 'is', null)
    .where('dust.day', '>=', day)
    .where('dust.count', '>', 0)
    .limit(DAYS_READ)
    .execute();
  return rows.sort((one, other) => other.day - one.day).slice(0, limit);
}

/** The latest days of a blockchain, for the operator. */
export function latestDust(query: Executor, blockchain: string, limit: number): Promise<DustRow[]> {
  return query
    .selectFrom('dust')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('count', '>', 0)
    .orderBy('day', 'desc')
    .orderBy('count', 'desc')
    .limit(limit)
    .execute();
}
