// The events of all accounts, newest first, for the operator.
import type { z } from 'zod';
import type { Executor } from '../../data/db/database.ts';
import { eventsBefore, getEvent, getEvents, positionOf } from '../../data/events.ts';
import type { EventRow } from '../../data/schema/tables.ts';
import { countTable } from '../../data/totals.ts';
import { countUndelivered, latestEvents, slugsOf, undeliveredEventIds } from '../../data/views/desk.ts';
import type { AdminEvents } from '../../src/api/schemas/figures.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { presentEvents } from '../events/present.ts';

interface EventQuery {
  owner_id?: string | undefined;
  undelivered: boolean;
  after?: string | undefined;
  limit: number;
  count?: boolean;
}

/** AdminEvents. Refuses with `event_not_found` where `after` is no event of these. */
export async function adminEventPage(app: App, query: EventQuery): Promise<z.input<typeof AdminEvents>> {
  const { limit, undelivered, owner_id: of, count } = query;
  const rows = await (undelivered ? undeliveredRows(app, query) : latestRows(app, query));
  const page = rows.slice(0, limit);
  const shown = await presentEvents(app, page);
  const slugs = await slugsOf(app.db.query, [...new Set(page.flatMap((row) => row.merchant_id ?? []))]);
  const data = shown.map((event, index) => {
    const owner_id = page[index]?.merchant_id ?? null;
    return { ...event, owner_id, owner_slug: slugs.get(owner_id ?? '') ?? null };
  });
  const where = of === undefined ? null : (['merchant_id', of] as const);
  const total = ({ query }: { query: Executor }) =>
    undelivered ? countUndelivered(query, of) : countTable(query, 'events', where);
  return {
    ...(count ? await app.db.readList(total) : {}),
    data,
    has_more: rows.length > limit,
    next: undelivered ? null : (page.at(-1)?.id ?? null),
  };
}

async function latestRows({ db }: App, { owner_id, after, limit }: EventQuery): Promise<EventRow[]> {
  if (owner_id !== undefined) {
    const before = after === undefined ? undefined : await positionOf(db, owner_id, after);
    if (after !== undefined && before === undefined) throw new Refusal('event_not_found');
    return eventsBefore(db, owner_id, before, limit + 1);
  }
  const last = after === undefined ? undefined : await getEvent(db.query, after);
  if (after !== undefined && !last) throw new Refusal('event_not_found');
  return latestEvents(db.query, { before_seq: last?.seq, limit: limit + 1 });
}

async function undeliveredRows({ db }: App, { owner_id, limit }: EventQuery): Promise<EventRow[]> {
  const ids = await undeliveredEventIds(db.query, { owner_id, limit: limit + 1 });
  const events = await getEvents(db.query, ids);
  return events.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}
