// One call of an endpoint over a fetch that is handed in: the request it makes, its reply, its refusal as ApiError.
import type { z } from 'zod';
import type { Endpoint, Fields, Media } from '../describe/endpoint.ts';

/** Where and as whom to call. */
export interface Connection {
  /** Of the daemon, without a slash at its end: `https://pay.example.com`. */
  base_url: string;
  /** Merchant or platform key, sent as `X-API-Key` where an endpoint asks for a key. */
  api_key?: string | undefined;
  /** Access token, sent as `Authorization: Bearer` where an endpoint asks for a signed-in user. */
  token?: string | undefined;
  /** The fetch to use, e.g. `globalThis.fetch`, or what is called like it. */
  fetch: Send;
  /** Sent with every request, e.g. `user-agent`. */
  headers?: Record<string, string>;
}

export interface CallOptions {
  /** Makes a repetition of a creating call safe for 24 hours. */
  idempotency_key?: string | undefined;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

export interface AnyInput {
  params?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

/** What a call puts on the wire. */
export interface WireRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** What is handed to a fetch. */
export interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** What is read of its answer. */
export interface Answer {
  status: number;
  ok: boolean;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export type Send = (url: string, request: Sent) => Promise<Answer>;

type Present<T> = Exclude<T, undefined>;
type Part<F> = [Present<F>] extends [Fields] ? z.input<z.ZodObject<Present<F>>> : Nothing;
type BodyIn<B> = [Present<B>] extends [never]
  ? undefined
  : Present<B> extends z.ZodType
    ? z.input<Present<B>>
    : never;
type Nothing = Record<never, never>;
type Optional<K extends string, T> = [T] extends [undefined]
  ? Nothing
  : Nothing extends T
    ? { [P in K]?: T }
    : { [P in K]: T };

/** What a caller gives: `params` of the path, `query`, `body`; each only where the endpoint has it. */
export type CallInput<E extends Endpoint> = Optional<'params', Part<E['params']>> &
  Optional<'query', Part<E['query']>> &
  Optional<'body', BodyIn<E['body']>>;

/** What it gets: the parsed reply; text, or bytes of an image, where the endpoint does not answer JSON. */
export type CallReply<E extends Endpoint> = E['response'] extends z.ZodType
  ? z.output<E['response']>
  : E['response'] extends Media<`image/png`>
    ? Uint8Array
    : string;

/** A refusal of the service. `status` 422 of input carries `errors`. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** Stable, for programs: `invoice_not_found`, `validation`, … */
  readonly code: string;
  readonly request_id: string | null;
  /** Seconds after which a repetition may succeed. */
  readonly retry_after: number | null;
  /** The whole answer. */
  readonly body: Record<string, unknown>;
  constructor(status: number, body: Record<string, unknown>, headers: Answer['headers']) {
    super(sentence(status, body));
    this.status = status;
    this.body = body;
    this.code = typeof body.code === 'string' ? body.code : status === 422 ? 'validation' : `http_${status}`;
    this.request_id = typeof body.request_id === 'string' ? body.request_id : headers.get('x-request-id');
    const wait = Number(headers.get('retry-after') ?? Number.NaN);
    this.retry_after = Number.isFinite(wait) ? wait : null;
  }
}

/** Entries of a 422 that one sentence names. */
const MAX_NAMED = 8;

function sentence(status: number, { detail }: Record<string, unknown>): string {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return `The service answered ${status}`;
  return detail.slice(0, MAX_NAMED).map(entrySentence).join('; ');
}

/** `amount: Input should be …`; of what is no entry as this service makes them, its text. */
function entrySentence(entry: unknown): string {
  const { loc, msg } = Object(entry) as { loc?: unknown; msg?: unknown };
  if (typeof msg !== 'string') return typeof entry === 'string' ? entry : JSON.stringify(entry);
  const place = Array.isArray(loc) ? loc.slice(1).join('.') || String(loc[0] ?? '') : '';
  return place === '' ? msg : `${place}: ${msg}`;
}

const PNG = 'image/png';
/** Statuses from here on are refusals. */
const REFUSED = 400;
/** Characters of a refusal that is no JSON. */
const MAX_DETAIL = 500;

/** A value as it stands in a path, a query or a form; throws a TypeError for one that is no text. */
function textOf(name: string, value: unknown): string {
  const isText = ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
  const text = isText ? String(value) : null;
  // One half of a character is none that can be sent.
  if (text === null || /\p{Cs}/u.test(text))
    throw new TypeError(`${name} should be a text, a number, true or false`);
  return text;
}

/** What a header can carry. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** Builds the request of a call; throws a TypeError, with a sentence for the caller, for a value that cannot be sent. */
export function requestOf(
  connection: Pick<Connection, 'base_url' | 'api_key' | 'token' | 'headers'>,
  endpoint: Endpoint,
  input: AnyInput = {},
  options: CallOptions = {},
): WireRequest {
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = input.params?.[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`${name} is missing`);
    return encodeURIComponent(textOf(name, value));
  });
  const search = new URLSearchParams(
    Object.entries(input.query ?? {})
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]): [string, string] => [name, textOf(name, value)]),
  ).toString();
  if (!HEADER_TEXT.test(options.idempotency_key ?? ''))
    throw new TypeError('idempotency_key should be letters, digits and signs of ASCII');
  const { auth } = endpoint;
  const form = endpoint.encoding === 'form';
  const headers: Record<string, string> = {
    accept: 'media' in endpoint.response ? endpoint.response.media : 'application/json',
    ...connection.headers,
    ...credentialsOf(auth, connection),
    ...(endpoint.body
      ? { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }
      : {}),
    ...(endpoint.idempotent && options.idempotency_key ? { 'idempotency-key': options.idempotency_key } : {}),
    ...options.headers,
  };
  const body = endpoint.body ? (form ? formOf(input.body) : JSON.stringify(input.body ?? {})) : undefined;
  return {
    method: endpoint.method,
    url: `${connection.base_url.replace(/\/+$/, '')}${path}${search ? `?${search}` : ''}`,
    headers,
    body,
  };
}

/** What a kind of sign-in is shown; where either would do, the token, whose rights reach further. */
const credentialsOf = (
  auth: Endpoint['auth'],
  { api_key, token }: Pick<Connection, 'api_key' | 'token'>,
): Record<string, string> => {
  if (auth === 'none') return {};
  if (auth !== 'key' && token) return { authorization: `Bearer ${token}` };
  return (auth === 'key' || auth === 'any') && api_key ? { 'x-api-key': api_key } : {};
};

const formOf = (body: unknown): string =>
  new URLSearchParams(
    Object.entries((body ?? {}) as Record<string, unknown>)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]): [string, string] => [name, textOf(name, value)]),
  ).toString();

/** Calls one endpoint. Throws ApiError for a refusal; what fetch throws, where nothing answered. */
export type ClientCall = <E extends Endpoint>(
  endpoint: E,
  input?: AnyInput,
  options?: CallOptions,
) => Promise<CallReply<E>>;

/** A function that calls endpoints over `connection`. It stores nothing and repeats nothing. */
export function createCall(connection: Connection): ClientCall {
  return async (endpoint, input, options = {}) => {
    const { url, body, ...request } = requestOf(connection, endpoint, input, options);
    const answer = await connection.fetch(url, {
      ...request,
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    if (answer.status >= REFUSED)
      throw new ApiError(answer.status, membersOf(await answer.text()), answer.headers);
    const { response } = endpoint;
    if (!('media' in response)) return parsed(await answer.text()) as never;
    const isText = (response as Media).media !== PNG;
    return (isText ? await answer.text() : new Uint8Array(await answer.arrayBuffer())) as never;
  };
}

/** JSON as a value; any other text as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The refusal's members, however the reply was asked for. */
function membersOf(text: string): Record<string, unknown> {
  const value = parsed(text);
  if (typeof value === 'string') return { detail: text.slice(0, MAX_DETAIL) };
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
