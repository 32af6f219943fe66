// Limits of several daemons on one PostgreSQL database: together they let through what one would.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countCall, forgetCalls } from '../../../data/call-windows.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { recordStatements } from '../../helpers/statements.ts';
import { verifies } from '../../requirements.ts';

const DAEMONS = 3;
const LIMIT = 6;
const IDENTITY_LIMIT = 4;
const TOTAL_LIMIT = 9;
/** When who was refused by the queue of hashes may come back. */
const QUEUE_SECONDS = '2';
const settings = {
  trust_proxy: true,
  'limits.login_per_address': String(LIMIT),
  'limits.login_per_identity': String(IDENTITY_LIMIT),
  'limits.login_per_identity_total': String(TOTAL_LIMIT),
  'limits.recovery_per_identity_total': String(TOTAL_LIMIT),
  'limits.recovery_per_address': String(LIMIT),
  'limits.recovery_per_identity': String(IDENTITY_LIMIT),
  'limits.signup_per_address': String(LIMIT),
  'limits.checkout_per_address': String(LIMIT),
  'limits.compose_per_address': String(LIMIT),
  'limits.explain_per_address': String(LIMIT),
};

describe.skipIf(!hasPostgres)('three daemons', () => {
  const clock = testClock();
  let daemons: TestApp[] = [];
  let addresses = 0;
  beforeAll(async () => {
    const first = await startApp({ single: true, database: 'postgres', settings, clock });
    const { database_url } = first.app.config;
    const others = Array.from({ length: DAEMONS - 1 }, () =>
      startApp({ single: true, database: 'postgres', settings, clock, database_url }),
    );
    daemons = [...(await Promise.all(others)), first];
  });
  afterAll(async () => {
    for (const daemon of daemons) await daemon.stop();
  });

  const newAddress = () => `198.51.100.${++addresses}`;
  const turn = (count: number) => daemons[count % DAEMONS] as TestApp;
  const kinds = {
    login: (at: number, ip: string, name = `someone-${at}-${ip}@example.com`) =>
      turn(at).fetch('POST', '/api/v1/login/access-token', {
        headers: { 'x-forwarded-for': ip, 'content-type': 'application/x-www-form-urlencoded' },
        body: `username=${encodeURIComponent(name)}&password=wrong-password`,
      }),
    recovery: (at: number, ip: string, name = `someone-${at}-${ip}@example.com`) =>
      turn(at).fetch('POST', `/api/v1/password-recovery/${encodeURIComponent(name)}`, {
        headers: { 'x-forwarded-for': ip },
      }),
    signup: (at: number, ip: string) =>
      turn(at).fetch('POST', '/api/v1/users/signup', {
        headers: { 'x-forwarded-for': ip },
        body: { email: `new-${at}-${ip}@example.com`, password: 'short' },
      }),
    checkout: (at: number, ip: string) =>
      turn(at).fetch('POST', '/v1/units/0192f0c1-0000-7000-8000-000000000000/checkout', {
        headers: { 'x-forwarded-for': ip },
        body: { chain: 'ton' },
      }),
    compose: (at: number, ip: string) =>
      turn(at).fetch('POST', '/v1/invoices/0192f0c1-0000-7000-8000-000000000000/transaction', {
        headers: { 'x-forwarded-for': ip },
        body: { account: 'someone' },
      }),
    explain: (at: number, ip: string) =>
      turn(at).fetch('GET', '/v1/explain?q=order-1', { headers: { 'x-forwarded-for': ip } }),
  };

  test.each(Object.keys(kinds) as (keyof typeof kinds)[])(
    'let one address make as many calls of %s as one daemon would, at once and one by one',
    async (kind) => {
      verifies('rate-limit-shared', 'rate-limit-429', 'compose-limits');
      const attempt = kinds[kind];
      const one = newAddress();
      const atOnce = await Promise.all(Array.from({ length: 4 * LIMIT }, (_, at) => attempt(at, one)));
      // Of those that the limit lets through, only one of a caller waits for its password to be hashed.
      const refused = atOnce.filter(
        ({ status, headers }) => status === 429 && headers.get('retry-after') !== QUEUE_SECONDS,
      );
      expect(atOnce.length - refused.length).toBe(LIMIT);
      expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['60']));
      const other = newAddress();
      const statuses: number[] = [];
      for (let at = 0; at < LIMIT + DAEMONS; at++) statuses.push((await attempt(at, other)).status);
      expect(statuses.map((status) => status === 429)).toEqual([
        ...Array.from({ length: LIMIT }, () => false),
        ...Array.from({ length: DAEMONS }, () => true),
      ]);
      clock.advance(61);
      expect((await attempt(0, one)).status).not.toBe(429);
    },
  );

  test.each(['login', 'recovery'] as const)('count the calls of %s about one identity', async (kind) => {
    verifies('rate-limit-shared');
    const name = `target-${kind}@example.com`;
    const letThrough = async (count: number, ip: () => string) => {
      const statuses: number[] = [];
      for (let at = 0; at < count + DAEMONS; at++) statuses.push((await kinds[kind](at, ip(), name)).status);
      return statuses.filter((status) => status !== 429).length;
    };
    const one = newAddress();
    expect(await letThrough(IDENTITY_LIMIT, () => one)).toBe(IDENTITY_LIMIT);
    expect(await letThrough(TOTAL_LIMIT, newAddress)).toBe(TOTAL_LIMIT - IDENTITY_LIMIT);
  });

  test('ask the database nothing for a caller that is known to be refused, and store no address', async () => {
    verifies('rate-limit-shared');
    const ip = newAddress();
    for (let at = 0; at < LIMIT; at++) await kinds.login(0, ip);
    expect((await kinds.login(0, ip)).status).toBe(429);
    const recording = recordStatements();
    const asked = await recording.during(async () => {
      expect((await kinds.login(0, ip)).status).toBe(429);
    });
    recording.stop();
    expect(asked).toEqual([]);
    const { rows } = await sql<{ caller: string }>`select caller from call_windows`.execute(
      turn(0).app.db.query,
    );
    expect(rows.filter(({ caller }) => !/^[0-9a-f]{64}$/.test(caller))).toEqual([]);
  });

  test('forget callers when their minute is over', async () => {
    const { query } = turn(0).app.db;
    const call = { caller: 'forgotten', most: 1, window_ms: 60_000 };
    const now_ms = clock.ms();
    expect(await countCall(query, { ...call, now_ms })).toBe(0);
    expect(await countCall(query, { ...call, now_ms: now_ms + 20_000 })).toBe(40_000);
    // A clock that is behind counts what one that is ahead has counted.
    expect(await countCall(query, { ...call, now_ms: now_ms - 5_000 })).toBe(65_000);
    await forgetCalls(query, now_ms + 200_000);
    expect(await countCall(query, { ...call, now_ms: now_ms + 1 })).toBe(0);
  });
});
