// The types of an endpoint: what the compiler must accept and what it must refuse. A line marked as an error that
// compiles fails the type check.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint, type InputOf, media, type ReplyOf } from '../../../src/api/describe/endpoint.ts';
import { int, orNull, text } from '../../../src/api/describe/fields.ts';
import type { Api } from '../../../src/api/endpoints/api.ts';

const described = {
  auth: 'key',
  tag: 'system',
  summary: 's',
  description: 'd',
  effect: 'read',
} as const;
const response = z.object({ a: z.string() });

const read = endpoint({
  ...described,
  id: 'read',
  method: 'GET',
  path: '/v1/x/{x_id}',
  params: { x_id: text() },
  query: { skip: int().default(0), kind: text().optional() },
  response,
});
const write = endpoint({
  ...described,
  id: 'write',
  method: 'POST',
  path: '/v1/x',
  body: z.object({ q: text(), note: orNull(text()), wait: int().nullish() }),
  response: media('text/html'),
});

/** Compiled, never called. */
export function refusedByTheCompiler() {
  const route = { ...described, id: 'other', method: 'GET', response } as const;
  // @ts-expect-error a parameter of the path is not described
  endpoint({ ...route, path: '/v1/x/{x_id}' });
  // @ts-expect-error a parameter that the path does not have
  endpoint({ ...route, path: '/v1/x/{x_id}', params: { x_id: text(), y: text() } });
  // @ts-expect-error parameters without any in the path
  endpoint({ ...route, path: '/v1/x', params: { x_id: text() } });
  // @ts-expect-error an error code that does not exist
  endpoint({ ...route, path: '/v1/x', errors: ['no_such_code'] });
  // @ts-expect-error nothing says what it does to what is stored
  endpoint({ ...route, path: '/v1/x', effect: undefined });
  // @ts-expect-error a tag that does not exist
  endpoint({ ...route, path: '/v1/x', tag: 'nowhere' });
  // @ts-expect-error the parameter is text
  const wrongParam: InputOf<typeof read> = { params: { x_id: 3 }, query: { skip: 3 }, body: undefined };
  // @ts-expect-error the reply lacks a member
  const wrongReply: ReplyOf<typeof read> = {};
  // @ts-expect-error a reply that is not JSON is raw
  const wrongRaw: ReplyOf<typeof write> = { a: 'x' };
  return [wrongParam, wrongReply, wrongRaw];
}

type Handlers<List extends readonly { id: string }[]> = {
  [E in List[number] as E['id']]: E extends typeof read | typeof write
    ? (input: InputOf<E>) => ReplyOf<E>
    : never;
};

test('handlers are typed by the description, defaults and nulls included', () => {
  const handlers: Handlers<readonly [typeof read, typeof write]> = {
    read: ({ params, query, body }) => {
      const skip: number = query.skip;
      const kind: string | undefined = query.kind;
      const nothing: undefined = body;
      return { a: `${params.x_id} ${skip} ${kind} ${nothing}` };
    },
    write: ({ body }) => {
      const note: string | null = body.note;
      const wait: number | null | undefined = body.wait;
      return { body: `${body.q} ${note} ${wait}` };
    },
  };
  expect(
    handlers.read({ params: { x_id: 'i' }, query: { skip: 1, kind: undefined }, body: undefined }),
  ).toEqual({
    a: 'i 1 undefined undefined',
  });
  expect(handlers.write({ params: {}, query: {}, body: { q: 'q', note: null } })).toEqual({
    body: 'q null undefined',
  });
});

test('the real list keeps the types of its members', () => {
  type Create = Extract<Api[number], { id: 'createInvoice' }>;
  const input: InputOf<Create> = {
    params: {},
    query: {},
    body: { chain: 'ton', amount: '12.5', amount_unit: 'usd', external_ref: null, callback_url: null },
  };
  // @ts-expect-error the unit is one of two words
  input.body.amount_unit = 'eur';
  const auth: Create['auth'] = 'key';
  // @ts-expect-error the invoice needs a key
  const open: Create['auth'] = 'none';
  const page: ReplyOf<Extract<Api[number], { id: 'payPage' }>> = { body: '<p>' };
  expect([input.body.chain, auth, open, page.body]).toEqual(['ton', 'key', 'none', '<p>']);
});
