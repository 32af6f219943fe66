// Puts every described endpoint on the wire: description × handler → route, with the checks in their order.
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { H3, type H3Event } from 'h3';
import { Fenced, faultOf, isBusy, isUnusable } from '../../data/db/failures.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { ignoredFields } from '../../src/api/read/ignored.ts';
import { parseInput } from '../../src/api/read/validation.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { type AccountTurns, openAccountTurns } from './account-turns.ts';
import { type AtHand, openAtHand } from './at-hand.ts';
import { accountOf, authenticate, type Caller, PUBLIC } from './auth.ts';
import { Call, CallContext, type CallServer } from './call.ts';
import { isLoopback, network } from './counting.ts';
import { Feed } from './exchange.ts';
import type { Route } from './handler.ts';
import { idempotencyKey, onceOnly } from './idempotent.ts';
import { createLimits, type Limits, sharedWindow } from './limits.ts';
import { callerAddress, type Trust, trustOf } from './proxies.ts';
import { isBelowPages, isBrowser, readable } from './readable.ts';
import { recordAnswer } from './record.ts';
import {
  type Answer,
  invalidAnswer,
  optionsAnswer,
  refusalAnswer,
  replyAnswer,
  toResponse,
} from './reply.ts';
import {
  type Held,
  MAX_BODY_BYTES,
  MalformedBody,
  namesTwoHosts,
  openHeld,
  parseForm,
  parseJson,
  readText,
} from './request.ts';
import { openTurns, type Turns } from './turns.ts';

/** How soon a busy database or provider may be asked again. */
const BUSY_RETRY_SECONDS = 1;
const PROVIDER_RETRY_SECONDS = 5;
/** How soon another daemon may have the place of one that is to be upgraded. */
const OUTDATED_RETRY_SECONDS = 5;
/** What a daemon still answers then: its supervisor, and what says what is wrong. */
const ANSWERED_OUTDATED = ['getLiveness', 'getReadiness', 'metrics'];
/** A person has to make room, or repair what else is wrong. */
const UNUSABLE_RETRY_SECONDS = 60;

const TWO_HOSTS = 'The request names more than one Host';

export interface Http {
  h3: H3;
  /** Asked before the routes are, where it is there. */
  at_hand?: AtHand;
  /** Whose turn a request takes: its caller's, as far as proxies are trusted. */
  addressOf?(req: IncomingMessage): string;
  /** From now on: streams end, and connections close after their answer. */
  drain(): void;
  /** From now on: streams end, new requests are refused, connections close after their answer. */
  stop(): void;
}

/** Mounts the routes; anything else is 404, or 405 where another method exists. */
export function createHttp(app: App, routes: readonly Route[]): Http {
  const limits = createLimits(app.config.limits, {
    clock: app.clock,
    exempt_loopback: app.config.demo,
    ...(app.db.dialect === 'postgres' ? { shared: sharedWindow(app) } : {}),
  });
  const draining = new AbortController();
  app.schema.onOutdated(() => draining.abort());
  const stopping = new AbortController();
  // One listener for each open stream, and of those there may be many.
  setMaxListeners(0, draining.signal);
  const inside = new WeakMap<Request, string>();
  const trust = trustOf(app.config.trust_proxy);
  const h3 = new H3({
    silent: true,
    allowMalformedURL: true,
    // What h3 itself refuses is a path that no route has; anything else is an answer that could not be made.
    onError: (error, event) =>
      respond(server, event, undefined, () => {
        throw error.unhandled || error.status !== 404 ? error : new Refusal('not_found');
      }),
  });
  const held = openHeld();
  const turns = openTurns({
    elapsed_ms: app.runtime.elapsed_ms,
    isExempt: (ip) => app.config.demo && isLoopback(ip),
  });
  const server: Server = {
    app,
    limits,
    accounts: openAccountTurns(app.runtime, () => turns.goFirst()),
    held: (ip) => held(network(ip), app.config.demo && isLoopback(ip)),
    turns,
    draining: draining.signal,
    stopping: stopping.signal,
    inside,
    trust,
    at_hand: openAtHand(app, trust, draining.signal),
    async dispatch(request, ip) {
      inside.set(request, ip);
      return h3.fetch(request);
    },
  };
  const paths = new Map<string, Route[]>();
  for (const route of routes) {
    const path = route.endpoint.path.replace(/\{[^}]+\}/g, '{}').replace(/(.)\/$/, '$1');
    paths.set(path, [...(paths.get(path) ?? []), route]);
  }
  for (const [first, ...others] of paths.values()) {
    if (!first) continue;
    const here = [first, ...others];
    for (const route of here) {
      const { method } = route.endpoint;
      const pattern = patternOf(route.endpoint);
      const handler = (event: H3Event) =>
        respond(server, event, route.endpoint, (call) => answerReadably(server, route, call));
      h3.on(method, pattern, handler);
      if (method === 'GET') h3.on('HEAD', pattern, handler);
    }
    h3.all(patternOf(first.endpoint), (event) =>
      respond(server, event, first.endpoint, otherMethod(app, here)),
    );
  }
  const page = routes.find(({ refused }) => refused)?.refused;
  h3.all('/**', (event) => respond(server, event, undefined, notFound(app, page)));
  return {
    h3,
    at_hand: server.at_hand,
    addressOf: ({ socket, headers }) =>
      network(
        callerAddress(socket.remoteAddress, { get: (name) => headers[name]?.toString() ?? null }, trust),
      ),
    drain: () => draining.abort(),
    stop() {
      draining.abort();
      stopping.abort();
    },
  };
}

interface Server extends CallServer {
  app: App;
  limits: Limits;
  accounts: AccountTurns;
  held: (ip: string) => Held;
  turns: Turns;
  stopping: AbortSignal;
  /** Requests that the daemon sends to itself for a caller, each with the address of that caller. */
  inside: WeakMap<Request, string>;
  trust: Trust | null;
  at_hand: AtHand;
}

/** `/v1/units/{unit_id}` → `/v1/units/:unit_id`; h3 ignores a trailing slash. */
const patternOf = (endpoint: Endpoint): string => endpoint.path.replace(/\{([^}]+)\}/g, ':$1');

/** Runs the checks and the handler, and turns whatever comes of it into one logged answer. */
async function respond(
  { app, draining, stopping, inside, trust, at_hand }: Server,
  event: H3Event,
  endpoint: Endpoint | undefined,
  work: (call: Call) => Promise<Answer> | Answer,
): Promise<Response> {
  const started = performance.now();
  const { req } = event;
  const ip =
    inside.get(req) ?? callerAddress(event.runtime?.node?.req.socket.remoteAddress, req.headers, trust);
  const call = new Call(app, event, ip);
  const { request_id } = call;
  let reply: Answer;
  try {
    if (stopping.aborted) throw new Refusal('shutting_down', { retry_after: BUSY_RETRY_SECONDS });
    if (namesTwoHosts(event.runtime?.node?.req)) throw new Refusal('bad_request', { detail: TWO_HOSTS });
    reply = await work(call);
  } catch (error) {
    reply = failureAnswer(error, call, endpoint);
  }
  if (reply.body instanceof Feed) {
    if (req.method === 'HEAD') {
      reply.body.cancel();
      reply.body = null;
    } else if (!event.runtime?.node) reply.body = reply.body.stream();
  } else if (reply.body instanceof ReadableStream) {
    if (req.method === 'HEAD') {
      reply.body.cancel().catch(ignore);
      // A response cannot be made of a stream that was given up.
      reply.body = null;
    } else reply.body = endingWith(reply.body, draining);
  }
  recordAnswer(app, {
    request_id,
    endpoint_id: endpoint?.id ?? null,
    method: req.method,
    status: reply.status,
    took_ms: performance.now() - started,
    ip: () => ip,
  });
  const response = toResponse(reply, {
    request_id,
    ignored: call.ignored,
    cors: endpoint?.cors === true,
    close: draining.aborted,
  });
  const { again } = reply;
  const node = event.runtime?.node?.req as IncomingMessage | undefined;
  if (again && node && endpoint && isForAll(endpoint, call))
    at_hand.keep(node, { endpoint_id: endpoint.id, answer: response.answer, again });
  return response;
}

/** Whether others who ask for the same path get the same answer, as often as they like. */
const isForAll = ({ method, auth, limit }: Endpoint, { event, ignored }: Call): boolean =>
  method === 'GET' && auth === 'none' && !limit && ignored === undefined && event.url.search === '';

/** The answer; where a browser is refused, as a page that its reader understands. */
async function answerReadably(server: Server, route: Route, call: Call): Promise<Answer> {
  if (route.endpoint.reads_body) return whileHeld(server, call, () => answer(server, route, call));
  if (!route.refused || !isBrowser(call)) return answer(server, route, call);
  const reply = await answer(server, route, call).catch((error) =>
    failureAnswer(error, call, route.endpoint),
  );
  return readable(server.app, call, reply, route.refused);
}

/** What its handler reads itself counts as a whole from the beginning: it may be as much as was announced, or as a body may have. */
async function whileHeld(
  { held }: Server,
  { event, ip }: Call,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const announced = Number(event.req.headers.get('content-length') ?? MAX_BODY_BYTES);
  const bytes = event.req.body === null ? 0 : Math.min(announced, MAX_BODY_BYTES);
  const place = held(ip);
  if (!place.take(bytes)) throw new Refusal('rate_limited', { retry_after: BUSY_RETRY_SECONDS });
  try {
    return await work();
  } finally {
    place.end();
  }
}

/** The order is part of the contract: limits, body, turn, sign-in, share of the account, validation, then the handler. */
async function answer(server: Server, route: Route, call: Call): Promise<Answer> {
  const { limits } = server;
  const { endpoint } = route;
  const { event, ip } = call;
  if (server.app.schema.outdated() !== null && !ANSWERED_OUTDATED.includes(endpoint.id)) throw outdated();
  // Nearly all have no limit, and must not wait a turn for it.
  const counted = limits.byAddress(endpoint.limit, ip);
  if (counted !== undefined) await counted;
  const announced = event.req.headers.get('content-length');
  if (announced !== null && Number(announced) > MAX_BODY_BYTES) throw new Refusal('body_too_large');
  const held = server.held(ip);
  try {
    // Who sends slowly keeps no one else waiting.
    const text = await bodyText(endpoint, call, held);
    return await answerInTurn(server, route, { call, text });
  } finally {
    held.end();
  }
}

async function answerInTurn(
  server: Server,
  route: Route,
  { call, text }: { call: Call; text: string | undefined },
): Promise<Answer> {
  const { turns } = server;
  const { endpoint } = route;
  const { event, ip } = call;
  if (endpoint.id === 'getLiveness' || (endpoint.auth !== 'none' && !turns.isSuspect(ip, shownIn(call))))
    return answerNow(server, route, { call, text });
  // Who calls tools with credentials that were good shows them to each tool: it goes first as well, within the share of these.
  if (endpoint.id === 'mcp' && turns.isGood(shownIn(call))) {
    const done = await server.accounts(`credentials ${shownIn(call)}`);
    return answerNow(server, route, { call, text }).finally(done);
  }
  const taken = turns.take(ip);
  const leave = taken instanceof Promise ? await taken : taken;
  // What only asks the database is soon done, and what no limit bounds would have all of it; who asks a blockchain, or sends what
  // it writes, is not waited for.
  const keeps_turn =
    endpoint.method === 'GET' ? endpoint.tag !== 'system' : !endpoint.limit && !endpoint.reads_body;
  if (!keeps_turn) leave();
  try {
    if (event.runtime?.node?.res?.destroyed) throw new Error('the caller went away');
    return await answerNow(server, route, { call, text });
  } finally {
    if (keeps_turn) leave();
  }
}

const BEARER = /^bearer +/i;

/** The credentials that a call shows, however it does: clients of tools may send a key as a bearer token. */
const shownIn = ({ event: { req }, query }: Call): string =>
  req.headers.get('authorization')?.replace(BEARER, '') ??
  req.headers.get('x-api-key') ??
  query.api_key ??
  '';

/** Whose credentials are good goes first from then on. */
async function answerNow(
  server: Server,
  route: Route,
  { call, text }: { call: Call; text: string | undefined },
): Promise<Answer> {
  const { app, turns } = server;
  const { endpoint } = route;
  const { event, ip, query } = call;
  const body = text === undefined ? undefined : await parsedBody(endpoint, event, text);
  call.ignored = ignoredFields(endpoint, { query, body });
  if (endpoint.auth === 'none') return handled(server, route, { call, body, caller: PUBLIC });
  const caller = await authenticate(app, endpoint.auth, { headers: event.req.headers, query }).catch(
    (error) => {
      // Whose credentials are good for less than this has shown who it is.
      if (error instanceof Refusal && error.code !== 'not_superuser') turns.suspect(ip, shownIn(call));
      throw error;
    },
  );
  turns.vouch(shownIn(call));
  const leave = await server.accounts(accountOf(caller));
  try {
    return await handled(server, route, { call, body, caller });
  } finally {
    leave();
  }
}

async function handled(
  server: Server,
  { endpoint, handle }: Route,
  { call, body, caller }: { call: Call; body: unknown; caller: Caller },
): Promise<Answer> {
  const { app, limits } = server;
  const { event, ip, query } = call;
  const parsed = parseInput(endpoint, { params: decoded(event.context.params), query, body });
  if (!parsed.ok) return invalidAnswer(parsed.detail);
  const identified = limits.byIdentity(endpoint.limit, ip, parsed.value, caller.user?.id);
  if (identified !== undefined) await identified;
  const context = Object.assign(new CallContext(call, server), caller);
  const work = async (resource_id: string | null) => {
    context.request.resource_id = resource_id;
    return replyAnswer(endpoint, await handle(parsed.value, context));
  };
  const key = endpoint.idempotent ? idempotencyKey(event.req.headers) : null;
  if (key === null) return work(null);
  if (typeof key === 'object') return invalidAnswer(key.detail);
  const name = caller.name === 'public' ? `public:${ip}` : caller.name;
  app.metrics.keyed.count++;
  try {
    return await onceOnly(app, { caller: name, key, endpoint_id: endpoint.id, input: parsed.value }, work);
  } finally {
    app.metrics.keyed.count--;
  }
}

/** Undefined where none is sent to an endpoint that takes none, or it is for the handler to read. */
async function bodyText(
  endpoint: Endpoint,
  { event: { req, runtime } }: Call,
  held: Held,
): Promise<string | undefined> {
  if (!endpoint.body) {
    const is_sent = runtime?.node
      ? Number(req.headers.get('content-length') ?? 0) > 0 || req.headers.has('transfer-encoding')
      : req.body !== null;
    if (!is_sent || endpoint.method === 'GET' || endpoint.reads_body) return undefined;
  }
  try {
    return await readText(req, runtime?.node?.req as IncomingMessage | undefined, held);
  } catch (error) {
    if (error instanceof MalformedBody && !endpoint.body) return undefined;
    throw error;
  }
}

/** Of an endpoint that takes none: its names are reported to the caller, and whatever it is changes nothing. */
async function parsedBody(endpoint: Endpoint, { req }: H3Event, text: string): Promise<unknown> {
  const type = req.headers.get('content-type') ?? '';
  try {
    return endpoint.encoding === 'form' ? await parseForm(text, type) : parseJson(text, type);
  } catch (error) {
    if (error instanceof MalformedBody && !endpoint.body) return undefined;
    throw error;
  }
}

/** Path parameters as text; what is no valid escape is left as it is, for the validation to refuse. */
function decoded(params: Record<string, string> = {}): Record<string, string> {
  for (const name in params) {
    const value = params[name] as string;
    if (!value.includes('%')) continue;
    try {
      params[name] = decodeURIComponent(value);
    } catch {}
  }
  return params;
}

const outdated = (): Refusal => new Refusal('schema_newer', { retry_after: OUTDATED_RETRY_SECONDS });

function failureAnswer(error: unknown, call: Call, endpoint: Endpoint | undefined): Answer {
  if (error instanceof MalformedBody) return invalidAnswer([error.detail]);
  if (error instanceof Refusal) return refusalAnswer(error, call.request_id);
  if (error instanceof Fenced) return refusalAnswer(outdated(), call.request_id);
  if (isBusy(error) || isUnusable(error)) return databaseAnswer(error, call, endpoint);
  if (error instanceof ProviderError) {
    call.log.warn({ err: error, endpoint: endpoint?.id }, 'a provider failed the request');
    return refusalAnswer(
      new Refusal('provider_unavailable', { retry_after: PROVIDER_RETRY_SECONDS }),
      call.request_id,
    );
  }
  if (call.event.req.signal.aborted) call.log.debug({ err: error }, 'the caller went away');
  else call.log.error({ err: error, endpoint: endpoint?.id }, 'unhandled error');
  return refusalAnswer(new Refusal('internal'), call.request_id);
}

/** Nothing is promised: the caller may ask again, and where the operator must repair something the log says what. */
function databaseAnswer(error: unknown, call: Call, endpoint: Endpoint | undefined): Answer {
  call.app.database_watch.note(error);
  if (isBusy(error)) {
    const away = faultOf(error) === 'away';
    call.log.warn(
      { err: error, endpoint: endpoint?.id },
      away ? 'the database cannot be reached' : 'the database is busy',
    );
    const detail = away ? 'The database cannot be reached at the moment' : undefined;
    const busy = new Refusal('database_busy', { detail, retry_after: BUSY_RETRY_SECONDS });
    return refusalAnswer(busy, call.request_id);
  }
  call.log.error(
    { err: error, endpoint: endpoint?.id },
    'the database refuses to write: check its disk, its files and their permissions',
  );
  const detail = 'The database cannot store anything new at the moment';
  const refused = new Refusal('database_busy', { detail, retry_after: UNUSABLE_RETRY_SECONDS });
  return refusalAnswer(refused, call.request_id);
}

/** The refusal of a path that no route has; below the pages of buyers, as one of them. */
const notFound =
  (app: App, page: Route['refused']) =>
  (call: Call): Answer => {
    const refused = refusalAnswer(new Refusal('not_found'), call.request_id);
    const isPage = page !== undefined && isBrowser(call) && isBelowPages(call.event.url.pathname);
    return isPage ? readable(app, call, refused, page) : refused;
  };

/** OPTIONS, and the refusal of every method that this path does not have. */
function otherMethod(app: App, here: readonly Route[]): (call: Call) => Answer {
  const methods = here.map((route) => route.endpoint.method);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const cors = here.some((route) => route.endpoint.cors);
  const page = here.find(({ refused }) => refused)?.refused;
  return (call) => {
    if (call.event.req.method === 'OPTIONS') return optionsAnswer(allow, cors);
    const { headers, ...refused } = refusalAnswer(new Refusal('method_not_allowed'), call.request_id);
    const reply = { ...refused, headers: { ...headers, allow } };
    return page && isBrowser(call) ? readable(app, call, reply, page) : reply;
  };
}

/** The same stream, ended when the signal aborts. */
function endingWith(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let end = () => {};
  const forget = () => signal.removeEventListener('abort', end);
  return new ReadableStream<Uint8Array>({
    start(controller) {
      end = () => {
        controller.close();
        reader.cancel().catch(ignore);
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        forget();
        throw error;
      });
      if (signal.aborted) return;
      if (!done) return controller.enqueue(value);
      forget();
      controller.close();
    },
    async cancel(reason) {
      forget();
      await reader.cancel(reason);
    },
  });
}

/** For the end of a stream that no one reads any more: how it fails is of no interest. */
const ignore = (): void => {};
