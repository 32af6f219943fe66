// The units of all merchants, newest first, for the operator.
import type { z } from 'zod';
import type { Executor } from '../../data/db/open.ts';
import type { UnitRow } from '../../data/schema/tables.ts';
import { countTable } from '../../data/totals.ts';
import { unitsOf } from '../../data/units.ts';
import { latestUnits, slugsOf } from '../../data/views/desk.ts';
import type { AdminUnits } from '../../src/api/schemas/figures.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';

/** AdminUnits. */
export async function adminUnitPage(
  { db, config }: App,
  {
    owner_id,
    after,
    limit,
    count,
  }: { owner_id?: string | undefined; after?: string | undefined; limit: number; count?: boolean },
): Promise<z.output<typeof AdminUnits>> {
  const rows = await db.readList(({ query }) =>
    owner_id === undefined
      ? latestUnits(query, { after, limit: limit + 1 })
      : ofOwner(query, owner_id, after),
  );
  const page = rows.slice(0, limit);
  const slugs = await slugsOf(db.query, [...new Set(page.map(({ merchant_id }) => merchant_id))]);
  const data = page.map((row) => ({
    id: row.id,
    owner_id: row.merchant_id,
    owner_slug: slugs.get(row.merchant_id) ?? '',
    slug: row.slug,
    title: row.title,
    description: row.description,
    amount_usd: formatUsd(row.amount_usd_micros),
    currencies: row.currencies,
    wait_seconds: row.wait_seconds,
    active: row.active === 1,
    listed: row.listed === 1,
    page_url: `${config.public_url}/u/${slugs.get(row.merchant_id)}/${row.slug}`,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }));
  const where = owner_id === undefined ? null : (['merchant_id', owner_id] as const);
  const total = count ? await db.readList(({ query }) => countTable(query, 'units', where)) : {};
  return { data, has_more: rows.length > limit, next: data.at(-1)?.id ?? null, ...total };
}

/** All of one merchant, newest first: his plan bounds them. */
async function ofOwner(query: Executor, owner_id: string, after: string | undefined): Promise<UnitRow[]> {
  const rows = await unitsOf(query, owner_id);
  return rows
    .filter(({ id }) => after === undefined || id < after)
    .sort((one, other) => (one.id < other.id ? 1 : -1));
}
