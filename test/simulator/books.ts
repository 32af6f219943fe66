// Reads the daemon's database alongside it: committed rows as they are, whichever database it is.
import type SQLite from 'better-sqlite3';
import { sqlite } from '../../data/db/driver.ts';

export interface EventRow {
  seq: bigint;
  type: string;
  invoice_id: string | null;
  payment_id: string | null;
}

export interface Books {
  /** Rows of a question; integers are bigint. */
  rows<T>(text: string, ...values: (string | number | bigint)[]): T[];
  /** Whether anything was committed since the last time of asking. */
  changed(): boolean;
  /** Most transfers of one blockchain that came since the last time of asking; 0 where that is not known. */
  newTransfers(): number;
  /** Events that were committed since the last time of asking, by their numbers. */
  newEvents(): EventRow[];
  close(): void;
}

export function openBooks(file: string): Books {
  const database = new (sqlite())(file, { readonly: true });
  database.defaultSafeIntegers(true);
  const statements = new Map<string, SQLite.Statement>();
  let version: unknown;
  let last = 0n;
  let last_transfer = 0n;
  const rows = <T>(text: string, ...values: (string | number | bigint)[]): T[] => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    return statement.all(...values) as T[];
  };
  return {
    rows,
    changed() {
      const now = database.pragma('data_version', { simple: true });
      const has = now !== version;
      version = now;
      return has;
    },
    newTransfers() {
      const text =
        'select blockchain, count(*) as count, max(rowid) as last from transfers where rowid > ? group by 1';
      const found = rows<{ count: bigint; last: bigint }>(text, last_transfer);
      for (const { last: each } of found) if (each > last_transfer) last_transfer = each;
      return Math.max(0, ...found.map(({ count }) => Number(count)));
    },
    newEvents() {
      const text = 'select seq, type, invoice_id, payment_id from events where seq > ? order by seq';
      const events = rows<EventRow>(text, last);
      last = events.at(-1)?.seq ?? last;
      return events;
    },
    close: () => void database.close(),
  };
}
