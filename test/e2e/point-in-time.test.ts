// PostgreSQL put back to a moment, as the guide says: a base backup, the archive of its log, and a time before the mistake.
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { launch, startPostgres, unprivileged } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const ROOT = '/usr/lib/postgresql';
/** Of Debian's packages; those of the tests' own server lack what makes a base backup. */
const binaries = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .map((version) => join(ROOT, version))
  .find((path) => existsSync(join(path, 'bin', 'pg_basebackup')));
const GUIDE = fileURLToPath(new URL('../../.github/deploy/README.md', import.meta.url));
const ARCHIVED_MS = 120_000;
const RECOVERED_MS = 120_000;

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

/** Settings of PostgreSQL in the guide, in the order that they stand there, with the directories of this test. */
function settingsOfGuide(archive: string, time: string): Record<string, string> {
  const found = [...readFileSync(GUIDE, 'utf8').matchAll(/^(\w+) = (?:'(.*)'|(\S+))$/gm)].map(
    ([, name = '', quoted, bare]): [string, string] => [name, quoted ?? bare ?? ''],
  );
  return Object.fromEntries(
    found.map(([name, value]) => [
      name,
      name === 'recovery_target_time' ? time : value.replaceAll('/mnt/backups/wal', archive),
    ]),
  );
}

async function ask<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test.skipIf(binaries === undefined)(
  'what was dropped by mistake is there again as it was a moment before, and a daemon continues from it',
  async () => {
    verifies('point-in-time');
    const user = unprivileged();
    const directory = mkdtempSync(join(tmpdir(), 'gatewayd-moment-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const archive = join(directory, 'wal');
    const base = join(directory, 'data');
    execFileSync('mkdir', [archive]);
    if (user.uid !== undefined)
      for (const path of [directory, archive]) chownSync(path, user.uid, user.gid as number);
    const guide = settingsOfGuide(archive, '');
    const { archive_mode = '', archive_command = '', archive_timeout = '', restore_command = '' } = guide;
    const first = await startPostgres(binaries ?? '', { archive_mode, archive_command, archive_timeout });
    onTestFinished(() => first.stop());
    const env = { GATEWAYD_DATABASE_URL: first.url };
    const daemon = await home.start({ env });
    daemon.signal('SIGTERM');
    await daemon.ended;
    execFileSync(
      join(binaries ?? '', 'bin', 'pg_basebackup'),
      ['--dbname', first.url, '--pgdata', base, '--checkpoint', 'fast'],
      { ...user, cwd: '/' },
    );
    const email = 'after-the-base@example.com';
    const made = await home.run(['admin', 'create', '--email', email], { env });
    expect(made.code, made.stderr).toBe(0);
    const [{ moment = '' } = {}] = await ask<{ moment: string }>(
      first.url,
      'select clock_timestamp()::text as moment',
    );
    await ask(first.url, 'select pg_sleep(1)');
    await ask(first.url, 'drop table users cascade');
    const [{ file = '' } = {}] = await ask<{ file: string }>(
      first.url,
      'select pg_walfile_name(pg_switch_wal()) as file',
    );
    await until('the log is archived', async () => existsSync(join(archive, file)) || undefined, ARCHIVED_MS);
    await first.stop();

    writeFileSync(join(base, 'recovery.signal'), '');
    if (user.uid !== undefined) chownSync(join(base, 'recovery.signal'), user.uid, user.gid as number);
    const { recovery_target_time = '', recovery_target_action = '' } = settingsOfGuide(archive, moment);
    const again = await launch(join(binaries ?? '', 'bin', 'postgres'), base, {
      directory,
      user,
      settings: { restore_command, recovery_target_time, recovery_target_action },
    });
    onTestFinished(() => again.stop());
    await until(
      'it is recovered',
      async () => {
        const [{ is_over = false } = {}] = await ask<{ is_over: boolean }>(
          again.url,
          'select not pg_is_in_recovery() as is_over',
        );
        return is_over || undefined;
      },
      RECOVERED_MS,
    );
    expect(await ask(again.url, `select email from users where email = '${email}'`)).toEqual([{ email }]);
    const there = { GATEWAYD_DATABASE_URL: again.url };
    const verified = await home.run(['verify'], { env: there });
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('none is broken')]);
    const restarted = await home.start({ env: there });
    restarted.signal('SIGTERM');
    expect((await restarted.ended).code).toBe(0);
  },
  400_000,
);
