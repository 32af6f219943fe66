// One request on its way through the checks, and what its handler may know of it. Classes, for their getters: the
// shape of an object literal that has one keeps the whole request alive until the next full collection.
import type { H3Event } from 'h3';
import type { Logger } from 'pino';
import type { App } from '../context.ts';
import type { RequestInfo } from './exchange.ts';
import type { PublicContext } from './handler.ts';
import { lastValues, requestId } from './request.ts';

const NO_QUERY = lastValues([]);

export class Call {
  readonly app: App;
  readonly event: H3Event;
  readonly request_id: string;
  readonly ip: string;
  readonly query: Record<string, string>;
  /** What it carries in vain, as the answer names it. */
  ignored: string | undefined;
  #log: Logger | undefined;

  constructor(app: App, event: H3Event, ip: string) {
    this.app = app;
    this.event = event;
    this.request_id = requestId(event.req.headers, app.runtime);
    this.ip = ip;
    this.query = event.url.search === '' ? NO_QUERY : lastValues(event.url.searchParams);
  }

  /** Carries the request id in every line. */
  get log(): Logger {
    this.#log ??= this.app.log.child({ request_id: this.request_id });
    return this.#log;
  }
}

/** What a call needs of the server that it came to. */
export interface CallServer {
  /** Aborts when the daemon is asked to stop. */
  draining: AbortSignal;
  dispatch(request: Request, ip: string): Promise<Response>;
}

class Info implements RequestInfo {
  readonly id: string;
  resource_id: string | null = null;
  readonly ip: string;
  readonly web: Request;
  readonly #server: CallServer;

  constructor(call: Call, server: CallServer) {
    this.id = call.request_id;
    this.ip = call.ip;
    this.web = call.event.req;
    this.#server = server;
  }

  get headers(): Headers {
    return this.web.headers;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.web.signal, this.#server.draining]);
  }

  get closing(): AbortSignal {
    return this.#server.draining;
  }

  dispatch(request: Request): Promise<Response> {
    return this.#server.dispatch(request, this.ip);
  }
}

/** The context of a handler; who calls is added to it. */
export class CallContext implements PublicContext {
  readonly app: App;
  readonly request: RequestInfo;
  readonly #call: Call;

  constructor(call: Call, server: CallServer) {
    this.app = call.app;
    this.request = new Info(call, server);
    this.#call = call;
  }

  get log(): Logger {
    return this.#call.log;
  }
}
