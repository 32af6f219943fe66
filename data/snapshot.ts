// One consistent state of a database, read and never written, also while a daemon runs on it.
import SQLite from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { registerExact } from './exact.ts';
import { codeOf } from './failures.ts';
import { DatabaseError, type Dialect, IntegerPlugin } from './open.ts';
import { types } from './postgres.ts';
import type { Tables } from './tables.ts';

/** A writer of another version may hold a file for a moment. */
const BUSY_TIMEOUT_MS = 5_000;
/** For sorts and joins of whole tables. */
const WORK_MEMORY = '128MB';

export interface Snapshot {
  dialect: Dialect;
  query: Kysely<Tables>;
  close(): Promise<void>;
}

/** Opens `sqlite:/path/file.db` or `postgres://…` as it is at this moment. Throws DatabaseError where it cannot be read. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const is_sqlite = url.startsWith('sqlite:');
  try {
    return is_sqlite ? await openFile(url.slice('sqlite:'.length)) : await openServer(url);
  } catch (error) {
    throw new DatabaseError(
      `the database cannot be read (${(error as Error).message || codeOf(error)}); check database_url`,
    );
  }
}

async function openFile(file: string): Promise<Snapshot> {
  const database = new SQLite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    database.defaultSafeIntegers(true);
    registerExact(database);
    database.exec('begin');
    // The first statement that reads fixes what is seen.
    database.prepare('select count(*) from sqlite_schema').get();
  } catch (error) {
    database.close();
    throw error;
  }
  const query = new Kysely<Tables>({
    dialect: new SqliteDialect({ database }),
    plugins: [new IntegerPlugin()],
  });
  return {
    dialect: 'sqlite',
    query,
    async close() {
      await query.destroy();
      database.close();
    },
  };
}

async function openServer(url: string): Promise<Snapshot> {
  // One connection, which is in its transaction from the first statement to the last.
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, types });
  pool.on('error', () => undefined);
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new IntegerPlugin()],
  });
  try {
    await sql`begin isolation level repeatable read, read only`.execute(query);
    await sql`set local work_mem = ${sql.lit(WORK_MEMORY)}`.execute(query);
    await sql`set local jit = off`.execute(query);
    await sql`select 1 from pg_class limit 1`.execute(query);
  } catch (error) {
    await query.destroy();
    throw error;
  }
  return { dialect: 'postgres', query, close: () => query.destroy() };
}
