// gw between a service and what goes wrong on the way: answers that get lost, redirects, and addresses of others.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type AnswerRequest, type LocalServer, serve } from '../helpers/local-server.ts';
import { verifies } from '../requirements.ts';
import type { Gw } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

/** Of whatever service is asked. */
const KEY = { GW_API_KEY: 'gw_key' };

let stage: Stage;
let gw: Gw;
let operator: Gw;
let user_id = '';
let url = '';

beforeAll(async () => {
  stage = await openStage('lost@example.com');
  ({ gw, other: operator } = stage);
  await logInOperator(operator);
  user_id = (await gw(['user', 'me', '--json'])).json.id;
  url = (await gw(['config', 'get', 'url', '--json'])).json.value;
});
afterAll(() => stage.close());

/** Hands requests to the daemon; the answers to so many writes under a key are lost after they were carried out. */
async function loseAnswers(count: number): Promise<LocalServer> {
  let lost = 0;
  const forward: AnswerRequest = ({ path, body, headers: { host: _, ...headers } }, response) => {
    const { method = 'GET' } = response.req;
    const onward = request(`${url}${path}`, { method, headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      if (headers['idempotency-key'] !== undefined && lost++ < count) return void response.destroy();
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(chunks));
    });
    onward.end(body);
  };
  return serve(forward);
}

const prepaid = async () =>
  (await operator(['admin', 'merchant', user_id, '--json'])).json.merchant.prepaid_usd;
const credit = (url: string, more: string[] = []) => [
  ...['admin', 'credit', user_id, '--prepaid-usd', '14', '--note', 'a gift, on us'],
  ...['--url', url, '--yes', '--json', ...more],
];

describe('an answer that is lost', () => {
  it('is asked for again under the same key, and the credit is given once', async () => {
    verifies('gw-lost-answer');
    const before = Number(await prepaid());
    const lossy = await loseAnswers(2);
    const ran = await operator(credit(lossy.url), { env: await tokenOf(operator) });
    expect(ran.code).toBe(0);
    expect(Number(await prepaid())).toBe(before + 14);
    const keys = lossy.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it('that stays lost ends with a code of its own, the key, and the command that asks again with it', async () => {
    verifies('gw-lost-answer');
    const before = Number(await prepaid());
    const lossy = await loseAnswers(3);
    const ran = await operator(credit(lossy.url), { env: await tokenOf(operator) });
    expect(ran.code).toBe(76);
    const { error } = ran.error;
    expect(error).toMatchObject({ code: 'unknown', exit_code: 76, idempotency_key: expect.any(String) });
    expect(error.command).toBe(
      `gw admin credit ${user_id} --prepaid-usd 14 --note 'a gift, on us' --url ${lossy.url} --yes --json --idempotency-key ${error.idempotency_key}`,
    );
    expect(error.hint).toContain(error.command);
    const again = credit(url, ['--idempotency-key', error.idempotency_key]);
    expect((await operator(again)).code).toBe(0);
    expect(Number(await prepaid())).toBe(before + 14);
  });

  it('of a call without a key is not repeated, and says what to do', async () => {
    const silent = await serve((_, response) => void response.destroy());
    const ran = await gw(['account', 'rotate-key', '--url', silent.url, '--yes', '--json'], {
      env: await tokenOf(gw),
    });
    expect(ran).toMatchObject({
      code: 76,
      error: { error: { hint: 'see what is there before you repeat it' } },
    });
    expect(silent.requests).toHaveLength(1);
  });

  it('is unknown where something else answers to a write, with the key and the command', async () => {
    const other = await serve((_, response) => void response.end('{"welcome":true}'));
    const ran = await operator(credit(other.url), { env: await tokenOf(operator) });
    expect(ran).toMatchObject({
      code: 76,
      error: { error: { message: expect.stringContaining('answers, but not as gatewayd does') } },
    });
    expect(ran.error.error.hint).toContain(`--idempotency-key ${ran.error.error.idempotency_key}`);
  });

  it('is unknown, whatever this gw thinks of the values that were sent', async () => {
    const silent = await serve((_, response) => void response.destroy());
    const credit = ['admin', 'credit', user_id, '--prepaid-usd', 'much', '--yes', '--json'];
    const ran = await operator([...credit, '--url', silent.url], { env: await tokenOf(operator) });
    expect(ran).toMatchObject({ code: 76, error: { error: { code: 'unknown' } } });
  });

  it('is no question where nothing was sent, or nothing would change', async () => {
    const gone = await serve(() => {});
    await gone.close();
    expect((await operator(credit(gone.url), { env: await tokenOf(operator) })).code).toBe(69);
    const silent = await serve((_, response) => void response.destroy());
    expect((await gw(['system', 'health', '--url', silent.url])).code).toBe(69);
  });
});

describe('a web server that is no gatewayd', () => {
  it.each([
    ['a page', 'text/html', '<h1>Welcome</h1>'],
    ['JSON', 'application/json', '{"ok":true}'],
  ])('is taken for none, though it answers everything with 200 and %s', async (_, type, body) => {
    const other = await serve(
      (_, response) => void response.writeHead(200, { 'content-type': type }).end(body),
    );
    const refused = { code: 69, error: { error: { code: 'not_gatewayd' } } };
    const at = ['--url', other.url, '--json'];
    expect(await gw(['login', 'a@example.com', '--password-stdin', ...at], { stdin: 'pw' })).toMatchObject(
      refused,
    );
    expect(await gw(['invoice', 'list', ...at], { env: { GW_API_KEY: 'gw_k' } })).toMatchObject(refused);
    const doctor = await gw(['doctor', ...at], { env: { GW_API_KEY: 'gw_k' } });
    expect(doctor).toMatchObject({ code: 1, json: { ok: false } });
    expect(JSON.stringify(doctor.json)).not.toMatch(/undefined/);
  });
});

describe('an answer that is not whole', () => {
  it.each<[string, RegExp, AnswerRequest]>([
    ['stalls half way', /in time/, (_, response) => void response.writeHead(200).write('{"data":')],
    [
      'breaks off',
      /cannot reach/,
      (_, response) => {
        response.writeHead(200, { 'transfer-encoding': 'chunked' });
        response.write('{"data":', () => response.destroy());
      },
    ],
    [
      'has a head without end',
      /no HTTP/,
      (_, response) => void response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end('{}'),
    ],
  ])('because it %s ends with 69', async (_, message, answer) => {
    const broken = await serve(answer);
    const ran = await gw(['gateways', '--url', broken.url, '--timeout', '1s', '--json']);
    expect(ran).toMatchObject({ code: 69, stdout: '' });
    expect(ran.error.error.message).toMatch(message);
  });

  it('because no connection stands ends with 69 after the time for that, however long the answer may take', async () => {
    verifies('gw-exit-codes');
    const full = await listenWithoutAccepting();
    const ran = await gw(['gateways', '--url', full, '--timeout', '10m', '--json']);
    expect(ran).toMatchObject({ code: 69, stdout: '' });
    expect(ran.error.error.message).toMatch(/cannot reach .*: no connection in time/);
    const brief = await gw(['gateways', '--url', full, '--timeout', '1s', '--json']);
    expect(brief).toMatchObject({ code: 69, error: { error: { code: 'unreachable' } } });
  });

  it('is reported of a certificate that no one vouches for, and of a server that speaks no TLS', async () => {
    const own = await serveTls();
    const ran = await gw(['gateways', '--url', own, '--json']);
    expect(ran).toMatchObject({
      code: 69,
      error: { error: { hint: expect.stringMatching(/NODE_EXTRA_CA_CERTS/) } },
    });
    expect(ran.error.error.message).toMatch(/not trusted: self-signed certificate/);
    const plain = await serve(() => {});
    expect((await gw(['gateways', '--url', plain.url.replace('http:', 'https:'), '--json'])).code).toBe(69);
  });
});

describe('an answer', () => {
  it('comes over IPv6 too', async () => {
    const server = createHttpServer((_, response) => response.end('{"data":[]}')).listen(0, '::1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://[::1]:${(server.address() as AddressInfo).port}`;
    const { code, json } = await gw(['api', 'GET', '/v1/gateways', '--url', url, '--json'], { env: KEY });
    expect([code, json]).toEqual([0, { data: [] }]);
  });

  it('is asked for compressed where it comes from afar, and is read so; half of one is none', async () => {
    const whole = gzipSync('{"data":[]}');
    let sent = whole;
    const server = await serve(
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(sent),
    );
    // An address that is not known as one of this machine.
    const url = server.url.replace('127.0.0.1', '0.0.0.0');
    const ask = (at: string) =>
      gw(['api', 'GET', '/v1/gateways', '--url', at, '--plain-http', '--json'], { env: KEY });
    expect(await ask(url)).toMatchObject({ code: 0, json: { data: [] } });
    expect(await ask(server.url)).toMatchObject({ code: 0, json: { data: [] } });
    const asked = server.requests.map(({ headers }) => headers['accept-encoding']);
    expect(asked).toEqual(['gzip', 'identity']);
    sent = whole.subarray(0, whole.length - 12);
    expect(await ask(url)).toMatchObject({ code: 69, stdout: '' });
  });
});

describe('a redirect', () => {
  it.each([301, 302, 307, 308])(
    '(%i) is refused with its target, and nothing is sent there',
    async (status) => {
      verifies('gw-redirect');
      const thief = await serve((_, response) => void response.end('{}'));
      const service = await serve(
        ({ path }, response) => void response.writeHead(status, { location: `${thief.url}${path}` }).end(),
      );
      const ran = await gw(['login', 'a@example.com', '--password-stdin', '--url', service.url, '--json'], {
        stdin: 'correct horse',
      });
      expect(ran).toMatchObject({ code: 78, error: { error: { code: 'redirected' } } });
      expect(ran.error.error.message).toContain(thief.url);
      expect(ran.error.error.hint).toContain(`--url ${thief.url}`);
      const others = [
        ['api', 'GET', '/v1/gateways'],
        ['listen', '--events', '*'],
        ['invoice', 'list'],
      ];
      for (const args of status === 307 ? others : [])
        expect((await gw([...args, '--url', service.url], { env: await tokenOf(gw) })).code, args[0]).toBe(
          78,
        );
      expect(thief.requests).toEqual([]);
      expect(service.requests.length).toBeGreaterThan(0);
    },
  );
});

describe('keys of a profile', () => {
  it('are sent to no other service than the one that gave them', async () => {
    verifies('gw-own-origin');
    const other = await serve((_, response) => void response.end('{}'));
    for (const args of [['invoice', 'list'], ['whoami'], ['api', 'GET', '/v1/invoices'], ['listen']]) {
      const ran = await gw([...args, '--url', other.url, '--json']);
      expect(ran, args[0]).toMatchObject({ code: 78, error: { error: { code: 'foreign_credential' } } });
    }
    const moved = await gw(['config', 'set', 'url', other.url, '--json']);
    expect(moved).toMatchObject({ code: 4, error: { error: { code: 'foreign_credential' } } });
    expect(other.requests).toEqual([]);
    // What is given for this one call is sent.
    await gw(['invoice', 'list', '--url', other.url, '--api-key', 'gw_of_that_service']);
    expect(other.requests[0]?.headers['x-api-key']).toBe('gw_of_that_service');
  });

  it('leave it with a sign-in at another service', async () => {
    const other = await serve(
      (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"data":[],"has_more":false,"next":null}'),
    );
    const login = ['login', '--api-key-stdin', '--profile', 'moved'];
    await gw(login, { stdin: 'gw_one' });
    expect((await gw([...login, '--url', other.url], { stdin: 'gw_two' })).code).toBe(0);
    await gw(['config', 'set', 'token', 'of-that-one', '--profile', 'moved', '--url', other.url]);
    await gw(['config', 'set', 'api_key', 'gw_three', '--profile', 'moved']);
    const { json } = await gw(['config', 'get', 'token', '--profile', 'moved', '--json']);
    expect(json?.value ?? null).toBeNull();
  });

  it('are not sent over plain http to another machine, unless that is wanted', async () => {
    verifies('gw-own-origin');
    const refused = await gw(['system', 'health', '--url', 'http://pay.example.test', '--json']);
    expect(refused).toMatchObject({ code: 78, error: { error: { code: 'plain_http' } } });
    const wanted = await gw([
      'system',
      'health',
      '--url',
      'http://pay.example.test',
      '--plain-http',
      '--json',
    ]);
    expect(wanted.code).toBe(69);
    expect((await gw(['system', 'health', '--url', 'http://[::1]:9', '--json'])).code).toBe(69);
  });
});

/** A port whose queue of connections is full: the next one waits for ever. */
async function listenWithoutAccepting(): Promise<string> {
  const script = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port) + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(printed.toString());
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
  });
  // So many stand as there is room for.
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
  return `http://127.0.0.1:${port}`;
}

/** A server with a certificate of its own. */
async function serveTls(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(dir, name)) as [string, string];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', ...made, '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
    response.end('{}'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    rmSync(dir, { recursive: true });
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The credentials of a profile, given for another address on purpose. */
async function tokenOf(who: Gw): Promise<Record<string, string>> {
  const { json } = await who(['config', 'get', 'token', '--json']);
  return { GW_TOKEN: json.value };
}
