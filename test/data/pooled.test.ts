// PostgreSQL by way of PgBouncer in transaction mode: no statement finds the session of the one before it.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sendMessage } from '../../data/channel.ts';
import { isBusy } from '../../data/db/failures.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { LIMITS, type Limits, openPostgres } from '../../data/db/postgres.ts';
import { lookup } from '../../data/db/prepared.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { emptyDatabase, newDatabase } from '../helpers/database.ts';
import { type Pgbouncer, startPgbouncer } from '../helpers/pgbouncer.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { hasPgbouncer } from '../helpers/software.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

/** Fewer than one daemon opens to PgBouncer. */
const SERVER_CONNECTIONS = 3;
const DAEMONS = 3;
/** More for each daemon than it has connections. */
const CROWD = 24;

const byName = lookup((query, name: string) =>
  query.selectFrom('meta').select('value').where('name', '=', name),
);

describe.skipIf(!hasPostgres || !hasPgbouncer)('a PostgreSQL server behind PgBouncer', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  let pooler: Pgbouncer;
  let url: string;
  let dbs: Db[];
  beforeAll(async () => {
    database = await newDatabase('postgres');
    pooler = await startPgbouncer(database.url, { connections: SERVER_CONNECTIONS });
    url = pooler.urlOf(database.url);
    dbs = await Promise.all(Array.from({ length: DAEMONS }, () => openDb(url)));
  });
  afterAll(async () => {
    await Promise.all(dbs.map((db) => db.close()));
    await pooler.stop();
    await database.remove();
  });

  const opened = async (limits: Partial<Limits>): Promise<Db> => {
    const db = await openPostgres(url, [], { limits: { ...LIMITS, ...limits } });
    onTestFinished(() => db.close());
    return db;
  };
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no failure',
      (error: unknown) => error,
    );

  test('bounds each transaction, and leaves nothing in a session that others are lent', async () => {
    verifies('pooled');
    const [db] = dbs as [Db];
    const shown = async (on: Db['query']) => {
      const { rows } = await sql<Record<string, string>>`select current_setting('lock_timeout') as lock,
        current_setting('statement_timeout') as answer,
        current_setting('idle_in_transaction_session_timeout') as idle`.execute(on);
      return rows[0];
    };
    const limited = await Promise.all(Array.from({ length: CROWD }, () => db.transaction((tx) => shown(tx))));
    for (const one of limited) expect(one).toEqual({ lock: '5s', answer: '30s', idle: '4s' });
    for (let each = 0; each < CROWD; each++)
      expect(await shown(db.query)).toEqual({ lock: '0', answer: '0', idle: '0' });
  });

  test('serves more callers than it has connections, who lock the same rows and ask the same questions', async () => {
    verifies('pooled');
    const [db] = dbs as [Db];
    await db.transaction((tx) => tx.insertInto('meta').values({ name: 'counted', value: '0' }).execute());
    const add = (on: Db) =>
      on.transaction((tx) =>
        tx
          .updateTable('meta')
          .set({ value: sql<string>`(value::integer + 1)::text` })
          .where('name', '=', 'counted')
          .execute(),
      );
    await Promise.all(
      dbs.flatMap((each) => Array.from({ length: CROWD }, () => [add(each), byName(each, 'counted')])).flat(),
    );
    expect(await byName(db, 'counted')).toEqual({ value: String(DAEMONS * CROWD) });
  });

  test('runs no statement that another has prepared under the same name', async () => {
    verifies('pooled');
    // As a daemon of another version has it, on each session.
    const strangers = await Promise.all(
      Array.from({ length: SERVER_CONNECTIONS }, async () => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query('begin');
        return client;
      }),
    );
    for (const client of strangers)
      for (let number = 1; number <= 100; number++)
        await client.query(
          `prepare gatewayd_read_${number}(text) as select 'of another' as value where $1 <> ''`,
        );
    for (const client of strangers) await client.query('commit');
    await Promise.all(strangers.map((client) => client.end()));
    for (const db of dbs) expect((await byName(db, 'counted'))?.value).not.toBe('of another');
  });

  test('ends a statement that is interrupted, and a transaction that a frozen daemon left open', async () => {
    verifies('pooled', 'stop-in-time', 'freeze-bounded');
    const [db] = dbs as [Db];
    const long = failure(sql`select pg_sleep(20)`.execute(db.query));
    await delay(600);
    await db.interrupt(500);
    expect(await long).toMatchObject({ code: '57014' });
    const frozen = await opened({ idle_transaction_ms: 200 });
    const error = await failure(
      frozen.transaction(async (tx) => {
        await sql`select 1 from meta where name = 'counted' for update`.execute(tx);
        await delay(600);
        await sql`select 1`.execute(tx);
      }),
    );
    expect(isBusy(error), String(error)).toBe(true);
    expect(await byName(frozen, 'counted')).toBeDefined();
  });

  test('that loses its sessions is busy, and is asked again over new ones', async () => {
    verifies('pooled');
    const [db] = dbs as [Db];
    const errors = await Promise.all([
      ...Array.from({ length: CROWD }, () =>
        failure(db.transaction((tx) => sql`select pg_sleep(0.2)`.execute(tx))),
      ),
      delay(100).then(() =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(db.query),
      ),
    ]);
    const failed = errors.filter((error) => error instanceof Error);
    expect(failed.filter((error) => !isBusy(error)).map(String)).toEqual([]);
    expect(await byName(db, 'counted')).toBeDefined();
  });

  test('is migrated once by those that start together', async () => {
    verifies('pooled', 'migrations');
    const empty = await emptyDatabase('postgres');
    const starters = await Promise.all(
      Array.from({ length: DAEMONS }, () => openDb(pooler.urlOf(empty.url))),
    );
    onTestFinished(async () => {
      await Promise.all(starters.map((db) => db.close()));
      await empty.remove();
    });
    const done = await Promise.all(starters.map((db) => migrate(db)));
    expect(done.filter((steps) => steps.length > 0)).toHaveLength(1);
    expect(done.flat().length).toBeGreaterThan(1);
  });

  test('carries no messages: they are listened for at the server itself, or not at all', async () => {
    verifies('pooled', 'woken-by-others');
    const listening = async (listen_url?: string) => {
      const db = await openDb(url, { listen_url });
      const heard: string[] = [];
      const listener = db.channel?.listen({
        onMessage: (payload) => heard.push(payload),
        onConnect: () => heard.push('connected'),
        onLost: () => undefined,
        onPooled: () => heard.push('pooled'),
      });
      onTestFinished(async () => {
        await listener?.close();
        await db.close();
      });
      await until('it is known', async () => heard.length > 0 || undefined);
      return { db, heard };
    };
    const { heard: unheard } = await listening();
    expect(unheard).toEqual(['pooled']);
    const { db, heard } = await listening(database.url);
    if (!db.channel) throw new Error('no channel');
    await sendMessage(db.query, db.channel, 'a word');
    await until('the message', async () => heard.includes('a word') || undefined);
    expect(heard).toEqual(['connected', 'a word']);
  });
});
