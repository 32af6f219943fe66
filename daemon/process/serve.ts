// The socket: listens where it is configured or not at all, bounds what a connection may do, and drains at the end.
import type { RequestListener, Server } from 'node:http';
import { createServer, Server as SocketServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type Listener, listen } from 'listhen';
import { isLoopback, network } from '../http/counting.ts';
import type { Http } from '../http/mount.ts';
import { nodeHandler } from '../http/node.ts';
import { peerAddress, trustOf } from '../http/proxies.ts';
import { type Config, ConfigError, localUrl } from '../settings/config.ts';

/** A connection must have sent its headers by then … */
const HEADERS_TIMEOUT_MS = 10_000;
/** … and its whole request by then. Node checks every 30 s for those that have not, so some last as much longer. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Nothing came and nothing was taken for so long: who reads no answer keeps no connection. Streams say something more often. */
const UNREAD_TIMEOUT_MS = 120_000;
const MAX_CONNECTIONS = 20_000;
/** Of one address (IPv6: of a /64): no one takes all. */
const MAX_OF_ONE = 2_000;
const MAX_REQUESTS_PER_SOCKET = 10_000;
const MAX_HEADERS = 100;
/** An open connection that nothing came on for so long after the daemon was asked to stop is closed. */
const IDLE_MS = 1_000;
/** What is in flight then may take so long; what comes later is refused, … */
const ANSWER_MS = 5_000;
/** … and by then every connection is closed. */
const CLOSE_MS = 7_500;

export interface Serving {
  /** How this machine reaches it: `http://127.0.0.1:4020`. */
  url: string;
  port: number;
  /** Answers from now on; requests that came before have waited for it. */
  open(http: Http): void;
  /**
   * Accepts no more connections, ends streams, and answers what came or still comes on open connections, each of which is
   * closed by its answer; then closes what is left. Resolves when no connection is open, 7.5 s later at the latest.
   */
  stop(): Promise<void>;
}

/**
 * Listens on exactly this host and port (0: a free one). Throws ConfigError where that cannot be. Comes before
 * the database is touched, so that a busy port leaves no trace.
 */
export async function serve({
  host,
  port,
  flag = '--port',
  trust_proxy = false,
  demo = false,
  unread_ms = UNREAD_TIMEOUT_MS,
}: {
  host: string;
  port: number;
  /** Which one chooses the port. */
  flag?: string;
  unread_ms?: number;
} & Partial<Pick<Config, 'trust_proxy' | 'demo'>>): Promise<Serving> {
  let open: (http: Http) => void = () => {};
  const opened = new Promise<Http>((resolve) => {
    open = resolve;
  });
  let handle: RequestListener | undefined;
  const handler = opened.then((http) => {
    handle = nodeHandler(http);
    return handle;
  });
  const answer: RequestListener = (request, response) => {
    if (handle) handle(request, response);
    else void handler.then((made) => made(request, response));
  };
  const listener = await listenExactly(answer, { host, port, flag });
  const server = listener.server as Server;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.timeout = unread_ms;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  server.maxHeadersCount = MAX_HEADERS;
  const trust = trustOf(trust_proxy);
  // A proxy brings the connections of all.
  sharePlaces(server, (address) => trust?.(address, 0) === true || (demo && isLoopback(address)));
  let current: Http | undefined;
  return {
    url: localUrl(host, listener.address.port),
    port: listener.address.port,
    open(http) {
      current = http;
      open(http);
    },
    stop: () => drain(listener, current),
  };
}

/** Closes what an address opens beyond its share. */
function sharePlaces(server: Server, isExempt: (address: string) => boolean): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = peerAddress(socket.remoteAddress);
    if (isExempt(address)) return;
    const caller = network(address);
    const before = open.get(caller) ?? 0;
    if (before >= MAX_OF_ONE) return void socket.destroy();
    open.set(caller, before + 1);
    socket.once('close', () => {
      const left = (open.get(caller) ?? 1) - 1;
      if (left > 0) open.set(caller, left);
      else open.delete(caller);
    });
  });
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

async function listenExactly(
  answer: RequestListener,
  { host, port, flag }: { host: string; port: number; flag: string },
): Promise<Listener> {
  let listener: Listener;
  try {
    listener = await listen(answer, {
      hostname: host,
      // Not random: a busy port is an error, and no other is tried.
      port: { port, random: port === 0 },
      // Outside a container listhen would otherwise turn “every address” into “this machine alone”.
      public: EVERY_ADDRESS.includes(host),
      // Both keep it from printing: stdout is ours.
      isTest: true,
      isProd: true,
      showURL: false,
      qr: false,
      autoClose: false,
      open: false,
      clipboard: false,
    });
  } catch (error) {
    throw unusable(host, port, (await refusalOf(host, port)) ?? error, flag);
  }
  if (port === 0 || listener.address.port === port) return listener;
  // listhen answers a port of its list of unsafe ones (6000, 6667, …) with another one.
  await listener.close();
  throw unusable(host, port, new Error(`browsers refuse it; choose another port with ${flag}`));
}

/** What the system says to listening there: listhen only says that no port was found. Undefined where it listens. */
function refusalOf(host: string, port: number): Promise<Error | undefined> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', resolve);
    probe.listen({ host, port }, () => probe.close(() => resolve(undefined)));
  });
}

/** Why there is no listening on that address, in words for the operator. */
export function unusable(host: string, port: number, error: unknown, flag = '--port'): ConfigError {
  const { code, name, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: `another process is already listening there; choose another port with ${flag}`,
    EACCES: `this user may not use it; choose a port above 1023 with ${flag}`,
    EADDRNOTAVAIL: 'this machine has no such address; check host',
    ENOTFOUND: 'this machine has no such address; check host',
  };
  const reason = reasons[name === 'GetPortError' ? 'EADDRINUSE' : (code ?? '')] ?? message;
  return new ConfigError(`port ${port} on ${host} cannot be used: ${reason}`);
}

async function drain(listener: Listener, http: Http | undefined): Promise<void> {
  const server = listener.server as Server;
  const timers: NodeJS.Timeout[] = [];
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  // After all that has been accepted in this turn. Not the server's own `close`, which cuts connections that wait for their
  // next request: one that is on its way would be lost.
  await turn();
  SocketServer.prototype.close.call(server);
  if (http) {
    http.drain();
    timers.push(
      // Closes what is idle, those that never asked anything included, and the others as soon as they are.
      setTimeout(() => void listener.close(), IDLE_MS),
      setTimeout(() => http.stop(), ANSWER_MS),
      setTimeout(() => server.closeAllConnections(), CLOSE_MS),
    );
  } else server.closeAllConnections();
  await closed;
  for (const timer of timers) clearTimeout(timer);
}
