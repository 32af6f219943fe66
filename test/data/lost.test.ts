// PostgreSQL misbehaves: connections that are cut, silent or refused, and locks that somebody else holds.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { faultOf, isBusy, isUnusable } from '../../data/db/failures.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { LIMITS, type Limits, openPostgres } from '../../data/db/postgres.ts';
import { type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { type Line, openLine } from '../helpers/line.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

/** More than there are connections. */
const CROWD = 24;

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  let fresh: OpenDatabase;
  let line: Line;
  let db: Db;
  beforeAll(async () => {
    fresh = await openDatabase('postgres');
    line = await openLine(fresh.url);
    db = await openDb(line.url);
  });
  afterAll(async () => {
    await db.close();
    await line.close();
    await fresh.stop();
  });

  const opened = async (limits: Partial<Limits>): Promise<Db> => {
    const other = await openPostgres(line.url, [], { limits: { ...LIMITS, ...limits } });
    onTestFinished(() => other.close());
    return other;
  };

  const write = (name: string, value = 'a', on = db) =>
    on.transaction((tx) => tx.insertInto('meta').values({ name, value }).execute());
  const written = async (name: string) =>
    (await fresh.db.query.selectFrom('meta').select('value').where('name', '=', name).execute()).length;
  const failure = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no failure',
      (error: unknown) => error,
    );

  test('that ends a connection between two statements of a transaction undoes it, and the next one succeeds', async () => {
    const error = await failure(
      db.transaction(async (tx) => {
        await tx.insertInto('meta').values({ name: 'between', value: 'a' }).execute();
        line.cut();
        // An event of the connection would come now, with no one waiting for an answer.
        await new Promise((resolve) => setImmediate(resolve));
        await tx.insertInto('meta').values({ name: 'between-2', value: 'a' }).execute();
      }),
    );
    expect(isBusy(error), String(error)).toBe(true);
    expect(await written('between')).toBe(0);
    await write('between');
    expect(await written('between')).toBe(1);
  });

  test('that ends all connections by command is asked again over new ones', async () => {
    const errors = await Promise.all([
      ...Array.from({ length: CROWD }, () => failure(sql`select pg_sleep(0.2)`.execute(db.query))),
      ...Array.from({ length: CROWD }, () =>
        failure(db.transaction((tx) => sql`select pg_sleep(0.2)`.execute(tx))),
      ),
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(fresh.db.query),
    ]);
    const failed = errors.filter((error) => error instanceof Error);
    expect(failed.filter((error) => !isBusy(error)).map(String)).toEqual([]);
    await write('after-terminate');
    expect(await written('after-terminate')).toBe(1);
  });

  test('that is away is busy, for statements and for transactions, and is used again when it is back', async () => {
    line.refusing = true;
    line.cut();
    onTestFinished(() => {
      line.refusing = false;
    });
    for (const error of [await failure(sql`select 1`.execute(db.query)), await failure(write('away'))])
      expect([isBusy(error), faultOf(error)], String(error)).toEqual([true, 'away']);
    line.refusing = false;
    await write('away');
    expect(await written('away')).toBe(1);
  });

  test('whose answer to a commit is lost does not say that nothing was written', async () => {
    line.sending = (text) => (text.includes('commit\0') ? 'lose answer' : 'pass');
    const error = await failure(write('unknown'));
    line.sending = () => 'pass';
    expect(isBusy(error), String(error)).toBe(true);
    expect(await written('unknown')).toBe(1);
  });

  test('that falls silent is given up, and the connection does not come back into use', async () => {
    const hasty = await opened({ answer_ms: 300 });
    await write('before-silence', 'a', hasty);
    line.silent = true;
    const error = await failure(write('silence', 'a', hasty));
    line.silent = false;
    expect(isBusy(error), String(error)).toBe(true);
    await write('after-silence', 'a', hasty);
    expect(await written('after-silence')).toBe(1);
  });

  test('that is interrupted ends what has run for long, and nothing else', async () => {
    verifies('stop-in-time');
    const long = failure(sql`select pg_sleep(20)`.execute(db.query));
    const longTransaction = failure(db.transaction((tx) => sql`select pg_sleep(20)`.execute(tx)));
    await until('both run', async () => {
      const { rows } = await sql<{ running: string }>`select count(*) as running from pg_stat_activity
        where datname = current_database() and state = 'active' and query = 'select pg_sleep(20)'`.execute(
        db.query,
      );
      return Number(rows[0]?.running) === 2 || undefined;
    });
    await delay(600);
    const short = sql`select pg_sleep(0.7)`.execute(db.query);
    await delay(100);
    await db.interrupt(500);
    for (const error of [await long, await longTransaction])
      expect([(error as { code?: string }).code, isBusy(error)]).toEqual(['57014', true]);
    await short;
    // A server that does not hear: the connection is given up.
    const unheard = failure(sql`select pg_sleep(20)`.execute(db.query));
    await delay(100);
    line.silent = true;
    await db.interrupt(50);
    line.silent = false;
    expect(isBusy(await unheard)).toBe(true);
    await write('after-interrupt');
    expect(await written('after-interrupt')).toBe(1);
  });

  test('with a lock that somebody holds: a writer waits or is asked to come back, a reader is served', async () => {
    const patient = await opened({ lock_ms: 60_000 });
    const hasty = await opened({ lock_ms: 100 });
    await write('held');
    const change = (on: Db, value: string) =>
      on.transaction((tx) => tx.updateTable('meta').set({ value }).where('name', '=', 'held').execute());
    let waiting: Promise<unknown>[] = [];
    await fresh.db.transaction(async (tx) => {
      await sql`select 1 from meta where name = 'held' for update`.execute(tx);
      waiting = Array.from({ length: CROWD }, () => failure(change(patient, 'b')));
      const rows = await patient.query.selectFrom('meta').selectAll().where('name', '=', 'held').execute();
      expect(rows).toEqual([{ name: 'held', value: 'a' }]);
      const error = await failure(change(hasty, 'c'));
      expect([(error as { code?: string }).code, isBusy(error)]).toEqual(['55P03', true]);
    });
    await Promise.all(waiting);
    await change(hasty, 'd');
    expect(await failure(write('held'))).toMatchObject({ code: '23505' });
  });

  test('in which a statement failed does not commit, even where its failure was handled', async () => {
    await write('twice');
    const error = await failure(
      db.transaction(async (tx) => {
        await tx.insertInto('meta').values({ name: 'with-twice', value: 'a' }).execute();
        await failure(tx.insertInto('meta').values({ name: 'twice', value: 'a' }).execute());
      }),
    );
    expect(String(error)).toMatch('was not committed');
    expect(await written('with-twice')).toBe(0);
  });

  test('that may only be read, or refuses a role, needs the operator', async () => {
    const readOnly = await failure(
      db.transaction(async (tx) => {
        await sql`set transaction read only`.execute(tx);
        await tx.insertInto('meta').values({ name: 'replica', value: 'a' }).execute();
      }),
    );
    expect((readOnly as { code?: string }).code).toBe('25006');
    const role = `reader_${process.pid}_${Date.now()}`;
    await sql`create role ${sql.id(role)}`.execute(fresh.db.query);
    const refused = await failure(
      db.transaction(async (tx) => {
        await sql`set local role ${sql.id(role)}`.execute(tx);
        await tx.selectFrom('meta').selectAll().execute();
      }),
    );
    await sql`drop role ${sql.id(role)}`.execute(fresh.db.query);
    expect((refused as { code?: string }).code).toBe('42501');
    for (const error of [readOnly, refused])
      expect([isBusy(error), isUnusable(error)]).toEqual([false, true]);
    await write('replica');
  });
});
