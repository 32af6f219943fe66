// A newer version changes the schema while older daemons run on it: one that cannot continue stops, says so, and the way back works.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../../data/db/open.ts';
import { databases } from '../../helpers/database.ts';
import { json, serve } from '../../helpers/local-server.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { shopkeeper, wallets } from '../../helpers/people.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { ask, serviceAt } from '../../helpers/service.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { laterProgram } from '../helpers/later.ts';
import { type Daemon, type Home, makeHome } from '../helpers/process.ts';

const COMPATIBLE = { name: '9001-added', compatible: true };
const BREAKING = { name: '9002-changed', compatible: false };
/** A busy machine is slow; the daemons themselves look each 10 s. */
const SOON_MS = 60_000;
const LIMIT_MS = 240_000;
const TOKEN = 'a-token-for-metrics-only';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const later = (...steps: (typeof COMPATIBLE)[]): string =>
  laterProgram(join(home.dir, `later-${steps.length}-${steps.at(-1)?.name}`), steps);

async function end(daemon: Daemon): Promise<void> {
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

const sell = ({ url }: Daemon, key: string) =>
  serviceAt({ base_url: url }).fetch('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: '1' } });

async function openShop({ url }: Daemon) {
  const service = serviceAt({ base_url: url });
  const { key } = await shopkeeper(service, { wallets });
  const invoice = await ask(service, 'POST', '/v1/invoices', { key, body: { chain: 'ton', amount: '1' } });
  return { key, invoice };
}

/** All rows of what a daemon writes while it only runs, and of what it sells. */
async function rowsOf(url: string): Promise<string> {
  const db = await openDb(url);
  try {
    const tables = ['daemons', 'leases', 'cursors', 'invoices', 'deliveries', 'events', 'notices', 'meta'];
    const rows = [];
    for (const table of tables) {
      const { rows: found } = await sql`select * from ${sql.table(table)}`.execute(db.query);
      rows.push(
        found
          .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
          .sort(),
      );
    }
    return rows.flat().join('\n');
  } finally {
    await db.close();
  }
}

async function databaseFor(database: string): Promise<string> {
  if (database === 'sqlite') return `sqlite:${join(home.dir, 'gatewayd', 'gatewayd.db')}`;
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  return server.url;
}

/** What a newer version leaves behind in the database of daemons that run. */
async function change(database: string, url: string, step: typeof COMPATIBLE): Promise<void> {
  const env = { GATEWAYD_DATABASE_URL: url };
  if (database === 'postgres') {
    const bin = step.compatible ? later(step) : later(COMPATIBLE, step);
    const { code, stderr } = await home.run(['migrate', '--yes'], { env, bin });
    expect([code, stderr]).toEqual([0, '']);
    return;
  }
  // A SQLite file lets no second program change it: this is one that does not ask.
  const db = await openDb(url);
  await sql`insert into kysely_migration (name, timestamp) values (${step.name}, '')`.execute(db.query);
  if (step.compatible)
    await sql`insert into meta (name, value) values (${`compatible_step:${step.name}`}, '1')`.execute(
      db.query,
    );
  await db.close();
}

describe.each(databases)('on %s', (database) => {
  test(
    'daemons continue with a step that is compatible; one that is not stops them, they say so once and write nothing more',
    async () => {
      verifies('outdated');
      const url = await databaseFor(database);
      const receiver = await serve((_, response) => json(response, {}));
      onTestFinished(() => receiver.close());
      const env = {
        GATEWAYD_DATABASE_URL: url,
        GATEWAYD_METRICS_TOKEN: TOKEN,
        GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
        GATEWAYD_NOTIFY: JSON.stringify([{ to: receiver.url, on: ['schema_newer'] }]),
      };
      const daemons = [await home.start({ env })];
      if (database === 'postgres') daemons.push(await home.start({ env }));
      const { key } = await openShop(daemons[0] as Daemon);
      const ready = async (daemon: Daemon) => serviceAt({ base_url: daemon.url }).fetch('GET', '/readyz');

      await change(database, url, COMPATIBLE);
      for (const daemon of daemons) {
        await until(
          'the newer schema is noticed',
          async () => daemon.stderr().includes('9001-added') || undefined,
          SOON_MS,
        );
        expect(await ready(daemon)).toMatchObject({
          status: 200,
          json: { migrations: 'newer', ready: true },
        });
        expect((await sell(daemon, key)).status).toBe(200);
      }
      // An older one that starts continues as well.
      await end(daemons.pop() as Daemon);
      daemons.push(await home.start({ env }));
      expect((await home.run(['doctor'], { env })).stdout).toMatch(
        /warning +database .* newer than this gatewayd/,
      );

      await change(database, url, BREAKING);
      for (const daemon of daemons)
        await until(
          'it sells nothing more',
          async () => (await sell(daemon, key)).status === 503 || undefined,
          SOON_MS,
        );
      const left = await rowsOf(url);
      for (const daemon of daemons) {
        const service = serviceAt({ base_url: daemon.url });
        expect(await sell(daemon, key)).toMatchObject({ status: 503, json: { code: 'schema_newer' } });
        expect(await service.fetch('GET', '/health')).toMatchObject({
          status: 503,
          json: { code: 'schema_newer' },
        });
        expect((await service.fetch('GET', '/livez')).status).toBe(200);
        expect(await ready(daemon)).toMatchObject({
          status: 503,
          json: { code: 'schema_newer', migrations: 'incompatible', ready: false, database: 'ok' },
        });
        const metrics = await fetch(`${daemon.url}/metrics`, {
          headers: { authorization: `Bearer ${TOKEN}` },
        });
        expect(readMetrics(await metrics.text()).value('gatewayd_outdated')).toBe(1);
      }
      // `doctor` asks the address, too.
      const notices = () => receiver.requests.filter(({ body }) => body !== '');
      await until('each says so', async () => notices().length === daemons.length || undefined, SOON_MS);
      for (const { body } of notices())
        expect(JSON.parse(body)).toMatchObject({
          text: expect.stringMatching(/newer gatewayd \(schema 9002-changed\); install that version/),
        });
      for (const daemon of daemons) {
        await end(daemon);
        expect(daemon.stderr().match(/nothing is sold, read or stored/g)).toHaveLength(1);
      }
      expect(notices()).toHaveLength(daemons.length);
      expect(await rowsOf(url)).toBe(left);

      const refused = await home.run(['start', '--port', '0'], { env });
      expect([refused.code, refused.stderr]).toEqual([
        78,
        expect.stringMatching(/newer gatewayd \(schema 9002-changed\); install that version, or go back/),
      ]);
      const examined = await home.run(['doctor'], { env });
      expect([examined.code, examined.stdout]).toEqual([
        1,
        expect.stringMatching(/failed +database .* newer gatewayd \(schema 9002-changed\)/),
      ]);
    },
    LIMIT_MS,
  );
});

test.runIf(databases.includes('sqlite'))(
  'the copy that the upgrade of a SQLite file made is restored by the version before',
  async () => {
    verifies('upgrade-one-step-back');
    const before = await home.start();
    const { invoice } = await openShop(before);
    await end(before);
    const state = join(home.dir, 'gatewayd');
    const upgraded = await home.run(['migrate'], { bin: later(BREAKING) });
    expect(upgraded.code).toBe(0);
    const [, copy = ''] = /the database as it was before is in (\S+)/.exec(upgraded.stdout) ?? [];
    expect((await home.run(['start', '--port', '0'])).code).toBe(78);
    expect((await home.run(['restore', copy])).stderr).toContain('into an empty place only');

    // As the guide says.
    mkdirSync(join(state, 'newer'));
    for (const name of ['gatewayd.db', 'gatewayd.db-wal', 'gatewayd.db-shm'])
      if (existsSync(join(state, name))) renameSync(join(state, name), join(state, 'newer', name));
    const before_restore = readFileSync(copy);
    const restored = await home.run(['restore', copy]);
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    expect(restored.stdout).toContain('none is broken');
    expect(readFileSync(copy).equals(before_restore)).toBe(true);
    const after = await home.start();
    const found = await serviceAt({ base_url: after.url }).fetch('GET', `/v1/public/invoices/${invoice.id}`);
    expect(found.status).toBe(200);
    await end(after);
  },
  LIMIT_MS,
);

test.skipIf(!hasPostgres || !databases.includes('postgres'))(
  'the backup that the upgrade of PostgreSQL asks for is restored by the version before',
  async () => {
    verifies('upgrade-one-step-back');
    const env = { GATEWAYD_DATABASE_URL: await databaseFor('postgres') };
    const bin = later(BREAKING);
    const before = await home.start({ env });
    const { invoice } = await openShop(before);
    expect((await home.run(['migrate'], { env, bin })).stderr).toContain('Run `gatewayd backup` first');
    const file = join(home.dir, 'before.backup');
    expect((await home.run(['backup', file], { env, bin })).code).toBe(0);
    await end(before);
    expect((await home.run(['migrate'], { env, bin })).stdout).toContain(`applied ${BREAKING.name}`);
    expect((await home.run(['start', '--port', '0'], { env })).code).toBe(78);

    const back = { GATEWAYD_DATABASE_URL: await databaseFor('postgres') };
    const restored = await home.run(['restore', file], { env: back });
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const after = await home.start({ env: back });
    const found = await serviceAt({ base_url: after.url }).fetch('GET', `/v1/public/invoices/${invoice.id}`);
    expect(found.status).toBe(200);
    await end(after);
  },
  LIMIT_MS,
);
