// Bodies that never end: one address holds 8 MB of them and no more, and takes nothing from others.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttp } from '../../../daemon/http/mount.ts';
import { type Serving, serve } from '../../../daemon/process/serve.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const BODIES = 60;
/** Below what one body may have; all of them are more than an address may hold. */
const HELD_BYTES = 200_000;

let world: TestApp;
let serving: Serving;
const sockets: Socket[] = [];
beforeAll(async () => {
  world = await startApp({ settings: { demo: false } });
  serving = await serve({ host: '127.0.0.1', port: 0 });
  serving.open(createHttp(world.app, routes));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await serving.stop();
  await world.stop();
});

/** Sends a body and leaves its last byte out; what is answered all the same. */
function begin(localAddress: string, bytes: number, path = '/v1/invoices') {
  const socket = connect({ host: '127.0.0.1', port: serving.port, localAddress });
  const state = { socket, answer: '' };
  sockets.push(socket);
  socket
    .on('error', () => {})
    .on('data', (data) => {
      state.answer += data;
    });
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bytes + 1}\r\n\r\n`;
  socket.write(head + ' '.repeat(bytes));
  return state;
}

test('what one address holds of bodies is refused beyond its share, others are heard, and what is gone is given back', async () => {
  verifies('floods');
  const bodies = Array.from({ length: BODIES }, () => begin('127.0.0.66', HELD_BYTES));
  const refused = () => bodies.filter(({ answer }) => answer.includes(' 429 '));
  await until('those beyond 8 MB are refused', async () => refused().length >= 19 || undefined);
  // 41 of them are 8.2 million bytes.
  expect(refused().length).toBeLessThan(BODIES - 38);
  const other = begin('127.0.0.3', HELD_BYTES);
  other.socket.write(' ');
  await until('another address is answered', async () => other.answer.includes(' 401 ') || undefined);
  for (const { socket } of bodies) socket.destroy();
  const later = await until('its own is, too', async () => {
    const again = begin('127.0.0.66', HELD_BYTES);
    again.socket.write(' ');
    await until('it is answered', async () => again.answer !== '' || undefined);
    return again.answer.includes(' 401 ') || undefined;
  });
  expect(later).toBe(true);
});

test('a body that its handler reads itself counts too', async () => {
  const bodies = Array.from({ length: BODIES }, () => begin('127.0.0.67', HELD_BYTES, '/mcp'));
  const refused = () => bodies.filter(({ answer }) => answer.includes(' 429 '));
  await until('those beyond 8 MB are refused', async () => refused().length >= 19 || undefined);
  for (const { socket } of bodies) socket.destroy();
});
