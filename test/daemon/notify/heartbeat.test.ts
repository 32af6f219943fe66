// The heartbeat to `heartbeat_url`: each minute, with what is wrong, also without the database, and never a secret in a log.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { heartbeat as examineHeartbeat } from '../../../daemon/doctor/outside.ts';
import { sendTests } from '../../../daemon/notify/notify.ts';
import { changeMeta, LAST_BACKUP_AT } from '../../../data/meta.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { systemClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { openLine } from '../../helpers/line.ts';
import { json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { createDatabase } from '../../helpers/postgres.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const KEY = 'a-key-in-a-path';
const disk = vi.hoisted(() => ({ free_share: 0.5 }));
vi.mock('node:fs/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs/promises')>()),
  statfs: async () => ({ bsize: 1024 ** 2, blocks: 100_000, bavail: 100_000 * disk.free_share }),
}));
beforeEach(() => {
  disk.free_share = 0.5;
});

async function start(monitor: LocalServer, options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startApp({
    single: true,
    ...options,
    settings: { heartbeat_url: `${monitor.url}/${KEY}`, ...options.settings },
  });
  onTestFinished(() => service.stop());
  return service;
}

const monitorWith = (status: (index: number) => number = () => 200) =>
  serve(({ index }, response) => json(response, {}, status(index)));
const bodyOf = ({ requests }: LocalServer) => JSON.parse(requests.at(-1)?.body ?? '');

test.each(databases)('says that all is well, or what is not and what to run, on %s', async (database) => {
  verifies('heartbeat');
  const monitor = await monitorWith();
  const service = await start(monitor, { database });
  await service.app.notify.beat();
  expect(monitor.requests[0]).toMatchObject({ path: `/${KEY}`, body: '{"ok":true,"wrong":[]}' });
  disk.free_share = 0.01;
  await changeMeta(service.app.db.query, LAST_BACKUP_AT, '1');
  await service.app.notify.beat();
  const { ok, wrong } = bodyOf(monitor);
  expect(ok).toBe(false);
  expect(
    wrong.toSorted((one: { cause: string }, other: { cause: string }) => (one.cause < other.cause ? -1 : 1)),
  ).toEqual([
    {
      cause: 'backup_old',
      subject: 'backup',
      text: 'the last backup was made on 1970-01-01T00:00:01Z',
      command: 'gatewayd backup',
    },
    {
      cause: 'disk_low',
      subject: 'disk',
      text: expect.stringMatching(/^\S+: 1000 MB of disk space are left for \//),
      command: 'gatewayd doctor',
    },
    ...(database === 'sqlite'
      ? [expect.objectContaining({ cause: 'disk_low', subject: 'database disk' })]
      : []),
  ]);
});

test.runIf(databases.includes('postgres'))('goes out while the database is away, and says so', async () => {
  verifies('heartbeat');
  const monitor = await monitorWith();
  const { url, drop } = await createDatabase({ migrated: true });
  const line = await openLine(url);
  const service = await start(monitor, { database: 'postgres', database_url: line.url });
  onTestFinished(async () => {
    await line.close();
    await drop();
  });
  line.refusing = true;
  line.cut();
  await service.app.database_watch.check();
  await service.app.notify.beat();
  expect(bodyOf(monitor)).toEqual({
    ok: false,
    wrong: [
      {
        cause: 'database_away',
        subject: 'database',
        text: expect.stringMatching(/^\S+: the database cannot be reached since 20\S+ \(.+\)$/),
        command: 'gatewayd doctor',
      },
    ],
  });
});

test('that does not arrive is one line in the log, without its path, and one when it does', async () => {
  verifies('heartbeat');
  const monitor = await monitorWith((index) => (index < 3 ? 500 : 204));
  const service = await start(monitor);
  for (let minute = 0; minute < 5; minute++) {
    service.clock.advance(60);
    await service.app.notify.beat();
  }
  const lines = service.log.filter((line) => line.includes('heartbeat'));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('answered HTTP 500');
  expect(lines[1]).toContain('the heartbeat arrives again');
  expect(service.log.join('')).not.toContain(KEY);
});

test('goes to public addresses only, unless private ones are allowed', async () => {
  const monitor = await monitorWith();
  const service = await start(monitor, { settings: { webhook_allow_private: false } });
  await service.app.notify.beat();
  expect(monitor.requests).toEqual([]);
  expect(service.log.join('')).toContain('its host is not public');
});

test('is sent by a daemon that runs, at once; doctor says when the last one arrived', async () => {
  verifies('heartbeat');
  const monitor = await monitorWith();
  const service = await start(monitor, { start: true, clock: systemClock });
  const { config } = service.app;
  const doctor = async () => {
    const now = Math.floor(Date.now() / 1000);
    const [line] = await examineHeartbeat({ config, origins: new Map(), settings: [], now, ntp: undefined });
    return line;
  };
  await until('a heartbeat arrives', async () => monitor.requests[0]);
  const line = await until('doctor knows of it', async () => {
    const found = await doctor();
    return found?.status === 'ok' ? found : undefined;
  });
  expect(line.says).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/…: the last one arrived \d+ s ago$/);
  await service.app.notify.stop();
  await changeMeta(service.app.db.query, 'last_heartbeat_at', '1');
  expect(await doctor()).toMatchObject({
    status: 'warning',
    says: expect.stringContaining('none has arrived there since 1970-'),
  });
  await monitor.close();
  expect(await doctor()).toMatchObject({ status: 'failed', fix: 'gatewayd notify test' });
});

test('is sent once by notify test, marked as a test', async () => {
  const monitor = await monitorWith();
  const { app } = await start(monitor);
  expect(await sendTests(app)).toEqual([{ to: `${monitor.url}/…`, fault: null }]);
  expect(bodyOf(monitor)).toEqual({ ok: true, wrong: [], test: true });
});
