// A fresh PostgreSQL database for each test file, on the one server of the run.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { MIGRATED } from './databases.ts';

/**
 * False where the run has no PostgreSQL: no package for the platform, left out by DATABASES, or a run of unit tests,
 * which starts no server. Tests that need one use `describe.skipIf(!hasPostgres)`.
 */
export const hasPostgres: boolean = typeof inject('postgres_url') === 'string';

export interface TestDatabase {
  url: string;
  /** Drops it, connections that are still open included. */
  drop(): Promise<void>;
}

/** Creates an empty database, or a `migrated` one; call `drop` in `afterAll`. Throws where `hasPostgres` is false. */
export const createDatabase = ({ migrated = false } = {}): Promise<TestDatabase> =>
  create(migrated ? MIGRATED : 'template1');

/** A copy of a database that no one is connected to. */
export const copyDatabase = (url: string): Promise<TestDatabase> => create(new URL(url).pathname.slice(1));

async function create(template: string): Promise<TestDatabase> {
  const server = inject('postgres_url');
  if (!server) throw new Error('this run has no PostgreSQL: ask hasPostgres first');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await run(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
