// Outgoing requests reach public addresses only, whatever the URL, the name server or the receiver does.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemRuntime } from '../../../daemon/process/runtime.ts';
import { checkWebhookUrl, isPublicAddress, openHttpOut } from '../../../daemon/webhooks/egress.ts';
import { verifies } from '../../requirements.ts';

const request = { headers: { 'content-type': 'application/json' }, body: '{}' };
const never = new AbortController().signal;
const ANSWER_MS = 50;
/** The receiver has answered by then. */
const STANDSTILL_MS = 1_000;

/** A receiver on loopback that counts connections. */
async function listen(
  handler: RequestListener,
): Promise<{ url: string; port: number; connections(): number }> {
  let connections = 0;
  const server = createServer(handler).on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, connections: () => connections };
}

const post = (url: string, options: Partial<Parameters<typeof openHttpOut>[0]> = {}, signal = never) =>
  openHttpOut({ allow_private: true, ...options }).post(url, { ...request, signal });

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '223.255.255.254',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];

const otherAddresses = [
  // This host, loopback, private, shared, link-local (cloud metadata too).
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255'],
  ...['192.168.1.1', '100.64.0.1', '100.127.255.255', '169.254.169.254', '169.254.170.2'],
  // Documentation, benchmarking, relays, multicast, reserved, broadcast.
  ...['192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '192.88.99.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  // The same in IPv6.
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  ...['100::1', '2001:db8::1', '3fff::1', '2001:2::1', '5f00::1', '4000::1', 'e000::1'],
  // IPv4 inside IPv6: mapped, compatible, translated, 6to4, Teredo, ISATAP.
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::169.254.169.254', '64:ff9b:1::808:808'],
  ...['2002:7f00:1::', '2002:a00:1::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', 'fe80::5efe:10.0.0.1'],
  // Not addresses at all.
  ...['', 'localhost', '127.1', '0x7f.0.0.1', '017700000001', '2130706433', '1.2.3', '8.8.8.8 ', '[::1]'],
];

describe('a public address', () => {
  test.each(publicAddresses)('is %s', (address) => expect(isPublicAddress(address)).toBe(true));
  test.each(otherAddresses)('is not %j', (address) => expect(isPublicAddress(address)).toBe(false));
});

const privateHosts = [
  ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '0177.0.0.1', '2130706433', '017700000001'],
  ...[
    '127.0.0.1.',
    '１２７.0.0.1',
    '127。0。0。1',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '00.00.00.00',
  ],
  ...['10.0.0.1', '0xa000001', '012.0.0.1', '172.16.0.1', '192.168.0.1', '0xc0a80001', '3232235521'],
  ...['100.64.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518'],
  ...['192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '4294967295'],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]'],
  ...['[::127.0.0.1]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[64:ff9b::7f00:1]', '[64:ff9b::10.0.0.1]'],
  ...['[2002:7f00:1::]', '[2001::1]', '[2001:db8::1]', '[fd00:ec2::254]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'router.local', 'metadata.google.internal'],
  ...['metadata', 'redis', 'db.lan', 'nas.home.arpa', 'wiki.intranet'],
];

const badUrls = [
  ...[
    '',
    'example.com',
    '//example.com',
    '/hook',
    'http://',
    'http://[::1',
    'http://exa mple.com',
    'http://a..b:x',
  ],
  ...['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'javascript:alert(1)', 'data:,x'],
  ...['ws://example.com/', 'unix:/var/run/docker.sock', 'dict://example.com:11211/'],
  ...['https://user@example.com/', 'https://user:pass@example.com/', 'https://:p@example.com/'],
  ...['https://example.com@127.0.0.1/', 'https://127.0.0.1#@example.com/'],
  ...[
    'https://example.com:22/',
    'https://example.com:25/',
    'http://example.com:0/',
    'http://example.com:1023/',
  ],
  `https://example.com/${'a'.repeat(2030)}`,
];

const goodUrls = [
  ...[
    'https://example.com/',
    'http://example.com/hook?a=1#x',
    'https://example.com:8443/',
    'http://8.8.8.8/',
  ],
  ...[
    'HTTPS://Example.COM./',
    'https://[2606:4700:4700::1111]:1024/',
    'https://bücher.example/',
    'https://10.example.org/',
  ],
  ...[
    'https://localhost.example.com/',
    'https://example.com/@127.0.0.1',
    `https://example.com/${'a'.repeat(2028)}`,
  ],
];

describe('a webhook URL', () => {
  const strict = { allow_private: false };
  const refusal = expect.objectContaining({ code: 'url_not_allowed', status: 400 });

  test.each(privateHosts)('may not name %s', async (host) => {
    verifies('outgoing-public-only');
    for (const url of [`http://${host}/`, `https://${host}:8443/x`])
      expect(() => checkWebhookUrl(url, strict)).toThrow(refusal);
    expect(await post(`http://${host}/`, strict)).toMatchObject({ kind: 'failed' });
  });
  test.each(badUrls)('may not be %s', (url) => expect(() => checkWebhookUrl(url, strict)).toThrow(refusal));
  test.each(goodUrls)('may be %s', (url) => expect(checkWebhookUrl(url, strict)).toBeInstanceOf(URL));

  test('may be private where that is allowed, but needs http and no password even then', () => {
    const open = { allow_private: true };
    for (const url of [
      'http://127.0.0.1:3000/',
      'http://localhost/',
      'https://redis:6379/',
      'http://[::1]:22/',
    ])
      expect(checkWebhookUrl(url, open).href).toContain(url);
    for (const url of ['file:///etc/passwd', 'http://user:pass@localhost/', 'localhost:3000'])
      expect(() => checkWebhookUrl(url, open)).toThrow(refusal);
  });
});

/** A name server that answers each question with the next of `answers`; an empty one means no such name. */
async function nameServer(answers: string[][]): Promise<{ address: string; asked(): number }> {
  let asked = 0;
  const turns = new Map<number, number>();
  const server: UdpSocket = createSocket('udp4').on('message', (question, from) => {
    asked++;
    const type = question.readUInt16BE(question.indexOf(0, 12) + 1);
    const turn = turns.get(type) ?? 0;
    turns.set(type, turn + 1);
    const addresses = answers[Math.min(turn, answers.length - 1)] ?? [];
    server.send(dnsAnswer(question, type, addresses), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${server.address().port}`, asked: () => asked };
}

/** The addresses of the asked type (1: IPv4, 28: IPv6) as a DNS message. */
function dnsAnswer(question: Buffer, type: number, addresses: string[]): Buffer {
  const fitting = addresses.filter((address) => (type === 28) === address.includes(':'));
  const asked = question.subarray(12, question.indexOf(0, 12) + 5);
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(addresses.length === 0 ? 0x8183 : 0x8180, 2);
  [1, fitting.length, 0, 0].forEach((count, index) => {
    head.writeUInt16BE(count, 4 + 2 * index);
  });
  const records = fitting.map((address) => {
    const data = type === 28 ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, asked, ...records]);
}

/** Eight groups, none abbreviated. */
const ipv6Bytes = (address: string) =>
  Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );

describe('a name', () => {
  const blocked = { kind: 'failed', error: 'the host has an address that is not public (NOT_PUBLIC)' };

  test.each([
    ['a private address', ['127.0.0.1']],
    ['a private address among public ones', ['93.184.216.34', '127.0.0.1']],
    ['a private IPv6 address alongside a public IPv4 one', ['93.184.216.34', '0:0:0:0:0:0:0:1']],
    ['a mapped address', ['0:0:0:0:0:ffff:7f00:1']],
    ['a translated address', ['64:ff9b:0:0:0:0:7f00:1']],
    ['the metadata service', ['169.254.169.254']],
  ])('that resolves to %s is not connected to', async (_, addresses) => {
    const canary = await listen((_request, response) => response.end());
    const dns = await nameServer([addresses]);
    const options = { allow_private: false, dns_servers: [dns.address] };
    expect(await post(`http://hook.example.com:${canary.port}/`, options)).toEqual(blocked);
    expect(dns.asked()).toBeGreaterThan(0);
    expect(canary.connections()).toBe(0);
  });

  test('that answers a public address first and a private one later is not connected to later', async () => {
    verifies('outgoing-public-only');
    const canary = await listen((_request, response) => response.end());
    const dns = await nameServer([['192.88.98.1'], ['127.0.0.1'], ['127.0.0.1']]);
    const out = openHttpOut({ allow_private: false, dns_servers: [dns.address], timeout_ms: 300 });
    const url = `http://rebind.example.com:${canary.port}/`;
    const first = await out.post(url, { ...request, signal: never });
    expect(first).toMatchObject({ kind: 'failed' });
    expect(first).not.toEqual(blocked);
    expect(await out.post(url, { ...request, signal: never })).toEqual(blocked);
    expect(canary.connections()).toBe(0);
  });

  test('that does not exist, or whose server is silent, fails within the time given', async () => {
    const empty = await nameServer([[]]);
    expect(
      await post('http://nothing.example.com/', { allow_private: false, dns_servers: [empty.address] }),
    ).toEqual({ kind: 'failed', error: 'the host name does not exist (ENOTFOUND)' });
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const options = {
      allow_private: false,
      dns_servers: [`127.0.0.1:${silent.address().port}`],
      timeout_ms: 300,
    };
    expect(await post('http://silent.example.com/', options)).toEqual({
      kind: 'failed',
      error: 'no answer within 0.3 s',
    });
  });
});

describe('a request', () => {
  test('is sent once, as it is, on a connection of its own', async () => {
    const seen: unknown[] = [];
    const receiver = await listen(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const { connection, host, 'content-type': type } = incoming.headers;
      seen.push({ method: incoming.method, url: incoming.url, connection, host, type, body });
      response.end('thanks');
    });
    const out = openHttpOut({ allow_private: true });
    const url = `http://localhost:${receiver.port}/a%20b?c=d&e#f`;
    for (let n = 0; n < 2; n++)
      expect(await out.post(url, { ...request, body: '{"ü":1}', signal: never })).toEqual({
        kind: 'answered',
        http_status: 200,
      });
    const one = {
      method: 'POST',
      url: '/a%20b?c=d&e',
      connection: 'close',
      host: `localhost:${receiver.port}`,
      type: 'application/json',
      body: '{"ü":1}',
    };
    expect(seen).toEqual([one, one]);
    expect(receiver.connections()).toBe(2);
  });

  test.each([301, 302, 303, 307, 308])('does not follow HTTP %i', async (status) => {
    verifies('webhook-outcome');
    const target = await listen((_request, response) => response.end());
    const receiver = await listen((_request, response) =>
      response.writeHead(status, { location: target.url }).end(),
    );
    expect(await post(receiver.url)).toEqual({ kind: 'answered', http_status: status });
    expect(target.connections()).toBe(0);
  });

  test('ends when 64 kB of an endless answer are read', async () => {
    verifies('webhook-outcome');
    let sent = 0;
    const receiver = await listen((_request, response) => {
      const chunk = Buffer.alloc(16 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    expect(await post(receiver.url)).toEqual({ kind: 'answered', http_status: 200 });
    // What the kernel's buffers hold on both sides, not what a client would have gone on to read.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test('keeps a status whose body never ends, and ends at the deadline', async () => {
    const receiver = await listen((_request, response) => {
      response.writeHead(200).flushHeaders();
    });
    const dripping = await listen((_request, response) => {
      response.writeHead(500);
      response.write('.');
    });
    expect(await post(receiver.url, { timeout_ms: 1500 })).toEqual({ kind: 'answered', http_status: 200 });
    expect(await post(dripping.url, { timeout_ms: 1500 })).toEqual({ kind: 'answered', http_status: 500 });
  });

  test('is read though this process stood still until the deadline was over', async () => {
    const receiver = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
      const server = require('node:http').createServer((request, response) => {
        parentPort.postMessage('received');
        setTimeout(() => response.end('ok'), workerData);
      }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true, workerData: ANSWER_MS },
    );
    onTestFinished(() => void receiver.terminate());
    const [port] = await once(receiver, 'message');
    let expire = () => {};
    const runtime = {
      ...systemRuntime,
      after(_: number, work: () => void) {
        expire = work;
        return () => {};
      },
    };
    const outcome = post(`http://127.0.0.1:${port}/hook`, { runtime });
    await once(receiver, 'message');
    // The answer comes meanwhile. Then, as after any standstill, timers are first.
    setTimeout(() => expire());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS);
    expect(await outcome).toEqual({ kind: 'answered', http_status: 200 });
  });

  test('is given up at the deadline when no answer comes', async () => {
    verifies('webhook-outcome');
    const receiver = await listen(() => {});
    const began = performance.now();
    expect(await post(receiver.url, { timeout_ms: 300 })).toEqual({
      kind: 'failed',
      error: 'no answer within 0.3 s',
    });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(receiver.connections()).toBe(1);
  });

  test('can be interrupted by its sender, before and while it waits', async () => {
    const stop = new AbortController();
    const receiver = await listen(() => stop.abort());
    expect(await post(receiver.url, {}, stop.signal)).toEqual({ kind: 'interrupted', sent: true });
    expect(await post(receiver.url, {}, stop.signal)).toEqual({ kind: 'interrupted', sent: false });
    expect(receiver.connections()).toBe(1);
  });

  test('tells what went wrong without naming addresses', async () => {
    const gone = await listen(() => {});
    const refused = gone.port === 1 ? 2 : 1;
    const closing = await listen((incoming) => incoming.socket.destroy());
    const babble = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')).listen(0, '127.0.0.1');
    await once(babble, 'listening');
    onTestFinished(() => void babble.close());
    const huge = await listen((_request, response) => {
      response.writeHead(200, { 'x-huge': 'a'.repeat(20_000) }).end();
    });
    const cases: [url: string, error: RegExp][] = [
      [`http://127.0.0.1:${refused}/`, /^connection refused \(ECONNREFUSED\)$/],
      [closing.url, /^the connection was closed before an answer came/],
      [`http://127.0.0.1:${(babble.address() as AddressInfo).port}/`, /^the answer is not HTTP/],
      [huge.url, /^the answer has more than 16 kB of headers/],
      [huge.url.replace('http:', 'https:'), /^the TLS connection cannot be trusted/],
      ['http://no-such-name.invalid/', /^the host name (does not exist|cannot be resolved)/],
    ];
    for (const [url, error] of cases) {
      const outcome = await post(url);
      expect(outcome).toEqual({ kind: 'failed', error: expect.stringMatching(error) });
      expect(JSON.stringify(outcome)).not.toMatch(/127\.0\.0\.1|http:\/\//);
    }
  });
});
