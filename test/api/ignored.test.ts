// What a request carries in vain is named, by every operation there is, and by no other bytes than a header may have.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../../src/api/describe/endpoint.ts';
import { list, orNull, text } from '../../src/api/describe/fields.ts';
import { shape } from '../../src/api/describe/shape.ts';
import { api } from '../../src/api/endpoints/api.ts';
import { ignoredFields } from '../../src/api/read/ignored.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { verifies } from '../requirements.ts';

let world: TestApp;
beforeAll(async () => {
  world = await startApp();
});
afterAll(() => world.stop());

const UUID = '00000000-0000-4000-8000-000000000000';

test('every operation names what it does not know', async () => {
  verifies('ignored-fields');
  for (const { id, method, path, encoding } of api) {
    const place = path.replace(/\{[^}]+\}/g, UUID);
    const body = encoding === 'form' ? 'zz_body=1' : { zz_body: 1 };
    const type = encoding === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
    const call = method === 'GET' ? {} : { body, headers: { 'content-type': type } };
    const { headers } = await world.fetch(method, `${place}?zz_query=1`, call);
    const expected = method === 'GET' ? 'zz_query' : 'zz_query, zz_body';
    expect(headers.get('x-ignored-fields'), `${id}: ${method} ${path}`).toBe(expected);
  }
}, 60_000);

test('an operation that is given only what it knows names nothing', async () => {
  const merchant = await world.merchant();
  const order = { chain: 'ton', amount: '1' };
  for (const [path, key] of [
    ['/v1/invoices', merchant.key],
    [`/v1/invoices?api_key=${merchant.key}`, undefined],
  ] as const) {
    const made = await world.fetch('POST', path, { body: order, ...(key ? { key } : {}) });
    expect([made.status, made.headers.get('x-ignored-fields')]).toEqual([200, null]);
  }
  const wrong = await world.fetch('POST', '/v1/invoices', {
    key: merchant.key,
    body: { chain: 'ton', amout: 1 },
  });
  expect([wrong.status, wrong.headers.get('x-ignored-fields')]).toEqual([422, 'amout']);
  const config = await world.fetch('GET', '/v1/config/public?x=1');
  expect(config.headers.get('access-control-expose-headers')).toContain('x-ignored-fields');
});

const nested = endpoint({
  id: 'nested',
  method: 'POST',
  path: '/nested',
  auth: 'none',
  tag: 'system',
  summary: 'Nested',
  effect: 'write',
  description: 'Nested',
  body: shape('Nested', {
    name: text(),
    inner: orNull(z.object({ known: text() })),
    items: list(z.object({ known: text() })).nullish(),
    free: z.record(z.string(), z.unknown()).optional(),
  }),
  response: z.boolean(),
});

test('nested names have dots; what may hold anything holds nothing in vain', () => {
  const body = {
    name: 'a',
    inner: { known: 'a', other: { deep: 1 } },
    items: [{ known: 'a', more: 1 }, { more: 2 }, null, 7],
    free: { anything: 1 },
  };
  expect(ignoredFields(nested, { body })).toBe('inner.other, items.more');
});

test.each([
  ['line breaks and colons', { 'a\r\nset-cookie: b': 1 }, 'a%0D%0Aset-cookie%3A%20b'],
  ['other scripts', { ключ: 1, 'a,b': 1 }, '%D0%BA%D0%BB%D1%8E%D1%87, a%2Cb'],
  ['half a character', { '\ud800': 1 }, '%EF%BF%BD'],
  ['names that look like keys', { gw_0123456789abcdef0123456789abcdef: 1, ok: 1 }, 'ok'],
  [
    'the names of objects',
    JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}'),
    '__proto__, constructor, toString',
  ],
])('%s are safe in a header', (_, body, expected) => {
  expect(ignoredFields(nested, { body: { name: 'a', ...Object.fromEntries(Object.entries(body)) } })).toBe(
    expected,
  );
});

test('they are few and short, however many and long they are', () => {
  const body = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [`${'ä'.repeat(100)}${at}`.slice(at % 50), 1]),
  );
  const many = ignoredFields(nested, { body: { ...body, name: 'a' } }) ?? '';
  expect(many.split(', ').length).toBeLessThanOrEqual(20);
  expect(many.length).toBeLessThan(20 * 66);
  let deep: unknown = {};
  for (let depth = 0; depth < 5_000; depth++) deep = { inner: deep };
  expect(ignoredFields(nested, { body: { name: 'a', inner: deep } })).toBe('inner.inner');
});
