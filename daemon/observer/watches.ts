// Begins watches when they were made: by a clock that was ahead they begin later, and what is paid until then would be lost.
import { getCursor } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { moveWatch } from '../../data/invoices.ts';
import type { WatchRow } from '../../data/schema/tables.ts';
import type { WatchedAddress } from '../../src/chains/family.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import type { ClockCheck } from '../process/clock-check.ts';

/** A watch that begins further in the future was dated by a clock that is ahead: those of two daemons differ by less. */
const AHEAD_SECONDS = 30;
/** Time that falls by so much between two readings was set back; a clock that drifts does so slowly. */
const SET_BACK_MS = 10_000;

interface Deps {
  db: Db;
  clock: SteadyClock;
  clock_check: Pick<ClockCheck, 'ahead'>;
}

/**
 * The addresses to read: those that are watched here, and those of the chains that share its addresses, where money may be
 * sent on the wrong one. One that is watched on both is read since the earlier time, or what came here in between would be lost.
 */
export function withElsewhere(
  here: readonly WatchRow[],
  elsewhere: readonly WatchRow[],
  now: number,
): WatchedAddress[] {
  const watched = new Map<string, WatchedAddress>();
  const add = ({ address_key: key, address, since }: WatchRow, open: boolean) => {
    const known = watched.get(key) ?? { key, address, since, open };
    watched.set(key, { ...known, since: Math.min(since, known.since) });
  };
  for (const row of here) add(row, row.open_until >= now);
  for (const row of elsewhere) add(row, false);
  return [...watched.values()];
}

/** More addresses than any provider is asked to report on. */
const OPEN_MOST = 1_000;

/** Keys of addresses with invoices that may be paid, those with the newest of them first. */
export function newestOpen(rows: readonly WatchRow[], now: number): string[] {
  const open = rows.filter(({ open_until }) => open_until >= now);
  open.sort((one, other) => other.open_until - one.open_until);
  return open.slice(0, OPEN_MOST).map(({ address_key }) => address_key);
}

/** The watches of a blockchain as they are to be read, each from when it was made. */
export type WatchDates = (rows: readonly WatchRow[]) => Promise<WatchRow[]>;

/**
 * A watch that begins in the future is moved to when it was made. One that was made after the last reading may have been
 * dated by a clock that was set right since: at the first reading after that, or after a start, it begins where the last one
 * ended, a day earlier at most.
 */
export function openWatchDates({ db, clock, clock_check }: Deps, blockchain: string): WatchDates {
  /** The time that is lived by minus the monotonic timer, when it was asked for last. */
  let base_ms = Number.POSITIVE_INFINITY;
  return async (rows) => {
    const base = clock.ms() - clock.monotonic_ms();
    const is_set_back = base < base_ms - SET_BACK_MS;
    base_ms = base;
    const ahead = clock_check.ahead();
    const now = seconds(clock) - ahead;
    const isFuture = ({ since }: WatchRow) => since > now + AHEAD_SECONDS;
    if (!is_set_back && !rows.some(isFuture)) return [...rows];
    const read_at = (await getCursor(db.query, blockchain))?.tip_time ?? now;
    const begun = (row: WatchRow): number => {
      const made = row.since - ahead;
      if (isFuture(row) && made <= now) return made;
      if (!is_set_back && !isFuture(row)) return row.since;
      const latest = Math.min(row.since, now);
      return Math.min(latest, Math.max(latest - GRACE_SECONDS, read_at));
    };
    const moved = rows.map((row) => ({ ...row, since: begun(row) }));
    for (const [at, row] of rows.entries()) {
      const { since } = moved[at] as WatchRow;
      if (since !== row.since) await moveWatch(db.query, row, since);
    }
    return moved;
  };
}
