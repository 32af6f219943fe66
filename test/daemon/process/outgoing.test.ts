// What receivers and providers say before their answer is passed over, as RFC 9110 §15.2 asks of each client.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openGoogleKeys } from '../../../daemon/accounts/google-keys.ts';
import { createProvider } from '../../../daemon/observer/providers/provider.ts';
import { openHttpOut } from '../../../daemon/webhooks/egress.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import { verifies } from '../../requirements.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
const cases: [name: string, before: string][] = [
  ['100', CONTINUE],
  ['100, twice', CONTINUE + CONTINUE],
  ['102', PROCESSING],
  ['103', HINTS],
  ['an unknown one', 'HTTP/1.1 199 Whatever\r\nX-A: b\r\n\r\n'],
  ['all of them', CONTINUE + HINTS + PROCESSING + CONTINUE + HINTS],
];

/** A server that says `before`, in one packet with its answer or in one of its own, and then the answer. */
async function saying(before: string, body: string, together: boolean, status = '200 OK'): Promise<string> {
  const answer = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      // A head and its small body may come in two packets.
      if (!/^(GET|POST|HEAD) /.test(data.toString())) return;
      if (together) socket.write(before + answer);
      else {
        socket.write(before);
        setTimeout(() => socket.write(answer), 20);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each([
  ['in one packet', true],
  ['in packets of their own', false],
])('what comes before an answer, %s', (_, together) => {
  test.each(cases)('is passed over by the sender of webhooks: %s', async (_, before) => {
    verifies('interim-answers');
    const out = openHttpOut({ allow_private: true });
    const post = async (status: string) =>
      out.post(await saying(before, '{"ok":true}', together, status), {
        headers: {},
        body: '{"id":1}',
        signal: new AbortController().signal,
        reads_answer: true,
      });
    expect(await post('200 OK')).toEqual({ kind: 'answered', http_status: 200, text: '{"ok":true}' });
    expect(await post('410 Gone')).toMatchObject({ kind: 'answered', http_status: 410 });
  });

  test.each(cases)('is passed over by what asks providers and prices: %s', async (_, before) => {
    verifies('interim-answers');
    const url = await saying(before, '{"result":7}', together);
    const limits = { timeout_ms: 2_000, response_bytes: 1_000 };
    const clock = { ms: () => 0 };
    const options = { requests_per_second: 1_000, limits, clock, random: () => 0 };
    const { rpc, close, counters } = createProvider({ provider: 'core', url }, options);
    onTestFinished(() => close(new ProviderError('unreachable', 'test over')));
    // Several on one connection: what was passed over leaves nothing behind.
    for (let n = 0; n < 3; n++) {
      expect(await rpc.json('/x')).toEqual({ result: 7 });
      expect(await rpc.json('/x', { body: { a: n } })).toEqual({ result: 7 });
    }
    expect(counters).toMatchObject({ requests: 6, failures: 0 });
  });

  test.each(cases)('is passed over by what asks for keys of Google: %s', async (_, before) => {
    verifies('interim-answers');
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const jwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(jwk);
    const body = JSON.stringify({ keys: [{ ...jwk, kid, alg: 'RS256', use: 'sig' }] });
    const url = await saying(before, body, together);
    const keys = openGoogleKeys({ google: { jwks_url: url } } as Parameters<typeof openGoogleKeys>[0]);
    const [header = ''] = (
      await new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)
    ).split('.');
    const found = await keys({ alg: 'RS256', kid }, { payload: '', signature: '', protected: header });
    expect(found.algorithm).toMatchObject({ name: 'RSASSA-PKCS1-v1_5' });
  });
});

test('a receiver that says nothing but what comes before an answer is given up at the deadline', async () => {
  const server = createServer((socket) => {
    const more = setInterval(() => socket.write(CONTINUE), 5);
    socket.on('error', () => {}).on('close', () => clearInterval(more));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const out = openHttpOut({ allow_private: true, timeout_ms: 300 });
  const { signal } = new AbortController();
  expect(await out.post(url, { headers: {}, body: '{}', signal })).toEqual({
    kind: 'failed',
    error: 'no answer within 0.3 s',
  });
});
