// What one provider may answer, and what the daemon makes of it, over real HTTP.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createPace } from '../../../daemon/observer/providers/pace.ts';
import {
  createProvider,
  type Provider,
  type ProviderConfig,
} from '../../../daemon/observer/providers/provider.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import { type AnswerRequest, json, serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

const clock = { ms: () => Date.UTC(2026, 10, 20, 12) };

interface Settings {
  config?: Partial<ProviderConfig>;
  requests_per_second?: number;
  timeout_ms?: number;
  response_bytes?: number;
}

function provider(url: string, settings: Settings = {}): Provider {
  const { config, requests_per_second = 1000, timeout_ms = 2000, response_bytes = 1_000_000 } = settings;
  const opened = createProvider(
    { provider: 'core', url, ...config },
    { requests_per_second, limits: { timeout_ms, response_bytes }, clock, random: () => 0 },
  );
  onTestFinished(() => opened.close(new ProviderError('unreachable', 'test over')));
  return opened;
}

const against = async (answer: AnswerRequest, settings: Settings = {}) => {
  const server = await serve(answer);
  return { server, ...provider(server.url, settings) };
};

const failure = async (promise: Promise<unknown>): Promise<ProviderError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, not ${error}`);
  return error;
};

const html = (response: ServerResponse) =>
  response.writeHead(200).end('<html><body>Just a moment…</body></html>');

test('JSON, text and bytes are read below the URL, arrays of the query as repeated keys', async () => {
  const { server, rpc } = await against(({ path, body }, response) => {
    if (path.startsWith('/api/v3/json')) json(response, { path, body });
    else response.end('812345');
  }, {});
  const below = provider(`${server.url}/api/v3/`);
  const query = { account: ['A:1', 'B'], limit: 5, absent: undefined };
  expect(await below.rpc.json('/json', { query })).toEqual({
    path: '/api/v3/json?account=A%3A1&account=B&limit=5',
    body: '',
  });
  expect(await below.rpc.json('/json', { body: { address: 'x' } })).toMatchObject({
    body: '{"address":"x"}',
  });
  expect(await rpc.text('/blocks/tip/height')).toBe('812345');
  expect(await rpc.bytes('/block/raw')).toEqual(new TextEncoder().encode('812345'));
});

test('an HTML page in the place of JSON is a bad answer', async () => {
  const { rpc } = await against((_, response) => html(response));
  expect(await failure(rpc.json('/x'))).toMatchObject({ kind: 'bad_answer' });
  expect(await failure(rpc.call('getblockcount', []))).toMatchObject({ kind: 'bad_answer' });
});

test('an answer that breaks off is a bad answer, whether or not its length was announced', async () => {
  const { rpc } = await against(({ path }, response) => {
    if (path === '/announced') response.writeHead(200, { 'content-length': 1000 });
    response.write('{"result":', () => response.destroy());
  });
  expect(await failure(rpc.json('/announced'))).toMatchObject({ kind: 'bad_answer' });
  expect(await failure(rpc.json('/chunked'))).toMatchObject({ kind: 'bad_answer' });
});

test('an answer that trickles in is given up at the timeout and not asked for again', async () => {
  const { server, rpc } = await against(
    (_, response) => {
      const trickle = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(trickle));
    },
    { timeout_ms: 200 },
  );
  const started = performance.now();
  expect(await failure(rpc.json('/x'))).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('200 ms'),
  });
  expect(performance.now() - started).toBeLessThan(2000);
  expect(server.requests).toHaveLength(1);
});

test('an endless answer is cut off at the size limit', async () => {
  let closed: Promise<unknown> | undefined;
  const { rpc } = await against(
    (_, response) => {
      closed = once(response, 'close');
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(1000)));
      };
      response.on('drain', pour);
      pour();
    },
    { response_bytes: 100_000 },
  );
  expect(await failure(rpc.bytes('/x'))).toMatchObject({
    kind: 'bad_answer',
    message: expect.stringContaining('100000'),
  });
  await closed;
});

test.each([
  ['a number of seconds', '30', 30_000],
  ['a date', new Date(clock.ms() + 45_000).toUTCString(), 45_000],
  ['a day, which is cut', '86400', 900_000],
])('429 with %s as Retry-After says how long, and is not asked again', async (_, header, retry_after_ms) => {
  const { server, rpc } = await against((_, response) =>
    response.writeHead(429, { 'retry-after': header }).end(),
  );
  expect(await failure(rpc.json('/x'))).toMatchObject({ kind: 'rate_limited', code: 429, retry_after_ms });
  expect(server.requests).toHaveLength(1);
});

test('a short Retry-After is waited for in place', async () => {
  const { server, rpc, counters } = await against(({ index }, response) => {
    if (index === 0) response.writeHead(429, { 'retry-after': '1' }).end();
    else json(response, 'ok');
  });
  expect(await rpc.json('/x')).toBe('ok');
  const [first, second] = server.requests;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  expect(counters).toMatchObject({ requests: 2, failures: 1, last_ok_at: clock.ms() });
});

test('403 that speaks of a rate is a rate limit, any other says that the key is refused', async () => {
  const { server, rpc } = await against(({ path }, response) => {
    response.writeHead(403).end(path === '/limited' ? 'Rate limit exceeded' : 'key of another network');
  });
  expect(await failure(rpc.json('/limited'))).toMatchObject({ kind: 'rate_limited' });
  const before = server.requests.length;
  expect(await failure(rpc.json('/key'))).toMatchObject({ kind: 'unreachable', code: 403 });
  expect(server.requests).toHaveLength(before + 1);
});

test('a 404 is an answer about the question, not a failure of the provider', async () => {
  const { rpc, counters } = await against((_, response) =>
    response.writeHead(404).end('Transaction not found'),
  );
  const error = await failure(rpc.json('/tx/00'));
  expect(error).toMatchObject({
    kind: 'rpc',
    code: 404,
    message: expect.stringContaining('Transaction not found'),
  });
  expect(counters).toMatchObject({ failures: 0, last_error: null });
});

test.each([500, 501, 533])(
  'HTTP %i with a body is about the question: it is asked once, counts against no one and holds up nothing',
  async (status) => {
    verifies('question-no-outage');
    const { server, rpc, counters } = await against(({ path }, response) =>
      path === '/odd' ? json(response, { error: 'timeout' }, status) : json(response, 'ok'),
    );
    const started = performance.now();
    for (let time = 0; time < 5; time++)
      expect(await failure(rpc.json('/odd'))).toMatchObject({ kind: 'rpc', code: status });
    expect(await rpc.json('/x')).toBe('ok');
    expect(performance.now() - started).toBeLessThan(500);
    expect(server.requests).toHaveLength(6);
    expect(counters).toMatchObject({ failures: 0, last_error: null });
  },
);

test('a dropped connection and a 502 are tried again, three times at most', async () => {
  const { server, rpc, counters } = await against(({ path, index }, response) => {
    if (path === '/never') response.writeHead(502).end('Bad Gateway');
    else if (index === 0) response.destroy();
    else if (index === 1) response.writeHead(502).end('Bad Gateway');
    else json(response, 'ok');
  });
  expect(await rpc.json('/x')).toBe('ok');
  expect(counters).toMatchObject({ requests: 3, failures: 2 });
  expect(await failure(rpc.json('/never'))).toMatchObject({ kind: 'unreachable', code: 502 });
  expect(server.requests).toHaveLength(6);
});

test('a redirect is refused, the key goes nowhere else', async () => {
  const elsewhere = await serve((_, response) => json(response, 'stolen'));
  const { rpc } = await against((_, response) => response.writeHead(302, { location: elsewhere.url }).end(), {
    config: { api_key: 'top-secret-key' },
  });
  expect(await failure(rpc.json('/x'))).toMatchObject({ kind: 'bad_answer' });
  expect(elsewhere.requests).toHaveLength(0);
});

test('JSON-RPC calls carry ids of their own, and errors their code, whatever the HTTP status', async () => {
  const { server, rpc } = await against(({ body }, response) => {
    const { id, method } = JSON.parse(body);
    if (method === 'getblockcount') json(response, { id, result: 7, error: null });
    else if (method === 'stale') json(response, { id: id - 1, result: 7 });
    else if (method === 'busy') json(response, { id, error: { code: 429, message: 'Too many requests' } });
    else json(response, { id, result: null, error: { code: -5, message: 'No such transaction' } }, 500);
  });
  expect(await rpc.call('getblockcount', [])).toBe(7);
  expect(await failure(rpc.call('getrawtransaction', ['00']))).toMatchObject({ kind: 'rpc', code: -5 });
  expect(await failure(rpc.call('stale', []))).toMatchObject({ kind: 'bad_answer' });
  expect(await failure(rpc.call('busy', []))).toMatchObject({ kind: 'rate_limited' });
  const sent = server.requests.map(({ body }) => JSON.parse(body));
  expect(sent[0]).toEqual({ jsonrpc: '2.0', id: sent[0].id, method: 'getblockcount', params: [] });
  expect(new Set(sent.slice(0, 3).map(({ id }) => id)).size).toBe(3);
});

test.each([
  ['a text', 'Some limit exceeded', 'Some limit exceeded'],
  [
    'an object without a message',
    { code: '-32000', data: { toString: 1 } },
    '{"code":"-32000","data":{"toString":1}}',
  ],
  ['a message that is none', { code: -5, message: { toString: 1 } }, '{"code":-5,"message":{"toString":1}}'],
  ['characters that no database keeps', { code: -5, message: 'a\0b\u202e\u001b[2J' }, 'a b [2J'],
])('an error that is %s is reported as it came, on one printable line', async (_, error, reported) => {
  const { rpc } = await against((__, response) => json(response, { id: 1, error }));
  const { kind, message } = await failure(rpc.call('getblockhash', [1]));
  expect(kind).toBe('rpc');
  expect(message).toMatch(/^core at 127\.0\.0\.1:\d+: getblockhash: /);
  expect(message.replace(/^.*getblockhash: /, '')).toBe(reported);
});

test('a batch comes back in the order asked, failed entries as values; a left-out one fails it', async () => {
  const { rpc } = await against(({ body }, response) => {
    const asked = JSON.parse(body) as { id: number; params: [number] }[];
    const answers = asked.map(({ id, params: [n] }) =>
      n === 2 ? { id, error: { code: -8, message: 'out of range' } } : { id, result: n * 10 },
    );
    json(response, asked[0]?.params[0] === 9 ? answers.slice(1) : answers.reverse());
  });
  const hashesAt = (...heights: number[]) =>
    heights.map((height) => ({ method: 'getblockhash', params: [height] }));
  const [one, two, three] = await rpc.batch(hashesAt(1, 2, 3));
  expect([one, three]).toEqual([10, 30]);
  expect(two).toMatchObject({ kind: 'rpc', code: -8 });
  expect(two).toBeInstanceOf(ProviderError);
  expect(await failure(rpc.batch(hashesAt(9, 1)))).toMatchObject({ kind: 'bad_answer' });
  expect(await rpc.batch([])).toEqual([]);
});

test('credentials are sent, and appear in no error and no counter, even when the provider repeats them', async () => {
  const secrets = [
    'alice',
    'p@ss/word',
    'p%40ss%2Fword',
    'header-key-1',
    'abcdef0123456789abcdef',
    'query-key-2',
  ];
  const url = (at: string) =>
    at.replace('//', '//alice:p%40ss%2Fword@').concat('/v2/abcdef0123456789abcdef?token=query-key-2');
  const { server } = await against(({ path, headers }, response) => {
    const status = Number(/status=(\d+)/.exec(path)?.[1] ?? 200);
    response.writeHead(status).end(`you sent ${path} ${JSON.stringify(headers)} ${secrets.join(' ')}`);
  });
  const { rpc, counters, label } = provider(url(server.url), { config: { api_key: 'header-key-1' } });
  const authorization = `Basic ${Buffer.from('alice:p@ss/word').toString('base64')}`;
  const reported = [label];
  for (const status of [200, 400, 401, 500]) {
    reported.push((await failure(rpc.json('/x', { query: { status } }))).message, JSON.stringify(counters));
  }
  reported.push((await failure(rpc.call('getblockcount', []))).message);
  expect(server.requests[0]?.headers).toMatchObject({ authorization, 'x-api-key': 'header-key-1' });
  expect(server.requests[0]?.path).toBe('/v2/abcdef0123456789abcdef/x?token=query-key-2&status=200');
  await server.close();
  reported.push((await failure(rpc.json('/x'))).message);
  for (const secret of [...secrets, authorization.slice(6)])
    expect(reported.join('\n')).not.toContain(secret);
  expect(reported.join('\n')).toContain('you sent');
});

test('a URL that is none is refused without being named', () => {
  expect(() => provider('http//alice:sesame@host')).toThrow(
    /^the URL of provider core is not an http\(s\) URL$/,
  );
  expect(() => provider('file:///etc/sesame')).toThrow('not an http(s) URL');
});

test('the rate is never exceeded, however many ask at once', async () => {
  const { server, rpc } = await against((_, response) => json(response, 1), { requests_per_second: 50 });
  const started = performance.now();
  await Promise.all(Array.from({ length: 30 }, () => rpc.json('/x')));
  const arrivals = server.requests.map(({ at }) => at - started).sort((a, b) => a - b);
  expect(arrivals).toHaveLength(30);
  arrivals.forEach((at, index) => {
    expect(at).toBeGreaterThanOrEqual(index * 20);
  });
});

test('an own provider that refuses is asked half as often, once for all that was under way, and slowly more again', async () => {
  verifies('pace-own-url');
  const timer = { now: 0 };
  const runtime = {
    elapsed_ms: () => timer.now,
    after: (ms: number, work: () => void) => {
      queueMicrotask(() => {
        timer.now += ms;
        work();
      });
      return () => {};
    },
  };
  const pace = createPace({ requests_per_second: 50, adapts: true }, runtime);
  const sent = await Promise.all([pace.turn(), pace.turn(), pace.turn()]);
  expect(sent).toEqual([0, 20, 40]);
  for (const sent_at of sent) pace.refused(sent_at);
  expect(pace.requestsPerSecond()).toBe(25);
  expect([await pace.turn(), await pace.turn()]).toEqual([60, 100]);
  pace.refused(100);
  expect(pace.requestsPerSecond()).toBe(12.5);
  timer.now += 60_000;
  expect(pace.requestsPerSecond()).toBeCloseTo(12.5 * 1.25);
  timer.now += 20 * 60_000;
  expect(pace.requestsPerSecond()).toBe(50);
  for (let refusal = 0; refusal < 20; refusal++) pace.refused(++timer.now);
  expect(pace.requestsPerSecond()).toBe(0.5);
});

test('a request that counts as several is followed by as long a pause', async () => {
  const timer = { now: 0 };
  const runtime = {
    elapsed_ms: () => timer.now,
    after: (ms: number, work: () => void) => {
      queueMicrotask(() => {
        timer.now += ms;
        work();
      });
      return () => {};
    },
  };
  const pace = createPace({ requests_per_second: 10 }, runtime);
  expect(await Promise.all([pace.turn(3), pace.turn(), pace.turn(5), pace.turn()])).toEqual([
    0, 300, 400, 900,
  ]);
});

test('a provider that must not be asked more often than it says keeps its pace, and is only paused', () => {
  const pace = createPace({ requests_per_second: 4 });
  pace.refused(performance.now());
  expect(pace.requestsPerSecond()).toBe(4);
});

test('a refusal halves the pace of the provider that is asked, by 429 and by JSON-RPC alike', async () => {
  verifies('pace-own-url');
  let limited = true;
  const { rpc, requestsPerSecond } = await against(
    ({ body }, response) => {
      const { id } = JSON.parse(body || '{}') as { id?: number };
      if (!limited) json(response, { id, result: 1 });
      else if (body) json(response, { id, error: { code: 429, message: 'too many' } });
      else response.writeHead(429, { 'retry-after': '0' }).end();
      limited = false;
    },
    { config: { requests_per_second: 200, adapts: true } },
  );
  await rpc.json('/x');
  expect(requestsPerSecond()).toBeLessThanOrEqual(100);
  limited = true;
  await rpc.call('x', []);
  expect(requestsPerSecond()).toBeLessThanOrEqual(50);
});

test('turns are given in the order asked for, also across a hold', async () => {
  const pace = createPace({ requests_per_second: 500 });
  const order: number[] = [];
  const turns = [1, 2, 3, 4].map((n) => pace.turn().then(() => order.push(n)));
  pace.hold(50);
  const started = performance.now();
  await Promise.all(turns);
  expect(order).toEqual([1, 2, 3, 4]);
  expect(performance.now() - started).toBeGreaterThanOrEqual(50);
});

test.each([
  [200, '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}'],
  [200, '{"Error": "too many requests"}'],
  [403, '{"Success":false,"Error":"The key exceeds the frequency limit(15), and is suspended for 30s"}'],
])(
  'a node that has no time says so outside JSON-RPC (HTTP %i): that is a rate limit',
  async (status, text) => {
    const { rpc, server } = await against((_, response) => response.writeHead(status).end(text));
    expect(await failure(rpc.call('eth_chainId', []))).toMatchObject({ kind: 'rate_limited' });
    expect(await failure(rpc.batch([{ method: 'eth_chainId', params: [] }]))).toMatchObject({
      kind: 'rate_limited',
    });
    // Who says for how long is asked again after that, and not at once.
    if (text.includes('30s')) expect(server.requests).toHaveLength(2);
    else expect(server.requests.length).toBeGreaterThan(2);
  },
);

test('any other text in the place of JSON-RPC stays a bad answer, though it speaks of a limit', async () => {
  const { rpc } = await against((_, response) => json(response, { error_text: 'rate limit', Error: 'odd' }));
  expect(await failure(rpc.call('eth_chainId', []))).toMatchObject({ kind: 'bad_answer' });
});
