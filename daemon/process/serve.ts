// The socket: listens where it is configured or not at all, bounds what a connection may do, and drains at the end.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket, Server as SocketServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Http } from '../http/mount.ts';
import { nodeHandler } from '../http/node.ts';
import { ConfigError, localUrl } from '../settings/config.ts';

/** A connection must have sent its headers by then … */
const HEADERS_TIMEOUT_MS = 10_000;
/** … and its whole request by then. Node checks every 30 s for those that have not, so some last as much longer. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_CONNECTIONS = 20_000;
const MAX_REQUESTS_PER_SOCKET = 10_000;
const MAX_HEADERS = 100;
/** An open connection that nothing came on for so long after the daemon was asked to stop is closed. */
const IDLE_MS = 1_000;
/** What is in flight then may take so long; what comes later is refused, … */
const ANSWER_MS = 5_000;
/** … and by then every connection is closed. */
const CLOSE_MS = 7_500;
/** What browsers refuse to ask (Fetch standard, "bad port"): no one could open a page there. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

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
}: {
  host: string;
  port: number;
  /** Which one chooses the port. */
  flag?: string;
}): Promise<Serving> {
  if (BAD_PORTS.has(port))
    throw unusable(host, port, new Error(`browsers refuse it; choose another port with ${flag}`));
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
  const server = createServer(answer);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  server.maxHeadersCount = MAX_HEADERS;
  const closeIdle = followIdle(server);
  await listening(server, { host, port }).catch((error) => {
    throw unusable(host, port, error, flag);
  });
  const { port: bound } = server.address() as AddressInfo;
  let current: Http | undefined;
  return {
    url: localUrl(host, bound),
    port: bound,
    open(http) {
      current = http;
      open(http);
    },
    stop: () => drain(server, current, closeIdle),
  };
}

function listening(server: Server, where: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Knows which connections no request is on. What is returned closes them, those that never asked anything included, and from
 * then on the others with their answer. Node's own leaves those that never asked, and cuts answers that are still being sent.
 */
function followIdle(server: Server): () => void {
  const idle = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  function onAnswered(this: ServerResponse): void {
    const { socket } = this.req;
    if (closing) socket.destroy();
    else if (!socket.destroyed) idle.add(socket);
  }
  server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    response.once('close', onAnswered);
  });
  return () => {
    closing = true;
    for (const socket of idle) socket.destroy();
  };
}

/** Why there is no listening on that address, in words for the operator. */
export function unusable(host: string, port: number, error: unknown, flag = '--port'): ConfigError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: `another process is already listening there; choose another port with ${flag}`,
    EACCES: `this user may not use it; choose a port above 1023 with ${flag}`,
    EADDRNOTAVAIL: 'this machine has no such address; check host',
    ENOTFOUND: 'this machine has no such address; check host',
  };
  return new ConfigError(`port ${port} on ${host} cannot be used: ${reasons[code] ?? message}`);
}

async function drain(server: Server, http: Http | undefined, closeIdle: () => void): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  // After all that has been accepted in this turn. Not the server's own `close`, which cuts connections that wait for their
  // next request: one that is on its way would be lost.
  await turn();
  SocketServer.prototype.close.call(server);
  if (http) {
    http.drain();
    timers.push(
      setTimeout(closeIdle, IDLE_MS),
      setTimeout(() => http.stop(), ANSWER_MS),
      setTimeout(() => server.closeAllConnections(), CLOSE_MS),
    );
  } else server.closeAllConnections();
  await closed;
  for (const timer of timers) clearTimeout(timer);
}
