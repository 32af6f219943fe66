// A database of its own for a test: migrated already, as a copy of the one that the run has migrated once.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Db, openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { type Database, databasesOfRun, MIGRATED } from './databases.ts';
import { createDatabase, hasPostgres } from './postgres.ts';

export type { Database };

/** The databases that every test of data and money runs on. */
export const databases: readonly Database[] = databasesOfRun().filter(
  (name) => name !== 'postgres' || hasPostgres,
);

export interface NewDatabase {
  url: string;
  remove(): Promise<void>;
}

/** Has the schema of today, and no rows. */
export async function newDatabase(database: Database): Promise<NewDatabase> {
  if (database === 'postgres') {
    const { url, drop } = await createDatabase({ migrated: true });
    return { url, remove: drop };
  }
  const { url, remove } = newFile();
  const directory = inject('sqlite_directory');
  if (directory) copyFileSync(join(directory, MIGRATED), url.slice('sqlite:'.length));
  else await migrateAt(url);
  return { url, remove };
}

/** Has no table yet. */
export async function emptyDatabase(database: Database): Promise<NewDatabase> {
  if (database === 'sqlite') return newFile();
  const { url, drop } = await createDatabase();
  return { url, remove: drop };
}

function newFile(): NewDatabase {
  const directory = mkdtempSync(join(inject('sqlite_directory') ?? tmpdir(), 'gatewayd-database-'));
  return {
    url: `sqlite:${join(directory, 'test.db')}`,
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function migrateAt(url: string): Promise<void> {
  const db = await openDb(url);
  await migrate(db);
  await db.close();
}

export interface OpenDatabase {
  db: Db;
  url: string;
  /** One more handle on the same database, as another daemon has; closed with the first. */
  another(): Promise<Db>;
  stop(): Promise<void>;
}

/** A new database, open. `empty` leaves out the schema. */
export async function openDatabase(database: Database, { empty = false } = {}): Promise<OpenDatabase> {
  const { url, remove } = await (empty ? emptyDatabase(database) : newDatabase(database));
  const opened: Db[] = [];
  const another = async () => {
    const db = await openDb(url);
    opened.push(db);
    return db;
  };
  return {
    db: await another(),
    url,
    another,
    async stop() {
      for (const one of opened) await one.close();
      await remove();
    },
  };
}
