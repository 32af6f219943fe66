// What a handler is: types that tie each endpoint's description to the function that answers it.
import type { Logger } from 'pino';
import type { MerchantRow, UserRow } from '../../data/schema/tables.ts';
import type { Auth, Endpoint, InputOf, ReplyOf } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';

/** What a handler may know of the request itself. */
export interface RequestInfo {
  /** The `X-Request-Id` of this answer and of its log lines. */
  id: string;
  /** Id for what a request with an Idempotency-Key makes, the same when it is repeated after a crash; else null. */
  resource_id: string | null;
  /** The caller's address; behind a trusted proxy, the one it names. */
  ip: string;
  headers: Headers;
  /** Aborts when the caller goes away or the daemon stops. */
  signal: AbortSignal;
  /** The request as it came; its body is unread where the endpoint describes none. */
  web: Request;
  /** Sends another request through the same checks, as this caller. */
  dispatch(request: Request): Promise<Response>;
}

/** Whom a key stands for: one merchant, or the operator's own deployment. */
export type Owner = { kind: 'merchant'; merchant: MerchantRow } | { kind: 'platform' };

export interface PublicContext {
  app: App;
  request: RequestInfo;
  /** Carries the request id in every line. */
  log: Logger;
}
export interface UserContext extends PublicContext {
  /** The signed-in, active user; a superuser on `admin` endpoints. */
  user: UserRow;
}
export interface KeyContext extends PublicContext {
  owner: Owner;
}

export type ContextOf<A extends Auth> = A extends 'none'
  ? PublicContext
  : A extends 'key'
    ? KeyContext
    : UserContext;

/** A body sent piece by piece in place of the described reply: server-sent events. */
export class Streamed {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Record<string, string>;
  /** `headers` replace the defaults (`text/event-stream`, no buffering by proxies). */
  constructor(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}) {
    this.body = body;
    this.headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...headers };
  }
}

/** Bytes in place of the described reply, made beforehand or by another library: documents, their 304, MCP. */
export class Prepared {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  constructor(answer: Pick<Prepared, 'status' | 'headers' | 'body'>) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = answer.body;
  }
}

type Answered<E extends Endpoint> = ReplyOf<E> | Streamed | Prepared;

/** Answers one endpoint. Refusals are thrown; everything else that is thrown is a bug and answered with 500. */
export type Handler<E extends Endpoint> = (
  input: InputOf<E>,
  context: ContextOf<E['auth']>,
) => Promise<Answered<E>> | Answered<E>;

/** One handler for each endpoint of the list, by id; a missing one does not compile. */
export type Handlers<List extends readonly Endpoint[]> = {
  [Id in List[number]['id']]: Handler<Extract<List[number], { id: Id }>>;
};

/** An endpoint with its handler, types erased: what the mounting needs. */
export interface Route {
  endpoint: Endpoint;
  handle(input: unknown, context: PublicContext): unknown;
}

/** Pairs a list of endpoints with their handlers. */
export function routesOf<const List extends readonly Endpoint[]>(
  list: List,
  handlers: Handlers<List>,
): Route[] {
  const byId = handlers as Record<string, Route['handle']>;
  return list.map((endpoint) => {
    const handle = byId[endpoint.id];
    if (!handle) throw new Error(`no handler for ${endpoint.id}`);
    return { endpoint, handle };
  });
}
