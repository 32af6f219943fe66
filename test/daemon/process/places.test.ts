// Connections: one address has its share of them, which a proxy and one's own machine in demo mode may exceed.
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Http } from '../../../daemon/http/mount.ts';
import { serve } from '../../../daemon/process/serve.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const SHARE = 2_000;
const TRIED = 2_100;
const AT_ONCE = 100;

/** Opens so many connections; how many of them stay. */
async function openMany(port: number, localAddress: string) {
  const sockets: Socket[] = [];
  let closed = 0;
  let connected = 0;
  for (let each = 0; each < TRIED; each++) {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.once('connect', () => connected++).once('close', () => closed++);
    sockets.push(socket.on('error', () => {}).resume());
    // The system lets a few hundred wait to be accepted.
    if (each % AT_ONCE === 0) await until('those have come', async () => connected > each || undefined);
  }
  await until('all of them have come', async () => connected === TRIED || undefined);
  return { sockets, closed: () => closed };
}

const isServed = (port: number, localAddress: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket
      .on('error', () => {})
      .once('data', () => resolve(true))
      .once('close', () => resolve(false));
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  });

const answering = { h3: { fetch: () => new Response('ok') }, drain() {}, stop() {} } as unknown as Http;

test('one address has its share of connections, and others are served all the same', async () => {
  verifies('floods');
  const serving = await serve({ host: '127.0.0.1', port: 0 });
  serving.open(answering);
  const { sockets, closed } = await openMany(serving.port, '127.0.0.66');
  await until('what is too much is closed', async () => closed() >= TRIED - SHARE || undefined);
  expect(closed()).toBe(TRIED - SHARE);
  expect(await isServed(serving.port, '127.0.0.66')).toBe(false);
  expect(await isServed(serving.port, '127.0.0.3')).toBe(true);
  // What is closed makes room.
  for (const socket of sockets.slice(0, TRIED / 2)) socket.destroy();
  await until('there is room', async () => (await isServed(serving.port, '127.0.0.66')) || undefined);
  for (const socket of sockets) socket.destroy();
  await serving.stop();
});

test('who asks and never reads keeps no connection', async () => {
  verifies('floods');
  const serving = await serve({ host: '127.0.0.1', port: 0, unread_ms: 1_000 });
  const large = 'x'.repeat(1024 * 1024);
  serving.open({ ...answering, h3: { fetch: () => new Response(large) } } as unknown as Http);
  const socket = connect({ host: '127.0.0.1', port: serving.port }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  let written = 0;
  const asking = setInterval(() => {
    if (socket.writableLength === 0) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n', () => written++);
  }, 1);
  onTestFinished(() => clearInterval(asking));
  await until('more was asked than the system holds', async () => written > 20 || undefined);
  clearInterval(asking);
  // Who writes again is shown that it was closed.
  await until('it was closed', async () => {
    socket.write('\r\n');
    return socket.destroyed || undefined;
  });
  await serving.stop();
});

test.each([
  { why: 'behind a trusted proxy', trust_proxy: ['127.0.0.0/8'], demo: false },
  { why: 'from this machine in demo mode', trust_proxy: false as const, demo: true },
])('$why all connections are taken', async ({ trust_proxy, demo }) => {
  const serving = await serve({ host: '127.0.0.1', port: 0, trust_proxy, demo });
  serving.open(answering);
  const { sockets, closed } = await openMany(serving.port, '127.0.0.66');
  expect(await isServed(serving.port, '127.0.0.66')).toBe(true);
  expect(closed()).toBe(0);
  for (const socket of sockets) socket.destroy();
  await serving.stop();
});
