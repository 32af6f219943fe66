// How often a caller may call, and that counting never takes more memory than it may.
import { describe, expect, test } from 'vitest';
import { createLimits, type LimitSettings } from '../../../daemon/http/limits.ts';
import { callerAddress } from '../../../daemon/http/proxies.ts';
import { Refusal } from '../../../src/errors.ts';
import { verifies } from '../../requirements.ts';

const settings: LimitSettings = {
  login_per_address: 10,
  login_per_identity: 5,
  recovery_per_address: 10,
  recovery_per_identity: 5,
  signup_per_address: 10,
  checkout_per_address: 30,
  claim_per_address: 10,
  claim_per_invoice: 5,
  claim_per_blockchain: 30,
  compose_per_address: 20,
  compose_per_blockchain: 30,
  explain_per_address: 120,
};

function limited(
  overrides: Partial<LimitSettings> = {},
  options: { exempt_loopback?: boolean; max_callers?: number } = {},
) {
  const clock = { now: 1_000_000, ms: () => clock.now };
  const limits = createLimits({ ...settings, ...overrides }, { clock, exempt_loopback: false, ...options });
  const tries = (work: () => void) => {
    try {
      work();
      return 'ok';
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.retry_after;
    }
  };
  return {
    clock,
    login: (ip: string) => tries(() => limits.byAddress('login', ip)),
    checkout: (ip: string) => tries(() => limits.byAddress('checkout', ip)),
    unlimited: (ip: string) => tries(() => limits.byAddress(undefined, ip)),
    as: (username: string, ip = '198.51.100.1') =>
      tries(() => limits.byIdentity('login', ip, { body: { username } })),
    recover: (email: string) =>
      tries(() => limits.byIdentity('recovery', '198.51.100.1', { params: { email } })),
  };
}

const times = (count: number, work: () => unknown) => Array.from({ length: count }, work);

describe('one address', () => {
  test('may sign in ten times within a minute, and learns when it may again', () => {
    verifies('rate-limit-sign-in');
    const { login, clock } = limited();
    expect(new Set(times(10, () => login('203.0.113.1')))).toEqual(new Set(['ok']));
    clock.now += 20_000;
    expect(login('203.0.113.1')).toBe(40);
    expect(login('203.0.113.2')).toBe('ok');
    clock.now += 40_000;
    expect(login('203.0.113.1')).toBe('ok');
  });

  test('does not wait longer for having tried in between', () => {
    const { login, clock } = limited();
    times(10, () => login('203.0.113.1'));
    for (let second = 1; second < 60; second++) {
      clock.now += 1000;
      expect(login('203.0.113.1')).toBe(60 - second);
    }
    clock.now += 1000;
    expect(login('203.0.113.1')).toBe('ok');
  });

  test('is the same in its IPv4-mapped form, and one /64 is one address', () => {
    const { login } = limited({ login_per_address: 1 });
    login(callerAddress('203.0.113.1', new Headers(), null));
    expect(login(callerAddress('::ffff:203.0.113.1', new Headers(), null))).toBe(60);
    login('2001:db8:1:2::1');
    expect(login('2001:db8:1:2:ffff::9')).toBe(60);
    expect(login('2001:db8:1:3::1')).toBe('ok');
  });

  test('has a window for each limit, and none where the endpoint names none or the setting is 0', () => {
    verifies('rate-limit-429');
    const { login, checkout, unlimited } = limited({ login_per_address: 1, checkout_per_address: 0 });
    login('203.0.113.1');
    expect(login('203.0.113.1')).toBe(60);
    expect(new Set(times(1000, () => checkout('203.0.113.1')))).toEqual(new Set(['ok']));
    expect(new Set(times(1000, () => unlimited('203.0.113.1')))).toEqual(new Set(['ok']));
  });

  test('of this machine is free in demo mode only', () => {
    verifies('rate-limit-429');
    const demo = limited({}, { exempt_loopback: true });
    for (const ip of ['127.0.0.1', '127.1.2.3', '::1'])
      expect(new Set(times(50, () => demo.login(ip)))).toEqual(new Set(['ok']));
    expect(times(11, () => demo.login('10.0.0.1')).at(-1)).toBe(60);
    expect(times(11, () => limited().login('127.0.0.1'))).toContain('ok');
    const real = limited();
    expect(times(11, () => real.login('127.0.0.1')).at(-1)).toBe(60);
  });
});

test('one identity may be tried five times, however it is written and from wherever', () => {
  verifies('rate-limit-sign-in');
  const { as, recover } = limited();
  const spellings = ['a@example.com', ' A@EXAMPLE.com', 'a@example.com ', 'A@example.com', 'a@Example.Com'];
  for (const [index, spelling] of spellings.entries()) expect(as(spelling, `203.0.113.${index}`)).toBe('ok');
  expect(as('a@example.com', '203.0.113.99')).toBe(60);
  expect(as('b@example.com')).toBe('ok');
  expect(recover('a@example.com')).toBe('ok');
});

test('a clock that was set back locks no one out', () => {
  const { login, clock } = limited({ login_per_address: 1 });
  login('203.0.113.1');
  clock.now -= 3_600_000;
  expect(login('203.0.113.1')).toBe('ok');
});

test('of more callers than there is room for, the longest silent one is forgotten', () => {
  const { login } = limited({ login_per_address: 1 }, { max_callers: 100 });
  for (let at = 0; at < 100; at++) login(`10.0.0.${at}`);
  login('10.0.0.0');
  login('10.0.1.1');
  expect(login('10.0.0.0')).toBe(60);
  expect(login('10.0.0.1')).toBe('ok');
});
