// Requests that arrive together begin address by address, however many of them one has.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { inSlices } from '../../../daemon/http/slices.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const request = (name: string) => ({ url: name }) as IncomingMessage;
const response = (destroyed = false) => ({ destroyed }) as ServerResponse;
const addressOf = ({ url }: IncomingMessage) => url?.split('/')[0] ?? '';

const work = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test('who sends one request waits for a moment of the one who sends a thousand', async () => {
  verifies('floods');
  const begun: string[] = [];
  const listener = inSlices(addressOf, ({ url }) => {
    begun.push(url ?? '');
    work(2);
  });
  for (let each = 0; each < 50; each++) listener(request(`greedy/${each}`), response());
  listener(request('buyer/1'), response());
  listener(request('shop/1'), response());
  await until('all are answered', async () => begun.length === 52 || undefined);
  expect(begun.slice(0, 3)).toEqual(['greedy/0', 'buyer/1', 'shop/1']);
  expect(begun.filter((name) => name.startsWith('greedy'))).toEqual(
    Array.from({ length: 50 }, (_, each) => `greedy/${each}`),
  );
});

test('what is quick is begun many at a time, and what no one waits for any more not at all', async () => {
  const begun: string[] = [];
  const listener = inSlices(addressOf, ({ url }) => void begun.push(url ?? ''));
  for (let each = 0; each < 20; each++) listener(request(`one/${each}`), response(each % 2 === 1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toHaveLength(10);
});

test('an answer that throws stops no other', async () => {
  const begun: string[] = [];
  const caught: unknown[] = [];
  const note = (error: unknown) => caught.push(error);
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', note);
  const listener = inSlices(addressOf, ({ url }) => {
    begun.push(url ?? '');
    if (url === 'a/0') throw new Error('a fault');
  });
  for (const name of ['a/0', 'a/1', 'b/0']) listener(request(name), response());
  await until('the others are answered', async () => begun.length === 3 || undefined);
  process.removeListener('uncaughtException', note);
  for (const each of before) process.on('uncaughtException', each);
  expect(caught).toHaveLength(1);
});
