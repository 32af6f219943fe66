// What a law of the books is: a question whose answer is every row that breaks it, and what to do about those.
import { sql } from 'kysely';
import type { Dialect, Executor } from '../db/database.ts';
import { type Words, words } from '../db/words.ts';

/** Rows shown of those that break a law; all are counted. */
export const ROWS_SHOWN = 20;

/** What the daemon of a database can open and compute with its secret. */
export interface VerifySecrets {
  /** The stored proof of the secret. */
  check: string;
  /** Throws where it was changed, moved or sealed under another secret. */
  open(sealed: string, purpose: string): string;
  /** What the sealed columns of a merchant are sealed for. */
  api_key_purpose(merchant_id: string): string;
  webhook_secret_purpose(merchant_id: string): string;
  previous_webhook_secret_purpose(merchant_id: string): string;
  /** Of a merchant's key, as it is stored. */
  hash_key(key: string): string;
  /** Of the ledger; null where the database has none yet. */
  ledger_key: Uint8Array | null;
}

/** A state of a database, and what is known besides. */
export interface VerifyContext {
  query: Executor;
  dialect: Dialect;
  /** What the pages, indexes and references of a SQLite file have wrong; absent: it is asked in turn, like all else. */
  damages?: (() => Promise<BrokenRow[]>) | undefined;
  /** Unix seconds of this machine. */
  now: number;
  /** Why there is none, where there is none: what needs it is left unchecked, and says so. */
  secrets: VerifySecrets | { missing: string };
  /** When the daemon was started last; null where that is not known. */
  started_at: number | null;
  /** False while our clock is known to be wrong: nothing ends then. */
  clock_trusted: boolean;
  /** Of each gateway: decimals that a buyer is asked to pay with. */
  payable_decimals: Record<string, number>;
  /** When a blockchain was last read completely: that the daemon ran is known no later than then. Unix seconds. */
  alive_at: number;
}

export type BrokenRow = Record<string, string | number | null>;

export interface Found {
  /** How many rows break it. */
  count: number;
  /** The first of them. */
  rows: BrokenRow[];
}

/** One part of a law. */
export interface Check {
  law: number;
  /** What is wrong with the rows it finds. */
  says: string;
  advice: string;
  /** Resolves with the reason where it cannot be checked. */
  find(context: VerifyContext): Promise<Found | { unchecked: string }>;
}

/** A check that is one statement, which selects what is wrong; null where it does not apply. */
export function bySql(
  law: number,
  says: string,
  advice: string,
  text: (is: Words, context: VerifyContext) => string | null,
): Check {
  return {
    law,
    says,
    advice,
    async find(context) {
      const statement = text(words[context.dialect], context);
      if (statement === null) return { count: 0, rows: [] };
      const { rows } = await sql<Record<string, unknown>>`
        select broken.*, count(*) over () as broken_count from (${sql.raw(statement)}) as broken
        limit ${sql.lit(ROWS_SHOWN)}`.execute(context.query);
      return {
        count: Number(rows[0]?.broken_count ?? 0),
        rows: rows.map(({ broken_count: _, ...row }) => plain(row)),
      };
    },
  };
}

/** Values as JSON can hold them. */
export const plain = (row: Record<string, unknown>): BrokenRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' || value == null
        ? (value ?? null)
        : String(value),
    ]),
  );

/** Collects what a check that reads row by row finds. */
export function collector(): Found & { add(row: BrokenRow): void } {
  const found = {
    count: 0,
    rows: [] as BrokenRow[],
    add(row: BrokenRow) {
      found.count++;
      if (found.rows.length < ROWS_SHOWN) found.rows.push(row);
    },
  };
  return found;
}
