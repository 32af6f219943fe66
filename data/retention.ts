// Removes what is old, in small batches: events that every reader and webhook had their time for, logs of what has ended,
// and who asked without credentials. What is money, or may still become it, is never removed: the database refuses.
import { type SqlBool, sql } from 'kysely';
import type { Db, Tx } from './db/database.ts';
import { placeEvents } from './events.ts';

/** Rows that one transaction removes, so that no lock is held for long; as many as that: there may be more. */
export const ROWS_AT_ONCE = 100;

/** What one stretch of a table came to. */
export interface Stretch<Place> {
  removed: number;
  /** After which row the next begins; null where nothing old is left. */
  next: Place | null;
}

/** Written out, because a partial index is used only where its condition stands in the statement. */
const isOpenDelivery = sql<SqlBool>`deliveries.status in ('pending', 'sending')`;

/**
 * The next merchants, by id, whose oldest event happened before that moment; the empty text first, which stands for events
 * of no merchant.
 */
export async function merchantsWithEventsBefore(
  { dialect, query }: Db,
  after: string | null,
  before: number,
): Promise<string[]> {
  const oldest =
    dialect === 'sqlite'
      ? sql`select created_at from events where events.merchant_id = merchants.id order by seq limit 1`
      : sql`select min(first.created_at) from (
          (select created_at from event_positions join events on seq = event_seq
            where event_positions.merchant_id = merchants.id order by position limit 1)
          union all
          (select created_at from unplaced_events join events on seq = event_seq
            where unplaced_events.merchant_id = merchants.id order by event_seq limit 1)) as first`;
  const { rows } = await sql<{ id: string }>`select id from merchants
    where id > ${after ?? ''} and (${oldest}) < ${before} order by id limit ${sql.lit(ROWS_AT_ONCE)}`.execute(
    query,
  );
  return [...(after === null ? [''] : []), ...rows.map(({ id }) => id)];
}

interface OldEvent {
  id: string;
  position: number;
  created_at: number;
  stays: number;
}

/**
 * Removes the oldest events of a merchant with their deliveries, up to the first that is newer than `before` (Unix
 * seconds), of an open invoice, or not yet delivered. The newest of a feed stays: its readers stand there. Returns how
 * many went.
 */
export async function removeEvents(db: Db, merchant_id: string, before: number): Promise<number> {
  if (merchant_id !== '') await placeEvents(db, merchant_id);
  const rows = await oldestEvents(db, merchant_id);
  const first_to_stay = rows.findIndex((row) => row.stays === 1 || row.created_at >= before);
  const old = rows.slice(0, first_to_stay < 0 ? Math.max(0, rows.length - 1) : first_to_stay);
  const last = old.at(-1);
  if (!last) return 0;
  const ids = old.map(({ id }) => id);
  await db.transaction(async (tx) => {
    await noteRemoval(tx, {
      name: 'events',
      merchant_id,
      through_at: Math.max(...old.map(({ created_at }) => created_at)),
      through_position: last.position,
      count: ids.length,
    });
    if (db.dialect === 'postgres')
      await tx
        .deleteFrom('event_positions')
        .where('merchant_id', '=', merchant_id)
        .where('position', '<=', last.position)
        .execute();
    await tx
      .deleteFrom('deliveries')
      .where('event_id', 'in', ids)
      .where('status', 'not in', ['pending', 'sending'])
      .execute();
    await tx.deleteFrom('events').where('id', 'in', ids).execute();
  });
  return ids.length;
}

/** One more than a batch: the one after the last shows that the last is not the newest. */
async function oldestEvents({ dialect, query }: Db, merchant_id: string): Promise<OldEvent[]> {
  const stays = sql<number>`case when exists (select 1 from invoices where invoices.id = events.invoice_id
      and invoices.status = 'created')
    or exists (select 1 from deliveries where deliveries.event_id = events.id and ${isOpenDelivery})
    then 1 else 0 end`;
  const columns = sql`events.id, events.created_at, ${stays} as stays`;
  const feed =
    merchant_id === ''
      ? sql`seq as position from events where merchant_id is null order by seq`
      : dialect === 'sqlite'
        ? sql`seq as position from events where merchant_id = ${merchant_id} order by seq`
        : sql`event_positions.position from event_positions join events on events.seq = event_positions.event_seq
            where event_positions.merchant_id = ${merchant_id} order by event_positions.position`;
  const { rows } = await sql<OldEvent>`select ${columns}, ${feed} limit ${sql.lit(ROWS_AT_ONCE + 1)}`.execute(
    query,
  );
  return rows;
}

/** Before the rows go: the guards of their tables ask for it. */
async function noteRemoval(
  tx: Tx,
  removal: {
    name: 'events' | 'logs';
    merchant_id: string;
    through_at: number;
    through_position: number;
    count: number;
  },
): Promise<void> {
  await tx
    .insertInto('removals')
    .values(removal)
    .onConflict((conflict) =>
      conflict.columns(['name', 'merchant_id']).doUpdateSet((row) => ({
        through_at: row
          .case()
          .when('removals.through_at', '>', removal.through_at)
          .then(row.ref('removals.through_at'))
          .else(removal.through_at)
          .end(),
        through_position: removal.through_position,
        count: row('removals.count', '+', removal.count),
      })),
    )
    .execute();
}

/** The last position that retention took from a merchant's feed; 0 where it took nothing. */
export async function removedThrough({ query }: Db, merchant_id: string): Promise<number> {
  const row = await query
    .selectFrom('removals')
    .select('through_position')
    .where('name', '=', 'events')
    .where('merchant_id', '=', merchant_id)
    .executeTakeFirst();
  return row?.through_position ?? 0;
}

/**
 * Removes the logs of one stretch of numbers that are older than `before` (Unix seconds), of invoices that have ended and
 * payments that did not move since. What an operator did stays, and so does the last move of each payment.
 */
export async function removeLogs(db: Db, after_seq: number, before: number): Promise<Stretch<number>> {
  const rows = await db.query
    .selectFrom('payment_logs')
    .select(['seq', 'created_at'])
    .where('seq', '>', after_seq)
    .orderBy('seq')
    .limit(ROWS_AT_ONCE)
    .execute();
  const old = rows.filter(({ created_at }) => created_at < before);
  const last = rows.at(-1);
  if (!last || old.length === 0) return { removed: 0, next: null };
  const next = rows.length < ROWS_AT_ONCE ? null : last.seq;
  const removable = sql<SqlBool>`payment_logs.actor not like 'operator:%'
    and not exists (select 1 from invoices where invoices.id = payment_logs.invoice_id and invoices.status = 'created')
    and (payment_logs.payment_id is null or (
      payment_logs.seq < (select max(moved.seq) from payment_logs as moved
        where moved.payment_id = payment_logs.payment_id and moved.from_status is distinct from moved.to_status)
      and not exists (select 1 from payment_logs as newer
        where newer.payment_id = payment_logs.payment_id and newer.created_at >= ${before})))`;
  const found = await db.query
    .selectFrom('payment_logs')
    .select('seq')
    .where('seq', '>', after_seq)
    .where('seq', '<=', last.seq)
    .where('created_at', '<', before)
    .where(removable)
    .execute();
  if (found.length === 0) return { removed: 0, next };
  await db.transaction(async (tx) => {
    await noteRemoval(tx, {
      name: 'logs',
      merchant_id: '',
      // Not only up to the newest that goes: a move that stays follows on ones that went, and may be newer than they were.
      through_at: before - 1,
      through_position: 0,
      count: found.length,
    });
    await tx
      .deleteFrom('payment_logs')
      .where(
        'seq',
        'in',
        found.map(({ seq }) => seq),
      )
      .where(removable)
      .execute();
  });
  return { removed: found.length, next };
}

/**
 * Forgets who asked, without credentials, for the next invoices by id that were made before that moment (Unix seconds) and
 * have ended. By id, which rise with time: an index of those with a caller would be one more that each sale is entered in.
 */
export async function forgetCallers(
  { query }: Db,
  after_id: string,
  before: number,
): Promise<Stretch<string>> {
  const rows = await query
    .selectFrom('invoices')
    .select(['id', 'created_at'])
    .where('id', '>', after_id)
    .orderBy('id')
    .limit(ROWS_AT_ONCE)
    .execute();
  const last = rows.at(-1);
  if (!last || rows.every(({ created_at }) => created_at >= before)) return { removed: 0, next: null };
  const { numUpdatedRows } = await query
    .updateTable('invoices')
    .set({ caller: null, buyer: null })
    .where('id', '>', after_id)
    .where('id', '<=', last.id)
    .where('caller', 'is not', null)
    .where('created_at', '<', before)
    .where('status', '<>', 'created')
    .executeTakeFirstOrThrow();
  return { removed: Number(numUpdatedRows), next: rows.length < ROWS_AT_ONCE ? null : last.id };
}

/** Removes answers of idempotency keys made before that moment (Unix seconds), with the hashes of their callers; returns how many. */
export async function forgetAnswers({ query }: Db, before: number): Promise<number> {
  const { rows } = await sql<{ caller: string }>`delete from idempotency where (caller, key) in (
      select caller, key from idempotency where created_at < ${before} order by created_at
      limit ${sql.lit(ROWS_AT_ONCE)}) returning caller`.execute(query);
  return rows.length;
}

/** Removes claims that were made last before that moment (Unix seconds), for invoices that have ended; returns how many. */
export async function removeClaims({ query }: Db, before: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`delete from claims where id in (
      select claims.id from claims join invoices on invoices.id = claims.invoice_id
      where claims.updated_at < ${before} and invoices.status <> 'created'
      order by claims.updated_at limit ${sql.lit(ROWS_AT_ONCE)}) returning id`.execute(query);
  return rows.length;
}
