// The units of all merchants, newest first, for the operator.
import type { z } from 'zod';
import { latestUnits } from '../../data/views/desk.ts';
import type { AdminUnits } from '../../src/api/schemas/figures.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';

/** AdminUnits. */
export async function adminUnitPage(
  { db, config }: App,
  { owner_id, after, limit }: { owner_id?: string | undefined; after?: string | undefined; limit: number },
): Promise<z.output<typeof AdminUnits>> {
  const rows = await db.readList(({ query }) => latestUnits(query, { owner_id, after, limit: limit + 1 }));
  const data = rows.slice(0, limit).map((row) => ({
    id: row.id,
    owner_id: row.merchant_id,
    owner_slug: row.owner_slug,
    slug: row.slug,
    title: row.title,
    description: row.description,
    amount_usd: formatUsd(row.amount_usd_micros),
    currencies: row.currencies,
    wait_seconds: row.wait_seconds,
    active: row.active === 1,
    listed: row.listed === 1,
    page_url: `${config.public_url}/u/${row.owner_slug}/${row.slug}`,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }));
  return { data, has_more: rows.length > limit, next: data.at(-1)?.id ?? null };
}
