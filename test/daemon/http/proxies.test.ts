// Whose address counts behind proxies: never one that the caller could have written.
import { describe, expect, test } from 'vitest';
import { callerAddress, readProxies, type TrustedProxies, trustOf } from '../../../daemon/http/proxies.ts';

const PEER = '10.0.0.1';
const caller = (proxies: TrustedProxies, headers: Record<string, string>, peer: string | undefined = PEER) =>
  callerAddress(peer, new Headers(headers), trustOf(proxies));
const xff = (value: string) => ({ 'x-forwarded-for': value });
const forwarded = (value: string) => ({ forwarded: value });

describe('the caller’s address', () => {
  test('is the peer’s, whatever the caller writes, where no proxy is trusted', () => {
    const headers = { ...xff('6.6.6.6, 203.0.113.7'), ...forwarded('for=6.6.6.6') };
    expect([caller(false, headers), caller(0, headers)]).toEqual([PEER, PEER]);
    expect(callerAddress(undefined, new Headers(), null)).toBe('127.0.0.1');
  });

  test('is the one that a trusted proxy added last', () => {
    expect(caller(true, xff('6.6.6.6, 203.0.113.7'))).toBe('203.0.113.7');
    expect(caller(true, xff('unknown'))).toBe(PEER);
    expect(caller(true, {})).toBe(PEER);
  });

  test('is as many entries away as there are proxies, and no more', () => {
    const headers = xff('6.6.6.6, 203.0.113.7, 172.16.0.1');
    expect(caller(2, headers)).toBe('203.0.113.7');
    expect(caller(3, xff('203.0.113.7, 172.16.0.1'))).toBe('203.0.113.7');
  });

  test('is the first that is not in a trusted network', () => {
    const networks = ['10.0.0.0/8', '172.16.0.1', 'fd00::/8'];
    expect(caller(networks, xff('6.6.6.6, 203.0.113.7, 172.16.0.1'))).toBe('203.0.113.7');
    expect(caller(networks, xff('203.0.113.7, fd00::5, 10.1.2.3'))).toBe('203.0.113.7');
    expect(caller(networks, xff('6.6.6.6'), '192.0.2.1')).toBe('192.0.2.1');
    expect(caller(networks, xff('203.0.113.7'), '::ffff:10.0.0.1')).toBe('203.0.113.7');
  });

  test('is read with ports and brackets', () => {
    expect(caller(true, xff('203.0.113.7:4711'))).toBe('203.0.113.7');
    expect(caller(true, xff('[2001:db8::1]:4711'))).toBe('2001:db8::1');
    expect(caller(true, xff('::ffff:203.0.113.7'))).toBe('203.0.113.7');
  });

  test('is read from Forwarded', () => {
    expect(caller(true, forwarded('for=6.6.6.6, for=203.0.113.7;proto=https;by=10.0.0.1'))).toBe(
      '203.0.113.7',
    );
    expect(caller(1, forwarded('proto=https;For="[2001:db8::1]:4711"'))).toBe('2001:db8::1');
    expect(caller(2, forwarded('for=203.0.113.7, for=10.0.0.9'))).toBe('203.0.113.7');
    expect(caller(true, forwarded('for=_hidden'))).toBe(PEER);
    expect(caller(true, forwarded('for=203.0.113.7, proto=https'))).toBe(PEER);
  });

  test('is not taken from a header that the caller opened a quote in', () => {
    expect(caller(true, forwarded('for=6.6.6.6;x=", for="[2001:db8::1]"'))).toBe(PEER);
    expect(caller(true, forwarded('for=6.6.6.6;x=", for=203.0.113.7'))).toBe(PEER);
    expect(caller(true, forwarded('for="a, b";for=203.0.113.7'))).toBe(PEER);
  });

  test('is no one’s word where two headers disagree: the proxy adds one of them, the caller the other', () => {
    expect(caller(true, { ...xff('6.6.6.6'), ...forwarded('for=203.0.113.7') })).toBe(PEER);
    expect(caller(true, { ...xff('203.0.113.7'), ...forwarded('for=203.0.113.7') })).toBe('203.0.113.7');
  });
});

describe('the setting', () => {
  test.each([
    ['2', 2],
    [3, 3],
    [true, true],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    [['192.168.0.1'], ['192.168.0.1']],
  ])('reads %j', (value, read) => {
    expect(readProxies(value)).toEqual(read);
  });

  test.each([21, -1, 1.5, '', [], 'nginx', ['10.0.0.0/33'], [7, 8], {}, null])('refuses %j', (value) => {
    expect(readProxies(value)).toEqual({ error: expect.any(String) });
  });
});
