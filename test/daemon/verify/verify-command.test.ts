// `gatewayd verify` as a process: alongside a running daemon and on stopped books, what it prints, and how it exits.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqlite } from '../../../data/db/driver.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';
import { type Daemon, type Home, makeHome } from '../helpers/process.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const state = (name = '') => join(home.dir, 'gatewayd', name);

async function stop(daemon: Daemon): Promise<void> {
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

test('says that all is well, alongside the running daemon and after it', async () => {
  verifies('verify-laws');
  const daemon = await home.start();
  const alongside = await home.run(['verify', '--json']);
  expect([alongside.code, alongside.stderr]).toEqual([0, '']);
  const report = JSON.parse(alongside.stdout);
  expect(report).toMatchObject({
    ok: true,
    shared_addresses: [],
    database: expect.stringMatching(/^sqlite:/),
  });
  expect(report.laws.map(({ law }: { law: number }) => law)).toEqual(
    Array.from({ length: 21 }, (_, at) => at + 1),
  );
  await stop(daemon);
  const { code, stdout } = await home.run(['verify']);
  expect(code).toBe(0);
  expect(stdout).toContain('\nok          1  the ledger is one chain per merchant');
  expect(stdout).toMatch(/\n21 laws checked: none is broken\n$/);
  expect(await home.run(['verify', '--quiet'])).toEqual({ code: 0, stdout: '', stderr: '' });
  const some = JSON.parse((await home.run(['verify', '--json', '--law', '4, 1'])).stdout);
  expect(some.laws.map(({ law }: { law: number }) => law)).toEqual([1, 4]);
});

test('names a broken law with its rows and what to do, writes nothing, and exits with 65', async () => {
  verifies('verify-laws');
  await stop(await home.start());
  const database = new (sqlite())(state('gatewayd.db'));
  database.exec(`insert into contradictions (id, blockchain, kind, subject, details, count, created_at, updated_at)
    values ('one', 'ton', 'booked_gone', 'x', '{}', 1, 1, 1)`);
  const content = () => database.serialize().toString('latin1');
  const before = content();
  const { code, stdout, stderr } = await home.run(['verify', '--quiet']);
  expect(content() === before).toBe(true);
  database.close();
  expect([code, stderr]).toEqual([65, '']);
  expect(stdout).toMatch(/BROKEN {5}20 {2}nothing contradicts\n/);
  expect(stdout).toContain('contradiction_id=one blockchain=ton kind=booked_gone');
  expect(stdout).toMatch(/what to do: see `gw admin contradictions`/);
  expect(stdout).toMatch(/\n21 laws checked: 1 broken\n$/);
});

test('without the secret, says what it could not check', async () => {
  await stop(await home.start());
  rmSync(state('secret'));
  const { code, stdout } = await home.run(['verify', '--law', '20,21']);
  expect(code).toBe(65);
  expect(stdout).toMatch(/ok {9}20/);
  expect(stdout).toContain('unchecked  21');
  expect(stdout).toContain('not checked: there is no secret here');
  expect(readdirSync(state())).not.toContain('secret');
  const other = await home.run(['verify', '--law', '21'], {
    env: { GATEWAYD_SECRET: 'quite another secret' },
  });
  expect(other.stdout).toContain('the secret is not the one that this database was created with');
});

test('refuses what is no database of this version, and makes none', async () => {
  expect(await home.run(['verify'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('there is no database at sqlite:'),
  });
  await home.run(['migrate']);
  const database = new (sqlite())(state('gatewayd.db'));
  database.exec(`delete from kysely_migration where name > '0004'`);
  expect(await home.run(['verify'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('run `gatewayd migrate` first'),
  });
  database.exec(`insert into kysely_migration (name, timestamp) values ('9999-future', '')`);
  database.close();
  expect(await home.run(['verify'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('newer gatewayd (schema 9999-future)'),
  });
  expect(await home.run(['verify', '--law', '99'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('--law 99: use numbers of 1 to'),
  });
});

test.skipIf(!hasPostgres)(
  'reads PostgreSQL alongside the daemon that serves it, and shows no password',
  async () => {
    verifies('verify-laws');
    const database = await createDatabase();
    const url = new URL(database.url);
    url.password ||= 'a-password';
    const env = { GATEWAYD_DATABASE_URL: url.href };
    const daemon = await home.start({ env });
    const { code, stdout } = await home.run(['verify'], { env });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/none is broken/)]);
    expect(stdout).not.toContain(url.password);
    await stop(daemon);
    await database.drop();
  },
);
