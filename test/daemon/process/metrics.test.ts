// The metrics of a real process: on a port of their own, with the times of its database and of its event loop.
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMetrics } from '../../helpers/metrics.ts';
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
