// Runs once around the tests that may use servers: gives all that they write a place in memory where there is room,
// starts the one PostgreSQL server, and migrates one database of each kind to copy from.
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { databasesOfRun, MIGRATED } from './databases.ts';
import {
  type PostgresServer,
  postgresBinaries,
  type ServerSettings,
  startPostgres,
} from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the maintenance database; null where the platform has no PostgreSQL package, or the run asks for none. */
    postgres_url: string | null;
    /** Where the files of the tests' databases are, and the file `MIGRATED`: it has the schema and no rows. */
    sqlite_directory: string;
  }
}

/** Nothing can be started from there: containers mount it so, and the server's programs may have to be copied. */
const NO_PROGRAMS = /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m;
/** Tests commit much, and make and remove thousands of files; all of it is gone with them anyway. */
const MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 4 * 2 ** 30;
/** As of any temporary directory: the server runs as a user of its own, who removes its files too. */
const TEMPORARY_MODE = 0o1777;

/** What the one server holds need not survive a crash of it: no test crashes it. */
const SERVER_SETTINGS: ServerSettings = {
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  // It would start a process for each of the many databases again and again; a test that needs statistics takes them.
  autovacuum: 'off',
};

interface Stage {
  postgres_url: string | null;
  sqlite_directory: string;
  stop(): Promise<void>;
}

/** Each project of the run loads this file for itself; what they all use is started by the first and ended by the last. */
const shared = globalThis as { gatewaydTests?: { stage: Promise<Stage>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.gatewaydTests ??= { stage: openStage(), users: 0 };
  const use = shared.gatewaydTests;
  use.users++;
  const { postgres_url, sqlite_directory, stop } = await use.stage;
  project.provide('postgres_url', postgres_url);
  project.provide('sqlite_directory', sqlite_directory);
  return async () => {
    if (--use.users > 0) return;
    delete shared.gatewaydTests;
    await stop();
  };
}

async function openStage(): Promise<Stage> {
  const directory = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'gatewayd-tests-'));
  chmodSync(directory, TEMPORARY_MODE);
  // Of this process and of the workers that it starts.
  process.env.TMPDIR = directory;
  const server = await openPostgres();
  await migrateAt(`sqlite:${join(directory, MIGRATED)}`);
  return {
    postgres_url: server?.url ?? null,
    sqlite_directory: directory,
    async stop() {
      await server?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function hasRoom(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    if (NO_PROGRAMS.test(readFileSync('/proc/mounts', 'utf8'))) return false;
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

async function openPostgres(): Promise<PostgresServer | undefined> {
  const binaries = databasesOfRun().includes('postgres') ? postgresBinaries() : undefined;
  if (!binaries) return undefined;
  const server = await startPostgres(binaries, SERVER_SETTINGS);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${MIGRATED}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${MIGRATED}`;
  await migrateAt(url.href);
  return server;
}

async function migrateAt(url: string): Promise<void> {
  const db = await openDb(url);
  await migrate(db);
  await db.close();
}
