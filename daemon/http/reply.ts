// Answers as they are sent: replies, refusals, validation errors, and the headers all of them carry.
import { type ServerResponse, validateHeaderValue } from 'node:http';
import { FastResponse } from 'srvx';
import { z } from 'zod';
import type { Endpoint, Raw } from '../../src/api/describe/endpoint.ts';
import { remedyOf } from '../../src/api/project/remedies.ts';
import { IGNORED_HEADER } from '../../src/api/read/ignored.ts';
import type { ValidationError } from '../../src/api/read/validation.ts';
import type { ErrorCode, Refusal } from '../../src/errors.ts';
import { Feed, MAX_UNREAD_BYTES, Prepared, Streamed } from './exchange.ts';

export type Body = string | Uint8Array | ReadableStream<Uint8Array> | Feed | null;

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Body;
  /** Whether it may be given again to who asks for the same, as it is; asks without waiting. Absent: never. */
  again?: (() => boolean) | undefined;
}

const JSON_TYPE: Answer['headers'] = { 'content-type': 'application/json' };
/** How long a browser may cache the answer to a preflight. */
const PREFLIGHT_SECONDS = 86_400;

/** What a handler returned, checked against the description: fields it does not name never leave the process. */
export function replyAnswer(endpoint: Endpoint, value: unknown): Answer {
  const status = endpoint.status ?? 200;
  if (value instanceof Prepared) {
    const { status, headers, body, again } = value;
    return { status, headers, body, again };
  }
  if (value instanceof Streamed) return { status, headers: value.headers, body: value.body };
  if (endpoint.response instanceof z.ZodType)
    return { status, headers: JSON_TYPE, body: JSON.stringify(endpoint.response.parse(value)) };
  return rawAnswer(value as Raw, endpoint.response.media, status);
}

/** Of HTML that brings no policy of its own: it loads nothing, runs nothing and is shown in no frame. */
const CLOSED_POLICY = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

function rawAnswer({ body, headers, status: given, again }: Raw, media: string, status: number): Answer {
  const charset = /^text\/|javascript$|xml$/.test(media) ? '; charset=utf-8' : '';
  return {
    status: given ?? status,
    headers: {
      'content-type': media + charset,
      ...(media === 'text/html' ? { 'content-security-policy': CLOSED_POLICY } : {}),
      ...headers,
    },
    body: body as Body,
    again,
  };
}

/** How to be let in, of each refusal with 401: a bearer token opens nothing that asks for a key. */
const challenges: Partial<Record<ErrorCode, string>> = {
  not_authenticated: 'Bearer',
  invalid_api_key: 'APIKey',
};

/** `{detail, code, request_id, hint, next, …}` with the headers its status asks for. */
export function refusalAnswer(refusal: Refusal, request_id: string): Answer {
  const headers: Record<string, string> = { ...JSON_TYPE };
  const challenge = challenges[refusal.code];
  if (challenge !== undefined) headers['www-authenticate'] = challenge;
  if (refusal.retry_after !== undefined) headers['retry-after'] = String(refusal.retry_after);
  const body = {
    detail: refusal.message,
    code: refusal.code,
    request_id,
    ...remedyOf(refusal.code),
    ...refusal.extra,
  };
  return { status: refusal.status, headers, body: JSON.stringify(body) };
}

/** The 422 of input that does not fit; `detail` as the conventions list it. */
export const invalidAnswer = (detail: readonly ValidationError[]): Answer => ({
  status: 422,
  headers: { ...JSON_TYPE },
  body: JSON.stringify({ detail }),
});

/** What OPTIONS answers; `cors` lets any origin's scripts call. */
export function optionsAnswer(allow: string, cors: boolean): Answer {
  const headers: Record<string, string> = { allow };
  if (cors) {
    headers['access-control-allow-methods'] = allow;
    headers['access-control-allow-headers'] = 'content-type, idempotency-key, x-request-id';
    headers['access-control-max-age'] = String(PREFLIGHT_SECONDS);
  }
  return { status: 204, headers, body: null };
}

/** A response whose answer can be written without being unpacked from it. */
export class AnswerResponse extends FastResponse {
  readonly answer: Answer;
  constructor(answer: Answer) {
    // A feed is for a connection.
    super(answer.body instanceof Feed ? null : (answer.body as BodyInit | null), {
      status: answer.status,
      headers: answer.headers,
    });
    this.answer = answer;
  }
}

/** The response, with what every answer carries; the answer's own headers win. */
export function toResponse(
  answer: Answer,
  options: { request_id: string; ignored?: string | undefined; cors: boolean; close: boolean },
): AnswerResponse {
  // The response is written without being checked again: a bad header must fail here, where it is answered with 500.
  if (answer.headers !== JSON_TYPE)
    for (const name in answer.headers) validateHeaderValue(name, answer.headers[name] as string);
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Keys may stand in a query: the address of a page must reach no one else.
    'referrer-policy': 'no-referrer',
    'x-request-id': options.request_id,
  };
  if (options.ignored !== undefined) headers[IGNORED_HEADER] = options.ignored;
  for (const name in answer.headers) headers[name] = answer.headers[name] as string;
  if (options.cors) {
    headers['access-control-allow-origin'] = '*';
    headers['access-control-expose-headers'] = `x-request-id, retry-after, ${IGNORED_HEADER}`;
  }
  if (options.close) headers.connection = 'close';
  return new AnswerResponse({ status: answer.status, headers, body: answer.body });
}

/** The status says it all; the general way of sending says no more either. */
export const NO_PHRASE = '';

/** The answer is no stream. */
export function writeAnswer(res: ServerResponse, { status, headers, body }: Answer): void {
  // As a list, which Node.js takes without looking each name up.
  const head: string[] = [];
  for (const name in headers)
    if (body === null || name !== 'content-length') head.push(name, headers[name] as string);
  // Head and text go out as one piece, where the general way makes two of them.
  if (body !== null)
    head.push(
      'content-length',
      String(typeof body === 'string' ? Buffer.byteLength(body) : (body as Uint8Array).byteLength),
    );
  res.writeHead(status, NO_PHRASE, head).end(body);
}

/** The head at once, and then what comes, until either side ends it. */
export function writeFeed(res: ServerResponse, { status, headers }: Answer, feed: Feed): void {
  if (res.destroyed) {
    feed.cancel();
    return;
  }
  res.writeHead(status, NO_PHRASE, headers);
  const leave = feed.open({
    write(piece) {
      res.write(piece);
      const is_read = res.writableLength <= MAX_UNREAD_BYTES;
      if (!is_read) res.destroy();
      return is_read;
    },
    end: () => void res.end(),
  });
  res.once('close', leave);
}
