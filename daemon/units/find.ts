// Finds a unit with its merchant: by id, or by the slugs of its pretty address.
import { getMerchant, merchantBySlug } from '../../data/merchants.ts';
import type { MerchantRow, UnitRow } from '../../data/schema/tables.ts';
import { getUnit, unitBySlug } from '../../data/units.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

export type UnitName = { unit_id: string } | { merchant_slug: string; unit_slug: string };

export interface FoundUnit {
  unit: UnitRow;
  merchant: MerchantRow;
}

export async function findUnit(
  { db: { query } }: Pick<App, 'db'>,
  name: UnitName,
): Promise<FoundUnit | undefined> {
  if ('unit_id' in name) {
    const unit = await getUnit(query, name.unit_id);
    const merchant = unit && (await getMerchant(query, unit.merchant_id));
    return unit && merchant && { unit, merchant };
  }
  const merchant = await merchantBySlug(query, name.merchant_slug);
  const unit = merchant && (await unitBySlug(query, merchant.id, name.unit_slug));
  return unit && merchant && { unit, merchant };
}

/** The same, or a refusal with `unit_not_found`. */
export async function requireUnit(app: Pick<App, 'db'>, name: UnitName): Promise<FoundUnit> {
  const found = await findUnit(app, name);
  if (!found) throw new Refusal('unit_not_found');
  return found;
}
