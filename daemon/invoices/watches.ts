// How long the addresses of invoices are watched, and which of them are known to be watched long enough.
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow, WatchRow } from '../../data/schema/tables.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { boundedCache } from '../cache.ts';

/** Watches are prolonged by whole hours, so that most invoices of an address find it watched long enough. */
const WATCH_STEP_SECONDS = 3600;
/** Addresses that this process has cached as watched; evicting one costs a statement. */
const MAX_ADDRESSES = 10_000;

/** The watch that an invoice needs, until the end of an hour. */
export function watchFor(row: InvoiceRow): WatchRow {
  const open_until = untilHour(row.expires_at + GRACE_SECONDS);
  return {
    blockchain: row.blockchain,
    address_key: row.address_key,
    address: row.address,
    since: row.created_at,
    open_until,
    watch_until: open_until + GRACE_SECONDS,
  };
}

const untilHour = (seconds: number): number => Math.ceil(seconds / WATCH_STEP_SECONDS) * WATCH_STEP_SECONDS;
const keyOf = (row: InvoiceRow): string => `${row.blockchain} ${row.address_key} ${holderOf(row)}`;

export interface Watches {
  /** Whether a commit of this process has watched the address for all the time that the invoice needs. */
  covers(row: InvoiceRow): boolean;
  /** Notes that the watch of an invoice is committed. */
  note(row: InvoiceRow): void;
}

export function openWatches(): Watches {
  /** By address and holder, Unix seconds: a watch begins earlier when the clock was ahead and is right again. */
  const watched = boundedCache<string, { since: number; open_until: number }>(MAX_ADDRESSES);
  const covers = (row: InvoiceRow): boolean => {
    const known = watched.get(keyOf(row));
    const { since, open_until } = watchFor(row);
    return known !== undefined && known.since <= since && known.open_until >= open_until;
  };
  return {
    covers,
    note(row) {
      if (!covers(row)) watched.set(keyOf(row), watchFor(row));
    },
  };
}
