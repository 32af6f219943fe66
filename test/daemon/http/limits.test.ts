// How often a caller may call, and that counting never takes more memory than it may.
import { describe, expect, test } from 'vitest';
import { openPlaces, openShares } from '../../../daemon/http/counting.ts';
import { createLimits, type LimitSettings } from '../../../daemon/http/limits.ts';
import { callerAddress } from '../../../daemon/http/proxies.ts';
import { Refusal } from '../../../src/errors.ts';
import { verifies } from '../../requirements.ts';

const settings: LimitSettings = {
  login_per_address: 10,
  login_per_identity: 5,
  login_per_identity_total: 100,
  recovery_per_address: 10,
  recovery_per_identity: 5,
  recovery_per_identity_total: 20,
  signup_per_address: 10,
  checkout_per_address: 30,
  claim_per_address: 10,
  claim_per_invoice: 5,
  claim_per_blockchain: 30,
  compose_per_address: 20,
  compose_per_blockchain: 30,
  explain_per_address: 120,
  pages_per_address: 600,
  streams_per_address: 200,
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

describe('one identity', () => {
  test('may be tried five times from one address, however both are written', () => {
    verifies('rate-limit-sign-in');
    const { as, recover } = limited();
    const composed = 'jos\u00e9@example.com';
    const spellings = [
      composed,
      ' JOS\u00c9@EXAMPLE.com',
      'jose\u0301@example.com',
      `${composed} `,
      `\u200b${composed}`,
    ];
    for (const [index, spelling] of spellings.entries())
      expect(as(spelling, `2001:db8::${index}`)).toBe('ok');
    expect(as('JOSE\u0301@example.com', '2001:db8::99')).toBe(60);
    expect(as('b@example.com', '2001:db8::99')).toBe('ok');
    expect(recover(composed)).toBe('ok');
  });

  test('is not locked out elsewhere by those who try it', () => {
    verifies('rate-limit-sign-in');
    const { as, clock } = limited();
    for (let minute = 0; minute < 3; minute++) {
      for (let at = 0; at < 10; at++) times(7, () => as('owner@example.com', `203.0.113.${at}`));
      expect(as('owner@example.com', '198.51.100.7')).toBe('ok');
      clock.now += 60_000;
    }
  });

  test('may be tried a hundred times from all addresses together', () => {
    verifies('rate-limit-sign-in');
    const { as } = limited();
    for (let at = 0; at < 100; at++) expect(as('owner@example.com', `203.0.113.${at}`)).toBe('ok');
    expect(as('Owner@Example.com', '198.51.100.7')).toBe(60);
    expect(as('other@example.com', '198.51.100.7')).toBe('ok');
    const none = limited({ login_per_identity: 0, login_per_identity_total: 3 });
    expect(times(4, () => none.as('a@example.com'))).toEqual(['ok', 'ok', 'ok', 60]);
  });
});

test('a clock that was set back locks no one out', () => {
  const { login, clock } = limited({ login_per_address: 1 });
  login('203.0.113.1');
  clock.now -= 3_600_000;
  expect(login('203.0.113.1')).toBe('ok');
});

describe('of more callers than there is room for', () => {
  const full = () => {
    const { login, checkout, clock } = limited({ login_per_address: 1 }, { max_callers: 100 });
    for (let at = 0; at < 100; at++) login(`10.0.0.${at}`);
    return { login, checkout, clock };
  };

  test('none begins again because others came', () => {
    const { login } = full();
    for (let at = 0; at < 100; at++) login(`10.0.1.${at}`);
    for (let at = 0; at < 100; at++) expect(login(`10.0.0.${at}`)).toBe(60);
  });

  test('those who come last are counted together with their neighbours, apart from others', () => {
    const { login } = full();
    expect(login('198.51.100.1')).toBe('ok');
    expect(login('198.51.200.2')).toBe(60);
    expect(login('203.0.113.1')).toBe('ok');
    expect(login('2001:db8:1:1::1')).toBe('ok');
    expect(login('2001:db8:2:2::1')).toBe(60);
  });

  test('what is limited otherwise is counted apart', () => {
    const { login, checkout } = full();
    login('198.51.100.1');
    for (let at = 0; at < 30; at++) expect(checkout('198.51.100.1')).toBe('ok');
    expect(checkout('198.51.100.1')).toBe(60);
  });

  test('each has a count of its own again when those of others are over', () => {
    const { login, clock } = full();
    clock.now += 60_000;
    for (const ip of ['198.51.100.1', '198.51.100.2']) expect(login(ip)).toBe('ok');
    expect(login('198.51.100.1')).toBe(60);
  });
});

describe('a share of what is taken very often', () => {
  const shares = () => {
    const clock = { now: 1_000_000, ms: () => clock.now };
    return { clock, take: openShares(clock) };
  };

  test('is there at once, comes back evenly, and says truly when', () => {
    const { clock, take } = shares();
    expect(new Set(times(60, () => take('pages one', 60, '203.0.113.1')))).toEqual(new Set([0]));
    expect(take('pages one', 60, '203.0.113.1')).toBe(1_000);
    expect(take('pages other', 60, '203.0.113.2')).toBe(0);
    clock.now += 999;
    expect(take('pages one', 60, '203.0.113.1')).toBe(1);
    clock.now += 1;
    expect(take('pages one', 60, '203.0.113.1')).toBe(0);
    clock.now += 60_000;
    expect(times(61, () => take('pages one', 60, '203.0.113.1')).filter((wait) => wait !== 0)).toEqual([
      1_000,
    ]);
  });

  test('is there when the clock was set back', () => {
    const { clock, take } = shares();
    times(60, () => take('pages one', 60, '203.0.113.1'));
    clock.now -= 3_600_000;
    expect(take('pages one', 60, '203.0.113.1')).toBe(0);
  });

  test('is not there again because more callers came than there is room for', () => {
    const { take } = shares();
    take('pages one', 1, '203.0.113.1');
    for (let at = 0; at < 30_000; at++) take(`pages other ${at}`, 1, '198.51.100.1');
    expect(take('pages one', 1, '203.0.113.1')).toBe(60_000);
  });
});

test('places are taken up to a number, for each caller, and each is given back once', () => {
  const enter = openPlaces();
  const [first, second] = [enter('one', 2), enter('one', 2)];
  expect(enter('one', 2)).toBeNull();
  expect(enter('other', 2)).not.toBeNull();
  first?.();
  first?.();
  expect(enter('one', 2)).not.toBeNull();
  expect(enter('one', 2)).toBeNull();
  second?.();
  expect(enter('one', 2)).not.toBeNull();
});
