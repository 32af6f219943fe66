// Events: the record of what happened, in order, never changed; what webhooks are sent from.
import { type Insertable, sql } from 'kysely';
import { newId } from './ids.ts';
import type { Db, Executor, Tx } from './open.ts';
import type { EventRow, Tables } from './tables.ts';

type NewEvent = Omit<Insertable<Tables['events']>, 'id' | 'seq' | 'xid'>;

/** Ids hold no full stop, as Standard Webhooks asks. */
export const newEventId = (): string => `evt_${newId().replaceAll('-', '')}`;

export async function insertEvent(db: Db, tx: Tx, id: string, event: NewEvent): Promise<void> {
  const xid = db.dialect === 'postgres' ? sql<string>`pg_current_xact_id()::text` : '0';
  await tx
    .insertInto('events')
    .values({ ...event, id, xid })
    .execute();
}

/**
 * Events of a merchant after a position, oldest first. On PostgreSQL events of transactions that are still open, or
 * began after one that is, are held back: a position that was passed never gains an event.
 */
export function eventsAfter(
  db: Db,
  merchant_id: string,
  after_seq: number,
  limit: number,
  type?: string,
): Promise<EventRow[]> {
  let select = settled(db, merchant_id).where('seq', '>', after_seq);
  if (type !== undefined) select = select.where('type', '=', type);
  return select.orderBy('seq').limit(limit).execute();
}

/** The last event that no earlier one can still precede; undefined where there is none. */
export function lastEvent(db: Db, merchant_id: string): Promise<EventRow | undefined> {
  return settled(db, merchant_id).orderBy('seq', 'desc').limit(1).executeTakeFirst();
}

function settled(db: Db, merchant_id: string) {
  const select = db.query.selectFrom('events').selectAll().where('merchant_id', '=', merchant_id);
  return db.dialect === 'postgres'
    ? select.where(sql<boolean>`xid::xid8 < pg_snapshot_xmin(pg_current_snapshot())`)
    : select;
}

export function getEvent(query: Executor, id: string): Promise<EventRow | undefined> {
  return query.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst();
}
