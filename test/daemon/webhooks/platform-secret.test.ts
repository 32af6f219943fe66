// Callbacks of the platform key are signed with the deployment's secret, which the operator alone is shown.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../../daemon/process/secrets.ts';
import { loadConfig } from '../../../daemon/settings/config.ts';
import { webhookHeaders } from '../../../src/webhook.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { wallets } from '../../helpers/people.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const PLATFORM_KEY = 'gw_the-platform-key-of-the-tests';
const received: { headers: IncomingMessage['headers']; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  received.push({ headers: request.headers, body });
  response.end();
});

let service: TestApp;
let operator: { token: string };
let url: string;
beforeAll(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`;
  service = await startApp({ settings: { platform_key: PLATFORM_KEY, 'wallets.ton': wallets.ton ?? '' } });
  operator = await service.superuser();
});
afterAll(async () => {
  await service.stop();
  receiver.close();
});

const PATH = '/api/v1/admin/webhook-secret';

/** Checks what came last as a receiver would. */
const expectSigned = (secret: string) => {
  const { headers, body } = received.at(-1) ?? expect.fail('nothing came');
  const id = String(headers['webhook-id']);
  const timestamp = Number(headers['webhook-timestamp']);
  const expected = webhookHeaders({ id, timestamp, body, secrets: [secret] })['webhook-signature'];
  expect(headers['webhook-signature']).toBe(expected);
  expect(JSON.parse(body)).toMatchObject({ type: 'invoice.confirmed' });
};

const sell = async (of: TestApp, key: string, body: object) => {
  const before = received.length;
  const made = await of.fetch('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: 5, ...body } });
  await of.fetch('POST', `/v1/invoices/${made.json.id}/simulate`, { key });
  await until('the callback came', async () => (received.length > before ? true : undefined));
};

test('a callback carries a signature that the secret of the operator checks', async () => {
  verifies('webhook-platform-signed');
  const { status, json } = await service.fetch('GET', PATH, { token: operator.token });
  expect([status, json]).toEqual([200, { webhook_secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) }]);
  await sell(service, PLATFORM_KEY, { callback_url: url });
  expectSigned(json.webhook_secret);
});

test('a merchant is never shown it, and signs with its own', async () => {
  verifies('webhook-platform-signed');
  const { json } = await service.fetch('GET', PATH, { token: operator.token });
  const merchant = await service.merchant();
  expect((await service.fetch('GET', PATH, { token: merchant.token })).status).toBe(403);
  expect((await service.fetch('GET', PATH, { key: PLATFORM_KEY })).status).toBe(401);
  const account = await service.fetch('GET', '/api/v1/merchant/account', { token: merchant.token });
  expect(account.json.webhook_secret).not.toBe(json.webhook_secret);
  await sell(service, merchant.key, { callback_url: url });
  expectSigned(account.json.webhook_secret);
  expect(service.log.join('\n')).not.toContain(json.webhook_secret);
});

test('for 24 hours after a change both secrets of a merchant check what comes, then the new one alone', async () => {
  verifies('webhook-two-signatures');
  const merchant = await service.merchant();
  const { token, key } = merchant;
  const patch = async (body: object) =>
    (await service.fetch('PATCH', '/api/v1/merchant/account', { token, body })).json;
  const first = (await patch({})).webhook_secret;
  const [second, third] = [`whsec_${'c2Vjb25k'.repeat(4)}`, 'a third of any characters'];
  const checkedBy = async () => {
    await sell(service, key, { callback_url: url });
    const { headers, body } = received.at(-1) ?? expect.fail('nothing came');
    const id = String(headers['webhook-id']);
    const timestamp = Number(headers['webhook-timestamp']);
    const given = String(headers['webhook-signature']).split(' ');
    const secrets = [first, second, third].filter((secret) =>
      given.includes(webhookHeaders({ id, timestamp, body, secrets: [secret] })['webhook-signature'] ?? ''),
    );
    expect(secrets).toHaveLength(given.length);
    return secrets;
  };
  expect(await checkedBy()).toEqual([first]);
  const ends_at = service.clock.now() + 24 * 3600;
  expect((await patch({ webhook_secret: second })).previous_webhook_secret_ends_at).toBe(ends_at);
  expect(await checkedBy()).toEqual([first, second]);
  // What is already so changes nothing.
  expect((await patch({ webhook_secret: second })).previous_webhook_secret_ends_at).toBe(ends_at);
  service.clock.advance(24 * 3600 - 1);
  expect(await checkedBy()).toEqual([first, second]);
  service.clock.advance(1);
  expect(await checkedBy()).toEqual([second]);
  await patch({ webhook_secret: third });
  expect(await checkedBy()).toEqual([second, third]);
  expect(await patch({ end_previous_webhook_secret: true })).toMatchObject({
    webhook_secret: third,
    previous_webhook_secret_ends_at: null,
  });
  expect(await checkedBy()).toEqual([third]);
  await patch({ webhook_secret: second, end_previous_webhook_secret: true });
  expect(await checkedBy()).toEqual([second]);
});

test('it follows from the secret of the deployment, or is the setting', async () => {
  const { webhook_secret } = createSecrets('a secret for tests only');
  expect(webhook_secret).toBe(createSecrets('a secret for tests only').webhook_secret);
  expect(webhook_secret).not.toBe(createSecrets('another secret of tests').webhook_secret);
  const set = await startApp({
    settings: {
      platform_key: PLATFORM_KEY,
      'wallets.ton': wallets.ton ?? '',
      webhook_secret: 'chosen by the operator',
    },
  });
  try {
    await sell(set, PLATFORM_KEY, { callback_url: url });
    expectSigned('chosen by the operator');
  } finally {
    await set.stop();
  }
  const wrong = { flags: { webhook_secret: 'whsec_not base64 at all' }, env: {}, cwd: '/' };
  expect(() => loadConfig(wrong)).toThrow(/webhook_secret.*base64/);
});
