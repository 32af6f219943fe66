// Brings the schema up to date, in numbered steps, and refuses a schema that is newer than this program.
import { type Kysely, Migrator } from 'kysely';
import * as foundation from './migrations/0001-foundation.ts';
import * as operator from './migrations/0002-operator.ts';
import * as proofs from './migrations/0003-proofs.ts';
import * as accounts from './migrations/0005-accounts.ts';
import { DatabaseError, type Db, type Dialect } from './open.ts';

interface Step {
  up(query: Kysely<never>, dialect: Dialect): Promise<void>;
}

/** In order; a number is never reused. */
const steps: Record<string, Step> = {
  '0001-foundation': foundation,
  '0002-operator': operator,
  '0003-proofs': proofs,
  '0005-accounts': accounts,
};

/** Applies what is missing and returns the names of the steps done. Throws DatabaseError on a newer schema; then nothing was changed. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = migratorOf(db);
  await refuseNewer(db);
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error)
    throw new DatabaseError(
      `the database schema could not be brought up to date: ${(error as Error).message}`,
    );
  return results.filter((result) => result.status === 'Success').map((result) => result.migrationName);
}

/** The steps that `migrate` would apply. */
export async function pendingSteps(db: Db): Promise<string[]> {
  await refuseNewer(db);
  const known = await migratorOf(db).getMigrations();
  return known.filter((step) => !step.executedAt).map((step) => step.name);
}

function migratorOf(db: Db): Migrator {
  const migrations = Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [
      name,
      { up: (query: Kysely<unknown>) => step.up(query as unknown as Kysely<never>, db.dialect) },
    ]),
  );
  return new Migrator({ db: db.schema, provider: { getMigrations: async () => migrations } });
}

async function refuseNewer(db: Db): Promise<void> {
  const tables = await db.query.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return;
  const rows = await (db.query as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute();
  const newer = rows.find((row) => !(row.name in steps));
  if (newer)
    throw new DatabaseError(
      `the database was written by a newer gatewayd (schema ${newer.name}); install that version or restore an older backup. Nothing was changed`,
    );
}
