// Commands that root runs alongside a service of another user: the built program, with users of this machine.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../requirements.ts';
import { type Home, makeHome } from '../helpers/process.ts';

/** The user without rights: one of the service, and one who is neither that nor root. */
const SERVICE = { uid: 65534, gid: 65534 };
const STRANGER = { uid: 65533, gid: 65533 };
/** As systemd numbers those that it makes for the time a service runs. */
const DYNAMIC = { uid: 61_234, gid: 61_234 };
/** Each starts a dozen programs. */
const PATIENT_MS = 400_000;
const PASSPHRASE = 'a passphrase for backups';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('owner.test.ts: SKIPPED, for it needs root to be two other users\n');

let home: Home;
let data: string;
beforeEach(() => {
  home = makeHome();
  data = join(home.dir, 'gatewayd');
});
afterEach(() => home.remove());

/** A daemon of that user has run here: its data directory, database and secret are its own. */
async function served(user = SERVICE): Promise<void> {
  chownSync(home.dir, user.uid, user.gid);
  const daemon = await home.start({ ...user, env: { XDG_CACHE_HOME: home.dir } });
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

/** Every path below the data directory, and whose it is. */
const owners = (directory = data): number[] =>
  [directory, ...readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name)))]
    .map((path) => lstatSync(path).uid)
    .filter((uid, at, all) => all.indexOf(uid) === at);

const rootsOwn = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'of-root-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

describe.skipIf(!isRoot)('root alongside a service of another user', { timeout: PATIENT_MS }, () => {
  test('rotates its secret, restores, backs up and examines, and what is made is the service’s', async () => {
    verifies('commands-own-user');
    await served();
    for (const args of [
      ['secret', 'rotate'],
      ['backup', '--passphrase-stdin'],
      ['migrate'],
      ['verify', '--quiet'],
      ['admin', 'create', '--email', 'second@example.com'],
      ['doctor'],
    ]) {
      const { code, stderr } = await home.run(args, { stdin: PASSPHRASE });
      // What it examines outside is not reached from here.
      if (args[0] !== 'doctor') expect([args, code, stderr]).toEqual([args, 0, '']);
      expect([args, owners()]).toEqual([args, [SERVICE.uid]]);
    }
    await served();

    // To a place that root alone may read, and back into an empty one of the service.
    const [made = ''] = readdirSync(join(data, 'backups'));
    const copy = join(rootsOwn(), 'copy.backup');
    writeFileSync(copy, readFileSync(join(data, 'backups', made)), { mode: 0o600 });
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
    const restored = await home.run(['restore', copy, '--passphrase-stdin'], { stdin: PASSPHRASE });
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    expect(owners()).toEqual([SERVICE.uid]);
    await served();
  });

  test('starts a daemon as the service’s user', async () => {
    verifies('commands-own-user');
    await served();
    const daemon = await home.start();
    expect(readFileSync(`/proc/${daemon.pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s+65534\s+65534/m);
    daemon.signal('SIGTERM');
    await daemon.ended;
    expect(owners()).toEqual([SERVICE.uid]);
  });

  test('is refused a place for a backup that the service may not write, before anything is read', async () => {
    verifies('commands-own-user');
    await served();
    const file = join(rootsOwn(), 'a.backup');
    const { code, stderr } = await home.run(['backup', file]);
    expect([code, stderr]).toEqual([74, expect.stringContaining('cannot be written by this user')]);
    expect(existsSync(file)).toBe(false);
  });

  test('learns whose a file is that an earlier command of root has left, and how it is given back', async () => {
    verifies('commands-own-user', 'doctor-advice');
    await served();
    chownSync(join(data, 'secret'), 0, 0);
    const { code, stderr } = await home.run(['doctor']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${data}/secret is closed to the user`)]);
    const advice = /`sudo (chown .*?)`/.exec(stderr)?.[1] ?? '';
    execFileSync('sh', ['-c', advice]);
    await served();
    expect(owners()).toEqual([SERVICE.uid]);
  });

  test.each(['gatewayd.db', 'secret'])(
    'is led nowhere by a link that the service made of its %s',
    async (name) => {
      verifies('commands-own-user');
      await served();
      const backups = await home.run(['backup', join(data, 'a.backup')]);
      expect(backups.code).toBe(0);
      const outside = rootsOwn();
      for (const file of ['gatewayd.db', 'secret'])
        writeFileSync(join(outside, file), readFileSync(join(data, file)));
      chmodSync(join(outside, name), 0o600);
      const before = readFileSync(join(outside, name));
      renameSync(join(data, name), join(data, 'moved'));
      symlinkSync(join(outside, name), join(data, name));
      lchownSync(join(data, name), SERVICE.uid, SERVICE.gid);
      for (const args of [['secret', 'rotate'], ['backup'], ['migrate'], ['verify'], ['doctor'], ['start']]) {
        const { code, stderr } = await home.run(args);
        expect([args, code]).toEqual([args, args[0] === 'doctor' ? 2 : 78]);
        // What is advised to root does not give the other file away.
        for (const [, advice = ''] of stderr.matchAll(/`sudo (chown .*?)`/g))
          execFileSync('sh', ['-c', advice]);
      }
      expect(owners()).toEqual([SERVICE.uid]);
      expect(readdirSync(outside).sort()).toEqual(['gatewayd.db', 'secret']);
      expect(statSync(join(outside, name)).uid).toBe(0);
      expect(readFileSync(join(outside, name))).toEqual(before);
    },
  );

  test('does not take a link of the service for the data of somebody else', async () => {
    verifies('commands-own-user');
    await served();
    chmodSync(home.dir, 0o777);
    chmodSync(data, 0o777);
    const file = join(home.dir, 'of-a-stranger.db');
    writeFileSync(file, readFileSync(join(data, 'gatewayd.db')), { mode: 0o600 });
    chownSync(file, STRANGER.uid, STRANGER.gid);
    rmSync(join(data, 'gatewayd.db'));
    symlinkSync(file, join(data, 'gatewayd.db'));
    lchownSync(join(data, 'gatewayd.db'), SERVICE.uid, SERVICE.gid);
    const { code } = await home.run(['backup', join(data, 'a.backup')]);
    expect(code).toBe(78);
    expect(existsSync(join(data, 'a.backup'))).toBe(false);
  });

  test('checks a backup as the service’s user, and one that root alone may read', async () => {
    verifies('commands-own-user');
    await served();
    const file = join(rootsOwn(), 'a.backup');
    expect((await home.run(['backup', join(data, 'a.backup')])).code).toBe(0);
    renameSync(join(data, 'a.backup'), file);
    chownSync(file, 0, 0);
    const checked = await home.run(['backup', 'check', file]);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    // Root would write there nevertheless.
    chmodSync(data, 0o500);
    expect((await home.run(['backup', 'check', file])).code).toBe(74);
  });

  test('is sent to systemd-run where the user is made by systemd', async () => {
    verifies('commands-own-user');
    // As a state directory of DynamicUser: a link into a directory that root alone may enter.
    const hidden = join(home.dir, 'private');
    mkdirSync(join(hidden, 'gatewayd'), { recursive: true });
    chownSync(join(hidden, 'gatewayd'), DYNAMIC.uid, DYNAMIC.gid);
    chmodSync(hidden, 0o700);
    chmodSync(home.dir, 0o755);
    symlinkSync('private/gatewayd', data);
    const commands = [
      ['secret', 'rotate'],
      ['backup'],
      ['doctor'],
      ['migrate'],
      ['restore', '/etc/hostname'],
    ];
    const refused = async (args: string[], as: object) => {
      const { code, stderr } = await home.run(args, as);
      expect([args, code]).toEqual([args, args[0] === 'doctor' ? 2 : 78]);
      expect(stderr).toContain(
        'systemd-run -qtPG -p DynamicUser=yes -p User=gatewayd -p StateDirectory=gatewayd',
      );
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    };
    for (const as of [{}, STRANGER]) await Promise.all(commands.map((args) => refused(args, as)));
    expect(readdirSync(join(hidden, 'gatewayd'))).toEqual([]);
  });
});

describe.skipIf(!isRoot)('a user who is neither root nor the service', { timeout: PATIENT_MS }, () => {
  test('gets one sentence that names the way, and touches nothing', async () => {
    verifies('commands-own-user');
    await served();
    chmodSync(home.dir, 0o755);
    const before = readdirSync(data).sort();
    const commands = [
      ['secret', 'rotate'],
      ['backup', '/tmp/never.backup'],
      ['restore', '/etc/hostname'],
      ['migrate'],
      ['verify'],
      ['doctor'],
      ['admin', 'create', '--email', 'second@example.com'],
      ['start'],
    ];
    await Promise.all(
      commands.map(async (args) => {
        const { code, stderr } = await home.run(args, STRANGER);
        const lines = stderr.trimEnd().split('\n').length;
        expect([args, code, lines]).toEqual([args, args[0] === 'doctor' ? 2 : 78, 1]);
        expect(stderr).toMatch(/sudo/);
      }),
    );
    expect(readdirSync(data).sort()).toEqual(before);
    expect(existsSync('/tmp/never.backup')).toBe(false);
  });
});

describe.skipIf(!isRoot)('what doctor advises about settings with secrets', { timeout: PATIENT_MS }, () => {
  const KEY = `gw_${'k'.repeat(32)}`;

  interface Line {
    of: string;
    status: string;
    fix: string | null;
  }
  const filesOf = async (env: Record<string, string> = {}, user = {}): Promise<Line[]> => {
    const { stdout } = await home.run(['doctor', '--json'], { env, ...user });
    return (JSON.parse(stdout).findings as Line[]).filter(({ of }) => of === 'files');
  };

  test('leaves them readable for a service of a user of its own, and for no one else', async () => {
    verifies('doctor-advice');
    await served();
    const file = join(home.dir, 'gatewayd.config.json');
    writeFileSync(file, JSON.stringify({ platform_key: KEY }));
    for (const mode of [0o644, 0o600]) {
      chownSync(file, 0, 0);
      chmodSync(file, mode);
      const [found] = await filesOf();
      expect(found).toMatchObject({ status: 'failed' });
      execFileSync('sh', ['-c', (found?.fix ?? '').replaceAll('sudo ', '')]);
      expect((await filesOf()).map(({ status }) => status)).toEqual(['ok']);
      await served();
    }
    // One that is the service's own is closed to all others.
    chownSync(file, SERVICE.uid, SERVICE.gid);
    chmodSync(file, 0o644);
    const [found] = await filesOf();
    expect(found?.fix).toBe(`chmod go= ${file}`);
    execFileSync('sh', ['-c', found?.fix ?? '']);
    expect((await filesOf()).map(({ status }) => status)).toEqual(['ok']);
    await served();
  });

  test('moves them to what systemd reads where its user is made when it starts', async () => {
    verifies('doctor-advice');
    await served(DYNAMIC);
    const file = join(home.dir, 'gatewayd.config.json');
    writeFileSync(file, JSON.stringify({ platform_key: KEY, operator_name: 'Shop' }));
    chmodSync(file, 0o644);
    const [found] = await filesOf({}, DYNAMIC);
    expect(found?.fix).toContain(
      'move platform_key (GATEWAYD_PLATFORM_KEY=…) from it to the EnvironmentFile',
    );
    writeFileSync(file, JSON.stringify({ operator_name: 'Shop' }));
    const env = { GATEWAYD_PLATFORM_KEY: KEY };
    expect((await filesOf(env, DYNAMIC)).map(({ status }) => status)).toEqual(['ok']);
    const daemon = await home.start({ ...DYNAMIC, env });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);

    // What is handed over by LoadCredential has the mode that systemd gives it.
    const handed = join(home.dir, 'credentials');
    mkdirSync(handed, { mode: 0o755 });
    const credential = join(handed, 'gatewayd.config.json');
    writeFileSync(credential, JSON.stringify({ platform_key: KEY }));
    chmodSync(credential, 0o444);
    const { stdout } = await home.run(['doctor', '--json', '--config', credential], {
      ...DYNAMIC,
      env: { CREDENTIALS_DIRECTORY: handed },
    });
    const lines = (JSON.parse(stdout).findings as Line[]).filter(({ of }) => of === 'files');
    expect(lines.map(({ status }) => status)).toEqual(['ok']);
  });

  test('gives files of the data back to whose they are', async () => {
    verifies('doctor-advice');
    await served();
    chownSync(join(data, 'gatewayd.db.lock'), 0, 0);
    const [found] = await filesOf();
    expect(found).toMatchObject({ status: 'failed', fix: expect.stringContaining('chown') });
    execFileSync('sh', ['-c', (found?.fix ?? '').replaceAll('sudo ', '')]);
    expect((await filesOf()).map(({ status }) => status)).toEqual(['ok']);
    await served();
  });
});
