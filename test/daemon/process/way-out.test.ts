// The way out through a forward proxy: all that the daemon asks of others passes it, and no one else learns its credentials.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { openGoogleKeys } from '../../../daemon/accounts/google-keys.ts';
import { wayOut } from '../../../daemon/doctor/outside.ts';
import { examineTarget } from '../../../daemon/notify/targets.ts';
import { openHintSocket } from '../../../daemon/observer/hints/socket.ts';
import { createProvider } from '../../../daemon/observer/providers/provider.ts';
import { runtimeOf } from '../../../daemon/process/runtime.ts';
import { openSources } from '../../../daemon/rates/sources.ts';
import { ConfigError, loadConfig } from '../../../daemon/settings/config.ts';
import { openHttpOut } from '../../../daemon/webhooks/egress.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import { openForwardProxy } from '../../helpers/forward-proxy.ts';
import { serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

const CREDENTIALS = 'agent:se cret';
const signal = () => AbortSignal.timeout(10_000);
const configOf = (env: Record<string, string>) =>
  loadConfig({ env: { XDG_STATE_HOME: '/state', ...env }, cwd: '/nowhere' }).config;

let tls: { key: Buffer; cert: Buffer };
beforeAll(() => {
  const dir = mkdtempSync(join(tmpdir(), 'gatewayd-tls-'));
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=x', ...files],
    {
      stdio: 'ignore',
    },
  );
  tls = { key: readFileSync(join(dir, 'key.pem')), cert: readFileSync(join(dir, 'cert.pem')) };
  rmSync(dir, { recursive: true });
});

/** Servers that only the proxy can find, with and without TLS, and the daemon that goes out through it. */
async function open(env: Record<string, string> = {}) {
  const heard: string[] = [];
  const plain = await serve(({ path, headers }, response) => {
    heard.push(`${headers.host}${path}`);
    response.end('{"result":7,"keys":[]}');
  });
  const secure = createServer(tls, (request, response) => {
    heard.push(`${request.headers.host}${request.url}`);
    request.resume().on('end', () => response.end('{"result":7,"keys":[]}'));
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  onTestFinished(() => {
    secure.closeAllConnections();
    secure.close();
  });
  const [http, https] = [Number(new URL(plain.url).port), (secure.address() as AddressInfo).port];
  const proxy = await openForwardProxy({
    hosts: { 'plain.example:80': http, 'secure.example:443': https, 'hints.example:443': https },
    credentials: CREDENTIALS,
  });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const config = configOf({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, ...env });
  return { proxy, heard, config, runtime: runtimeOf(config), secure };
}

describe('through a proxy', () => {
  test('go webhooks, with TLS and without', async () => {
    verifies('way-out');
    const { proxy, heard, runtime } = await open();
    const out = openHttpOut({ allow_private: false, dns_servers: ['127.0.0.1:1'], runtime });
    for (const url of ['https://secure.example/hook?a=1', 'http://plain.example/hook'])
      expect(await out.post(url, { headers: {}, body: '{"a":1}', signal: signal() })).toEqual({
        kind: 'answered',
        http_status: 200,
      });
    expect(proxy.asked).toEqual(['CONNECT secure.example:443', 'POST http://plain.example/hook']);
    expect(heard).toEqual(['secure.example/hook?a=1', 'plain.example/hook']);
  });

  test('go questions to providers, on connections that stay, to price sources, Google and targets of notify', async () => {
    verifies('way-out');
    const { proxy, heard, config, runtime } = await open();
    const clock = { ms: () => 0 };
    const limits = { timeout_ms: 10_000, response_bytes: 10_000 };
    for (const url of ['https://secure.example/rpc', 'http://plain.example/rpc']) {
      const options = { requests_per_second: 1_000, limits, clock, random: () => 0, runtime };
      const { rpc, close } = createProvider({ provider: 'core', url }, options);
      onTestFinished(() => close(new ProviderError('unreachable', 'test over')));
      for (let n = 0; n < 3; n++) expect(await rpc.json('/x', { body: { n } })).toMatchObject({ result: 7 });
    }
    expect(proxy.asked.filter((line) => line.startsWith('CONNECT'))).toEqual(['CONNECT secure.example:443']);
    expect(heard).toHaveLength(6);
    const sources = openSources({
      clock,
      bases: { kraken: 'https://secure.example' },
      onChange() {},
      runtime,
    });
    await sources.ask([]);
    await sources.close();
    expect(heard.at(-1)).toMatch(/^secure\.example\//);
    const google = { google: { jwks_url: 'https://secure.example/certs' } } as Parameters<
      typeof openGoogleKeys
    >[0];
    await openGoogleKeys(google, runtime)({ alg: 'RS256', kid: 'x' }, { payload: '', signature: '' }).catch(
      () => {},
    );
    expect(heard.at(-1)).toBe('secure.example/certs');
    const target = { to: 'https://secure.example/notice' } as Parameters<typeof examineTarget>[0];
    expect(await examineTarget(target, config, signal(), runtime)).toBeNull();
    expect(heard.at(-1)).toBe('secure.example/notice');
  });

  test('come hints over a WebSocket', async () => {
    verifies('way-out');
    const { proxy, runtime, secure } = await open();
    const sockets = new WebSocketServer({ server: secure } as never);
    sockets.on('connection', (socket) => socket.send('{"moved":true}'));
    onTestFinished(() => void sockets.close());
    const text = await new Promise((resolve, reject) => {
      const options = { headers: {}, timeout_ms: 5_000, proxyOf: runtime.proxyOf };
      const socket = openHintSocket(new URL('wss://hints.example/ws'), options, {
        onOpen() {},
        onSign() {},
        onText: resolve,
        onEnd: (why) => reject(new Error(why)),
      });
      onTestFinished(() => socket.close());
    });
    expect(text).toBe('{"moved":true}');
    expect(proxy.asked).toEqual(['CONNECT hints.example:443']);
  });
});

describe('the guard against private addresses', () => {
  test('refuses what is private by its text or by its name, before the proxy is asked', async () => {
    verifies('way-out', 'outgoing-public-only');
    const { proxy, runtime } = await open();
    const post = (url: string) =>
      openHttpOut({ allow_private: false, runtime }).post(url, { headers: {}, body: '{}', signal: signal() });
    for (const url of [
      'https://10.0.0.1/',
      'https://169.254.169.254/',
      'http://[fd00::1]/',
      'http://metadata.google.internal/',
    ])
      expect(await post(url)).toMatchObject({ kind: 'failed' });
    expect(proxy.asked).toEqual([]);
  });
});

describe('a proxy', () => {
  test('that refuses or is away is reported without its credentials', async () => {
    verifies('way-out');
    const { proxy, runtime } = await open();
    const wrong = runtimeOf(
      configOf({
        HTTPS_PROXY: proxy.url.replace('agent', 'other'),
        HTTP_PROXY: proxy.url.replace('agent', 'other'),
      }),
    );
    const away = runtimeOf(configOf({ GATEWAYD_PROXY: 'http://me:hidden@127.0.0.2:9' }));
    for (const [through, code] of [
      [wrong, 'PROXY_REFUSED'],
      [away, 'PROXY_UNREACHABLE'],
    ] as const)
      for (const url of ['https://secure.example/', 'http://plain.example/']) {
        const out = openHttpOut({ allow_private: true, runtime: through });
        const failed = await out.post(url, { headers: {}, body: '{}', signal: signal() });
        expect(failed).toMatchObject({ kind: 'failed', error: expect.stringContaining(code) });
        const limits = { timeout_ms: 10_000, response_bytes: 10_000 };
        const options = {
          requests_per_second: 1_000,
          limits,
          clock: { ms: () => 0 },
          random: () => 0,
          runtime: through,
        };
        const { rpc, close } = createProvider({ provider: 'core', url }, options);
        onTestFinished(() => close(new ProviderError('unreachable', 'test over')));
        const error = await rpc.json('/x').catch((reason: Error) => reason.message);
        expect(error).toContain('the proxy http://127.0.0.');
        expect(`${error}${JSON.stringify(failed)}`).not.toMatch(/se cret|se%20cret|hidden|other:/);
      }
    expect(runtime.proxyOf?.(new URL('http://127.0.0.1:1/'))).toBeNull();
  });

  test('is named by doctor, with where it is from and what it is not asked for', async () => {
    verifies('way-out');
    const wayOf = async (env: Record<string, string>) =>
      (await wayOut({ config: configOf(env) } as Parameters<typeof wayOut>[0]))[0]?.says;
    expect(await wayOf({})).toBe('directly');
    expect(await wayOf({ HTTPS_PROXY: 'http://u:pw@p.example:1', GATEWAYD_PROXY: 'none' })).toBe(
      'directly, as proxy says',
    );
    const shown = await wayOf({ HTTPS_PROXY: 'http://u:pw@p.example:1', NO_PROXY: '10.0.0.0/8' });
    expect(shown).toMatch(
      /^https through http:\/\/p\.example:1, http directly \(HTTPS_PROXY\), but for 10\.0\.0\.0\/8/,
    );
    expect(shown).not.toContain('pw');
    expect(await wayOf({ GATEWAYD_PROXY: 'https://p.example' })).toMatch(
      /^through https:\/\/p\.example \(proxy\)/,
    );
  });

  test('that is none is refused where it is named', () => {
    expect(() => configOf({ HTTPS_PROXY: 'socks5://p:1' })).toThrow(ConfigError);
    expect(() => configOf({ GATEWAYD_PROXY: 'p:1' })).toThrow('must be http://…, https://…, or none');
    expect(configOf({ HTTPS_PROXY: 'socks5://p:1', GATEWAYD_PROXY: 'none' }).proxies.https).toBeNull();
  });
});
