// `gw` behind a forward proxy: what it asks of the service goes through, with TLS and without, and credentials stay its own.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { fetchService } from '../../cli/engine/transport.ts';
import { openForwardProxy } from '../helpers/forward-proxy.ts';
import { serve } from '../helpers/local-server.ts';
import { verifies } from '../requirements.ts';

afterEach(() => vi.unstubAllEnvs());

async function secureServer(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-tls-'));
  const files = ['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=x'];
  execFileSync('openssl', [...made, ...files], { stdio: 'ignore' });
  const tls = { key: readFileSync(join(dir, 'key.pem')), cert: readFileSync(join(dir, 'cert.pem')) };
  rmSync(dir, { recursive: true });
  const server = createServer(tls, (request, response) => {
    request.pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('calls go through the proxy that the environment names, but for NO_PROXY and this machine', async () => {
  verifies('way-out');
  const plain = await serve(({ body }, response) => response.end(body));
  const port = Number(new URL(plain.url).port);
  const hosts = { 'pay.example:443': await secureServer(), 'pay.example:80': port };
  const proxy = await openForwardProxy({ hosts, credentials: 'me:hidden' });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  vi.stubEnv('HTTP_PROXY', proxy.url);
  for (const url of ['https://pay.example/v1/a', 'http://pay.example/v1/b']) {
    const answer = await fetchService(url, { method: 'POST', headers: {}, body: '{"a":1}' });
    expect([answer.status, await answer.text()]).toEqual([200, '{"a":1}']);
  }
  expect(proxy.asked).toEqual(['CONNECT pay.example:443', 'POST http://pay.example/v1/b']);
  expect((await fetchService(`${plain.url}/v1/c`)).status).toBe(200);
  expect(proxy.asked).toHaveLength(2);
  vi.stubEnv('HTTPS_PROXY', proxy.url.replace('hidden', 'secret'));
  const refused = inspect(await fetchService('https://pay.example/').catch((error: Error) => error));
  expect(refused).toContain('refuses (HTTP 407)');
  expect(refused).not.toContain('secret');
  vi.stubEnv('HTTPS_PROXY', 'socks5://p:1');
  await expect(fetchService('https://pay.example/')).rejects.toThrow('HTTPS_PROXY must be');
});
