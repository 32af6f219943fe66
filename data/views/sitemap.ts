// What the sitemap lists: the pages of units that can be bought, and that their merchants list.
import type { Executor } from '../db/database.ts';

export interface SitemapRow {
  merchant_slug: string;
  unit_slug: string;
  updated_at: number;
}

/** Active units of active users that may be listed, at most `limit`. */
export function activeUnits(query: Executor, limit: number): Promise<SitemapRow[]> {
  return query
    .selectFrom('units')
    .innerJoin('merchants', 'merchants.id', 'units.merchant_id')
    .innerJoin('users', 'users.id', 'merchants.id')
    .select(['merchants.slug as merchant_slug', 'units.slug as unit_slug', 'units.updated_at as updated_at'])
    .where('units.active', '=', 1)
    .where('units.listed', '=', 1)
    .where('users.is_active', '=', 1)
    .where('users.deleted_at', 'is', null)
    .orderBy('units.id')
    .limit(limit)
    .execute();
}
