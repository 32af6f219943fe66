// Lists from a streaming replica: never older than what was committed when they were asked for, whatever the replica does.
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Db, openDb, type Reader } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { tryWrite } from '../../data/write-probe.ts';
import { startApp } from '../helpers/app.ts';
import { type Line, openLine } from '../helpers/line.ts';
import { fundedMerchant } from '../helpers/payments.ts';
import { createDatabase, hasPostgres } from '../helpers/postgres.ts';
import { startReplica } from '../helpers/postgres-replica.ts';
import { type PostgresServer, postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const ROUNDS = 40;
/** A replica that hangs delays no list for longer. */
const SOON_MS = 4_000;

const run = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
};

describe.skipIf(!hasPostgres)('lists with a read replica', () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let line: Line;
  let db: Db;
  let reasons: (string | null)[];
  beforeAll(async () => {
    const binaries = postgresBinaries() ?? '';
    primary = await startPostgres(binaries);
    replica = await startReplica(binaries, primary);
    line = await openLine(replica.url);
    db = await openDb(primary.url, {
      read: { url: line.url, onChange: (reason) => void reasons.push(reason) },
    });
    await migrate(db);
  });
  beforeEach(() => {
    reasons = [];
  });
  afterAll(async () => {
    await db?.close();
    await line?.close();
    await replica?.stop();
    await primary?.stop();
  });

  const onPrimary = async (text: string) => {
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };
  const write = (value: string) =>
    db.transaction((tx) =>
      tx
        .insertInto('meta')
        .values({ name: 'written', value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute(),
    );
  const question = async ({ query }: Reader) => {
    const { rows } = await sql<{ by: 'replica' | 'primary'; value: string }>`
      select case when pg_is_in_recovery() then 'replica' else 'primary' end as by, value
      from meta where name = 'written'`.execute(query);
    return rows[0];
  };
  const untilReplica = () =>
    until('the replica is used', async () => {
      const answer = await db.readList(question);
      return answer?.by === 'replica' ? true : undefined;
    });

  test('a dump that reads all tables of the replica is in the way of no write that only tries the disk', async () => {
    verifies('database-unwritable');
    await tryWrite(db, { now: 1, grows: true });
    const dump = new pg.Client({ connectionString: replica.url });
    await dump.connect();
    try {
      await until('the replica has the table', async () => {
        const { rows } = await dump.query("select 1 from pg_tables where tablename = 'write_probes'");
        return rows.length > 0 ? true : undefined;
      });
      await dump.query('begin; set transaction isolation level repeatable read');
      await dump.query('lock table write_probes in access share mode');
      await tryWrite(db, { now: 2, grows: true });
      const reader = new pg.Client({ connectionString: replica.url });
      await reader.connect();
      try {
        const { rows: ends } = await onPrimary('select pg_current_wal_lsn()::text as at');
        await until(
          'the replica has replayed it',
          async () => {
            const { rows } = await reader.query('select pg_last_wal_replay_lsn() >= $1 as is_there', [
              ends[0]?.at,
            ]);
            return rows[0]?.is_there === true ? true : undefined;
          },
          SOON_MS,
        );
      } finally {
        await reader.end();
      }
      await dump.query('commit');
    } finally {
      await dump.end();
    }
  });

  test('have what was just committed, and come from the replica', async () => {
    verifies('read-replica');
    await write('first');
    await untilReplica();
    const answers = [];
    for (let round = 0; round < ROUNDS; round++) {
      await write(`value ${round}`);
      answers.push(...(await Promise.all([db.readList(question), db.readList(question)])));
      expect(answers.slice(-2).map((answer) => answer?.value)).toEqual([`value ${round}`, `value ${round}`]);
    }
    expect(answers.filter((answer) => answer?.by === 'replica').length).toBeGreaterThan(ROUNDS);
  });

  test('come from the primary while the replica lags, and from the replica when it has caught up', async () => {
    verifies('read-replica');
    // On a busy machine it may just have been too slow for a moment.
    await untilReplica();
    reasons = [];
    await run(replica.url, 'select pg_wal_replay_pause()');
    onTestFinished(() => run(replica.url, 'select pg_wal_replay_resume()'));
    const began = Date.now();
    await write('during the pause');
    for (let round = 0; round < ROUNDS; round++)
      expect(await db.readList(question)).toEqual({ by: 'primary', value: 'during the pause' });
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    expect(reasons).toEqual(['it is more than 100 ms behind']);
    await run(replica.url, 'select pg_wal_replay_resume()');
    await untilReplica();
    expect(reasons).toEqual(['it is more than 100 ms behind', null]);
  });

  test.each([
    ['is away', () => void Object.assign(line, { refusing: true })],
    ['breaks its connections', () => undefined],
  ])('come from the primary while the replica %s', async (_, happens) => {
    verifies('read-replica');
    await untilReplica();
    happens();
    line.cut();
    await write('while it is away');
    const began = Date.now();
    const answers = await Promise.all(Array.from({ length: ROUNDS }, () => db.readList(question)));
    expect(Date.now() - began).toBeLessThan(SOON_MS);
    for (const answer of answers) expect(answer?.value).toBe('while it is away');
    line.refusing = false;
    await untilReplica();
  });

  test('never come from a server that is no replica of this database, or is one no more', async () => {
    verifies('read-replica');
    const other = await createDatabase({ migrated: true });
    onTestFinished(() => other.drop());
    for (const url of [primary.url, other.url, 'postgres://postgres@127.0.0.1:9/none']) {
      const reported: (string | null)[] = [];
      const wrong = await openDb(primary.url, {
        read: { url, onChange: (reason) => void reported.push(reason) },
      });
      onTestFinished(() => wrong.close());
      expect((await wrong.readList(question))?.by).toBe('primary');
      expect(reported).toHaveLength(1);
    }
  });

  test('are asked again of the primary where the question fails, and fail as they do there', async () => {
    verifies('read-replica');
    await untilReplica();
    let asked = 0;
    const failing = db.readList(async ({ query }) => {
      asked++;
      await sql`select 1 / 0`.execute(query);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(asked).toBe(2);
    expect(reasons).toEqual([]);
  });

  test('of a merchant show what he has just done through another daemon, and his limit is not read there', async () => {
    verifies('read-replica', 'list-invoices');
    const options = {
      database: 'postgres',
      database_url: primary.url,
      settings: { database_read_url: replica.url },
    } as const;
    const [writer, reader] = [await startApp(options), await startApp(options)];
    onTestFinished(async () => {
      await reader.stop();
      await writer.stop();
    });
    const merchant = await fundedMerchant(writer);
    const call = { key: merchant.key };
    for (let round = 0; round < 10; round++) {
      const body = { chain: 'ton', amount: '5' };
      const { id } = (await writer.fetch('POST', '/v1/invoices', { ...call, body })).json;
      const listed = await reader.fetch('GET', '/v1/invoices?limit=1', call);
      expect(listed.json.data.map((invoice: { id: string }) => invoice.id)).toEqual([id]);
      await run(replica.url, 'select pg_wal_replay_pause()');
      const paid = await writer.fetch('POST', `/v1/invoices/${id}/simulate`, call);
      expect(paid.json.status).toBe('confirmed');
      const income = await reader.fetch('GET', '/api/v1/merchant/income?limit=1', { token: merchant.token });
      expect(income.json.count).toBe(round + 1);
      await run(replica.url, 'select pg_wal_replay_resume()');
    }
  });
});
