// What screens list of all accounts or of one, newest first, each by an index that is in this order.
import { sql } from 'kysely';
import type { Executor } from '../db/database.ts';
import type { EventRow, LedgerRow, UnitRow } from '../schema/tables.ts';
import { COUNT_LIMIT, countRows, type Total } from '../totals.ts';

export interface DayFigures {
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  count: number;
  volume_micros: bigint;
}

const DAY_MS = 86_400_000;

const sum = <T>(column: string) => sql<T>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;

/** Confirmed sales of the deployment by day, from a day on (days since 1970, UTC); days without any are left out. */
export async function salesByDay(query: Executor, since: number): Promise<DayFigures[]> {
  const rows = await query
    .selectFrom('tallies')
    .select(['day', sum<number>('count').as('count'), sum<bigint>('amount_micros').as('volume_micros')])
    .where('name', '=', 'sales')
    .where('day', '>=', since)
    .groupBy('day')
    .execute();
  return rows.map(({ day, count, volume_micros }) => ({
    day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    count: Number(count),
    volume_micros,
  }));
}

/** The same of one merchant; `since` as `YYYY-MM-DD`. */
export async function salesByDayOf(
  query: Executor,
  merchant_id: string,
  since: string,
): Promise<DayFigures[]> {
  const rows = await query
    .selectFrom('income_totals')
    .select(['day', sum<number>('count').as('count'), sum<bigint>('amount_usd_micros').as('volume_micros')])
    .where('merchant_id', '=', merchant_id)
    .where('day', '>=', since)
    .groupBy('day')
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export interface Place {
  /** Id of the last row of the page before; an unknown one finds nothing. */
  after?: string | undefined;
  limit: number;
}

/** With the slug of whose it is. */
export type Owned<Row> = Row & { owner_slug: string | null };

/** Bookings of all, or of one merchant. */
export function ledgerEntries(
  query: Executor,
  { owner_id, after, limit }: Place & { owner_id?: string | undefined },
): Promise<Owned<LedgerRow>[]> {
  const select = query
    .selectFrom('ledger')
    .innerJoin('merchants', 'merchants.id', 'ledger.merchant_id')
    .selectAll('ledger')
    .select('merchants.slug as owner_slug')
    .limit(limit);
  if (owner_id === undefined)
    return (after === undefined ? select : select.where('ledger.id', '<', after))
      .orderBy('ledger.id', 'desc')
      .execute();
  const of_owner = select.where('ledger.merchant_id', '=', owner_id);
  const seq = sql<number>`(select seq from ledger where id = ${after} and merchant_id = ${owner_id})`;
  return (after === undefined ? of_owner : of_owner.where('ledger.seq', '<', seq))
    .orderBy('ledger.seq', 'desc')
    .execute();
}

/** Events of all accounts, those before a place in their order. */
export function latestEvents(
  query: Executor,
  { before_seq, limit }: { before_seq?: number | undefined; limit: number },
): Promise<EventRow[]> {
  let select = query.selectFrom('events').selectAll();
  if (before_seq !== undefined) select = select.where('seq', '<', before_seq);
  return select.orderBy('seq', 'desc').limit(limit).execute();
}

/** Deliveries that were not accepted, and after which none was tried: one of each event that waits for its receiver. */
const undelivered = (owner_id: string | undefined) => sql`from deliveries as last
  where last.status in ('failed', 'unknown')
    ${owner_id === undefined ? sql`and last.finished_at is not null` : sql`and last.merchant_id = ${owner_id}`}
    and not exists (select 1 from deliveries as later where later.event_id = last.event_id
      and (later.created_at, later.id) > (last.created_at, last.id))`;

/** Events whose last attempt was not accepted, the latest attempt first. */
export async function undeliveredEventIds(
  query: Executor,
  { owner_id, limit }: { owner_id?: string | undefined; limit: number },
): Promise<string[]> {
  const latest = owner_id === undefined ? sql`last.finished_at` : sql`last.created_at`;
  const { rows } = await sql<{ event_id: string }>`select last.event_id ${undelivered(owner_id)}
    order by ${latest} desc limit ${limit}`.execute(query);
  return rows.map(({ event_id }) => event_id);
}

/** How many those are. */
export const countUndelivered = (query: Executor, owner_id: string | undefined): Promise<Total> =>
  countRows(query, sql`select 1 ${undelivered(owner_id)} limit ${COUNT_LIMIT}`);

/** Units of all merchants. */
export function latestUnits(query: Executor, { after, limit }: Place): Promise<UnitRow[]> {
  const select = query.selectFrom('units').selectAll().orderBy('id', 'desc').limit(limit);
  return (after === undefined ? select : select.where('id', '<', after)).execute();
}

/** The slugs of merchants by their ids. */
export async function slugsOf(query: Executor, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await query.selectFrom('merchants').select(['id', 'slug']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}
