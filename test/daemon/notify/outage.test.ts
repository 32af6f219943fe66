// A database that is away, full or read-only: health, readiness, metrics and doctor say it, operators are notified of it without it,
// once, and no blockchain is called blind for it.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { database as examineDatabase } from '../../../daemon/doctor/books.ts';
import { databaseCauses } from '../../../daemon/notify/names.ts';
import type { Target } from '../../../daemon/notify/targets.ts';
import type { DatabaseTrouble } from '../../../daemon/process/database-watch.ts';
import type { Config } from '../../../daemon/settings/config.ts';
import { openDb } from '../../../data/db/open.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { type Database, databases } from '../../helpers/database.ts';
import { MIGRATED } from '../../helpers/databases.ts';
import { openLine } from '../../helpers/line.ts';
import { json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { unprivileged } from '../../helpers/postgres-server.ts';
import { silent } from '../../helpers/reading.ts';
import { fillLog, hasSmallDisks, openSmallDisk } from '../../helpers/small-disk.ts';
import { recordStatements } from '../../helpers/statements.ts';
import { verifies } from '../../requirements.ts';

const HOUR = 3_600;
/** A server that is back sooner wakes no one. */
const PATIENCE = 25;
/** Longer than a scrape may take, and shorter than what is waited for each statement. */
const SCRAPE_MS = 15_000;

interface Sick {
  url: string;
  break(): Promise<void>;
  repair(): Promise<void>;
}

/** Statements on the server itself, or on one database of it. */
async function onServer(
  statements: readonly string[],
  url: string = inject('postgres_url') ?? '',
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function fullFile(): Promise<Sick> {
  const disk = openSmallDisk(24);
  const file = join(disk.folder, 'gatewayd.db');
  return {
    url: `sqlite:${file}`,
    async break() {
      disk.fill();
      for (const row_bytes of [50_000, 1]) fillLog(file, row_bytes);
    },
    repair: async () => disk.empty(),
  };
}

/** Its tables are on a disk of their own; what PostgreSQL writes before them is elsewhere. */
async function fullServer(): Promise<Sick> {
  const disk = openSmallDisk(64, unprivileged());
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer([
    `create tablespace ${name} location '${disk.folder}'`,
    `create database ${name} template ${MIGRATED} strategy file_copy tablespace ${name}`,
  ]);
  onTestFinished(() => onServer([`drop database if exists ${name} with (force)`, `drop tablespace ${name}`]));
  const url = new URL(inject('postgres_url') ?? '');
  url.pathname = `/${name}`;
  return { url: url.href, break: async () => disk.fill(), repair: async () => disk.empty() };
}

async function ofServer(): Promise<{ url: string; name: string }> {
  const { url, drop } = await createDatabase({ migrated: true });
  onTestFinished(drop);
  return { url, name: new URL(url).pathname.slice(1) };
}

async function readOnlyServer(): Promise<Sick> {
  const { url, name } = await ofServer();
  const set = (value: 'on' | 'off') =>
    onServer([
      `alter database ${name} set default_transaction_read_only = ${value}`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    ]);
  return { url, break: () => set('on'), repair: () => set('off') };
}

async function serverAway(): Promise<Sick> {
  const { url } = await ofServer();
  const line = await openLine(url);
  onTestFinished(() => line.close());
  return {
    url: line.url,
    async break() {
      line.refusing = true;
      line.cut();
    },
    async repair() {
      line.refusing = false;
    },
  };
}

const taking = (status: (index: number) => number = () => 200): Promise<LocalServer> =>
  serve(({ index }, response) => json(response, { ok: true }, status(index)));

const textsOf = ({ requests }: LocalServer): string[] => requests.map(({ body }) => JSON.parse(body).text);

async function start(notify: readonly Target[], options: TestAppOptions): Promise<TestApp> {
  const service = await startApp({
    single: true,
    source: () => silent,
    ...options,
    settings: { notify: JSON.stringify(notify), ...options.settings },
  });
  onTestFinished(() => service.stop());
  return service;
}

/** So long everything runs as it does in a daemon, each few seconds. */
async function pass({ app, clock }: TestApp, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    clock.advance(5);
    await app.database_watch.check();
    await app.observer.watchReading().catch(() => undefined);
    await app.notify.tick();
  }
}

async function readAll({ app }: TestApp): Promise<void> {
  for (const { blockchain } of app.observer.status()) await app.observer.poll(blockchain);
}

async function statesOf(service: TestApp) {
  const [health, ready, text] = [
    await service.fetch('GET', '/health'),
    await service.fetch('GET', '/readyz'),
    await service.app.scrape(),
  ];
  return {
    health: health.status,
    ready: [ready.status, ready.json.database],
    writable: readMetrics(text).value('gatewayd_database_writable'),
  };
}
const WELL = { health: 200, ready: [200, 'ok'], writable: 1 };

const doctorOf = async ({ config }: { config: Config }) => {
  const examined = { config, origins: new Map(), settings: [], now: 1_800_000_000, ntp: undefined };
  const [line] = await examineDatabase(examined);
  return line;
};

const needsDisk = hasSmallDisks;
const cases: {
  what: string;
  database: Database;
  possible: boolean;
  open(): Promise<Sick>;
  cause: string;
  ready: string;
  says: RegExp;
}[] = [
  {
    what: 'SQLite on a disk that is full',
    database: 'sqlite',
    possible: needsDisk,
    open: fullFile,
    cause: 'database_full',
    ready: 'unwritable',
    says: /Database full: \S+: the database has no room left on its disk since 20\S+ \(.*full.*\)/,
  },
  {
    what: 'PostgreSQL on a disk that is full',
    database: 'postgres',
    possible: needsDisk && hasPostgres,
    open: fullServer,
    cause: 'database_full',
    ready: 'unwritable',
    says: /Database full: \S+: the database has no room left on its disk since 20\S+ \(.*No space left on device.*\)/,
  },
  {
    what: 'PostgreSQL that takes reads alone',
    database: 'postgres',
    possible: hasPostgres,
    open: readOnlyServer,
    cause: 'database_read_only',
    ready: 'unwritable',
    says: /Database read-only: \S+: the database takes no writes: it is read-only since 20\S+ \(.*read-only transaction.*\)/,
  },
  {
    what: 'PostgreSQL that is away',
    database: 'postgres',
    possible: hasPostgres,
    open: serverAway,
    cause: 'database_away',
    ready: 'unreachable',
    says: /Database away: \S+: the database cannot be reached since 20\S+ \(.+\)/,
  },
];

describe.each(cases.filter(({ database, possible }) => possible && databases.includes(database)))(
  '$what',
  ({ open, cause, ready, says, database }) => {
    test('is reported by health, readiness, metrics and doctor, and in one notice, without a blind chain, and its end', async () => {
      verifies('database-unwritable', 'notify-without-database');
      const sick = await open();
      // The first was asleep: it takes what it is sent with the third try.
      const [target, sleepy] = [await taking(), await taking((index) => (index < 2 ? 503 : 200))];
      const on = [...databaseCauses, 'database_back', 'blockchain_blind', 'blockchain_back'] as const;
      const low = await taking();
      const service = await start(
        [
          { to: target.url, on: [...on] },
          { to: sleepy.url, on: [...on] },
          { to: low.url, on: ['disk_low'] },
        ],
        { database, database_url: sick.url },
      );
      await readAll(service);
      await pass(service, 10);
      // While there still is room.
      if (database === 'sqlite')
        expect(textsOf(low)).toEqual([
          expect.stringMatching(/^gatewayd: Disk nearly full.*\n.* are left for /),
        ]);
      expect(await statesOf(service)).toEqual(WELL);
      await sick.break();
      const since = service.clock.now();
      while (service.app.database_watch.trouble() === null) await pass(service, 5);
      expect(service.clock.now() - since).toBeLessThanOrEqual(35);
      expect(await statesOf(service)).toEqual({ health: 503, ready: [503, ready], writable: 0 });
      expect(await doctorOf(service.app)).toMatchObject({ of: 'database', status: 'failed' });
      await pass(service, 10);
      expect(target.requests).toEqual([]);
      await pass(service, 150);
      expect(textsOf(target)).toEqual([expect.stringMatching(says)]);
      expect(JSON.parse(target.requests[0]?.body ?? '').data.notices).toEqual([
        expect.objectContaining({ cause, command: 'gatewayd doctor' }),
      ]);
      // Sent again after 30 s and a minute, under one id.
      expect(sleepy.requests).toHaveLength(3);
      expect(new Set(sleepy.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(service.app.blindness.all()).toEqual([]);
      await sick.repair();
      await service.app.database_watch.check();
      expect(await statesOf(service)).toEqual(WELL);
      await pass(service, 5);
      await readAll(service);
      await pass(service, 30);
      expect(textsOf(target).slice(1)).toEqual([
        expect.stringMatching(
          /^gatewayd: Database works again\nDatabase works again: \S+: the database takes writes again; it did not since 20\S+, for 3 min$/,
        ),
      ]);
      expect(sleepy.requests).toHaveLength(4);
      expect(service.log.filter((line) => line.includes('"alert":"blind"'))).toEqual([]);
      expect((await doctorOf(service.app))?.status).toBe('ok');
    }, 240_000);
  },
);

/** A trouble that is there as long as the test says. */
function troubled({ app, clock }: TestApp) {
  let trouble: DatabaseTrouble | null = null;
  app.database_watch.trouble = () => trouble;
  return (fault: DatabaseTrouble['fault'] | null) => {
    const { since, since_ms } = trouble ?? { since: clock.now(), since_ms: clock.monotonic_ms() };
    const error = new Error('as it says');
    trouble = fault && { fault, since, since_ms, reason: error.message, error };
  };
}

describe('notices of a database', () => {
  const tick = async ({ app, clock }: TestApp, seconds = PATIENCE) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      clock.advance(5);
      await app.notify.tick();
    }
  };

  test('are none of one that is back at once, and one an hour of one that comes and goes', async () => {
    verifies('notify-without-database');
    const target = await taking();
    const service = await start([{ to: target.url }], {});
    const set = troubled(service);
    set('away');
    await tick(service, 10);
    set(null);
    await tick(service);
    expect(target.requests).toEqual([]);
    for (let time = 0; time < 4; time++) {
      set('away');
      await tick(service, 60);
      set(null);
      await tick(service, 60);
    }
    expect(textsOf(target)).toEqual([
      expect.stringMatching(/^gatewayd: Database away\n/),
      expect.stringMatching(/^gatewayd: Database works again\n/),
    ]);
    // It is away when its hour is over.
    set('away');
    await tick(service, HOUR + 60);
    expect(textsOf(target).slice(2)).toEqual([expect.stringMatching(/^gatewayd: Database away\n/)]);
  });

  test('that could not be sent in time say that it is over, with its end', async () => {
    verifies('notify-without-database');
    const target = await taking((index) => (index === 0 ? 503 : 200));
    const service = await start([{ to: target.url }], {});
    const set = troubled(service);
    set('full');
    await tick(service);
    set(null);
    await tick(service, 60);
    expect(textsOf(target).slice(1)).toEqual([
      expect.stringMatching(
        /^gatewayd: Database full, Database works again\nDatabase full: .* \(over by now\)\nDatabase works again: .*$/,
      ),
    ]);
  });

  test('name what it becomes, and go to who asked for it', async () => {
    const [all, away] = [await taking(), await taking()];
    const service = await start([{ to: all.url }, { to: away.url, on: ['database_away'] }], {});
    const set = troubled(service);
    set('full');
    await tick(service);
    set('away');
    await tick(service);
    set('full');
    await tick(service);
    set(null);
    await tick(service);
    const titles = (server: LocalServer) => textsOf(server).map((text) => text.split('\n')[0]);
    expect(titles(all)).toEqual([
      'gatewayd: Database full',
      'gatewayd: Database away',
      'gatewayd: Database works again',
    ]);
    expect(titles(away)).toEqual(['gatewayd: Database away']);
  });

  test.runIf(databases.includes('postgres'))(
    'of one that all daemons can read come from one of them, and from each that cannot reach it',
    async () => {
      const target = await taking();
      const { url } = await ofServer();
      const notify = [{ to: target.url }];
      const first = await start(notify, { database: 'postgres', database_url: url });
      const { clock } = first;
      const second = await start(notify, { database: 'postgres', database_url: url, clock });
      const both = [first, second];
      for (const { app } of both) await app.instance.report();
      const set = both.map(troubled);
      for (const one of set) one('read_only');
      clock.advance(PATIENCE);
      for (const { app } of both) await app.notify.tick();
      expect(textsOf(target)).toEqual([expect.stringMatching(/^gatewayd: Database read-only\n/)]);
      for (const one of set) one('away');
      for (const { app } of both) await app.notify.tick();
      expect(target.requests).toHaveLength(3);
    },
  );
});

test.each(databases)(
  'a try that nothing hinders writes one row on %s, and the cost of health is one question',
  async (database) => {
    verifies('database-unwritable');
    const service = await start([], { database });
    const { app } = service;
    for (let time = 0; time < 3; time++) {
      service.clock.advance(61);
      await app.database_watch.check();
      for (let asked = 0; asked < 20; asked++) await service.fetch('GET', '/readyz');
    }
    const { rows } = await sql<{ written_at: number }>`select written_at from write_probes`.execute(
      app.db.query,
    );
    expect(rows.map(({ written_at }) => Number(written_at))).toEqual([service.clock.now()]);
  },
);

test.runIf(databases.includes('postgres')).each(['/health', '/readyz'])(
  'a stranger who asks for %s again and again at once has no connection of others for each',
  async (path) => {
    verifies('database-unwritable');
    const asked = 200;
    const service = await start([], { database: 'postgres' });
    const recording = recordStatements();
    onTestFinished(() => recording.stop());
    const answers = await Promise.all(Array.from({ length: asked }, () => service.fetch('GET', path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(recording.take().length).toBeLessThan(asked / 2);
  },
);

test.runIf(databases.includes('postgres'))(
  'a database that says nothing holds up no scrape: its metrics say so',
  async () => {
    verifies('database-unwritable');
    const { url } = await ofServer();
    const line = await openLine(url);
    onTestFinished(() => line.close());
    const { app } = await start([], { database: 'postgres', database_url: line.url });
    line.silent = true;
    const text = await Promise.race([app.scrape(), delay(SCRAPE_MS, 'no answer in time')]);
    line.silent = false;
    line.cut();
    expect(text).toContain('\ngatewayd_database_up 0\n');
  },
);

test.runIf(databases.includes('postgres'))('a dump that reads all tables is no trouble', async () => {
  const { url } = await ofServer();
  const service = await start([], { database: 'postgres', database_url: url });
  const other = await openDb(url);
  onTestFinished(() => other.close());
  await other.transaction(async (tx) => {
    await sql`lock table write_probes in access share mode`.execute(tx);
    service.clock.advance(61);
    await service.app.database_watch.check();
    expect(service.app.database_watch.trouble()).toBeNull();
    const { rows } = await sql<{ written_at: number }>`select written_at from write_probes`.execute(tx);
    expect(rows.map(({ written_at }) => Number(written_at))).toEqual([service.clock.now()]);
  });
});
