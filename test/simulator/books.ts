// Reads the daemon's database beside it: committed rows as they are, whichever database it is.
import SQLite from 'better-sqlite3';

export interface Books {
  /** Rows of a question; integers are bigint. */
  rows<T>(text: string, ...values: (string | number | bigint)[]): T[];
  /** Whether anything was committed since the last time of asking. */
  changed(): boolean;
  close(): void;
}

export function openBooks(file: string): Books {
  const database = new SQLite(file, { readonly: true });
  database.defaultSafeIntegers(true);
  const statements = new Map<string, SQLite.Statement>();
  let version: unknown;
  return {
    rows<T>(text: string, ...values: (string | number | bigint)[]): T[] {
      const statement = statements.get(text) ?? database.prepare(text);
      statements.set(text, statement);
      return statement.all(...values) as T[];
    },
    changed() {
      const now = database.pragma('data_version', { simple: true });
      const has = now !== version;
      version = now;
      return has;
    },
    close: () => void database.close(),
  };
}
