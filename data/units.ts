// Units: a merchant's offers. Created under the lock of the merchant's row, so that their number cannot be outrun.
import type { Db, Executor, Tx } from './db/database.ts';
import { lockHead } from './ledger.ts';
import { toJson } from './schema/json.ts';
import type { UnitRow } from './schema/tables.ts';

export type NewUnit = Omit<UnitRow, 'slug'>;

/** What its merchant may change of a unit. */
export type UnitChange = Partial<Omit<UnitRow, 'id' | 'merchant_id' | 'slug' | 'created_at'>>;

/** Oldest first. */
export function unitsOf(query: Executor, merchant_id: string): Promise<UnitRow[]> {
  return query
    .selectFrom('units')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function getUnit(query: Executor, id: string): Promise<UnitRow | undefined> {
  return query.selectFrom('units').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Several, in no order. */
export async function getUnits(query: Executor, ids: readonly string[]): Promise<UnitRow[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('units').selectAll().where('id', 'in', ids).execute();
}

export function unitBySlug(query: Executor, merchant_id: string, slug: string): Promise<UnitRow | undefined> {
  return query
    .selectFrom('units')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .where('slug', '=', slug)
    .executeTakeFirst();
}

/**
 * Inserts under the first free of `slug`, `slug-2`, `slug-3` …; undefined where the merchant has `max`
 * units already. A repetition under an id that was used finds what was made.
 */
export async function insertUnit(
  db: Db,
  tx: Tx,
  unit: NewUnit,
  slug: string,
  max: number,
): Promise<UnitRow | undefined> {
  if (!(await lockHead(db, tx, unit.merchant_id)))
    throw new Error(`merchant ${unit.merchant_id} does not exist`);
  const others = await unitsOf(tx, unit.merchant_id);
  const made = others.find((other) => other.id === unit.id);
  if (made) return made;
  if (others.length >= max) return undefined;
  const taken = new Set(others.map((other) => other.slug));
  // One candidate more than there are others: one of them is free.
  const candidates = [slug, ...others.map((_, index) => `${slug}-${index + 2}`)];
  const free = candidates.find((candidate) => !taken.has(candidate)) ?? slug;
  return tx
    .insertInto('units')
    .values({
      ...unit,
      slug: free,
      currencies: toJson(unit.currencies),
      shop: unit.shop && toJson(unit.shop),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The unit after the change; undefined where this merchant has no such unit. */
export function updateUnit(
  query: Executor,
  key: { id: string; merchant_id: string },
  { currencies, shop, ...change }: UnitChange,
): Promise<UnitRow | undefined> {
  return query
    .updateTable('units')
    .set({
      ...change,
      ...(currencies === undefined ? {} : { currencies: toJson(currencies) }),
      ...(shop === undefined ? {} : { shop: shop && toJson(shop) }),
    })
    .where('id', '=', key.id)
    .where('merchant_id', '=', key.merchant_id)
    .returningAll()
    .executeTakeFirst();
}

/** False where this merchant has no such unit. Invoices made by it stay. */
export async function deleteUnit(
  query: Executor,
  key: { id: string; merchant_id: string },
): Promise<boolean> {
  const result = await query
    .deleteFrom('units')
    .where('id', '=', key.id)
    .where('merchant_id', '=', key.merchant_id)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}
