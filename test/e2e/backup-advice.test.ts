// Backups of the built program as an operator makes them who does what doctor says, and what becomes of them elsewhere.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { backupAdvice } from '../helpers/backup-advice.ts';
import { databases, emptyDatabase } from '../helpers/database.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const PASSPHRASE = 'a passphrase of many words';
/** A directory on another disk than that of the data. */
const other_disk = ['/dev/shm', '/var/tmp', process.cwd()].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
);
const START_MS = 60_000;
/** A draft that takes a while to write and to check. */
const EVENTS = 20_000;

interface Line {
  of: string;
  status: string;
  says: string;
  fix: string | null;
}

describe.each(databases)('with %s', (database) => {
  let home: Home;
  const homes: Home[] = [];
  const newHome = (): Home => {
    const made = makeHome();
    homes.push(made);
    return made;
  };
  beforeEach(() => {
    home = newHome();
  });
  afterEach(async () => {
    for (const each of homes.splice(0)) await each.remove();
  });

  /** Where its database is, which nothing has been written into. */
  const place = async (): Promise<Record<string, string>> => {
    if (database === 'sqlite') return {};
    const { url, remove } = await emptyDatabase(database);
    onTestFinished(remove);
    return { GATEWAYD_DATABASE_URL: url };
  };
  const linesOf = async (env: Record<string, string>) => {
    const { stdout } = await home.run(['doctor', '--json'], { env });
    return (JSON.parse(stdout).findings as Line[]).filter(({ of }) => of === 'backup');
  };
  const lived = async (env: Record<string, string>) => {
    const daemon = await home.start({ env });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  };

  test.skipIf(other_disk === undefined)(
    'what doctor advises is done, and what comes of it is restored where there is nothing but the passphrase',
    async () => {
      verifies('backup-place', 'command-doctor', 'backup-check');
      const env = await place();
      await lived(env);
      const advised = await linesOf(env);
      expect(advised.map(({ status }) => status)).toEqual(['warning', 'warning', 'warning']);
      const elsewhere = mkdtempSync(join(other_disk ?? '', 'gatewayd-backups-'));
      onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
      const fixes = advised.map(({ fix }) => fix ?? '').join('\n');
      const set = { ...env, ...backupAdvice(fixes, elsewhere, PASSPHRASE) };
      const commands = [...fixes.matchAll(/`gatewayd ([^`]+)`/g)].map(([, command = '']) => command);
      expect(commands).toEqual(['backup']);
      for (const command of commands) {
        const { code, stderr } = await home.run(command.split(' '), { env: set });
        expect([code, stderr]).toEqual([0, '']);
      }
      expect((await linesOf(set)).filter(({ status }) => status !== 'ok')).toEqual([]);
      const [name = ''] = readdirSync(elsewhere);
      const file = join(elsewhere, name);
      const found = await home.run(['backup', 'check', file, '--json'], { env: set });
      expect([found.code, found.stderr]).toEqual([0, '']);
      expect(JSON.parse(found.stdout)).toMatchObject({ ok: true, secret: 'in the backup' });

      const other = newHome();
      const there = { ...(await place()), GATEWAYD_BACKUP_PASSPHRASE: PASSPHRASE };
      const restored = await other.run(['restore', file], { env: there });
      expect([restored.code, restored.stderr]).toEqual([0, '']);
      const again = await other.start({ env: there });
      again.signal('SIGTERM');
      expect((await again.ended).code).toBe(0);
    },
    200_000,
  );

  test('a directory of backups that is missing is refused by a start and a backup, and not made', async () => {
    verifies('backup-place', 'exit-78');
    const to = join(home.dir, 'mounted', 'backups');
    const env = { ...(await place()), GATEWAYD_BACKUP_TO: to };
    for (const command of ['start', 'backup']) {
      const { code, stderr } = await home.run([command], { env });
      expect([code, stderr]).toEqual([78, expect.stringContaining(`there is no directory ${to}`)]);
    }
    expect(existsSync(join(home.dir, 'mounted'))).toBe(false);
    expect(await linesOf(env)).toContainEqual(
      expect.objectContaining({ status: 'failed', fix: expect.stringContaining('mount the disk') }),
    );
    mkdirSync(to, { recursive: true });
    const closely = { ...env, GATEWAYD_BACKUP_EVERY: '1m' };
    const reach = { status: 'warning', says: expect.stringContaining('is 7 min old') };
    expect(await linesOf(closely)).toContainEqual(expect.objectContaining(reach));
    const far = { ...closely, GATEWAYD_BACKUP_KEEP_HOURS: '24', GATEWAYD_BACKUP_KEEP_DAYS: '30' };
    expect(await linesOf(far)).not.toContainEqual(expect.objectContaining(reach));
    await lived(env);
    expect((await home.run(['backup'], { env })).code).toBe(0);
    expect(readdirSync(to)).toHaveLength(1);
  }, 200_000);

  test('a secret that is lost is replaced, each thing that it sealed is named, and a daemon starts', async () => {
    verifies('backup-new-secret');
    const env = await place();
    await lived(env);
    const file = join(home.dir, 'clear.backup');
    expect((await home.run(['backup', file], { env })).code).toBe(0);
    const other = newHome();
    const there = await place();
    const refused = await other.run(['restore', file], { env: there });
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('--new-secret')]);
    const restored = await other.run(['restore', file, '--new-secret'], { env: there });
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    for (const named of [
      /keys of \d+ merchants.*gw account get/,
      /webhook secrets of \d+ merchants.*gw account update --webhook-secret/,
      /platform key.*gatewayd config --show-webhook-secret/,
      /sessions, links in mails and invites.*gatewayd invite/,
      /entries of the ledger/,
      /keys of providers are settings/,
    ])
      expect(restored.stdout).toMatch(named);
    const again = await other.start({ env: there });
    again.signal('SIGTERM');
    expect((await again.ended).code).toBe(0);
    const verified = await other.run(['verify'], { env: there });
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('none is broken')]);
  }, 200_000);

  test.skipIf(database !== 'sqlite')(
    'a check that is interrupted says so and leaves nothing',
    async () => {
      verifies('backup-check');
      await lived({});
      const state = join(home.dir, 'gatewayd');
      const books = new (sqlite())(join(state, 'gatewayd.db'));
      books
        .prepare(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
           insert into events (id, type, body, created_at) select 'event' || i, 'payment.unmatched', hex(randomblob(2000)), 1 from n`,
        )
        .run(EVENTS);
      books.close();
      const file = join(home.dir, 'one.backup');
      expect((await home.run(['backup', file])).code).toBe(0);
      const drafts = () => readdirSync(state).filter((name) => name.startsWith('.gatewayd-checking'));
      const { ended, signal } = home.launch(['backup', 'check', file]);
      await until('it is under way', async () => drafts().length > 0 || undefined, START_MS);
      signal('SIGTERM');
      const { code, stderr } = await ended;
      expect([code, stderr]).toEqual([143, expect.stringContaining('interrupted')]);
      expect(drafts()).toEqual([]);
    },
    200_000,
  );
});
