// What a handler is: types that tie each endpoint's description to the function that answers it.
import type { Logger } from 'pino';
import type { UserRow } from '../../data/schema/tables.ts';
import type { Auth, Endpoint, InputOf, Raw, ReplyOf } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';
import type { Owner, Prepared, RequestInfo, Streamed } from './exchange.ts';

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

/** Of the two, one is there. */
export interface EitherContext extends PublicContext {
  user?: UserRow;
  owner?: Owner;
}

export type ContextOf<A extends Auth> = A extends 'none'
  ? PublicContext
  : A extends 'key'
    ? KeyContext
    : A extends 'any'
      ? EitherContext
      : UserContext;

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
  /** What a browser is shown that was refused; without it, what programs get. */
  refused?(app: App, request: RefusedRequest): Raw;
}

/** A form that was sent in vain, or a page that was. */
export interface RefusedRequest {
  status: number;
  /** Where a form was sent; null where a page was asked for. */
  path: string | null;
  query: Readonly<Record<string, string>>;
  headers: Headers;
}

/** Pairs a list of endpoints with their handlers. */
export function routesOf<const List extends readonly Endpoint[]>(
  list: List,
  handlers: Handlers<List>,
  refused?: Route['refused'],
): Route[] {
  const byId = handlers as Record<string, Route['handle']>;
  return list.map((endpoint) => {
    const handle = byId[endpoint.id];
    if (!handle) throw new Error(`no handler for ${endpoint.id}`);
    return refused ? { endpoint, handle, refused } : { endpoint, handle };
  });
}
