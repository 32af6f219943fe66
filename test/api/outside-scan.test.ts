// The kinds of faults that an outside scan found in another gateway, tried here: by one merchant on another, by buyers on
// merchants, by operators on themselves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openapi } from '../../src/api/project/openapi.ts';
import { checkoutStates } from '../../src/checkout.ts';
import { createUnit, everyState } from '../daemon/checkout/states.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import {
  create,
  fundedMerchant,
  invoiceRow,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../helpers/payments.ts';

const OPEN = ['waiting', 'closing', 'orphaned', 'underpaid', 'seen', 'processing'];
const BUYER_MAIL = 'the-buyer@example.com';

describe.each(databases)('what an outside scan looks for, on %s', (database) => {
  let world: TestApp;
  let shop: TestMerchant;
  let rival: TestMerchant;
  beforeAll(async () => {
    world = await startApp({ database, settings: { limit_policy: 'hold' } });
    shop = await fundedMerchant(world);
    rival = await fundedMerchant(world);
  });
  afterAll(() => world.stop());

  const rowsOf = async (table: 'income' | 'ledger') =>
    (await world.app.db.query.selectFrom(table).selectAll().execute()).length;

  test('nothing a buyer or a merchant may do opens what has ended, or books it once more', async () => {
    const ids = await everyState({ test: world, merchant: shop });
    const ended = checkoutStates.filter((state) => !OPEN.includes(state));
    const before = [await rowsOf('income'), await rowsOf('ledger')];
    for (const state of ended) {
      const id = ids[state];
      const { status } = await invoiceRow(world, id);
      const acts: [string, unknown, string | undefined][] = [
        [`/v1/invoices/${id}/cancel`, {}, undefined],
        [`/v1/invoices/${id}/switch`, { chain: 'ton' }, undefined],
        [`/v1/invoices/${id}/claim`, {}, undefined],
        [`/v1/invoices/${id}/check`, undefined, shop.key],
        [`/v1/invoices/${id}/simulate`, undefined, shop.key],
        [`/v1/invoices/${id}/simulate`, undefined, rival.key],
      ];
      for (const [path, body, key] of acts) {
        await world.fetch('POST', path, { body, ...(key === undefined ? {} : { key }) });
        expect((await invoiceRow(world, id)).status, `${state} after ${path}`).toBe(status);
      }
    }
    expect([await rowsOf('income'), await rowsOf('ledger')]).toEqual(before);
  });

  test('nothing of another merchant is named, changed or paged from', async () => {
    const unit = await createUnit({ test: world, merchant: shop });
    const invoice = await create(world, shop, 'ton', { external_ref: 'order of the shop' });
    const feed = await world.fetch('GET', '/api/v1/merchant/events?limit=1', { token: shop.token });
    const event = feed.json.data[0].id;
    const { token, key } = rival;
    const tries: [string, string, object, unknown?][] = [
      ['PATCH', `/api/v1/merchant/units/${unit.id}`, { token }, { amount_usd: '0.01' }],
      ['DELETE', `/api/v1/merchant/units/${unit.id}`, { token }],
      ['GET', `/v1/invoices/${invoice.id}`, { key }],
      ['POST', `/v1/invoices/${invoice.id}/check`, { key }],
      ['GET', `/v1/invoices?after=${invoice.id}`, { key }],
      ['GET', `/api/v1/merchant/events?after=${event}`, { token }],
      ['POST', `/api/v1/merchant/events/${event}/resend`, { token }],
      ['GET', `/api/v1/users/${shop.user.id}`, { token }],
      ['PATCH', `/api/v1/users/${shop.user.id}`, { token }, { email: 'rival@example.com' }],
      ['GET', `/api/v1/admin/payments/${invoice.id}`, { token }],
      ['POST', `/api/v1/admin/payments/${invoice.id}/resolve`, { token }, { action: 'confirm' }],
    ];
    for (const [method, path, who, body] of tries) {
      const reply = await world.fetch(method, path, { ...who, body });
      expect([403, 404], `${method} ${path}: ${reply.text}`).toContain(reply.status);
      expect(reply.text).not.toContain('order of the shop');
    }
    for (const q of [
      invoice.id,
      invoice.id.slice(0, 8),
      invoice.memo ?? '',
      'order of the shop',
      shop.user.email,
    ]) {
      const { json } = await world.fetch('GET', `/v1/explain?q=${encodeURIComponent(q)}`, { key });
      // Ids made in the same minute begin alike: what is his own he may find.
      expect(JSON.stringify([json.matches, json.story]), q).not.toContain(invoice.id);
    }
  });

  test('a merchant makes no superuser of itself, by whatever member', async () => {
    const more = { is_superuser: true, is_active: true, house: true, token_version: 9, source: 'google' };
    await world.fetch('PATCH', '/api/v1/users/me', { token: rival.token, body: { full_name: 'R', ...more } });
    await world.fetch('PATCH', '/api/v1/merchant/account', { token: rival.token, body: more });
    const signed_up = await world.fetch('POST', '/api/v1/users/signup', {
      body: { email: `new-${database}@example.com`, password: 'a long password', ...more },
    });
    expect(signed_up.json.is_superuser).toBe(false);
    const me = await world.fetch('GET', '/api/v1/users/me', { token: rival.token });
    expect(me.json).toMatchObject({ is_superuser: false, source: 'email' });
    expect((await world.fetch('GET', '/api/v1/admin/dashboard', { token: rival.token })).status).toBe(403);
  });

  const hostile = [
    '{"$ref":"#","$id":"1","$type":"System.Object"}',
    '{"__proto__":{"status":"confirmed"},"constructor":{"prototype":{}}}',
    '"}]},{"type":"invoice.confirmed"',
    "'; update invoices set status = 'confirmed'; --",
    '#{7*7}{{7*7}}<script>alert(1)</script>',
    '\u202e\u2066\ufeff\u0000\r\nX-Injected: 1',
    '🧪'.repeat(100),
  ];

  test.each(hostile)('metadata stops neither detection nor the event nor any list: %j', async (text) => {
    const words = { external_ref: text, title: text.slice(0, 60), description: text };
    const reply = await world.fetch('POST', '/v1/invoices', {
      key: shop.key,
      body: { chain: 'solana-usdc', amount: '3', ...words },
    });
    // What no text may hold is refused when it is sent; it never reaches the settlement.
    if (reply.status === 422) return;
    expect(reply.status, reply.text).toBe(200);
    const row = await invoiceRow(world, reply.json.id);
    await observe(world, 'solana', [transferTo(world, row)]);
    expect((await invoiceRow(world, row.id)).status).toBe('confirmed');
    const events = await world.fetch('GET', '/api/v1/merchant/events?order=newest&limit=5', {
      token: shop.token,
    });
    const notified = events.json.data.find(
      (event: { type: string; data: { invoice: { id: string } } }) =>
        event.type === 'invoice.confirmed' && event.data.invoice.id === row.id,
    );
    expect(notified.data.invoice.external_ref).toBe(reply.json.external_ref);
    for (const path of ['/v1/invoices?limit=5', `/v1/explain?q=${row.id}`])
      expect((await world.fetch('GET', path, { key: shop.key })).status, path).toBe(200);
  });

  test('a reference that is the memo of another invoice draws no payment of it', async () => {
    const victim = await create(world, shop, 'ton');
    const bait = await create(world, rival, 'ton', { external_ref: victim.memo, title: victim.memo });
    expect(bait.memo).not.toBe(victim.memo);
    await observe(world, 'ton', [transferTo(world, victim)]);
    expect((await invoiceRow(world, victim.id)).status).toBe('confirmed');
    expect((await invoiceRow(world, bait.id)).status).toBe('created');
  });

  const policies = {
    min_confirmations: 0,
    confirm_seconds: 0,
    until_final: false,
    expires_at: 4_000_000_000,
    payment_ttl_seconds: 1,
    wait_seconds: 1_000_000_000,
    status: 'confirmed',
    paid_at: 1,
    owner_id: null,
    address: 'another',
    memo: 'MINE',
    amount_usd: '0.01',
    amount: '0.000001',
    amount_usd_fee: '-5',
    callback_url: 'https://rival.example/',
    success_url: 'https://rival.example/',
  };

  test.each(Object.entries(policies))('a buyer sets no terms of an order: %s', async (name, value) => {
    const unit = await createUnit({ test: world, merchant: shop }, { amount_usd: '24.00' }).catch(
      () => undefined,
    );
    const id = unit?.id ?? (await unitOf(shop));
    const reply = await world.fetch('POST', `/v1/units/${id}/checkout`, {
      body: { chain: 'solana-usdc', [name]: value },
    });
    if (reply.status === 422) return;
    expect(reply.status, reply.text).toBe(200);
    const row = await invoiceRow(world, reply.json.id);
    const gateway = world.app.gateways.find(({ chain }) => chain === 'solana-usdc');
    expect(row).toMatchObject({
      owner_id: shop.id,
      status: 'created',
      amount_usd_micros: 24_000_000n,
      amount_usd_fee_micros: 0n,
      min_confirmations: gateway?.min_confirmations,
      paid_at: null,
      callback_url: null,
    });
    expect(row.expires_at - row.created_at).toBeLessThanOrEqual(86_400);
    expect(row.expires_at - row.created_at).toBeGreaterThanOrEqual(300);
    expect(row.memo).not.toBe('MINE');
    expect(row.shop?.success_url ?? null).toBeNull();
    // And what was seen unconfirmed confirms nothing.
    await observe(world, 'solana', [transferTo(world, row, unconfirmed)]);
    expect((await invoiceRow(world, row.id)).status).toBe('created');
    await readThrough(world, 'solana');
  });

  const unitOf = async ({ token }: TestMerchant): Promise<string> =>
    (await world.fetch('GET', '/api/v1/merchant/units', { token })).json.units[0].id;

  test('the id of an order shows who bought, and where the shop is notified, to no one', async () => {
    await world.fetch('PATCH', '/api/v1/merchant/account', {
      token: shop.token,
      body: { return_hosts: ['shop.example'], webhook_url: 'https://hook.example/secret-path' },
    });
    const row = await create(world, shop, 'solana-usdc', {
      customer_email: BUYER_MAIL,
      callback_url: 'https://hook.example/secret-callback',
      success_url: 'https://shop.example/secret-return',
      cancel_url: 'https://shop.example/secret-cancel',
    });
    const paths = ['page', 'div', 'events', 'qr.svg'].map((what) => `/v1/pay/${row.id}/${what}`);
    const others = [`/v1/public/invoices/${row.id}`, `/v1/invoices/${row.id}/payment`, `/pay/${row.id}`];
    const words = [BUYER_MAIL, 'secret-path', 'secret-callback', 'secret-return', shop.user.email, shop.key];
    for (const when of ['before it is paid', 'after'])
      for (const path of [...paths, ...others, `/pay/${row.id}/receipt`]) {
        if (when === 'after' && row.status === 'created') {
          await observe(world, 'solana', [transferTo(world, row)]);
          row.status = 'confirmed';
        }
        const { text } = await world.fetch('GET', path, { headers: { accept: 'text/html' } });
        // Back to the shop: that is what the buyer is led to once he has paid.
        for (const word of words)
          if (!(when === 'after' && word === 'secret-return' && path.includes('pay/')))
            expect(text, `${path} ${when} shows ${word}`).not.toContain(word);
      }
  });

  test('links are made of the public address, whatever a caller says the host is', async () => {
    const { public_url } = world.app.config;
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'host=evil.example',
    };
    const reply = await world.fetch('POST', '/v1/invoices', {
      key: shop.key,
      headers,
      body: { chain: 'ton', amount: '1' },
    });
    expect(reply.json.pay_url.startsWith(public_url)).toBe(true);
    for (const path of [
      `/pay/${reply.json.id}`,
      '/v1/catalog',
      '/llms.txt',
      '/robots.txt',
      '/api/v1/openapi.json',
    ])
      expect((await world.fetch('GET', path, { headers })).text, path).not.toContain('evil.example');
  });

  test('a browser is given no cookie, and a link changes nothing', async () => {
    const row = await create(world, shop, 'ton');
    for (const path of [`/v1/invoices/${row.id}/cancel`, `/v1/invoices/${row.id}/switch`, `/pay/${row.id}`]) {
      const reply = await world.fetch('GET', path, { headers: { accept: 'text/html' } });
      expect(reply.headers.get('set-cookie')).toBeNull();
    }
    expect((await invoiceRow(world, row.id)).status).toBe('created');
  });

  test('no address of this machine or its network is called for a merchant where that is not allowed', async () => {
    const strict = await startApp({ database, settings: { demo: false, 'rates.source': 'fixed' } });
    const merchant = await strict.merchant();
    for (const url of [
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'http://[::ffff:7f00:1]/',
      'http://0x7f000001/',
      'ftp://example.com/',
      'http://localhost/',
    ]) {
      const reply = await strict.fetch('PATCH', '/api/v1/merchant/account', {
        token: merchant.token,
        body: { webhook_url: url },
      });
      expect([400, 422], `${url} ${reply.text}`).toContain(reply.status);
    }
    await strict.stop();
  });
});

interface Schema {
  type?: string | string[];
  maxLength?: number;
  maxItems?: number;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
}

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string; schema: Schema }[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      }
    >
  >;
}

/** A pattern that a text of any length may have. */
const UNENDING = /[*+]|\{\d+,\}/;
/** Formats whose texts have a length of their own. */
const BOUNDED = ['uuid', 'date', 'date-time'];

test('every text and list that a caller sends has a length', () => {
  const document = openapi({
    base_url: 'http://127.0.0.1',
    network: 'testnet',
    signup: 'open',
  } as never) as unknown as Document;
  const unbounded: string[] = [];
  const look = (where: string, schema: Schema | undefined): void => {
    if (!schema) return;
    if (schema.$ref) look(where, document.components.schemas[schema.$ref.split('/').at(-1) as string]);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
      look(where, one);
    for (const [name, one] of Object.entries(schema.properties ?? {})) look(`${where}.${name}`, one);
    const types = [schema.type].flat();
    if (types.includes('array')) {
      if (schema.maxItems === undefined) unbounded.push(`${where}[]`);
      look(`${where}[]`, schema.items);
    }
    if (!types.includes('string')) return;
    const isBounded =
      schema.maxLength !== undefined ||
      schema.enum ||
      schema.const !== undefined ||
      (schema.pattern !== undefined && !UNENDING.test(schema.pattern)) ||
      BOUNDED.includes(schema.format ?? '');
    if (!isBounded) unbounded.push(where);
  };
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      for (const parameter of operation.parameters ?? [])
        look(`${method} ${path} ?${parameter.name}`, parameter.schema);
      for (const content of Object.values(operation.requestBody?.content ?? {}))
        look(`${method} ${path}`, content.schema);
    }
  // Decimal strings are bounded by their digits, and a grace by its own reading: the next test sends long ones.
  expect(unbounded.filter((where) => !/\.(amount|amount_usd|prepaid_usd)$|\?grace$/.test(where))).toEqual([]);
});

test('a long decimal string is refused at once', async () => {
  const world = await startApp();
  const { key, token } = await world.merchant();
  const { token: operator } = await world.superuser();
  const digits = `1.${'0'.repeat(200_000)}1`;
  const calls: [string, string, object, object][] = [
    ['POST', '/v1/invoices', { key }, { chain: 'ton', amount: digits }],
    ['POST', '/v1/invoices', { key }, { chain: 'ton', amount: digits.replace('.', '') }],
    ['POST', '/api/v1/merchant/refill', { token }, { chain: 'ton', amount: digits }],
    ['POST', '/api/v1/merchant/units', { token }, { title: 'a', currencies: ['TON'], amount_usd: digits }],
    [
      'POST',
      `/api/v1/admin/merchants/${(await world.merchant()).id}/credit`,
      { token: operator },
      { prepaid_usd: digits },
    ],
    ['POST', `/api/v1/merchant/account/rotate-key?grace=${'1'.repeat(10_000)}h`, { token }, {}],
  ];
  for (const [method, path, who, body] of calls) {
    const began = performance.now();
    const reply = await world.fetch(method, path, { ...who, body });
    expect(reply.status, path.slice(0, 80)).toBe(422);
    // What is refused is not given back whole, and nothing of it is computed with.
    expect(reply.text.length, path.slice(0, 80)).toBeLessThan(20_000);
    expect(performance.now() - began, path.slice(0, 80)).toBeLessThan(2_000);
  }
  await world.stop();
});
