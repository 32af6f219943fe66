// The contract of every route, in-process and over a real socket: order of checks, statuses, bodies and headers.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Streamed } from '../../../daemon/http/exchange.ts';
import { routesOf } from '../../../daemon/http/handler.ts';
import { createHttp, type Http } from '../../../daemon/http/mount.ts';
import { MAX_BODY_BYTES } from '../../../daemon/http/request.ts';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import type { RunningApp } from '../../../daemon/process/app.ts';
import { type Serving, serve } from '../../../daemon/process/serve.ts';
import { sqlite } from '../../../data/db/driver.ts';
import { endpoint, media } from '../../../src/api/describe/endpoint.ts';
import { int, text } from '../../../src/api/describe/fields.ts';
import { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { account } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const common = { tag: 'system', effect: 'write', summary: 'Test', description: '' } as const;
const Echo = z.object({ echo: z.string() });

const list = [
  endpoint({
    ...common,
    id: 'read',
    method: 'GET',
    path: '/things/{name}',
    auth: 'none',
    cors: true,
    params: { name: text() },
    query: { times: int({ gte: 1 }).optional() },
    response: Echo,
  }),
  endpoint({
    ...common,
    id: 'create',
    method: 'POST',
    path: '/things/',
    auth: 'jwt',
    body: z.object({ name: text({ min: 2 }) }),
    response: Echo,
    status: 201,
  }),
  endpoint({
    ...common,
    id: 'open',
    method: 'POST',
    path: '/open',
    auth: 'none',
    body: z.object({ name: text({ min: 2 }) }),
    response: Echo,
  }),
  endpoint({
    ...common,
    id: 'signIn',
    method: 'POST',
    path: '/sign-in',
    auth: 'none',
    encoding: 'form',
    limit: 'login',
    body: z.object({ username: text(), password: text() }),
    response: Echo,
  }),
  endpoint({
    ...common,
    id: 'page',
    method: 'GET',
    path: '/page',
    auth: 'none',
    response: media('text/html'),
  }),
  endpoint({ ...common, id: 'stream', method: 'GET', path: '/stream', auth: 'none', response: Echo }),
  endpoint({
    ...common,
    id: 'fail',
    method: 'GET',
    path: '/fail/{how}',
    auth: 'none',
    params: { how: text() },
    response: Echo,
  }),
] as const;

let streams = 0;
const failures: Record<string, () => unknown> = {
  bug: () => {
    throw new Error('the secret plan of /fail');
  },
  busy: () => {
    throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  },
  full: () => {
    const disk = new (sqlite())(':memory:');
    disk.pragma('max_page_count = 2');
    disk.exec('create table rows (text)');
    for (;;) disk.prepare('insert into rows values (?)').run('x'.repeat(1000));
  },
  limit: () => {
    throw new Refusal('limit_exhausted', { extra: { required_usd: '2' }, retry_after: 7 });
  },
  reply: () => ({ wrong: 1n }),
  header: () => new Streamed(new ReadableStream(), { 'x-note': 'line\nbreak' }),
};
const routes = routesOf(list, {
  read: ({ params, query }) => ({
    echo: params.name.repeat(query.times ?? 1),
    password_hash: 'never leaves',
  }),
  create: ({ body }, { user }) => ({ echo: `${body.name} of ${user.email}` }),
  open: ({ body }) => ({ echo: body.name }),
  signIn: ({ body }) => ({ echo: body.username }),
  page: () => ({ body: '<p>hello</p>', headers: { 'cache-control': 'max-age=60' } }),
  stream: () =>
    new Streamed(
      new ReadableStream({
        start(controller) {
          streams++;
          controller.enqueue(new TextEncoder().encode('data: 1\n\n'));
        },
        cancel: () => void streams--,
      }),
    ),
  fail: ({ params }) => failures[params.how]?.() as { echo: string },
});

let service: TestApp;
let app: RunningApp;
/** What was logged, parsed. */
const lines = (): Record<string, unknown>[] => service.log.map((line) => JSON.parse(line));
let http: Http;
let serving: Serving;
beforeAll(async () => {
  service = await startApp();
  app = service.app;
  http = createHttp(app, routes);
  serving = await serve({ host: '127.0.0.1', port: 0 });
  serving.open(http);
});
afterAll(async () => {
  await serving.stop();
  await service.stop();
});

const inProcess = (path: string, init?: RequestInit): Promise<Response> =>
  Promise.resolve(http.h3.request(path, init));
const overSocket = (path: string, init?: RequestInit): Promise<Response> => fetch(serving.url + path, init);

// biome-ignore lint/suspicious/noExplicitAny: the tests read bodies of every shape
const bodyOf = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

describe.each([
  ['in-process', inProcess],
  ['over a socket', overSocket],
])('%s', (_, call) => {
  test('a reply is JSON with the headers of every answer, and nothing the description does not name', async () => {
    const response = await call('/things/a?times=3');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ echo: 'aaa' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
    });
  });

  test('a path answers with and without its trailing slash, and decodes its parameters', async () => {
    expect(await (await call('/things/a%40b%2Fc/')).json()).toEqual({ echo: 'a@b/c' });
    expect((await call('/things', json({ name: 'x' }))).status).toBe(401);
    expect((await call('/things/', json({ name: 'x' }))).status).toBe(401);
  });

  test('a malformed escape in a path is just text', async () => {
    expect(await (await call('/things/100%25')).json()).toEqual({ echo: '100%' });
    expect(await (await call('/things/100%ZZ')).json()).toEqual({ echo: '100%ZZ' });
  });

  test('the caller’s request id is repeated where it is harmless, and replaced where it is not', async () => {
    verifies('request-id');
    expect(
      (await call('/things/a', { headers: { 'x-request-id': 'abc-1' } })).headers.get('x-request-id'),
    ).toBe('abc-1');
    const response = await call('/nowhere', { headers: { 'x-request-id': '<script>' } });
    const id = response.headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await bodyOf(response)).request_id).toBe(id);
  });

  test('an unknown path is 404 and its URL is not repeated', async () => {
    verifies('error-shape');
    const response = await call('/nowhere?api_key=gw_abcdef');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      detail: 'Not Found',
      code: 'not_found',
      request_id: expect.any(String),
      hint: 'The catalog lists all calls',
      next: { operation: 'getCatalog', method: 'GET', path: '/v1/catalog' },
    });
    expect((await call('/')).status).toBe(404);
    expect((await call('//')).status).toBe(404);
  });

  test('a wrong method is 405 and says which are right', async () => {
    const response = await call('/things/a', { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await response.json()).toMatchObject({ detail: 'Method Not Allowed', code: 'method_not_allowed' });
    expect((await call('/open')).headers.get('allow')).toBe('POST, OPTIONS');
  });

  test('HEAD answers as GET does, without a body', async () => {
    const response = await call('/things/a', { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json',
      '',
    ]);
  });

  test('OPTIONS lets any origin call only where the description says so', async () => {
    const open = await call('/things/a', { method: 'OPTIONS' });
    expect(open.status).toBe(204);
    expect(open.headers.get('access-control-allow-origin')).toBe('*');
    expect(open.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    const closed = await call('/open', { method: 'OPTIONS' });
    expect([closed.headers.get('allow'), closed.headers.get('access-control-allow-origin')]).toEqual([
      'POST, OPTIONS',
      null,
    ]);
  });

  test('malformed JSON is 422 before sign-in is asked for', async () => {
    const response = await call('/things/', json('{"name": }'));
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      detail: [
        {
          type: 'json_invalid',
          loc: ['body', 9],
          msg: 'JSON decode error',
          input: {},
          ctx: { error: 'Expecting value' },
        },
      ],
    });
  });

  test('a body that is not UTF-8 is 422, and nothing of it is taken', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"name": "'), 0xff, 0xfe, 0x22, 0x7d]);
    const response = await call('/things/', { ...json(''), body });
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({
      detail: [{ type: 'value_error', loc: ['body'], msg: 'There was an error parsing the body' }],
    });
  });

  test('sign-in comes before validation', async () => {
    const refused = await call('/things/', json({ name: 'x' }));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await refused.json()).toMatchObject({ detail: 'Not authenticated', code: 'not_authenticated' });
    const user = await account(app);
    const authorization = `Bearer ${await issueAccessToken(app, user)}`;
    const invalid = await call('/things/', json({ name: 'x' }, { authorization }));
    expect(invalid.status).toBe(422);
    expect((await bodyOf(invalid)).detail).toMatchObject([
      { type: 'string_too_short', loc: ['body', 'name'] },
    ]);
    const made = await call('/things/', json({ name: 'xy' }, { authorization }));
    expect([made.status, await made.json()]).toEqual([201, { echo: `xy of ${user.email}` }]);
  });

  test('all errors of path, query and body are listed at once', async () => {
    verifies('error-422-shape');
    expect((await bodyOf(call('/things/a?times=0'))).detail).toMatchObject([
      { loc: ['query', 'times'], type: 'greater_than_equal' },
    ]);
    expect((await bodyOf(call('/open', json('[]')))).detail[0].type).toBe('model_attributes_type');
    expect((await bodyOf(call('/open', { method: 'POST' }))).detail[0].type).toBe('missing');
  });

  test('JSON under another content type is read; other text is refused as no object', async () => {
    const as = (body: string) =>
      call('/open', { ...json(body), headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect(await (await as('{"name":"xy"}')).json()).toEqual({ echo: 'xy' });
    expect((await bodyOf(as('name=xy'))).detail[0].type).toBe('model_attributes_type');
  });

  test('a form is read, urlencoded or multipart', async () => {
    const form = new FormData();
    form.set('username', 'me');
    form.set('password', 'it');
    for (const body of [new URLSearchParams({ username: 'me', password: 'it' }), form])
      expect(await (await call('/sign-in', { method: 'POST', body })).json()).toEqual({ echo: 'me' });
  });

  test('a page has its own type and may be cached', async () => {
    const response = await call('/page');
    expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      'text/html; charset=utf-8',
      'max-age=60',
    ]);
    expect(await response.text()).toBe('<p>hello</p>');
  });

  test('a refusal carries code, extra members and Retry-After', async () => {
    verifies('rate-limit-429', 'error-shape');
    const response = await call('/fail/limit');
    expect([response.status, response.headers.get('retry-after')]).toEqual([402, '7']);
    expect(await response.json()).toMatchObject({ code: 'limit_exhausted', required_usd: '2' });
  });

  test('a busy database is 503 and asks to come back', async () => {
    const response = await call('/fail/busy');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'database_busy' });
  });

  test('a database without room is 503 too, and the log tells the operator why', async () => {
    const response = await call('/fail/full');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60']);
    const { code, detail } = await response.json();
    expect([code, detail]).toEqual(['database_busy', 'The database cannot store anything new at the moment']);
    // Once a minute, with the request that was the first.
    expect(lines()).toContainEqual(
      expect.objectContaining({
        level: 'error',
        request_id: expect.any(String),
        msg: expect.stringContaining('disk'),
      }),
    );
  });

  test.each(['bug', 'reply', 'header'])(
    'a bug (%s) is logged with its request id and tells the caller nothing',
    async (how) => {
      const response = await call(`/fail/${how}`);
      expect(response.status).toBe(500);
      const body = await bodyOf(response);
      expect(body).toEqual({
        detail: 'Internal Server Error',
        code: 'internal',
        request_id: expect.any(String),
      });
      expect(lines()).toContainEqual(
        expect.objectContaining({ level: 'error', request_id: body.request_id, err: expect.anything() }),
      );
    },
  );

  test('each request is logged once by its endpoint, never by its URL', async () => {
    verifies('request-id');
    const id = `logged-${service.log.length}`;
    await call('/things/secret-name?api_key=gw_0123456789', { headers: { 'x-request-id': id } });
    const requests = lines().filter((line) => line.request_id === id);
    expect(requests).toMatchObject([{ msg: 'request', endpoint: 'read', method: 'GET', status: 200 }]);
    expect(JSON.stringify(requests)).not.toMatch(/secret-name|gw_0123/);
  });

  test('a body of exactly the limit is read and one byte more is 413', async () => {
    const sized = (bytes: number) => json(JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) }));
    expect((await call('/open', sized(MAX_BODY_BYTES))).status).toBe(200);
    const refused = await call('/open', sized(MAX_BODY_BYTES + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ detail: 'Request body too large', code: 'body_too_large' });
  });

  test('the limit holds for a body of unknown length too', async () => {
    const chunks = (count: number) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"name":"'));
          for (let at = 0; at < count; at++) controller.enqueue(new Uint8Array(1024).fill(120));
          controller.enqueue(new TextEncoder().encode('"}'));
          controller.close();
        },
      });
    const send = (count: number) =>
      call('/open', { method: 'POST', body: chunks(count), duplex: 'half' } as RequestInit);
    expect((await send(10)).status).toBe(200);
    expect((await send(2000)).status).toBe(413);
  });
});

test('a stream that fails ends its answer, and the daemon can still be stopped', async () => {
  const other = createHttp(
    app,
    routesOf([list[5]], {
      stream: () =>
        new Streamed(
          new ReadableStream({
            pull: (controller) => controller.error(new Error('the source broke')),
          }),
        ),
    }),
  );
  await expect((await other.h3.request('/stream')).text()).rejects.toThrow('the source broke');
  other.stop();
});

test('a stream that is no longer read is let go of, and HEAD opens none', async () => {
  const before = streams;
  const response = await overSocket('/stream');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n');
  expect(streams).toBe(before + 1);
  await reader?.cancel();
  await expect.poll(() => streams).toBe(before);
  const head = await overSocket('/stream', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await expect.poll(() => streams).toBe(before);
});

test('a connection continues after a refused chunked body', async () => {
  const socket = connect(serving.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  const head = 'POST /open HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  socket.write(head);
  for (let at = 0; at < 4000; at++) socket.write(`400\r\n${' '.repeat(1024)}\r\n`);
  socket.write('0\r\n\r\n');
  socket.write(`${head}d\r\n{"name":"xy"}\r\n0\r\n\r\n`);
  await expect.poll(() => received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  socket.destroy();
});

test('a request that names two hosts is 400, wherever the second stands and whatever it is', async () => {
  verifies('host-once');
  const answerTo = async (lines: string): Promise<string> => {
    const socket = connect(serving.port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(`GET /stream HTTP/1.1\r\n${lines}\r\nconnection: close\r\n\r\n`);
    await expect.poll(() => received).toContain('\r\n\r\n');
    socket.destroy();
    return received;
  };
  for (const lines of ['host: a\r\nhost: b', 'Host: a\r\nx-a: 1\r\nHOST: a']) {
    const answer = await answerTo(lines);
    expect(answer).toContain('HTTP/1.1 400');
    expect(answer).toContain('more than one Host');
  }
  expect(await answerTo('host: a\r\nx-forwarded-host: b')).toContain('HTTP/1.1 200');
});

test('stopping ends streams, refuses new requests and closes connections', async () => {
  const other = createHttp(app, routes);
  const streaming = await other.h3.request('/stream');
  const reader = streaming.body?.getReader() ?? expect.fail('no stream');
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: 1\n\n');
  other.stop();
  expect((await reader.read()).done).toBe(true);
  const refused = await other.h3.request('/things/a');
  expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
  expect(await refused.json()).toMatchObject({ code: 'shutting_down' });
});
