// The compiler refuses a missing handler, a wrong reply and a user on a public route.
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type ContextOf, type Handlers, routesOf } from '../../../daemon/http/handler.ts';
import { endpoint } from '../../../src/api/describe/endpoint.ts';

const hello = endpoint({
  id: 'hello',
  method: 'GET',
  path: '/hello/{name}',
  auth: 'none',
  tag: 'system',
  effect: 'write',
  summary: 'Say hello',
  description: '',
  params: { name: z.string() },
  response: z.object({ message: z.string() }),
});
const secret = endpoint({
  id: 'secret',
  method: 'POST',
  path: '/secret',
  auth: 'jwt',
  tag: 'system',
  effect: 'write',
  summary: 'Tell a secret',
  description: '',
  body: z.object({ amount: z.number() }),
  response: z.object({ email: z.string() }),
});
const list = [hello, secret] as const;

test('each endpoint is paired with its own handler', () => {
  const routes = routesOf(list, {
    hello: ({ params }) => ({ message: params.name }),
    secret: ({ body }, { user }) => {
      expectTypeOf(body.amount).toEqualTypeOf<number>();
      return { email: user.email };
    },
  });
  expect(routes.map((route) => route.endpoint.id)).toEqual(['hello', 'secret']);
});

test('a list with a handler missing is refused by the compiler and when it is mounted', () => {
  // @ts-expect-error secret is missing
  const incomplete: Handlers<typeof list> = { hello: () => ({ message: '' }) };
  expect(() => routesOf(list, incomplete)).toThrow('no handler for secret');
});

test('the user is known only where the endpoint asks for one', () => {
  expectTypeOf<ContextOf<'none'>>().not.toHaveProperty('user');
  expectTypeOf<ContextOf<'jwt'>>().toHaveProperty('user');
  expectTypeOf<ContextOf<'admin'>>().toHaveProperty('user');
  expectTypeOf<ContextOf<'key'>>().toHaveProperty('owner');
});
