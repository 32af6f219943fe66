// An empty database of its own for a test file, and more connections to it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { Database } from '../helpers/app.ts';
import { createDatabase } from '../helpers/postgres.ts';

export interface FreshDb {
  db: Db;
  url: string;
  /** One more handle on the same database, as another daemon has; closed with the first. */
  another(): Promise<Db>;
  stop(): Promise<void>;
}

/** `empty` leaves out the schema. */
export async function freshDb(database: Database, { empty = false } = {}): Promise<FreshDb> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-data-'));
  const server = database === 'postgres' ? await createDatabase() : undefined;
  const url = server?.url ?? `sqlite:${join(directory, 'test.db')}`;
  const opened: Db[] = [];
  const another = async () => {
    const db = await openDb(url);
    opened.push(db);
    return db;
  };
  const db = await another();
  if (!empty) await migrate(db);
  return {
    db,
    url,
    another,
    async stop() {
      for (const one of opened) await one.close();
      await server?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
