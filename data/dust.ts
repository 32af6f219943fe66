// What is below any price worth asking: its transfers are stored like all others, and counted by address and day.
import { type Insertable, type SqlBool, sql } from 'kysely';
import type { Db, Executor, Tx } from './db/database.ts';
import { inOrder } from './db/lock-order.ts';
import { words } from './db/words.ts';
import type { Stretch } from './retention.ts';
import type { DustRow, Tables } from './schema/tables.ts';

/** What transfers of one address, asset and day come to. */
export type DustSum = Pick<DustRow, 'blockchain' | 'chain' | 'address_key' | 'day' | 'count'> & {
  amount_atomic: bigint;
};

type Counted = Pick<DustRow, 'blockchain' | 'chain' | 'address_key'> & {
  dust_day: number | null;
  amount_atomic: string | bigint;
  ambiguous: string | null;
};

const keyOf = ({ blockchain, address_key, chain, day }: DustSum): string =>
  `${blockchain} ${address_key} ${chain} ${String(day).padStart(8, '0')}`;

/** The sums of those transfers that are dust. What only looks like the asset, or perhaps is none of it, adds nothing to it. */
export function sumDust(transfers: readonly Counted[]): DustSum[] {
  const sums = new Map<string, DustSum>();
  for (const { blockchain, chain, address_key, dust_day, amount_atomic, ambiguous } of transfers) {
    if (dust_day === null || ambiguous !== null) continue;
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

/** In place of a day: all days of an address and asset that are older than the retention. */
export const DUST_BEFORE = 0;
/** Transfers that one transaction moves from their day to those that are older than the retention. */
const FOLDED_AT_ONCE = 100;

/** One day of an address and asset. */
type DustDay = Pick<DustRow, 'blockchain' | 'address_key' | 'chain' | 'day'>;

/** Before all days that are not added up yet. */
export const FIRST_DUST: DustDay = { day: DUST_BEFORE, blockchain: '', address_key: '', chain: '' };

const placeOf = ({ day, blockchain, address_key, chain }: DustDay) =>
  sql`(${day}, ${blockchain}, ${address_key}, ${chain})`;

/**
 * Adds up the first day after `after` that is older than `day`: as many transfers as fit into one transaction. `wrong`: a
 * day that is not the sum of its transfers, which stays, so that the laws name it.
 */
export async function foldDust(
  db: Db,
  after: DustDay,
  day: number,
  now: number,
): Promise<Stretch<DustDay> & { wrong: DustDay | null }> {
  const old = await db.query
    .selectFrom('dust')
    .select(['day', 'blockchain', 'address_key', 'chain'])
    .where('day', '>', DUST_BEFORE)
    .where('day', '<', day)
    .where(sql<SqlBool>`(day, blockchain, address_key, chain) > ${placeOf(after)}`)
    .orderBy('day')
    .orderBy('blockchain')
    .orderBy('address_key')
    .orderBy('chain')
    .limit(1)
    .executeTakeFirst();
  if (old === undefined) return { removed: 0, next: null, wrong: null };
  const { removed, is_done, is_wrong } = await db.transaction((tx) => foldDay(tx, db.dialect, old, now));
  return { removed, next: is_done ? old : after, wrong: is_wrong ? old : null };
}

async function foldDay(
  tx: Tx,
  dialect: 'sqlite' | 'postgres',
  { blockchain, address_key, chain, day }: DustDay,
  now: number,
): Promise<{ removed: number; is_done: boolean; is_wrong: boolean }> {
  const rows = await tx
    .selectFrom('transfers')
    .select(['id', 'blockchain', 'address_key', 'chain', 'dust_day', 'amount_atomic', 'ambiguous', 'state'])
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('chain', '=', chain)
    .where('dust_day', '=', day)
    .orderBy('id')
    .limit(FOLDED_AT_ONCE)
    .$if(dialect === 'postgres', (select) => select.forUpdate())
    .execute();
  const isThisDay = sql<SqlBool>`(day, blockchain, address_key, chain) = ${placeOf({ blockchain, address_key, chain, day })}`;
  const counted = rows.filter(({ state }) => state !== 'gone');
  const [sum] = sumDust(counted);
  const stored = await tx.selectFrom('dust').select('count').where(isThisDay).executeTakeFirst();
  if ((stored?.count ?? 0) < (sum?.count ?? 0)) return { removed: 0, is_done: true, is_wrong: true };
  await countDust(
    tx,
    dialect,
    counted.map((row) => ({ ...row, dust_day: DUST_BEFORE })),
    now,
  );
  await uncountDust(tx, dialect, counted, now);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0)
    await tx
      .updateTable('transfers')
      .set({ dust_day: DUST_BEFORE, updated_at: now })
      .where('id', 'in', ids)
      .execute();
  if (ids.length === FOLDED_AT_ONCE) return { removed: ids.length, is_done: false, is_wrong: false };
  const { numDeletedRows } = await tx
    .deleteFrom('dust')
    .where(isThisDay)
    .where('count', '=', 0)
    .where('amount_atomic', '=', '0')
    .executeTakeFirstOrThrow();
  return { removed: ids.length, is_done: true, is_wrong: numDeletedRows === 0n };
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
    .where('day', '>', DUST_BEFORE)
    .orderBy('day', 'desc')
    .orderBy('count', 'desc')
    .limit(limit)
    .execute();
}
