// What operators are notified of, and how far each of their addresses was.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const words: Record<Dialect, Record<string, string>> = {
  sqlite: { INT8: 'integer', SEQUENCE: 'integer primary key autoincrement', OPTIONS: 'strict' },
  postgres: { INT8: 'bigint', SEQUENCE: 'bigint generated always as identity primary key', OPTIONS: '' },
};

const statements = [
  `create table notices (
    seq SEQUENCE,
    cause text not null,
    -- What it is about: at most one of a cause is open for it.
    subject text not null,
    text text not null,
    -- Unix seconds.
    found_at INT8 not null,
    ended_at INT8
  ) OPTIONS`,
  `create unique index notices_open on notices (cause, subject) where ended_at is null`,
  `create index notices_by_time on notices (found_at)`,
  `create table notice_targets (
    -- A hash of the address.
    target text not null,
    cause text not null,
    -- Of the newest notice that it has.
    sent_through INT8 not null,
    -- Not before then is it sent to again, Unix seconds.
    next_at INT8 not null,
    failures INT8 not null,
    primary key (target, cause)
  ) OPTIONS`,
  `create index payments_waiting on payments (updated_at) where status in ('held', 'late', 'unmatched')`,
  `create index deliveries_undelivered on deliveries (finished_at) where status in ('failed', 'unknown')`,
];

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  for (const statement of statements) {
    const text = statement.replace(/\b(INT8|SEQUENCE|OPTIONS)\b/g, (word) => words[dialect][word] ?? word);
    await sql.raw(text).execute(query);
  }
}
