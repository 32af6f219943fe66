// Brings the schema up to date, in numbered steps, and refuses a schema that is newer than this program.
import {
  DummyDriver,
  Kysely,
  type MigrationResultSet,
  Migrator,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import type { Db, Dialect, Executor } from '../db/database.ts';
import { DatabaseError } from '../db/failures.ts';
import { giveWorkMemory } from '../db/snapshot.ts';
import type { Tables } from '../schema/tables.ts';
import * as foundation from './0001-foundation.ts';
import * as operator from './0002-operator.ts';
import * as proofs from './0003-proofs.ts';
import * as laws from './0004-laws.ts';
import * as accounts from './0005-accounts.ts';
import * as openInvoices from './0006-open-invoices.ts';
import * as callWindows from './0007-call-windows.ts';
import * as daemons from './0008-daemons.ts';
import * as blindness from './0009-blindness.ts';
import * as notices from './0010-notices.ts';
import * as emailProofs from './0011-email-proofs.ts';
import * as house from './0012-house.ts';
import * as rotation from './0013-rotation.ts';
import * as retention from './0014-retention.ts';
import * as trace from './0015-trace.ts';
import * as wayBack from './0016-way-back.ts';
import * as claims from './0018-claims.ts';
import * as otherCoins from './0020-other-coins.ts';
import * as references from './0023-references.ts';
import * as dismissals from './0024-dismissals.ts';
import * as creation from './0025-creation.ts';
import * as unapplied from './0026-unapplied.ts';
import * as pace from './0027-pace.ts';
import * as dust from './0028-dust.ts';
import * as providers from './0029-providers.ts';
import * as lookUps from './0030-look-ups.ts';
import * as stated from './0031-stated.ts';
import * as untimed from './0032-untimed.ts';
import * as dustDays from './0033-dust-days.ts';
import * as buyers from './0034-buyers.ts';
import * as writeProbe from './0035-write-probe.ts';

interface Migration {
  /**
   * Whether daemons that do not know this step may continue on the schema that it makes: it only adds what they can leave out, and
   * no row that they write without it is wrong. Those of before this mark have none that could ask.
   */
  compatible: boolean;
  up(query: Kysely<never>, dialect: Dialect): Promise<void>;
}

/** Which earlier versions take for their migrations, too: the query builder's. */
const LOCK = 3853314791062309107n;
/** Begins the names in `meta` of the steps that are compatible: daemons of all versions read that table and `kysely_migration`. */
const COMPATIBLE = 'compatible_step:';

/** In order; a number is never reused. */
const steps: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-operator': operator,
  '0003-proofs': proofs,
  '0004-laws': laws,
  '0005-accounts': accounts,
  '0006-open-invoices': openInvoices,
  '0007-call-windows': callWindows,
  '0008-daemons': daemons,
  '0009-blindness': blindness,
  '0010-notices': notices,
  '0011-email-proofs': emailProofs,
  '0012-house': house,
  '0013-rotation': rotation,
  '0014-retention': retention,
  '0015-trace': trace,
  '0016-way-back': wayBack,
  '0018-claims': claims,
  '0020-other-coins': otherCoins,
  '0023-references': references,
  '0024-dismissals': dismissals,
  '0025-creation': creation,
  '0026-unapplied': unapplied,
  '0027-pace': pace,
  '0028-dust': dust,
  '0029-providers': providers,
  '0030-look-ups': lookUps,
  '0031-stated': stated,
  '0032-untimed': untimed,
  '0033-dust-days': dustDays,
  '0034-buyers': buyers,
  '0035-write-probe': writeProbe,
};

/**
 * Applies what is missing, all of it or nothing, and returns the names of the steps done. Throws DatabaseError where that
 * fails, and on a newer schema; then nothing was changed.
 */
export async function migrate(db: Db): Promise<string[]> {
  await refuseNewer(db);
  const { error, results = [] } = await inTransaction(db);
  if (error)
    throw new DatabaseError(
      `the database schema could not be brought up to date: ${(error as Error).message}`,
    );
  return results.filter((result) => result.status === 'Success').map((result) => result.migrationName);
}

/** The steps that `migrate` would apply. Throws DatabaseError on a newer schema. */
export async function pendingSteps(db: Pick<Db, 'dialect' | 'query' | 'schema'>): Promise<string[]> {
  await refuseNewer(db);
  const known = await migratorOf(db.schema, db.dialect).getMigrations();
  return known.filter((step) => !step.executedAt).map((step) => step.name);
}

export interface SchemaStanding {
  /** `newer`: all that this program does not know is marked as compatible; `incompatible`: something is not. */
  state: 'ok' | 'pending' | 'newer' | 'incompatible';
  /** The step that says so of a newer one. */
  step: string | null;
}

/** How the schema stands to this program, in one statement; of a database that was migrated before. */
export async function schemaStanding(query: Executor): Promise<SchemaStanding> {
  const { rows } = await sql<{ name: string; mark: string | null }>`
    select step.name as name, mark.name as mark from kysely_migration step
    left join meta mark on mark.name = ${sql.lit(COMPATIBLE)} || step.name order by step.name`.execute(query);
  const is_pending = Object.keys(steps).some((name) => !rows.some((row) => row.name === name));
  const unknown = rows.filter(({ name }) => !knowsSteps([name]));
  const newest = unknown.at(-1);
  if (newest === undefined) return { state: is_pending ? 'pending' : 'ok', step: null };
  const unmarked = unknown.find(({ mark }) => mark === null);
  // What lacks steps in the middle is of another line of versions: of that nothing is known.
  if (unmarked || is_pending) return { state: 'incompatible', step: (unmarked ?? newest).name };
  return { state: 'newer', step: newest.name };
}

/** What an operator does about a schema that this program cannot work on. */
export const newerSchema = (step: string): string =>
  `the database was written by a newer gatewayd (schema ${step}); install that version, or go back to the copy or backup of before its upgrade (gatewayd restore)`;

/** The steps that made a database, in order; none where it has no schema. */
export async function stepsDone(query: Executor): Promise<string[]> {
  const tables = await query.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return [];
  return doneSteps(query);
}

/** The last step that this program knows. */
export const LAST_STEP: string = Object.keys(steps).at(-1) ?? '';

/** Whether this program has the steps that made a database: none of them is newer. */
export const knowsSteps = (names: readonly string[]): boolean => names.every((name) => name in steps);

interface Filling {
  /** Throws where the database must not be filled; no one else makes a schema in it from then on. */
  assertFree?(query: Executor): Promise<void>;
  fill(query: Executor): Promise<void>;
  accept(query: Executor): Promise<boolean>;
  /** A schema that is made for it, next to whatever else the database has; else the present one, which is empty. */
  apart?: string;
}

/**
 * Makes an empty database of PostgreSQL as `last` left it, lets `fill` put rows into it, brings it up to date, and keeps
 * it where `accept` resolves with true: all of it or nothing, in one transaction.
 */
export async function migrateFilled(
  { schema, dialect }: Pick<Db, 'schema' | 'dialect'>,
  last: string,
  { assertFree, fill, accept, apart }: Filling,
): Promise<void> {
  await schema.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    try {
      if (dialect === 'postgres') await giveWorkMemory(connection);
      if (assertFree) {
        await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(connection);
        await assertFree(connection);
      }
      if (apart !== undefined) {
        await sql`create schema ${sql.ref(apart)}`.execute(connection);
        await sql`set local search_path to ${sql.ref(apart)}`.execute(connection);
      }
      const migrator = migratorOf(connection, dialect, apart);
      const throwing = ({ error }: MigrationResultSet) => {
        if (error) throw error;
      };
      throwing(await migrator.migrateTo(last));
      await fill(connection);
      throwing(await migrator.migrateToLatest());
      await markCompatible(connection);
      const is_accepted = await accept(connection);
      await sql.raw(is_accepted ? 'commit' : 'rollback').execute(connection);
    } catch (error) {
      await sql`rollback`.execute(connection);
      throw error;
    }
  });
}

/** Every statement that makes the schema on PostgreSQL, in order. */
export async function postgresStatements(): Promise<string[]> {
  const statements: string[] = [];
  const recorder = new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  for (const step of Object.values(steps)) await step.up(recorder, 'postgres');
  await recorder.destroy();
  return statements;
}

/** One at a time: the others wait until it is committed. */
function inTransaction({ schema, dialect }: Db): Promise<MigrationResultSet> {
  return schema.connection().execute(async (connection) => {
    // An index of millions of rows is sorted in files.
    if (dialect === 'sqlite') await sql`pragma temp_store = FILE`.execute(connection);
    await sql.raw(dialect === 'sqlite' ? 'begin immediate' : 'begin').execute(connection);
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(connection);
    const done = await migratorOf(connection, dialect)
      .migrateToLatest()
      .then(async (results) => {
        if (!results.error) await markCompatible(connection);
        return results;
      })
      .catch((error: unknown): MigrationResultSet => ({ error }));
    await sql.raw(done.error ? 'rollback' : 'commit').execute(connection);
    if (dialect === 'sqlite') await sql`pragma temp_store = MEMORY`.execute(connection);
    return done;
  });
}

/** Of a schema that is up to date: for daemons of before, which have none of these steps. */
async function markCompatible(query: Executor): Promise<void> {
  const names = Object.keys(steps).filter((name) => steps[name]?.compatible);
  if (names.length === 0) return;
  await query
    .insertInto('meta')
    .values(names.map((name) => ({ name: `${COMPATIBLE}${name}`, value: '1' })))
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

function migratorOf(db: Kysely<Tables>, dialect: Dialect, apart?: string): Migrator {
  const migrations = Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [
      name,
      { up: (query: Kysely<unknown>) => step.up(query as unknown as Kysely<never>, dialect) },
    ]),
  );
  return new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    ...(apart !== undefined && { migrationTableSchema: apart }),
  });
}

async function refuseNewer(db: Pick<Db, 'query'>): Promise<void> {
  const done = await stepsDone(db.query);
  if (knowsSteps(done)) return;
  const { step } = await schemaStanding(db.query);
  throw new DatabaseError(`${newerSchema(step ?? done.at(-1) ?? '')}. Nothing was changed`);
}

async function doneSteps(query: Executor): Promise<string[]> {
  const rows = await (query as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}
