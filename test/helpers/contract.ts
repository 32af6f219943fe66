// What the descriptions promise of an answer: its status, its media type, and the exact members of its body.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { routes } from '../../daemon/routes/routes.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { isValidated, refusalsOf } from '../../src/api/describe/refusals.ts';
import { openapi } from '../../src/api/project/openapi.ts';
import { remedyOf } from '../../src/api/project/remedies.ts';
import { ErrorBody, HTTPValidationError, LimitExhausted } from '../../src/api/schemas/error.ts';
import { type ErrorCode, errorCodes } from '../../src/errors.ts';

export interface Answered {
  method: string;
  /** Path and query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
  /** The latest lines, reported with a failure of the daemon's own. */
  log?: readonly string[];
}

/** What any call can meet, whatever it asks: limits of the transport, a busy database, a daemon that stops or is to be upgraded. */
const ANYWHERE: readonly ErrorCode[] = ['body_too_large', 'database_busy', 'shutting_down', 'schema_newer'];

/** Of a body, in a failure's message. */
const MAX_SHOWN = 2000;

const { paths } = openapi({ base_url: '' });

interface EndpointRoute {
  endpoint: Endpoint;
  pattern: RegExp;
}

/** Fixed segments come before parameters, as in the router. */
const places: EndpointRoute[] = routes
  .map(({ endpoint }) => ({
    endpoint,
    pattern: new RegExp(
      `^${endpoint.path
        .replace(/(.)\/$/, '$1')
        .replace(/[.]/g, '\\.')
        .replace(/\{[^}]+\}/g, '[^/]+')}/?$`,
    ),
  }))
  .sort((a, b) => parameters(a.endpoint) - parameters(b.endpoint));

function parameters({ path }: Endpoint): number {
  return path.split('{').length;
}

/** The mounted endpoint that answers here; undefined where none does. */
export function endpointAt(method: string, path: string): Endpoint | undefined {
  // Put together, not resolved: `//` is a path.
  const { pathname } = new URL(`http://localhost${path}`);
  if (pathname === '//') return undefined;
  const first = places.find(({ pattern }) => pattern.test(pathname))?.endpoint;
  const wanted = method === 'HEAD' ? 'GET' : method;
  return places.find(({ endpoint }) => endpoint.path === first?.path && endpoint.method === wanted)?.endpoint;
}

/** Every way in which an answer differs from what its endpoint describes; empty for one that keeps the contract. */
export function contractBreaches(answer: Answered): string[] {
  const breaches: string[] = [];
  if (!answer.headers.get('x-request-id')) breaches.push('no X-Request-Id');
  if (answer.method === 'OPTIONS') return breaches;
  const endpoint = endpointAt(answer.method, answer.path);
  if (!endpoint)
    return answer.method === 'HEAD'
      ? breaches
      : [...breaches, ...refusalBreaches(answer, ['not_found', 'method_not_allowed'])];
  // Files of pages and MCP stand alongside the list: no document describes them.
  if (!paths[endpoint.path]) return breaches;
  const { status } = answer;
  const responses = paths[endpoint.path]?.[endpoint.method.toLowerCase()]?.responses ?? {};
  const codes = refusalsOf(endpoint);
  const anywhere = ANYWHERE.some((code) => errorCodes[code].status === status);
  const content = contentOf(responses[status]);
  if (!responses[status] && !anywhere) breaches.push(`status ${status} is not described`);
  if (answer.method === 'HEAD' || status === 304) return breaches;
  if (status < 400) return [...breaches, ...successBreaches(endpoint, answer, content)];
  // A page says it to people.
  if (mediaOf(answer) === 'text/html' && 'text/html' in content) return breaches;
  if (status === 422 && isValidated(endpoint) && Array.isArray(parse(answer.text)?.detail))
    return [...breaches, ...bodyBreaches(HTTPValidationError, answer)];
  return [...breaches, ...refusalBreaches(answer, [...codes, ...ANYWHERE], endpoint.auth !== 'none')];
}

/** Throws with everything that is wrong. */
export function assertContract(answer: Answered): void {
  const breaches = contractBreaches(answer);
  if (breaches.length === 0) return;
  const { method, path, status, text, log = [] } = answer;
  const lines = status >= 500 ? log : [];
  throw new Error(
    [
      `${method} ${path} broke its contract:`,
      ...breaches.map((breach) => `  - ${breach}`),
      `${status} ${text.slice(0, MAX_SHOWN)}`,
      ...lines,
    ].join('\n'),
  );
}

function refusalBreaches(answer: Answered, codes: readonly ErrorCode[], is_signed_in = false): string[] {
  // Who has no account reads nothing of a limit.
  const schema = answer.status === 402 && is_signed_in ? LimitExhausted : ErrorBody;
  const breaches = bodyBreaches(schema, answer, { further: true });
  const { code, request_id } = parse(answer.text) ?? {};
  if (request_id !== answer.headers.get('x-request-id')) breaches.push('request_id is not X-Request-Id');
  if (!codes.includes(code as ErrorCode)) breaches.push(`code ${code} is not described`);
  else if (errorCodes[code as ErrorCode].status !== answer.status)
    breaches.push(`code ${code} does not go with status ${answer.status}`);
  const wait = remedyOf(code as ErrorCode)?.hint.includes('Retry-After');
  if (wait && !/^\d+$/.test(answer.headers.get('retry-after') ?? '')) breaches.push('no Retry-After');
  const challenge = code === 'invalid_api_key' ? 'APIKey' : 'Bearer';
  if (answer.status === 401 && answer.headers.get('www-authenticate') !== challenge)
    breaches.push(`WWW-Authenticate is not ${challenge}`);
  return breaches;
}

const contentOf = (described: unknown): Record<string, unknown> =>
  (described as { content?: Record<string, unknown> } | undefined)?.content ?? {};

function successBreaches(endpoint: Endpoint, answer: Answered, content: Record<string, unknown>): string[] {
  const type = mediaOf(answer);
  // A redirect has no body to speak of.
  if (answer.status >= 300) return answer.headers.has('location') ? [] : ['a redirect without Location'];
  if (!(type in content)) return [`media type ${type} is not described`];
  if (type !== 'application/json' || !(endpoint.response instanceof z.ZodType)) return [];
  return bodyBreaches(endpoint.response, answer);
}

/** The last body that each schema was found to fit: documents are answered often, and are long. */
const found = new WeakMap<z.ZodType, string>();

/** The body must be what its schema makes of it: nothing missing, and no member beyond unless `further`. */
function bodyBreaches(schema: z.ZodType, answer: Answered, { further = false } = {}): string[] {
  if (found.get(schema) === answer.text) return [];
  if (mediaOf(answer) !== 'application/json') return [`media type ${mediaOf(answer)} instead of JSON`];
  const value = parse(answer.text);
  const result = schema.safeParse(value);
  if (!result.success) return [z.prettifyError(result.error)];
  const sent: unknown = JSON.parse(JSON.stringify(result.data));
  if (!further && !isDeepStrictEqual(sent, value)) return ['the body has members that are not described'];
  found.set(schema, answer.text);
  return [];
}

const mediaOf = ({ headers }: Answered): string => headers.get('content-type')?.split(';')[0] ?? 'none';

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
