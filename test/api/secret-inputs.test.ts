// Whatever looks like a key is not repeated by a 422, in whichever field of whichever operation it was put.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { jsonSchema } from '../../src/api/describe/json-schema.ts';
import { verifies } from '../requirements.ts';
import {
  type Cast,
  described,
  exampleCall,
  openWorld,
  type PlainCall,
  rightful,
  type World,
} from './world.ts';

/** Each has its own mark, by which it would be found. */
const MARKS = 'Zq7';
const secrets = [
  `gw_live${MARKS}abcdefgh12345678`,
  `whsec_${MARKS}r8GKYqrTwjUPD8ILPZIo2LaLaSw`,
  `eyJhbGciOiJIUzI1NiJ9.${MARKS}eyJzdWIiOiIxIn0.c2ln`,
  `https://me:${MARKS}@example.com/`,
  `L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv${MARKS}`,
];
/** What makes nearly every field refuse it, whatever it takes. */
const spoilt = (secret: string): unknown[] => [
  `${secret}\0`,
  secret,
  { inner: secret, [secret]: 1 },
  [secret, [secret]],
  `${' '.repeat(1_000)}${secret}\0`,
];

let world: World;
let cast: Cast;
let refused = 0;
beforeAll(async () => {
  world = await openWorld({
    settings: Object.fromEntries(
      ['login', 'recovery', 'signup', 'checkout'].map((name) => [`limits.${name}_per_address`, '0']),
    ),
  });
  cast = await world.cast();
});
afterAll(() => world.stop());

/** Calls of the endpoint with a secret in one place after the other, all else as in its example. */
function* calls(endpoint: Endpoint, secret: string): Generator<PlainCall> {
  const { params = {}, query = {}, body } = endpoint;
  const example = exampleCall(endpoint, cast.values);
  for (const name of Object.keys(params)) {
    const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, each: string) =>
      encodeURIComponent(each === name ? `${secret}\0` : (cast.values[each] ?? 'x')),
    );
    yield { ...example, path };
  }
  const [path = ''] = example.path.split('?');
  for (const name of Object.keys(query))
    yield { ...example, path: `${path}?${name}=${encodeURIComponent(`${secret}\0`)}` };
  if (!body || endpoint.method === 'GET') return;
  const headers = { 'content-type': 'application/json' };
  const sent = (value: unknown): PlainCall => ({ ...example, headers, body: JSON.stringify(value) });
  for (const value of spoilt(secret)) yield sent(value);
  // Of a missing member, the object that lacks it is shown.
  yield sent({ extra: secret, [secret]: 'x' });
  const { properties = {} } = jsonSchema(body as z.ZodType) as { properties?: Record<string, unknown> };
  for (const name of Object.keys(properties))
    for (const value of spoilt(secret)) yield sent({ [name]: value });
}

test.each(described.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s repeats no key that it cannot read',
  async (_, endpoint) => {
    verifies('validation-secrets');
    for (const secret of secrets)
      for (const { method, path, ...call } of calls(endpoint, secret)) {
        const { headers, ...who } = rightful(endpoint.auth, cast);
        const reply = await world.service.fetch(method, path, {
          ...call,
          ...who,
          headers: { ...call.headers, ...headers },
        });
        if (reply.status !== 422) continue;
        refused++;
        expect(reply.text, `${method} ${path} ${JSON.stringify(call)}`).not.toContain(MARKS);
      }
  },
);

test('most of these are refused', () => {
  expect(refused).toBeGreaterThan(1_000);
});

test('what is no secret is repeated, so that a caller sees what was read', async () => {
  const reply = await world.service.fetch('POST', '/v1/invoices', {
    key: cast.owner.key,
    body: { chain: 5, amount: 'a lot' },
  });
  expect(reply.json.detail.map(({ input }: { input: unknown }) => input)).toEqual([5, 'a lot']);
});
