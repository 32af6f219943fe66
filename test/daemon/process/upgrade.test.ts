// An upgrade of the built program on a database of an earlier version: there is a way back, or it is refused.
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqlite } from '../../../data/db/driver.ts';
import { restorePast } from '../../data/past.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';
import { type Home, makeHome } from '../helpers/process.ts';

const scriptOf = (database: string) =>
  gunzipSync(
    readFileSync(fileURLToPath(new URL(`../../data/past/0005-accounts.${database}.sql.gz`, import.meta.url))),
  ).toString();
/** What the database of the past was made with. */
const SECRET = { GATEWAYD_SECRET: 'a secret for tests only' };

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test('a SQLite file is copied next to it before its schema is changed, once for each schema', async () => {
  verifies('upgrade-way-back');
  const state = join(home.dir, 'gatewayd');
  mkdirSync(state);
  const file = join(state, 'gatewayd.db');
  await restorePast(`sqlite:${file}`, scriptOf('sqlite'));
  const daemon = await home.start({ env: SECRET });
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const copy = `${file}.schema-0005`;
  expect(daemon.stderr()).toContain(copy);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const before = new (sqlite())(copy, { readonly: true });
  expect(before.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(before.prepare('select max(name) as name from kysely_migration').get()).toEqual({
    name: '0005-accounts',
  });
  before.close();
  const { mtimeMs } = statSync(copy);
  expect((await home.run(['migrate'])).stdout).toBe('the schema is up to date\n');
  expect(statSync(copy).mtimeMs).toBe(mtimeMs);
  expect(existsSync(`${copy}.partial`)).toBe(false);
});

test.skipIf(!hasPostgres)(
  'an older schema of PostgreSQL is refused by every daemon without a backup, and changed after one',
  async () => {
    verifies('upgrade-way-back', 'exit-78');
    const server = await createDatabase();
    const env = { ...SECRET, GATEWAYD_DATABASE_URL: server.url };
    await restorePast(server.url, scriptOf('postgres'));
    const ends = await Promise.all([1, 2].map(() => home.run(['start', '--port', '0'], { env })));
    for (const { code, stderr } of ends)
      expect([code, stderr]).toEqual([
        78,
        expect.stringMatching(/schema 0005-accounts, .* no backup is known\. Run `gatewayd backup` first/),
      ]);
    expect((await home.run(['migrate', '--dry-run'], { env })).stdout).toContain('would apply 0006');
    expect((await home.run(['backup'], { env })).code).toBe(0);
    const daemons = await Promise.all([1, 2].map(() => home.start({ env })));
    for (const daemon of daemons) daemon.signal('SIGTERM');
    for (const daemon of daemons) expect((await daemon.ended).code).toBe(0);
    await server.drop();
  },
);

test.skipIf(!hasPostgres)('--yes brings it up to date without one', async () => {
  verifies('upgrade-way-back');
  const server = await createDatabase();
  const env = { ...SECRET, GATEWAYD_DATABASE_URL: server.url };
  await restorePast(server.url, scriptOf('postgres'));
  expect((await home.run(['migrate'], { env })).code).toBe(78);
  const { code, stdout } = await home.run(['migrate', '--yes'], { env });
  expect([code, stdout]).toEqual([0, expect.stringContaining('applied 0006')]);
  await server.drop();
});
