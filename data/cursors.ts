// How far each blockchain was read: cursors, the ranges read, and which daemon is reading.
import { sql } from 'kysely';
import type { Json, Pace, ReadRange, Tip } from '../src/chains/family.ts';
import type { Executor, Tx } from './db/database.ts';
import { inOrder } from './db/lock-order.ts';
import { toJson } from './schema/json.ts';
import type { CursorRow } from './schema/tables.ts';

/** Most account cursors asked for in one statement. */
const ACCOUNTS_PER_QUERY = 500;

export function getCursor(query: Executor, blockchain: string): Promise<CursorRow | undefined> {
  return query.selectFrom('cursors').selectAll().where('blockchain', '=', blockchain).executeTakeFirst();
}

export function allCursors(query: Executor): Promise<CursorRow[]> {
  return query.selectFrom('cursors').selectAll().orderBy('blockchain').execute();
}

/** Up to which version the pages of a blockchain are stored to their end. */
export async function wholeVersion(query: Executor, blockchain: string): Promise<number> {
  const row = await query
    .selectFrom('cursors')
    .select('whole_version')
    .where('blockchain', '=', blockchain)
    .executeTakeFirst();
  return row?.whole_version ?? 0;
}

/** Makes the row of a blockchain that was never read. */
export async function ensureCursor(query: Executor, blockchain: string): Promise<void> {
  await query
    .insertInto('cursors')
    .values({ blockchain, version: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const MICROS = 1_000_000;

/** As it is stored: millionths of a second. What is no time is not. */
function paceColumns({ recent_seconds, hour_seconds }: Pace) {
  const micros = (seconds: number) => BigInt(Math.round(seconds * MICROS));
  if (!(recent_seconds > 0)) return {};
  return {
    pace_recent_micros: micros(recent_seconds),
    pace_hour_micros: hour_seconds === null ? null : micros(hour_seconds),
  };
}

/**
 * Moves the cursor by compare-and-set on its version; false when another reader moved it meanwhile. `is_whole`: whether the page
 * that it moves with is stored to its end by this.
 */
export async function moveCursor(
  tx: Tx,
  blockchain: string,
  version: number,
  values: { cursor?: Json; tip?: Tip; pace?: Pace },
  is_whole = true,
): Promise<boolean> {
  const result = await tx
    .updateTable('cursors')
    .set({
      version: version + 1,
      ...(is_whole ? { whole_version: version + 1 } : {}),
      ...(values.cursor === undefined ? {} : { cursor: toJson(values.cursor) }),
      ...(values.tip
        ? { tip_height: values.tip.height, tip_hash: values.tip.hash, tip_time: values.tip.time }
        : {}),
      ...(values.pace ? paceColumns(values.pace) : {}),
    })
    .where('blockchain', '=', blockchain)
    .where('version', '=', version)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function noteFailure(
  query: Executor,
  blockchain: string,
  message: string,
  now: number,
): Promise<void> {
  await query
    .updateTable('cursors')
    .set({ last_error: message, last_error_at: now })
    .where('blockchain', '=', blockchain)
    .execute();
}

/** Notes that these blockchains are read now, and makes the rows of those that never were. */
export async function noteAnswers(
  query: Executor,
  blockchains: readonly string[],
  now: number,
): Promise<void> {
  const seen = { answered_at: now, blind_since: null };
  await query
    .insertInto('cursors')
    .values(blockchains.toSorted().map((blockchain) => ({ blockchain, version: 0, ...seen })))
    .onConflict((conflict) => conflict.column('blockchain').doUpdateSet(seen))
    .execute();
}

/** Notes that a blockchain has not been read since that moment, where that is not known. */
export async function noteBlind(query: Executor, blockchain: string, since: number): Promise<void> {
  await query
    .insertInto('cursors')
    .values({ blockchain, version: 0, blind_since: since })
    .onConflict((conflict) =>
      conflict
        .column('blockchain')
        .doUpdateSet({ blind_since: since })
        .where('cursors.blind_since', 'is', null),
    )
    .execute();
}

/** What daemons know of each other's reading: when each blockchain was read last, and since when not. */
export function answersOf(
  query: Executor,
): Promise<Pick<CursorRow, 'blockchain' | 'answered_at' | 'blind_since'>[]> {
  return query.selectFrom('cursors').select(['blockchain', 'answered_at', 'blind_since']).execute();
}

/** How far a blockchain was read, for monitors. */
export interface Sighting extends Pick<CursorRow, 'blockchain' | 'tip_time' | 'last_ok_at' | 'read_through'> {
  /** Whether any of its addresses is watched. */
  is_watched: boolean;
}

/** Of these blockchains, also where nothing was read of one yet. `now`: Unix seconds. */
export async function sightings(
  query: Executor,
  blockchains: readonly string[],
  now: number,
): Promise<Sighting[]> {
  const listed = sql<{ column1: string }>`(values ${sql.join(blockchains.map((id) => sql`(${id})`))})`;
  const rows = await query
    .selectFrom(listed.as('listed'))
    .leftJoin('cursors', 'cursors.blockchain', 'listed.column1')
    .select(['listed.column1 as blockchain', 'tip_time', 'last_ok_at', 'read_through'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('watches')
          .select('watches.address_key')
          .whereRef('watches.blockchain', '=', 'listed.column1')
          .where('watches.watch_until', '>=', now),
      ).as('is_watched'),
    )
    .execute();
  return rows.map((row) => ({ ...row, is_watched: Boolean(row.is_watched) }));
}

export async function accountCursors(
  query: Executor,
  blockchain: string,
  accounts: readonly string[],
): Promise<Map<string, Json>> {
  const found = new Map<string, Json>();
  for (let start = 0; start < accounts.length; start += ACCOUNTS_PER_QUERY) {
    const rows = await query
      .selectFrom('account_cursors')
      .select(['account', 'cursor'])
      .where('blockchain', '=', blockchain)
      .where('account', 'in', accounts.slice(start, start + ACCOUNTS_PER_QUERY))
      .execute();
    for (const row of rows) found.set(row.account, row.cursor);
  }
  return found;
}

export async function putAccountCursors(
  tx: Tx,
  blockchain: string,
  accounts: readonly (readonly [account: string, cursor: Json])[],
  now: number,
): Promise<void> {
  for (const [account, cursor] of inOrder(accounts, ([name]) => name)) {
    const values = { cursor: toJson(cursor), updated_at: now };
    await tx
      .insertInto('account_cursors')
      .values({ blockchain, account, ...values })
      .onConflict((conflict) => conflict.columns(['blockchain', 'account']).doUpdateSet(values))
      .execute();
  }
}

/** Ranges that were read completely, each as one with those of its scope that it overlaps or touches. */
export async function addRanges(
  tx: Tx,
  blockchain: string,
  ranges: readonly ReadRange[],
  now: number,
): Promise<void> {
  for (const range of inOrder(ranges, ({ scope }) => scope)) await addRange(tx, blockchain, range, now);
}

/** Records a range that was read completely, as one with those of its scope that it overlaps or touches. */
export async function addRange(tx: Tx, blockchain: string, range: ReadRange, now: number): Promise<void> {
  const { scope } = range;
  const touching = await tx
    .selectFrom('read_ranges')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('scope', '=', scope)
    .where('from_position', '<=', range.to + 1)
    .where('to_position', '>=', range.from - 1)
    .orderBy('from_position')
    .execute();
  const from_position = Math.min(range.from, ...touching.map((each) => each.from_position));
  const to_position = Math.max(range.to, ...touching.map((each) => each.to_position));
  const [first, ...joined] = touching;
  if (first?.from_position === from_position && first.to_position === to_position) return;
  const replaced = first?.from_position === from_position ? joined : touching;
  for (const each of replaced)
    await tx
      .deleteFrom('read_ranges')
      .where('blockchain', '=', blockchain)
      .where('scope', '=', scope)
      .where('from_position', '=', each.from_position)
      .execute();
  await tx
    .insertInto('read_ranges')
    .values({ blockchain, scope, from_position, to_position, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['blockchain', 'scope', 'from_position'])
        .doUpdateSet({ to_position, updated_at: now })
        // Another reader may have recorded more meanwhile.
        .where('read_ranges.to_position', '<', to_position),
    )
    .execute();
}

/** The latest ranges of a blockchain: one per scope where nothing was ever missed. */
export function latestRanges(query: Executor, blockchain: string, limit: number) {
  return query
    .selectFrom('read_ranges')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute();
}

/** Takes or prolongs a lease; false while another holder has it. It spares double work, correctness does not rest on it. */
export async function holdLease(
  query: Executor,
  name: string,
  holder: string,
  now_ms: number,
  duration_ms: number,
): Promise<boolean> {
  const until_ms = now_ms + duration_ms;
  const result = await query
    .insertInto('leases')
    .values({ name, holder, until_ms })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, until_ms })
        .where((where) =>
          where.or([where('leases.holder', '=', holder), where('leases.until_ms', '<', now_ms)]),
        ),
    )
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Leases that have not run out, of the names that begin with one of these. */
export function leasesNamed(
  query: Executor,
  prefixes: readonly string[],
  now_ms: number,
): Promise<{ name: string; holder: string }[]> {
  return query
    .selectFrom('leases')
    .select(['name', 'holder'])
    .where('until_ms', '>=', now_ms)
    .where((lease) => lease.or(prefixes.map((prefix) => lease('name', 'like', `${prefix}%`))))
    .execute();
}

/** Gives one lease back, where this holder has it. */
export async function dropLease(query: Executor, name: string, holder: string): Promise<void> {
  await query.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}

/** Forgets leases that ended before this moment. */
export async function forgetLeases(query: Executor, before_ms: number): Promise<void> {
  await query.deleteFrom('leases').where('until_ms', '<', before_ms).execute();
}

export async function dropLeases(query: Executor, holder: string): Promise<void> {
  await query.deleteFrom('leases').where('holder', '=', holder).execute();
}
