// Events: the record of what happened, in order, never changed; what webhooks are sent from.
import { type Insertable, sql } from 'kysely';
import type { Batch, Db, Executor } from './db/database.ts';
import { newId } from './db/ids.ts';
import { writer } from './db/prepared.ts';
import type { EventRow, Tables } from './schema/tables.ts';
import { COUNT_LIMIT, countRows, type Total } from './totals.ts';

/** Events that are given their positions in one statement: a history that was never read is placed piece by piece. */
const PLACED_AT_ONCE = 10_000;

export type NewEvent = Omit<Insertable<Tables['events']>, 'seq'>;

/** An event with its place in its merchant's feed; later ones have higher places, for ever. */
export interface PlacedEvent extends EventRow {
  position: number;
}

/** Ids hold no full stop, as Standard Webhooks asks. */
export const newEventId = (): string => `evt_${newId().replaceAll('-', '')}`;

export const eventColumns = [
  'id',
  'merchant_id',
  'type',
  'invoice_id',
  'payment_id',
  'body',
  'created_at',
] as const satisfies (keyof NewEvent)[];

const insert = writer(eventColumns, (query, place: NewEvent) => query.insertInto('events').values(place));

export async function insertEvent(on: Executor, event: NewEvent): Promise<void> {
  await insert(on, event);
}

/** The same as a part of a batch. */
export const eventToInsert = (on: Executor, event: NewEvent): Batch[number] => insert.bound(on, event);

/** When the newest event happened by the time of its daemon, Unix seconds; undefined where there is none. */
export async function newestEventAt(query: Executor): Promise<number | undefined> {
  const row = await query
    .selectFrom('events')
    .select('created_at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

/**
 * Events of a merchant after a position, oldest first. Whatever commits after this was read has a higher position than
 * everything that was returned.
 */
export async function eventsAfter(
  db: Db,
  merchant_id: string,
  after: number,
  limit: number,
  type?: string,
): Promise<PlacedEvent[]> {
  const placed = await placeEvents(db, merchant_id);
  const rows = await pageAfter(db, merchant_id, after, limit, type);
  if (rows.length === limit || placed < PLACED_AT_ONCE) return rows;
  await placeAll(db, merchant_id);
  return pageAfter(db, merchant_id, after, limit, type);
}

function pageAfter(db: Db, merchant_id: string, after: number, limit: number, type: string | undefined) {
  // Another word than the type of an event finds nothing.
  const isOfType = sql<boolean>`events.type = ${type}`;
  if (db.dialect === 'sqlite') {
    let select = db.query
      .selectFrom('events')
      .selectAll()
      .select('seq as position')
      .where('merchant_id', '=', merchant_id)
      .where('seq', '>', after);
    if (type !== undefined) select = select.where(isOfType);
    return select.orderBy('seq').limit(limit).execute();
  }
  let select = db.query
    .selectFrom('event_positions')
    .innerJoin('events', 'events.seq', 'event_positions.event_seq')
    .selectAll('events')
    .select('event_positions.position')
    .where('event_positions.merchant_id', '=', merchant_id)
    .where('event_positions.position', '>', after);
  if (type !== undefined) select = select.where(isOfType);
  return select.orderBy('event_positions.position').limit(limit).execute();
}

/** Events of a merchant, newest first: the last ones, or those before a position. */
export async function eventsBefore(
  db: Db,
  merchant_id: string,
  before: number | undefined,
  limit: number,
  type?: string,
): Promise<PlacedEvent[]> {
  await placeAll(db, merchant_id);
  const isOfType = sql<boolean>`events.type = ${type}`;
  if (db.dialect === 'sqlite') {
    let select = db.query
      .selectFrom('events')
      .selectAll()
      .select('seq as position')
      .where('merchant_id', '=', merchant_id);
    if (before !== undefined) select = select.where('seq', '<', before);
    if (type !== undefined) select = select.where(isOfType);
    return select.orderBy('seq', 'desc').limit(limit).execute();
  }
  let select = db.query
    .selectFrom('event_positions')
    .innerJoin('events', 'events.seq', 'event_positions.event_seq')
    .selectAll('events')
    .select('event_positions.position')
    .where('event_positions.merchant_id', '=', merchant_id);
  if (before !== undefined) select = select.where('event_positions.position', '<', before);
  if (type !== undefined) select = select.where(isOfType);
  return select.orderBy('event_positions.position', 'desc').limit(limit).execute();
}

/**
 * PostgreSQL commits in another order than numbers are taken: what is committed gets its position when the feed is
 * read, under a lock of that feed. Nothing waits for transactions that are still open. Returns how many were placed.
 */
export async function placeEvents(db: Db, merchant_id: string): Promise<number> {
  if (db.dialect === 'sqlite') return 0;
  const { rows } = await sql<{ placed: number }>`
    select place_events(${merchant_id}, ${sql.lit(PLACED_AT_ONCE)}) as placed`.execute(db.query);
  return rows[0]?.placed ?? 0;
}

async function placeAll(db: Db, merchant_id: string): Promise<void> {
  while ((await placeEvents(db, merchant_id)) === PLACED_AT_ONCE);
}

/** The position of the last event that is committed; 0 where there is none. */
export async function lastPosition(db: Db, merchant_id: string): Promise<number> {
  await placeAll(db, merchant_id);
  const row =
    db.dialect === 'sqlite'
      ? await db.query
          .selectFrom('events')
          .select('seq as position')
          .where('merchant_id', '=', merchant_id)
          .orderBy('seq', 'desc')
          .limit(1)
          .executeTakeFirst()
      : await db.query
          .selectFrom('event_positions')
          .select('position')
          .where('merchant_id', '=', merchant_id)
          .orderBy('position', 'desc')
          .limit(1)
          .executeTakeFirst();
  return row?.position ?? 0;
}

/** The position of an event in its merchant's feed; undefined where this merchant has no such event. */
export async function positionOf(db: Db, merchant_id: string, event_id: string): Promise<number | undefined> {
  const event = await getEvent(db.query, event_id);
  if (event?.merchant_id !== merchant_id) return undefined;
  if (db.dialect === 'sqlite') return event.seq;
  const known = await placeOf(db.query, event.seq);
  if (known !== undefined) return known;
  // It is known from elsewhere, by a webhook perhaps, and its feed was not read since.
  await placeAll(db, merchant_id);
  return placeOf(db.query, event.seq);
}

async function placeOf(query: Executor, event_seq: number): Promise<number | undefined> {
  const row = await query
    .selectFrom('event_positions')
    .select('position')
    .where('event_seq', '=', event_seq)
    .executeTakeFirst();
  return row?.position;
}

/** How many a merchant has; of a type, among as many of the latest as are counted. */
export function countEvents(query: Executor, merchant_id: string, type?: string): Promise<Total> {
  const latest = sql`select type from events where merchant_id = ${merchant_id}
    order by seq desc limit ${COUNT_LIMIT}`;
  return countRows(
    query,
    type === undefined ? latest : sql`select 1 from (${latest}) as latest where type = ${type}`,
  );
}

/** Several, in no order. */
export async function getEvents(query: Executor, ids: readonly string[]): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('events').selectAll().where('id', 'in', ids).execute();
}

export function getEvent(query: Executor, id: string): Promise<EventRow | undefined> {
  return query.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst();
}
