// One consistent state of a database, read and never written, also while a daemon runs on it.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Dialect, Executor } from './database.ts';
import { driverPath, sqlite } from './driver.ts';
import { registerExact } from './exact.ts';
import { codeOf, DatabaseError, serverFault } from './failures.ts';
import { RowPlugin } from './rows.ts';

/** A writer of another version may hold a file for a moment. */
const BUSY_TIMEOUT_MS = 5_000;
/** For sorts and joins of whole tables. */
const WORK_MEMORY = '128MB';
/** Of a file: pages cached, in KiB, and how much of it is mapped into memory; more than SQLite maps is cut to that. */
const CACHE_KIB = 256 * 1024;
const MAPPED_BYTES = 2 ** 33;

/** Something that is wrong with a file, as SQLite says it. */
type Damage = Record<string, string | number | null>;

export interface Snapshot {
  dialect: Dialect;
  query: Kysely<Tables>;
  /** Of a file: what its pages, indexes and references have wrong; found by a thread of its own, for it takes as long as all else. */
  damages?(): Promise<Damage[]>;
  close(): Promise<void>;
}

/** Opens `sqlite:/path/file.db` or `postgres://…` as it is at this moment. Throws DatabaseError where it cannot be read. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const is_sqlite = url.startsWith('sqlite:');
  try {
    return is_sqlite ? await openFile(url.slice('sqlite:'.length)) : await openServer(url);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    if (!is_sqlite) throw serverFault(error);
    throw new DatabaseError(
      `the database cannot be read (${(error as Error).message || codeOf(error)}); check database_url`,
    );
  }
}

async function openFile(file: string): Promise<Snapshot> {
  const SQLite = sqlite();
  const database = new SQLite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    database.defaultSafeIntegers(true);
    database.pragma(`cache_size = -${CACHE_KIB}`);
    database.pragma(`mmap_size = ${MAPPED_BYTES}`);
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
    plugins: [new RowPlugin()],
  });
  return {
    dialect: 'sqlite',
    query,
    damages: () => integrityOf(file),
    async close() {
      await query.destroy();
      database.close();
    },
  };
}

/** Runs in the thread; its module is named by path, because such a thread finds none by name. */
const INTEGRITY = `
  const { parentPort, workerData } = require('node:worker_threads');
  const SQLite = require(workerData.module);
  const database = new SQLite(workerData.file, { readonly: true, fileMustExist: true, timeout: workerData.timeout });
  database.pragma('cache_size = -' + workerData.cache_kib);
  database.pragma('mmap_size = ' + workerData.mapped_bytes);
  const rows = database.pragma('integrity_check').filter((row) => row.integrity_check !== 'ok');
  rows.push(...database.pragma('foreign_key_check'));
  database.close();
  parentPort.postMessage(rows);
`;

async function integrityOf(file: string): Promise<Damage[]> {
  const worker = new Worker(INTEGRITY, {
    eval: true,
    workerData: {
      module: driverPath(),
      file,
      timeout: BUSY_TIMEOUT_MS,
      cache_kib: CACHE_KIB,
      mapped_bytes: MAPPED_BYTES,
    },
  });
  const [rows] = (await once(worker, 'message')) as [Damage[]];
  await worker.terminate();
  return rows;
}

/** Sorts and joins of whole tables stay in the memory of PostgreSQL until the transaction ends. */
export async function giveWorkMemory(query: Executor): Promise<void> {
  await sql`set local work_mem = ${sql.lit(WORK_MEMORY)}`.execute(query);
  await sql`set local jit = off`.execute(query);
}

async function openServer(url: string): Promise<Snapshot> {
  // Only where there is a server: see `openDb`.
  const [{ default: pg }, { types }] = await Promise.all([import('pg'), import('./postgres.ts')]);
  // One connection, which is in its transaction from the first statement to the last.
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, types });
  pool.on('error', () => undefined);
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new RowPlugin()],
  });
  try {
    await sql`begin isolation level repeatable read, read only`.execute(query);
    await giveWorkMemory(query);
    await sql`select 1 from pg_class limit 1`.execute(query);
  } catch (error) {
    await query.destroy();
    throw error;
  }
  return { dialect: 'postgres', query, close: () => query.destroy() };
}
