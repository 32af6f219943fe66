// The metrics of a real process: on a port of their own, with the times of its database and of its event loop.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { alerts } from '../../../daemon/runbook/alerts.ts';
import { lintMetrics, readMetrics } from '../../helpers/metrics.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { type Home, makeHome } from '../helpers/process.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) =>
    probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port)),
  );
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

test('are on their own port, asked for with the token where one is set, and on no other', async () => {
  verifies('metrics');
  const port = await freePort();
  const token = 'a-token-for-metrics';
  const daemon = await home.start({
    args: ['--metrics-port', String(port)],
    env: { GATEWAYD_METRICS_TOKEN: token },
  });
  const url = `http://127.0.0.1:${port}/metrics`;
  const authorized = { headers: { authorization: `Bearer ${token}` } };
  expect((await fetch(`${daemon.url}/metrics`, authorized)).status).toBe(404);
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(new URL('/', url), authorized)).status).toBe(404);
  const answer = await fetch(url, authorized);
  expect(answer.status).toBe(200);
  const { value, types } = readMetrics(await answer.text());
  expect(types.get('gatewayd_database_duration_seconds')).toBe('histogram');
  for (const kind of ['statement', 'transaction'])
    expect(value('gatewayd_database_duration_seconds_count', { kind })).toBeGreaterThan(0);
  expect(value('gatewayd_database_up')).toBe(1);
  expect(value('gatewayd_event_loop_delay_seconds', { quantile: '0.99' })).toBeGreaterThanOrEqual(0);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(2 ** 20);
  expect(value('gatewayd_provider_requests_total')).toBeGreaterThanOrEqual(0);
  const taken = await home.run(['start', '--port', '0', '--metrics-port', String(port)], {
    env: { GATEWAYD_DATABASE_URL: `sqlite:${home.dir}/other.db`, GATEWAYD_DATA_DIR: `${home.dir}/other` },
  });
  expect([taken.code, taken.stderr]).toEqual([78, expect.stringContaining('with --metrics-port')]);
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(daemon.stderr()).not.toContain(token);
});

/** Starts a daemon whose providers cannot be reached; returns how to read its metrics. */
async function started(env: Record<string, string> = {}) {
  const port = await freePort();
  const daemon = await home.start({
    args: ['--metrics-port', String(port)],
    env: { GATEWAYD_BLIND_AFTER_SECONDS: '5', ...env },
  });
  const text = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return { daemon, text, read: async () => readMetrics(await text()) };
}

test('keep to the conventions that promtool checks', async () => {
  verifies('metrics-upkeep');
  const { text } = await started();
  expect(lintMetrics(await text())).toEqual([]);
  // The check itself finds what is wrong.
  const wrong = '# HELP a_ms A.\n# TYPE a_ms gauge\na_ms{quantile="1"} 1\n# TYPE b counter\nb 1\n';
  expect(lintMetrics(wrong)).toHaveLength(4);
});

test('have a sample of a blockchain that could not be read since the start', async () => {
  verifies('metrics-upkeep');
  const { read } = await started();
  const first = await read();
  const chains = first.series.filter(({ name }) => name === 'gatewayd_blockchain_blind');
  expect(chains.map(({ labels }) => labels.blockchain)).toEqual(expect.arrayContaining(['ton', 'bitcoin']));
  await until('ton is blind', async () =>
    (await read()).value('gatewayd_blockchain_blind', { blockchain: 'ton' }) === 1 ? true : undefined,
  );
});

test('give the age of the last backup, infinite where there is none, and the disks', async () => {
  verifies('metrics-upkeep');
  const { read } = await started();
  const before = await read();
  expect(before.value('gatewayd_backup_age_seconds')).toBe(Number.POSITIVE_INFINITY);
  expect(before.value('gatewayd_backup_max_age_seconds')).toBe(2 * 86_400);
  const free = before.value('gatewayd_disk_free_bytes', { place: 'data' }) ?? Number.NaN;
  expect(free).toBeGreaterThan(0);
  expect(before.value('gatewayd_disk_size_bytes', { place: 'data' })).toBeGreaterThan(free);
  expect((await home.run(['backup', `${home.dir}/one.backup`])).code).toBe(0);
  // Sums of the database are up to 10 s old.
  await until('the backup is known', async () =>
    ((await read()).value('gatewayd_backup_age_seconds') ?? Number.POSITIVE_INFINITY) < 3600
      ? true
      : undefined,
  );
});

/** Prometheus's own. */
const OF_PROMETHEUS = ['up'];

test('are all that the alert rules name, which the daemon and the command print alike', async () => {
  verifies('alert-rules', 'runbook');
  const { daemon, read } = await started();
  const { types } = await read();
  for (const { name, expr } of alerts) {
    const names = expr.match(/\b(?:up|(?:gatewayd|process|nodejs)_[a-z_]+)\b/g) ?? [];
    expect(names.length, name).toBeGreaterThan(0);
    for (const one of names.filter((each) => !OF_PROMETHEUS.includes(each)))
      expect([...types.keys()], name).toContain(one);
  }
  const served = await fetch(`${daemon.url}/guides/alerts.yaml`);
  expect([served.status, served.headers.get('content-type')]).toEqual([
    200,
    'application/yaml; charset=utf-8',
  ]);
  const rules = await served.text();
  const printed = await home.run(['help', 'alerts', '--public-url', daemon.url]);
  expect([printed.code, printed.stdout]).toEqual([0, rules]);
  // Where Prometheus is installed, it reads them itself.
  const file = `${home.dir}/gatewayd.rules.yml`;
  writeFileSync(file, rules);
  const promtool = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  if (promtool.error === undefined) expect([promtool.status, promtool.stderr]).toEqual([0, '']);
  const page = await fetch(`${daemon.url}/guides/run`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const html = await page.text();
  for (const [, anchor] of rules.matchAll(/#([a-z0-9-]+)"/g)) expect(html).toContain(`id="${anchor}"`);
  expect((await fetch(`${daemon.url}/guides/constructor`)).status).toBe(404);
});

test('have a runbook that is printed whatever is wrong with the settings', async () => {
  verifies('runbook');
  const env = { GATEWAYD_LOG_LEVEL: 'loud' };
  const whole = await home.run(['help', 'runbook'], { env });
  expect([whole.code, whole.stderr]).toEqual([0, '']);
  expect(whole.stdout).toContain('[exit-78]');
  const part = await home.run(['help', 'runbook', 'disk'], { env });
  expect(whole.stdout).toContain(part.stdout.trim());
  expect((await home.run(['help', 'runbook', 'nothing'])).code).toBe(78);
  expect((await home.run(['help', 'admin', 'create'])).stdout).toContain('--password-stdin');
  expect((await home.run(['help', 'nothing'])).code).toBe(2);
});
