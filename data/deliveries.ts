// The queue of webhook deliveries: one automatic attempt per event, claimed before it is sent.
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { writer } from './db/prepared.ts';
import type { DeliveryRow } from './schema/tables.ts';

/** How an attempt ended. `unknown`: its claimer is gone, or was stopped, before an answer was recorded. */
export type DeliveryStatus = 'delivered' | 'failed' | 'unknown';

export interface NewDelivery {
  event_id: string;
  merchant_id: string | null;
  url: string;
  /** Unix seconds. */
  created_at: number;
}

/** An attempt to make: what is sent, where, and whose it is. */
export interface PendingDelivery {
  id: string;
  event_id: string;
  merchant_id: string | null;
  url: string;
  host: string;
  body: string;
  /** Unix seconds. */
  created_at: number;
  invoice_id: string | null;
  /** Of the request that made the invoice. */
  request_id: string | null;
}

/** Who sends it and since when, Unix seconds. */
export interface Claim {
  instance_id: string;
  claimed_at: number;
}

/** An address that is no URL fails when it is sent to; it must not undo the payment that is being confirmed. */
const rowOf = (delivery: NewDelivery) => ({
  id: newId(),
  ...delivery,
  host: URL.canParse(delivery.url) ? new URL(delivery.url).host : '',
});

const insert = writer(
  ['id', 'event_id', 'merchant_id', 'url', 'host', 'created_at'],
  (query, place: ReturnType<typeof rowOf>) =>
    query
      .insertInto('deliveries')
      .values({ ...place, kind: sql.lit('automatic' as const), status: sql.lit('pending' as const) }),
);

/** Queues the automatic attempt of an event; in the transaction that writes the event. A second one violates a unique key. */
export async function insertDelivery(tx: Tx, delivery: NewDelivery): Promise<void> {
  await insert(tx, rowOf(delivery));
}

/** Records an attempt that a person asked for, as claimed already, and returns its id. */
export async function insertManualDelivery(
  db: Executor,
  delivery: NewDelivery,
  claim: Claim,
): Promise<{ id: string; host: string }> {
  const row = rowOf(delivery);
  await db
    .insertInto('deliveries')
    .values({ ...row, ...claim, kind: 'manual', status: 'sending' })
    .execute();
  return row;
}

/** Whose limits are reached, so that a long queue to one of them hides no other. */
export interface Busy {
  hosts: string[];
  merchants: string[];
  receivers: { merchant_id: string | null; host: string }[];
}

/** Written out, because a partial index is used only where its condition stands in the statement. */
const isOpen = sql<SqlBool>`deliveries.status in ('pending', 'sending')`;

/** The oldest attempts that wait, without those of the busy. */
export async function pendingDeliveries(db: Executor, limit: number, busy: Busy): Promise<PendingDelivery[]> {
  return db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .leftJoin('invoices', 'invoices.id', 'events.invoice_id')
    .select([
      'deliveries.id',
      'deliveries.event_id',
      'deliveries.merchant_id',
      'deliveries.url',
      'deliveries.host',
      'deliveries.created_at',
      'events.body',
      'events.invoice_id',
      'invoices.request_id',
    ])
    .where(isOpen)
    .where('deliveries.status', '=', 'pending')
    .where(({ eb, and, not }) => {
      const merchant = eb.fn.coalesce('deliveries.merchant_id', sql<string>`''`);
      const conditions: Expression<SqlBool>[] = [];
      if (busy.hosts.length > 0) conditions.push(eb('deliveries.host', 'not in', busy.hosts));
      if (busy.merchants.length > 0) conditions.push(eb(merchant, 'not in', busy.merchants));
      for (const { merchant_id, host } of busy.receivers)
        conditions.push(not(and([eb(merchant, '=', merchant_id ?? ''), eb('deliveries.host', '=', host)])));
      return and(conditions);
    })
    .orderBy('deliveries.created_at')
    .limit(limit)
    .execute();
}

/** How many wait to be sent, and are being sent by any daemon; each counted up to `most`. */
export async function countOpenDeliveries(
  query: Executor,
  most: number,
): Promise<{ pending: number; sending: number }> {
  const count = async (status: 'pending' | 'sending') => {
    const open = query
      .selectFrom('deliveries')
      .select('id')
      .where(isOpen)
      .where('status', '=', status)
      .limit(most);
    const row = await query
      .selectFrom(open.as('open'))
      .select((of) => of.fn.countAll<number | bigint>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  return { pending: await count('pending'), sending: await count('sending') };
}

/** Events whose webhook did not arrive since a moment, and has not arrived since; counted up to `most`, the newest first. */
export async function countUndelivered(
  query: Executor,
  { since, most }: { since: number; most: number },
): Promise<number> {
  const failed = query
    .selectFrom('deliveries')
    .select('event_id')
    .where(sql<SqlBool>`deliveries.status in ('failed', 'unknown')`)
    .where('finished_at', '>=', since)
    .orderBy('finished_at', 'desc')
    .limit(most);
  const row = await query
    .selectFrom(failed.as('failed'))
    .select((of) => of.fn.count<number | bigint>('failed.event_id').distinct().as('count'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deliveries')
            .select('deliveries.id')
            .whereRef('deliveries.event_id', '=', 'failed.event_id')
            .where('deliveries.status', '=', 'delivered'),
        ),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Compare-and-set from `pending` to `sending`; returns the ids that are now this claimer's, and no one else's. */
export async function claimDeliveries(db: Executor, ids: string[], claim: Claim): Promise<string[]> {
  const rows = await db
    .updateTable('deliveries')
    .set({ status: 'sending', ...claim })
    .where('id', 'in', ids)
    .where('status', '=', 'pending')
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Puts back what a claim may have taken whose answer was lost. Only for attempts that were not begun. */
export async function unclaimDeliveries(db: Executor, ids: string[], instance_id: string): Promise<void> {
  await db
    .updateTable('deliveries')
    .set({ status: 'pending', instance_id: null, claimed_at: null })
    .where('id', 'in', ids)
    .where('instance_id', '=', instance_id)
    .where('status', '=', 'sending')
    .execute();
}

export interface FinishedDelivery {
  id: string;
  instance_id: string;
  status: DeliveryStatus;
  http_status: number | null;
  error: string | null;
  duration_ms: number;
  /** Unix seconds. */
  finished_at: number;
}

const finish = writer(
  ['id', 'instance_id', 'status', 'http_status', 'error', 'duration_ms', 'finished_at'],
  (query, { id, instance_id, ...result }: FinishedDelivery) =>
    query
      .updateTable('deliveries')
      .set(result)
      .where('id', '=', id)
      .where('instance_id', '=', instance_id)
      .where('status', 'in', [sql.lit('sending' as const), sql.lit('unknown' as const)])
      .returning(['event_id', 'kind']),
);

/** Records how an attempt ended, on its income record too. Its claimer knows better than the daemon that called it `unknown`. */
export async function finishDelivery(tx: Tx, finished: FinishedDelivery): Promise<void> {
  const [row] = await finish(tx, finished);
  if (row) await recordOnIncome(tx, row, finished.status);
}

/**
 * Gives up on attempts claimed before `claimed_before` (Unix seconds) by an instance that is gone: whether they
 * were sent is not known, so they are never sent again. `alive` are attempts that are known to be under way.
 * Returns how many there were, at most `limit`.
 */
export async function abandonDeliveries(
  tx: Tx,
  options: { claimed_before: number; finished_at: number; alive: string[]; limit: number },
): Promise<number> {
  const { alive } = options;
  const stale = await tx
    .selectFrom('deliveries')
    .select('id')
    .where(isOpen)
    .where('status', '=', 'sending')
    .where('claimed_at', '<', options.claimed_before)
    .$if(alive.length > 0, (query) => query.where('id', 'not in', alive))
    .limit(options.limit)
    .execute();
  if (stale.length === 0) return 0;
  const rows = await tx
    .updateTable('deliveries')
    .set({ status: 'unknown', error: 'interrupted before the answer', finished_at: options.finished_at })
    .where(
      'id',
      'in',
      stale.map((row) => row.id),
    )
    .where('status', '=', 'sending')
    .returning(['event_id', 'kind'])
    .execute();
  for (const row of rows) await recordOnIncome(tx, row, 'unknown');
  return rows.length;
}

/** A delivery that arrived stays so; one that a person asked for counts only when it arrived. */
async function recordOnIncome(
  tx: Tx,
  delivery: { event_id: string; kind: 'automatic' | 'manual' },
  status: DeliveryStatus,
): Promise<void> {
  if (delivery.kind === 'manual' && status !== 'delivered') return;
  await noteOnIncome(tx, { event_id: delivery.event_id, status });
}

const noteOnIncome = writer(
  ['event_id', 'status'],
  (query, { event_id, status }: { event_id: string; status: DeliveryStatus }) =>
    query
      .updateTable('income')
      .set({ webhook_status: status })
      .where('webhook_status', '!=', sql.lit('delivered' as const))
      .where('invoice_id', '=', (of) =>
        of
          .selectFrom('events')
          .select('invoice_id')
          .where('id', '=', event_id)
          .where('type', '=', sql.lit('invoice.confirmed'))
          .$castTo<{ invoice_id: string }>(),
      ),
);

/** An event as it would be sent now: its stored text, and today's address for it (null where there is none). */
export interface ResendableEvent {
  merchant_id: string | null;
  body: string;
  url: string | null;
  invoice_id: string | null;
  request_id: string | null;
}

export async function resendableEvent(db: Executor, event_id: string): Promise<ResendableEvent | null> {
  const row = await db
    .selectFrom('events')
    .leftJoin('invoices', 'invoices.id', 'events.invoice_id')
    .leftJoin('merchants', 'merchants.id', 'events.merchant_id')
    .select([
      'events.merchant_id',
      'events.body',
      'events.invoice_id',
      'invoices.request_id',
      'invoices.callback_url',
      'merchants.webhook_url',
    ])
    .where('events.id', '=', event_id)
    .executeTakeFirst();
  if (!row) return null;
  const { callback_url, webhook_url, ...event } = row;
  return { ...event, url: callback_url ?? webhook_url };
}

/** Events of a merchant with an attempt since then that was not accepted, newest attempt first. */
export async function failedEvents(
  db: Executor,
  { merchant_id, since, limit }: { merchant_id: string; since: number; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select('event_id')
    .where('merchant_id', '=', merchant_id)
    .where(sql<SqlBool>`status in ('failed', 'unknown')`)
    .where('created_at', '>=', since)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
  return [...new Set(rows.map(({ event_id }) => event_id))];
}

/** All attempts at these events, oldest first. */
export async function deliveriesOf(db: Executor, event_ids: readonly string[]): Promise<DeliveryRow[]> {
  if (event_ids.length === 0) return [];
  return db
    .selectFrom('deliveries')
    .selectAll()
    .where('event_id', 'in', event_ids)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}
