// Bodies that never end, or wait to be answered: one address holds 8 MB of them and no more, and takes nothing from others.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttp } from '../../../daemon/http/mount.ts';
import { type Serving, serve } from '../../../daemon/process/serve.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { fundedMerchant } from '../../helpers/payments.ts';
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
function begin(localAddress: string, bytes: number, path = '/v1/invoices', { port } = serving, key = '') {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  const state = { socket, answer: '' };
  sockets.push(socket);
  socket
    .on('error', () => {})
    .on('data', (data) => {
      state.answer += data;
    });
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-api-key: ${key}\r\ncontent-length: ${bytes + 1}\r\n\r\n`;
  socket.write(head + '{"chain":"ton","amount":"1"}'.padEnd(bytes));
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

test('a body that has come counts until it is answered', async () => {
  verifies('floods');
  const { key } = await fundedMerchant(world);
  let answer = () => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow = routes.map((route) =>
    route.endpoint.id === 'createInvoice'
      ? {
          ...route,
          handle: (...call: Parameters<typeof route.handle>) => gate.then(() => route.handle(...call)),
        }
      : route,
  );
  const server = await serve({ host: '127.0.0.1', port: 0 });
  server.open(createHttp(world.app, slow));
  const bodies = Array.from({ length: BODIES }, () =>
    begin('127.0.0.68', HELD_BYTES, '/v1/invoices', server, key),
  );
  for (const { socket } of bodies) socket.write(' ');
  const answered = (status: number) => bodies.filter((one) => one.answer.includes(` ${status} `)).length;
  await until('those beyond 8 MB are refused', async () => answered(429) >= 19 || undefined);
  answer();
  await until('all are answered', async () => answered(200) + answered(429) === BODIES || undefined);
  const again = begin('127.0.0.68', HELD_BYTES, '/v1/invoices', server, key);
  again.socket.write(' ');
  await until('there is room again', async () => again.answer.includes(' 200 ') || undefined);
  for (const { socket } of [...bodies, again]) socket.destroy();
  await server.stop();
});
