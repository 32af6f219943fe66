// Which requests leave through a proxy: the conventions of the variables, and what stays on this machine.
import { expect, test } from 'vitest';
import { credentialsFor, isProxy, proxiesIn, proxyFor, shownProxy } from '../../src/proxy.ts';
import { verifies } from '../requirements.ts';

const refuse = (name: string) => {
  throw new Error(name);
};
const wayOf = (env: Record<string, string>, url: string) =>
  proxyFor(proxiesIn(env, refuse), new URL(url))?.href;

test('https and http have a proxy each, and WebSockets theirs', () => {
  verifies('way-out');
  const env = { HTTPS_PROXY: 'http://one:1', HTTP_PROXY: 'http://two:2', https_proxy: '', NO_PROXY: '' };
  expect(wayOf(env, 'https://a.example/')).toBe('http://one:1/');
  expect(wayOf(env, 'wss://a.example/')).toBe('http://one:1/');
  expect(wayOf(env, 'http://a.example/')).toBe('http://two:2/');
  expect(wayOf({ ...env, https_proxy: 'http://lower:3\n' }, 'https://a.example/')).toBe('http://lower:3/');
  expect(wayOf({ HTTP_PROXY: 'http://two:2' }, 'https://a.example/')).toBeUndefined();
});

test.each([
  ['*', 'a.example', true],
  ['example.com', 'example.com', true],
  ['example.com', 'A.Example.COM.', true],
  ['.example.com', 'a.example.com', true],
  ['*.example.com', 'a.example.com', true],
  ['example.com', 'notexample.com', false],
  ['other, example.com:8443', 'example.com', false],
  ['other, example.com:443', 'example.com', true],
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.0.0.0/8', '10.example.com', false],
  ['0.0.0.0/0', '1.2.3.4', true],
  ['192.168.1.7', '192.168.1.7', true],
  ['[fd00::1]', '[fd00::1]', true],
  ['fd00::1', '[fd00::1]', true],
  ['', 'localhost', true],
  ['', '127.0.0.1', true],
  ['', '[::1]', true],
  ['', '10.0.0.1', false],
])('NO_PROXY=%s leaves out %s: %s', (NO_PROXY, host, isDirect) => {
  verifies('way-out');
  expect(wayOf({ HTTPS_PROXY: 'http://proxy:1', NO_PROXY }, `https://${host}/`) === undefined).toBe(isDirect);
});

test('what is no proxy is reported, and credentials are sent and never shown', () => {
  expect(() => proxiesIn({ HTTPS_PROXY: 'socks5://a:1' }, refuse)).toThrow('HTTPS_PROXY');
  expect(['http://a:1', 'https://u:p@a', 'a:1', 'http://a/x', 'ftp://a'].map(isProxy)).toEqual([
    ...[true, true, false, false, false],
  ]);
  const proxy = 'http://us%40er:p%C3%A4ss@proxy.example:3128';
  expect(credentialsFor(new URL(proxy))).toEqual({
    'proxy-authorization': `Basic ${Buffer.from('us@er:päss').toString('base64')}`,
  });
  expect(credentialsFor(new URL('http://proxy'))).toEqual({});
  expect(shownProxy(proxy)).toBe('http://proxy.example:3128');
});
