// The 422 body: every row of the table that clients of FastAPI rely on, all errors at once, no secret echoed.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../../../src/api/describe/endpoint.ts';
import { bool, choice, decimal, int, list, orNull, text } from '../../../src/api/describe/fields.ts';
import { email, uuid } from '../../../src/api/describe/identifiers.ts';
import { findJsonError } from '../../../src/api/read/json-error.ts';
import { jsonInvalid, parseInput } from '../../../src/api/read/validation.ts';
import { verifies } from '../../requirements.ts';

const described = {
  tag: 'system',
  effect: 'write',
  summary: 's',
  description: 'd',
  response: z.null(),
} as const;

const sample = endpoint({
  ...described,
  id: 'sample',
  method: 'POST',
  path: '/v1/sample/{sample_id}',
  auth: 'none',
  params: { sample_id: uuid() },
  query: {
    skip: int({ gte: 0 }).default(0),
    limit: int({ gte: 1, lte: 200 }).default(20),
    brief: bool().default(false),
  },
  body: z.object({
    title: text({ min: 1, max: 8 }),
    amount: decimal({ gt: 0, lte: 1000 }),
    price: decimal({ wording: 'float' }).optional(),
    unit: choice(['usd', 'native']).default('usd'),
    size: choice(['sm', 'md', 'lg'], 'enum').optional(),
    mail: email().optional(),
    tags: list(text(), { min: 1, max: 3 }).optional(),
    wait: int().nullish(),
    note: orNull(text()),
    password: text({ min: 8, max: 128, secret: true }).optional(),
  }),
});

const form = endpoint({
  ...described,
  id: 'form',
  method: 'POST',
  path: '/v1/form',
  auth: 'none',
  encoding: 'form',
  body: z.object({
    username: text(),
    password: text({ secret: true }),
    grant_type: text({ pattern: /^password$/ }).nullish(),
    scope: text().default(''),
  }),
});

const ID = '6f1c0a52-0e3b-41f0-9cd2-0242ac120002';
const good = { title: 'Tea', amount: '12.50' };

/** The errors of a body that differs from a good one. */
function refuse(body: unknown) {
  const result = parseInput(sample, {
    params: { sample_id: ID },
    query: {},
    body: typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...good, ...body } : body,
  });
  return result.ok ? [] : result.detail;
}

test('a good request yields the parsed value with its defaults, and unknown members are dropped', () => {
  verifies('error-422-shape');
  const result = parseInput(sample, {
    params: { sample_id: ID.replaceAll('-', '').toUpperCase() },
    query: { skip: '40', brief: 'yes' },
    body: { ...good, wait: '300', stranger: 1, __proto__: { title: 'x' } },
  });
  expect(result).toEqual({
    ok: true,
    value: {
      params: { sample_id: ID },
      query: { skip: 40, limit: 20, brief: true },
      body: { title: 'Tea', amount: '12.5', unit: 'usd', wait: 300, note: null },
    },
  });
});

test('all errors come at once: path, query, body', () => {
  verifies('error-422-shape');
  const result = parseInput(sample, {
    params: { sample_id: 'abc' },
    query: { skip: '-1', limit: 'x', brief: 'maybe' },
    body: { amount: 0, unit: 'eur' },
  });
  expect(result.ok ? [] : result.detail.map(({ loc, type }) => [...loc, type].join('.'))).toEqual([
    'path.sample_id.uuid_parsing',
    'query.skip.greater_than_equal',
    'query.limit.int_parsing',
    'query.brief.bool_parsing',
    'body.title.missing',
    'body.amount.greater_than',
    'body.unit.literal_error',
  ]);
});

test.each([
  [
    { title: undefined },
    { type: 'missing', loc: ['body', 'title'], msg: 'Field required', input: { amount: '12.50' } },
  ],
  [
    { title: 5 },
    { type: 'string_type', loc: ['body', 'title'], msg: 'Input should be a valid string', input: 5 },
  ],
  [
    { title: null },
    { type: 'string_type', loc: ['body', 'title'], msg: 'Input should be a valid string', input: null },
  ],
  [
    { title: '' },
    {
      type: 'string_too_short',
      loc: ['body', 'title'],
      msg: 'String should have at least 1 character',
      input: '',
      ctx: { min_length: 1 },
    },
  ],
  [
    { title: '123456789' },
    {
      type: 'string_too_long',
      loc: ['body', 'title'],
      msg: 'String should have at most 8 characters',
      input: '123456789',
      ctx: { max_length: 8 },
    },
  ],
  [
    { amount: '0' },
    {
      type: 'greater_than',
      loc: ['body', 'amount'],
      msg: 'Input should be greater than 0',
      input: '0',
      ctx: { gt: 0 },
    },
  ],
  [
    { amount: 1000.5 },
    {
      type: 'less_than_equal',
      loc: ['body', 'amount'],
      msg: 'Input should be less than or equal to 1000',
      input: 1000.5,
      ctx: { le: 1000 },
    },
  ],
  [
    { amount: 'ten' },
    {
      type: 'decimal_parsing',
      loc: ['body', 'amount'],
      msg: 'Input should be a valid decimal',
      input: 'ten',
    },
  ],
  [
    { amount: [] },
    {
      type: 'decimal_type',
      loc: ['body', 'amount'],
      msg: 'Decimal input should be an integer, float, string or Decimal object',
      input: [],
    },
  ],
  [
    { amount: 'NaN' },
    { type: 'finite_number', loc: ['body', 'amount'], msg: 'Input should be a finite number', input: 'NaN' },
  ],
  [
    { price: 'x' },
    {
      type: 'float_parsing',
      loc: ['body', 'price'],
      msg: 'Input should be a valid number, unable to parse string as a number',
      input: 'x',
    },
  ],
  [
    { wait: 'x' },
    {
      type: 'int_parsing',
      loc: ['body', 'wait'],
      msg: 'Input should be a valid integer, unable to parse string as an integer',
      input: 'x',
    },
  ],
  [
    { wait: 1.5 },
    {
      type: 'int_from_float',
      loc: ['body', 'wait'],
      msg: 'Input should be a valid integer, got a number with a fractional part',
      input: 1.5,
    },
  ],
  [
    { tags: 'a' },
    { type: 'list_type', loc: ['body', 'tags'], msg: 'Input should be a valid list', input: 'a' },
  ],
  [
    { tags: [] },
    {
      type: 'too_short',
      loc: ['body', 'tags'],
      msg: 'List should have at least 1 item after validation, not 0',
      input: [],
      ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
    },
  ],
  [
    { tags: ['a', 'b', 'c', 'd'] },
    {
      type: 'too_long',
      loc: ['body', 'tags'],
      msg: 'List should have at most 3 items after validation, not 4',
      input: ['a', 'b', 'c', 'd'],
      ctx: { field_type: 'List', max_length: 3, actual_length: 4 },
    },
  ],
  [
    { tags: ['a', 7] },
    { type: 'string_type', loc: ['body', 'tags', 1], msg: 'Input should be a valid string', input: 7 },
  ],
  [
    { unit: 'eur' },
    {
      type: 'literal_error',
      loc: ['body', 'unit'],
      msg: "Input should be 'usd' or 'native'",
      input: 'eur',
      ctx: { expected: "'usd' or 'native'" },
    },
  ],
  [
    { size: 'xl' },
    {
      type: 'enum',
      loc: ['body', 'size'],
      msg: "Input should be 'sm', 'md' or 'lg'",
      input: 'xl',
      ctx: { expected: "'sm', 'md' or 'lg'" },
    },
  ],
  [
    { mail: 'somebody' },
    {
      type: 'value_error',
      loc: ['body', 'mail'],
      msg: 'value is not a valid email address: An email address must have an @-sign.',
      input: 'somebody',
      ctx: { reason: 'An email address must have an @-sign.' },
    },
  ],
  [
    { password: 'short' },
    {
      type: 'string_too_short',
      loc: ['body', 'password'],
      msg: 'String should have at least 8 characters',
      ctx: { min_length: 8 },
    },
  ],
])('%j is refused in the words of the table', (body, error) => {
  expect(refuse(body)).toEqual([error]);
});

test('an absent body is missing as a whole, and one that is no object is named so', () => {
  const missing = { type: 'missing', loc: ['body'], msg: 'Field required', input: null };
  expect(refuse(undefined)).toEqual([{ ...missing }]);
  expect(refuse(null)).toEqual([{ ...missing }]);
  const words = 'Input should be a valid dictionary or object to extract fields from';
  expect(refuse([1])).toEqual([{ type: 'model_attributes_type', loc: ['body'], msg: words }]);
});

test('no secret is echoed, neither alongside what is missing nor in a body of another shape', () => {
  const secret = 'correct-horse';
  expect(JSON.stringify(refuse({ title: undefined, password: secret }))).not.toContain(secret);
  expect(JSON.stringify(refuse({ title: { deep: [{ password: secret }] } }))).not.toContain(secret);
  expect(JSON.stringify(refuse(`password=${secret}`))).not.toContain(secret);
});

test('a long input is cut at 1 kB, and one nested too deep is left out', () => {
  const [cut] = refuse({ title: 'x'.repeat(5000) });
  expect(cut?.input).toBe('x'.repeat(1024));
  const [list] = refuse({ title: Array.from({ length: 5000 }, () => 'y') });
  expect(String(list?.input)).toHaveLength(1024);
  const [deep] = refuse(JSON.parse(`{"title":${'['.repeat(100_000)}${']'.repeat(100_000)}}`));
  expect(deep).toEqual({
    type: 'string_type',
    loc: ['body', 'title'],
    msg: 'Input should be a valid string',
  });
});

test('a form counts empty fields as absent and names the pattern of the grant', () => {
  const result = parseInput(form, { body: { username: '', password: 'p', grant_type: 'implicit' } });
  expect(result.ok ? [] : result.detail).toEqual([
    { type: 'missing', loc: ['body', 'username'], msg: 'Field required', input: null },
    {
      type: 'string_pattern_mismatch',
      loc: ['body', 'grant_type'],
      msg: "String should match pattern '^password$'",
      input: 'implicit',
      ctx: { pattern: '^password$' },
    },
  ]);
  expect(parseInput(form, { body: undefined })).toMatchObject({
    ok: false,
    detail: [{ loc: ['body', 'username'] }, { loc: ['body', 'password'] }],
  });
  expect(parseInput(form, { body: { username: 'a', password: 'p' } })).toMatchObject({
    ok: true,
    value: { body: { username: 'a', password: 'p', scope: '' } },
  });
});

test.each([
  ['{"a": }', 6, 'Expecting value'],
  ['', 0, 'Expecting value'],
  ['{"a": 1', 7, "Expecting ',' delimiter"],
  ['{a: 1}', 1, 'Expecting property name enclosed in double quotes'],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['{"a": 1} x', 9, 'Extra data'],
  ['{"a": "b}', 6, 'Unterminated string starting at'],
  ['{"a": "\n"}', 7, 'Invalid control character at'],
  ['["\\x"]', 2, 'Invalid \\escape'],
  ['["\\u12"]', 3, 'Invalid \\uXXXX escape'],
  ['[1, 2', 5, "Expecting ',' delimiter"],
  ['[NaN]', 1, 'Expecting value'],
  ['[01]', 2, "Expecting ',' delimiter"],
  ['{"a": 1,}', 8, 'Expecting property name enclosed in double quotes'],
])('the error of %j is at %i', (source, position, error) => {
  expect(() => JSON.parse(source)).toThrow();
  expect(jsonInvalid(source)).toEqual({
    type: 'json_invalid',
    loc: ['body', position],
    msg: 'JSON decode error',
    input: {},
    ctx: { error },
  });
});

test('a text that is JSON has no error, however deep', () => {
  const deep = `${'[{"a":'.repeat(20_000)}null${'}]'.repeat(20_000)}`;
  for (const source of ['{}', ' [1, -2.5e+3, "\\u00e9\\n", {"a": [true, false, null]}, []] ', '""', deep])
    expect(findJsonError(source)).toBe(null);
});
