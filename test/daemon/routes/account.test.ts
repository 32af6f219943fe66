// The merchant account: key, webhook, currencies and slug, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookSecretPurpose } from '../../../daemon/process/secrets.ts';
import { getMerchant } from '../../../data/merchants.ts';
import { isKey } from '../../../src/keys.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

const CHAINS = ['ton', 'ton-usdt', 'solana', 'solana-usdc', 'solana-usdt', 'bitcoin', 'litecoin'];

describe.each(databases)('the merchant account on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database, settings: { webhook_allow_private: false } });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: unknown, { token } = merchant) =>
    service.fetch(method, `/api/v1/merchant/${path}`, { token, body });
  const patch = (body: object, who = merchant) => call('PATCH', 'account', body, who);
  /** A merchant without wallets, as signing up makes it. */
  const newcomer = async () => {
    const made = await service.merchant();
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', made.id).execute();
    return made;
  };

  test.each([
    ['GET', 'account'],
    ['PATCH', 'account'],
    ['POST', 'account/rotate-key'],
    ['GET', 'balances'],
    ['GET', 'wallets'],
    ['PUT', 'wallets'],
    ['GET', 'refill-wallets'],
    ['POST', 'refill'],
    ['GET', 'income'],
    ['GET', 'payment-page'],
    ['GET', 'embed-preview'],
    ['GET', 'units'],
    ['POST', 'units'],
    ['GET', 'events'],
  ])('%s %s needs a bearer token; the merchant key is none', async (method, path) => {
    const anonymous = await service.fetch(method, `/api/v1/merchant/${path}`, { key: merchant.key });
    expect([anonymous.status, anonymous.json.detail]).toEqual([401, 'Not authenticated']);
    const forged = await service.fetch(method, `/api/v1/merchant/${path}`, { token: merchant.key });
    expect([forged.status, forged.json.detail]).toEqual([403, 'Could not validate credentials']);
  });

  test('shows the key, a webhook secret made at sign-up, and a limit of zero', async () => {
    verifies(
      'get-account',
      'res-account',
      'limit-starts-zero',
      'key-form',
      'plan-base',
      'limit-fee-rate',
      'limit-multiplier',
    );
    const { status, json } = await call('GET', 'account');
    expect(status).toBe(200);
    expect(json).toEqual({
      slug: expect.stringMatching(/^[a-z0-9](?:-?[a-z0-9])*$/),
      api_key: merchant.key,
      webhook_url: null,
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      previous_api_key_ends_at: null,
      previous_webhook_secret_ends_at: null,
      house: false,
      webhook_refills: false,
      enabled_currencies: CHAINS,
      limit_of_payments: '0',
      refill_credit_multiplier: '100',
      platform_fee_rate: '0.01',
      platform_fee_percent: '1',
      max_payment_units: 3,
      plan: 'base',
      network: 'testnet',
      fee_description: expect.stringContaining('1 %'),
      display_name: null,
      logo_url: null,
      support_email: null,
      support_url: null,
      site_url: null,
      legal_line: null,
      return_hosts: [],
    });
    expect(isKey(json.api_key)).toBe(true);
    expect(Buffer.from(json.webhook_secret.slice(6), 'base64')).toHaveLength(24);
  });

  test('keeps key and secret encrypted, bound to their row', async () => {
    verifies('key-form');
    const { json } = await call('GET', 'account');
    const row = await getMerchant(service.app.db.query, merchant.id);
    const stored = JSON.stringify({ ...row, prepaid_micros: 0 });
    expect(stored).not.toContain(json.api_key);
    expect(stored).not.toContain(json.webhook_secret);
    const { secrets } = service.app;
    expect(() =>
      secrets.open(row?.webhook_secret_sealed ?? '', webhookSecretPurpose('another row')),
    ).toThrow();
  });

  test('is made for a superuser that came without one, once', async () => {
    const operator = await service.superuser();
    await service.app.db.query.deleteFrom('merchants').where('id', '=', operator.id).execute();
    const both = await Promise.all(
      [1, 2].map(() => service.fetch('GET', '/api/v1/merchant/account', { token: operator.token })),
    );
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both[0]?.json.api_key).toBe(both[1]?.json.api_key);
  });

  test('keeps what is left out; null and empty texts remove', async () => {
    verifies('patch-account');
    const who = await service.merchant();
    const set = await patch(
      { webhook_url: 'https://shop.example.com/hook', webhook_secret: 'a secret of my own' },
      who,
    );
    expect(set.json).toMatchObject({
      webhook_url: 'https://shop.example.com/hook',
      webhook_secret: 'a secret of my own',
    });
    expect((await patch({ slug: null }, who)).json).toEqual(set.json);
    expect((await patch({}, who)).json).toEqual(set.json);
    const removed = await patch({ webhook_url: null, webhook_secret: null }, who);
    expect(removed.json).toMatchObject({ webhook_url: null, webhook_secret: null });
    await patch({ webhook_url: 'https://shop.example.com/hook', webhook_secret: 'again' }, who);
    const emptied = await patch({ webhook_url: '', webhook_secret: '' }, who);
    expect(emptied.json).toMatchObject({ webhook_url: null, webhook_secret: null });
    expect((await call('GET', 'account', undefined, who)).json).toEqual(emptied.json);
  });

  test.each([
    'http://127.0.0.1/hook',
    'http://localhost:8080/',
    'http://10.0.0.7/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'ftp://shop.example.com/',
    'https://user:pass@shop.example.com/',
    'https://shop.example.com:25/',
    'no url',
  ])('refuses to call %s', async (webhook_url) => {
    const { status, json } = await patch({ webhook_url });
    expect([status, json.code]).toEqual([400, 'url_not_allowed']);
    expect((await call('GET', 'account')).json.webhook_url).toBeNull();
  });

  test('refuses a webhook secret that no receiver could verify with, and never echoes one', async () => {
    for (const webhook_secret of ['whsec_', 'whsec_no base64!'])
      expect(await patch({ webhook_secret })).toMatchObject({ status: 400, json: { code: 'bad_request' } });
    const long = await patch({ webhook_secret: 'secret'.repeat(100) });
    expect([long.status, 'input' in long.json.detail[0]]).toEqual([422, false]);
  });

  test('takes gateway ids and tickers in any case, once each, and answers them as they were sent', async () => {
    verifies('currency-entries', 'currency-entries-echo');
    const who = await newcomer();
    const enable = (enabled_currencies: unknown) => patch({ enabled_currencies }, who);
    expect((await enable(['Ton', 'USDT', 'usdt', 'solana', 'TON'])).json.enabled_currencies).toEqual([
      'Ton',
      'USDT',
      'solana',
    ]);
    const missing = (await call('GET', 'wallets', undefined, who)).json.missing;
    expect(missing).toEqual(['ton', 'solana']);
    const unknown = await enable(['TON', 'DOGE']);
    expect([unknown.status, unknown.json.code]).toEqual([400, 'unknown_chain']);
    expect(unknown.json.detail).toContain('DOGE');
    expect((await enable([])).json.enabled_currencies).toEqual([]);
    const off = await service.fetch('POST', '/v1/invoices', {
      key: who.key,
      body: { chain: 'ton', amount: 1 },
    });
    expect([off.status, off.json.code]).toEqual([400, 'unknown_chain']);
    expect((await enable(null)).json.enabled_currencies).toEqual(CHAINS);
    expect((await enable('TON')).json.detail[0].type).toBe('list_type');
  });

  test('has a slug of its own choice, which no one else has', async () => {
    verifies('slug');
    const [one, other] = [await service.merchant(), await service.merchant()];
    expect((await patch({ slug: 'my-shop-7' }, one)).json.slug).toBe('my-shop-7');
    const taken = await patch({ slug: 'my-shop-7', webhook_url: 'https://example.org/' }, other);
    expect([taken.status, taken.json.code]).toEqual([409, 'slug_taken']);
    expect((await call('GET', 'account', undefined, other)).json.webhook_url).toBeNull();
    expect((await patch({ slug: 'my-shop-7' }, one)).status).toBe(200);
    for (const slug of ['ab', 'My-Shop', '-shop', 'shop-', 'my--shop', 'my_shop', 'x'.repeat(65)])
      expect([slug, (await patch({ slug }, one)).status]).toEqual([slug, 422]);
  });

  test('cannot be given money, another key or another owner', async () => {
    const who = await service.merchant();
    const before = (await call('GET', 'account', undefined, who)).json;
    const after = await patch(
      {
        prepaid_micros: 5,
        limit_of_payments: '1000',
        api_key: 'gw_x',
        id: 'x',
        plan: 'gold',
        network: 'mainnet',
      },
      who,
    );
    expect([after.status, after.json]).toEqual([200, before]);
  });

  test('replaces its key, and the old one stops working at once', async () => {
    verifies('key-rotate');
    const who = await service.merchant();
    const { status, json } = await call('POST', 'account/rotate-key', undefined, who);
    expect([status, isKey(json.api_key), json.api_key === who.key]).toEqual([200, true, false]);
    const list = (key: string) => service.fetch('GET', '/v1/invoices', { key });
    expect((await list(who.key)).json.detail).toBe('Invalid API key');
    expect((await list(json.api_key)).status).toBe(200);
  });

  test('replaces its key, and the old one works for as long as was asked for', async () => {
    verifies('key-rotate');
    const who = await service.merchant();
    const list = async (key: string) => (await service.fetch('GET', '/v1/invoices', { key })).status;
    const rotate = async (grace: string) =>
      (await call('POST', `account/rotate-key?grace=${grace}`, undefined, who)).json;
    const one = await rotate('1h');
    const ends_at = service.clock.now() + 3600;
    expect(one.previous_api_key_ends_at).toBe(ends_at);
    expect([await list(who.key), await list(one.api_key)]).toEqual([200, 200]);
    service.clock.advance(3599);
    expect(await list(who.key)).toBe(200);
    service.clock.advance(1);
    expect([await list(who.key), await list(one.api_key)]).toEqual([401, 200]);
    expect((await call('GET', 'account', undefined, who)).json.previous_api_key_ends_at).toBeNull();

    const two = await rotate('60');
    const three = await rotate('2d');
    expect([await list(one.api_key), await list(two.api_key), await list(three.api_key)]).toEqual([
      401, 200, 200,
    ]);
    expect((await patch({ end_previous_api_key: true }, who)).json.previous_api_key_ends_at).toBeNull();
    expect([await list(two.api_key), await list(three.api_key)]).toEqual([401, 200]);
    const four = await rotate('1h');
    await rotate('0');
    expect([await list(three.api_key), await list(four.api_key)]).toEqual([401, 401]);
    for (const wrong of ['31d', '-1', '1w', 'soon'])
      expect((await call('POST', `account/rotate-key?grace=${wrong}`, undefined, who)).status).toBe(422);
  });

  test('that is blocked or deleted ends both of its keys', async () => {
    const operator = await service.superuser();
    const who = await service.merchant();
    const list = async (key: string) => (await service.fetch('GET', '/v1/invoices', { key })).status;
    const path = `/api/v1/users/${who.id}`;
    const { api_key } = (await call('POST', 'account/rotate-key?grace=1d', undefined, who)).json;
    const both = async () => [await list(who.key), await list(api_key)];
    expect(await both()).toEqual([200, 200]);
    await service.fetch('PATCH', path, { token: operator.token, body: { is_active: false } });
    expect(await both()).toEqual([403, 403]);
    await service.fetch('DELETE', path, { token: operator.token });
    expect(await both()).toEqual([401, 401]);
  });
});
