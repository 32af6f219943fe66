// Requests made from an endpoint's own schema: nearly right, wrong in one place, or wrong altogether.
import type { z } from 'zod';
import type { Endpoint, Fields } from '../../src/api/describe/endpoint.ts';
import { secretNames } from '../../src/api/describe/fields.ts';
import { type JsonSchema, jsonSchema } from '../../src/api/describe/json-schema.ts';
import { toolsOf } from '../../src/api/project/tools.ts';
import {
  hostileBodies,
  hostileBytes,
  hostileTexts,
  hostileValues,
  type Random,
  rareTexts,
  Verbatim,
  writeJson,
  writeMembers,
} from './random.ts';
import type { PlainCall } from './world.ts';

/** Stands in every secret that is sent: it must not come back, nor be logged. */
export const MARK = 'S3cr3tMark';

/** Good values by the name of the member or parameter. */
export type Pool = Record<string, readonly unknown[]>;

/** How likely a member is right; a body of many members is then rarely so as a whole. */
const RIGHT = 0.7;
const ABSENT = 0.12;
const RARE = 0.002;
const FORM = 'application/x-www-form-urlencoded';

export interface Mixture {
  /** How likely everything in a request is right. */
  sound: number;
  /** How likely a body is spoilt for certain, so that nothing dear is done with it. */
  spoilt: number;
}

/** A request for the endpoint, without credentials. */
export function requestFor(random: Random, endpoint: Endpoint, pool: Pool, mixture: Mixture): PlainCall {
  const all = random.chance(mixture.sound);
  const spoilt = !all && random.chance(mixture.spoilt);
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    pathText(spoilt ? '\0' : textOf(fieldValue(random, endpoint.params?.[name], name, pool, all))),
  );
  const query = queryFor(random, endpoint.query, pool, all);
  const headers: Record<string, string> = all ? {} : headersFor(random);
  const call: PlainCall = {
    method: endpoint.method,
    path: `${path}${random.chance(0.05) ? '/' : ''}${query ? `?${query}` : ''}`,
    headers,
  };
  if (endpoint.method === 'GET') return call;
  if (!endpoint.body) return random.chance(0.3) ? { ...call, body: random.pick(hostileBodies) } : call;
  const { body, type } = bodyFor(random, endpoint, pool, { all, spoilt });
  headers['content-type'] ??= type;
  return { ...call, body };
}

/**
 * One field after the other with one hostile value after the other, while all else is right; of the values every
 * `share`-th, in turns, so that each is met by some fields.
 */
export function* sweep(
  random: Random,
  endpoint: Endpoint,
  pool: () => Pool,
  share: number,
): Generator<PlainCall> {
  const { params = {}, query = {}, body } = endpoint;
  const members = body ? Object.keys(propertiesOf(jsonSchemaOf(body))) : [];
  let turn = random.below(share);
  for (const name of [...Object.keys(params), ...Object.keys(query), ...members]) {
    const values = members.includes(name) ? [...hostileTexts, ...hostileValues] : hostileTexts;
    turn++;
    for (const [index, value] of values.entries())
      if ((index + turn) % share === 0)
        yield requestFor(random, endpoint, { ...pool(), [name]: [value] }, { sound: 1, spoilt: 0 });
  }
}

/** No URL can carry half a character. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

function pathText(text: string): string {
  const escaped = encodeURIComponent(wellFormed(text));
  // An empty segment would be another path.
  return escaped === '' || escaped === '.' || escaped === '..' ? '%00' : escaped;
}

function queryFor(random: Random, fields: Fields = {}, pool: Pool, all: boolean): string {
  const pairs: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    if (random.chance(all ? 0.3 : 0.2)) continue;
    const text = textOf(fieldValue(random, field, name, pool, all));
    pairs.push(`${name}=${encodeURIComponent(wellFormed(text))}`);
    if (!all && random.chance(0.1)) pairs.push(`${name}=${encodeURIComponent(wellFormed(text))}x`);
  }
  if (!all && random.chance(0.2))
    pairs.push(
      random.pick([
        '__proto__=1',
        'constructor=x',
        '&&',
        '=',
        'a[]=1',
        '%ff=%ff',
        '%',
        `${'q'.repeat(2000)}=1`,
        'a;b',
      ]),
    );
  return pairs.join('&');
}

function headersFor(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  const maybe = (name: string, values: readonly string[]) => {
    if (random.chance(0.06)) headers[name] = random.pick(values);
  };
  const odd = [
    '',
    ',',
    ';;q=',
    '*',
    '\u00ff\u00fe',
    'a'.repeat(5000),
    '../..',
    '%00',
    '"',
    '[]',
    '-1',
    '٣'.replace(/./g, '3'),
  ];
  maybe('accept', [...odd, 'text/html', 'text/event-stream', 'text/markdown', 'application/xml;q=9']);
  maybe('accept-language', [...odd, 'de', 'xx-YY', 'ar,en;q=0.1', 'q=1;'.repeat(500)]);
  maybe('accept-encoding', [...odd, 'gzip', 'br', 'zstd, gzip;q=0']);
  maybe('content-type', [
    ...odd,
    'application/json',
    'application/problem+json',
    'text/plain',
    FORM,
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
  ]);
  maybe('content-length', ['0', '-1', '99999999999', 'x', '']);
  maybe('idempotency-key', [...odd, 'k', 'a'.repeat(255), 'a'.repeat(256)]);
  maybe('x-request-id', [...odd, 'mine', 'a'.repeat(65)]);
  maybe('x-forwarded-for', [...odd, '1.2.3.4', '::ffff:1.2.3.4', '999.1.1.1, 2001:db8::1']);
  maybe('last-event-id', [...odd, 'evt_1']);
  maybe('if-none-match', [...odd, '*', 'W/"1"', '"a", "b"']);
  maybe('range', ['bytes=0-1', 'bytes=-1', 'bytes=9-1']);
  maybe('cookie', odd);
  maybe('origin', ['null', 'https://evil.example']);
  maybe('expect', ['100-continue']);
  return headers;
}

const tools = toolsOf({ include_hidden: true });

/** A message of MCP: mostly a tool, with arguments that are right, wrong or of another tool. */
export function toolCall(random: Random, pool: Pool): PlainCall {
  const { name, inputSchema } = random.pick(tools);
  const members = membersFor(random, inputSchema as JsonSchema, pool, random.chance(0.2));
  const method = random.chance(0.9)
    ? 'tools/call'
    : random.pick(['initialize', 'tools/list', 'ping', 'resources/list', '__proto__', '']);
  const params = new Verbatim(`{"name":${JSON.stringify(name)},"arguments":${writeMembers(members)}}`);
  const message = { jsonrpc: '2.0', id: random.pick([1, 'a', null, 2 ** 53]), method, params };
  return {
    method: 'POST',
    path: '/mcp?include_hidden=true',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: random.chance(0.05) ? random.pick(hostileBodies) : writeJson(message),
  };
}

interface Body {
  body: string | Uint8Array;
  type: string;
}

function bodyFor(
  random: Random,
  endpoint: Endpoint,
  pool: Pool,
  { all, spoilt }: { all: boolean; spoilt: boolean },
): Body {
  const schema = jsonSchemaOf(endpoint.body as z.ZodType);
  const form = endpoint.encoding === 'form';
  const type = form ? FORM : 'application/json';
  if (!all && random.chance(0.15)) {
    const secret = Object.keys(propertiesOf(schema)).some((name) => secretNames.has(name));
    const text = secret && random.chance(0.1) ? `[${JSON.stringify(MARK)}]` : random.pick(hostileBodies);
    return { body: random.chance(0.2) ? random.pick(hostileBytes) : text, type };
  }
  const members = membersFor(random, schema, pool, all);
  const [first] = (schema.required as string[] | undefined) ?? [];
  if (spoilt && first) members.push([first, secretNames.has(first) ? `${MARK}\0` : '\0']);
  if (form)
    return {
      body: members
        .map(([name, value]) => `${name}=${encodeURIComponent(wellFormed(textOf(value)))}`)
        .join('&'),
      type,
    };
  if (all) return { body: writeMembers(members), type };
  if (random.chance(0.05)) return { body: writeJson([Object.fromEntries(members)]), type };
  // Under another type it is no JSON, and all of it is one text.
  if (random.chance(0.03)) return { body: `${writeMembers(members)} `, type: 'text/plain' };
  if (random.chance(0.03)) return { body: writeMembers(members).slice(0, -1), type: 'text/plain' };
  return { body: writeMembers(members), type };
}

function membersFor(random: Random, schema: JsonSchema, pool: Pool, all: boolean): [string, unknown][] {
  const required = (schema.required as string[] | undefined) ?? [];
  const members: [string, unknown][] = [];
  const one = random.chance(0.5) ? random.below(8) : -1;
  for (const [index, [name, member]] of Object.entries(propertiesOf(schema)).entries()) {
    if (all && !required.includes(name) && random.chance(0.5)) continue;
    if (!all && random.chance(ABSENT)) continue;
    const right = all || (one >= 0 ? one !== index : random.chance(RIGHT));
    members.push([name, right ? rightValue(random, member, name, pool) : wrongValue(random, name)]);
    // The last of two wins, for JSON and forms alike.
    if (!all && random.chance(0.05)) members.push([name, wrongValue(random, name)]);
  }
  if (!all && random.chance(0.2))
    members.push([
      random.pick(['__proto__', 'constructor', 'id', 'is_superuser', 'a'.repeat(300), '\0', '']),
      random.pick(hostileValues),
    ]);
  return members;
}

function fieldValue(
  random: Random,
  field: z.ZodType | undefined,
  name: string,
  pool: Pool,
  all: boolean,
): unknown {
  if (field && (all || random.chance(RIGHT))) return rightValue(random, jsonSchemaOf(field), name, pool);
  return textOf(wrongValue(random, name));
}

/** A value that the schema says is taken. */
function rightValue(random: Random, schema: JsonSchema, name: string, pool: Pool): unknown {
  const known = pool[name];
  if (known && random.chance(0.9)) {
    const value = random.pick(known);
    return schema.type === 'array' && typeof value === 'string' ? [value] : value;
  }
  const options = schema.anyOf as JsonSchema[] | undefined;
  if (options) return rightValue(random, random.pick(options), name, {});
  const choices = schema.enum as unknown[] | undefined;
  if (choices) return random.pick(choices);
  switch (schema.type) {
    case 'null':
      return null;
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
    case 'number': {
      const low = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0);
      const high = Number(schema.maximum ?? low + 1_000);
      return Math.min(high, low + 1 + random.below(Math.max(1, high - low)));
    }
    case 'array': {
      const items = schema.items as JsonSchema;
      return Array.from({ length: 1 + random.below(3) }, () => rightValue(random, items, name, pool));
    }
    default:
      return rightText(random, schema, name);
  }
}

function rightText(random: Random, schema: JsonSchema, name: string): string {
  const low = Number(schema.minLength ?? 1);
  const high = Math.min(Number(schema.maxLength ?? 40), low + 40);
  if (schema.format === 'uuid') return '00000000-0000-4000-8000-000000000000';
  if (schema.format === 'email') return `fuzz${random.below(1e9)}@example.com`;
  if (schema.format === 'date')
    return `20${10 + random.below(89)}-0${1 + random.below(9)}-1${random.below(10)}`;
  const text = secretNames.has(name) ? MARK : 'value';
  return text.padEnd(low + random.below(high - low + 1), 'abc12').slice(0, Math.max(high, low));
}

/** Anything; what carries a secret's name carries the mark. */
function wrongValue(random: Random, name: string): unknown {
  const text = random.chance(RARE) ? random.pick(rareTexts) : random.pick(hostileTexts);
  if (secretNames.has(name)) return random.pick([`${MARK}${text}`, MARK, [MARK], { [name]: MARK }]);
  return random.chance(0.55) ? text : random.pick(hostileValues);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : writeJson(value));

const schemas = new WeakMap<z.ZodType, JsonSchema>();

function jsonSchemaOf(type: z.ZodType): JsonSchema {
  const known = schemas.get(type) ?? jsonSchema(type);
  schemas.set(type, known);
  return known;
}

const propertiesOf = (schema: JsonSchema): Record<string, JsonSchema> =>
  (schema.properties as Record<string, JsonSchema> | undefined) ?? {};
