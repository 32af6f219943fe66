// One HTTP request to somebody else, over Node's own client: what comes before the answer (1xx, RFC 9110 §15.2) is passed over,
// and where a proxy is set the request goes through it.
import {
  type Agent,
  type AgentOptions,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { credentialsFor, shownProxy } from '../../src/proxy.ts';
import type { ProxyOf } from './network.ts';

export interface Sending {
  method: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: string | null;
  /** Its reason is what the request, or the reading of the answer, rejects with. */
  signal: AbortSignal;
  /** The receiver may have something of it from now on. */
  onConnect?: () => void;
}

export interface Answered {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Uint8Array> & { destroy(): void };
}

export interface SenderOptions {
  /** From asking for the name to the end of TLS. */
  connect_ms: number;
  /** Connections that stay open for the next request, and for how long; absent: each request has its own. */
  keep?: { connections: number; idle_ms: number };
  lookup?: LookupFunction;
  /** How long one of several addresses may take before the next is tried as well. */
  address_attempt_ms?: number;
  max_header_bytes?: number;
  proxyOf?: ProxyOf | undefined;
}

export interface Sender {
  /** Sends once, follows nothing and rejects with what went wrong, by Node's codes. */
  send(url: URL, sending: Sending): Promise<Answered>;
  close(): void;
}

/** Named so that who waits knows it for a matter of time. */
class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
  readonly code = 'CONNECT_TIMEOUT';
}

/** Of the proxy, and without its credentials. What went wrong further on is not known here. */
class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: 'PROXY_REFUSED' | 'PROXY_UNREACHABLE';
  constructor(proxy: URL, why: number | Error) {
    const says = typeof why === 'number' ? `refuses (HTTP ${why})` : `cannot be reached: ${why.message}`;
    super(`the proxy ${shownProxy(proxy.href)} ${says}`);
    this.code = typeof why === 'number' ? 'PROXY_REFUSED' : 'PROXY_UNREACHABLE';
  }
}

class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/** Nothing of TLS is loaded before it is used. */
const moduleOf = (
  protocol: string,
): Promise<{ request: typeof requestHttp; Agent: new (settings: AgentOptions) => Agent }> =>
  protocol === 'https:'
    ? (import('node:https') as never)
    : Promise.resolve({ request: requestHttp, Agent: HttpAgent });

export function openSender(options: SenderOptions): Sender {
  const { connect_ms, keep, lookup, address_attempt_ms, max_header_bytes, proxyOf } = options;
  const agents = new Map<string, Agent>();
  let closed = false;

  async function agentFor(url: URL, proxy: URL | null): Promise<Agent | false> {
    const isTunnelled = proxy !== null && url.protocol === 'https:';
    const settings = keep && { keepAlive: true, maxSockets: keep.connections, timeout: keep.idle_ms };
    if (!settings) return isTunnelled ? tunnelAgent(url, proxy, connect_ms) : false;
    const { protocol } = isTunnelled ? url : (proxy ?? url);
    const key = `${protocol}${proxy?.href ?? ''}`;
    const known = agents.get(key);
    if (known) return known;
    const { Agent } = await moduleOf(protocol);
    const agent = isTunnelled ? await tunnelAgent(url, proxy, connect_ms, settings) : new Agent(settings);
    agents.set(key, agent);
    return agent;
  }

  return {
    async send(url, { method, headers = {}, body = null, signal, onConnect }) {
      const proxy = proxyOf?.(url) ?? null;
      // Without TLS a proxy is asked for the whole address; many let no tunnel lead to port 80.
      const asked = proxy !== null && url.protocol === 'http:' ? proxy : null;
      const { request } = await moduleOf((asked ?? url).protocol);
      const agent = await agentFor(url, proxy);
      signal.throwIfAborted();
      if (closed) throw new ClosedError('no request is sent any more');
      const addresses: Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
        autoSelectFamily: true,
        ...(address_attempt_ms ? { autoSelectFamilyAttemptTimeout: address_attempt_ms } : {}),
      };
      const outgoing = request(asked ?? url, {
        method,
        agent,
        ...addresses,
        ...(asked
          ? {
              path: `${url.origin}${url.pathname}${url.search}`,
              headers: { ...headers, host: url.host, ...credentialsFor(asked) },
              auth: null,
            }
          : { headers }),
        ...(lookup && !proxy ? { lookup } : {}),
        ...(max_header_bytes ? { maxHeaderSize: max_header_bytes } : {}),
      });
      let isConnected = false;
      const onOpen = () => {
        isConnected = true;
        onConnect?.();
      };
      outgoing.once('socket', (socket: Socket) => watchConnecting(socket, connect_ms, onOpen));
      const answered = await answerOf(outgoing, body, signal).catch((error) => {
        throw asked && !isConnected && !signal.aborted ? new ProxyError(asked, error) : error;
      });
      if (!asked || answered.statusCode !== PROXY_WANTS_CREDENTIALS) return answered;
      answered.body.destroy();
      throw new ProxyError(asked, answered.statusCode);
    },
    close() {
      closed = true;
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

const PROXY_WANTS_CREDENTIALS = 407;

/** Connections through a proxy's tunnel, with TLS to `url` inside where it is one of that. */
export async function tunnelAgent(
  { protocol }: URL,
  proxy: URL,
  connect_ms: number,
  settings: AgentOptions = {},
): Promise<Agent> {
  const { Agent } = await moduleOf(protocol === 'wss:' ? 'https:' : protocol.replace('ws:', 'http:'));
  const agent = new Agent(settings);
  const opening = agent as unknown as Opening;
  const { createConnection } = opening;
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  opening.createConnection = (target, callback = () => {}) => {
    openTunnel(proxy, `${target.host}:${target.port}`, connect_ms).then(
      (socket) => callback(null, isSecure ? createConnection.call(agent, { ...target, socket }) : socket),
      callback,
    );
    return undefined;
  };
  return agent;
}

/** How an agent opens a connection: at once, or later by the callback. */
interface Opening {
  createConnection(
    target: { host?: string; port?: number; socket?: Socket },
    callback?: (error: Error | null, socket?: Socket) => void,
  ): Socket | undefined;
}

/** A connection through the proxy (CONNECT, RFC 9110 §9.3.6). Rejects with ProxyError. */
async function openTunnel(proxy: URL, authority: string, connect_ms: number): Promise<Socket> {
  const { request } = await moduleOf(proxy.protocol);
  return new Promise((resolve, reject) => {
    const headers = { host: authority, ...credentialsFor(proxy) };
    const asking = request(proxy, { method: 'CONNECT', path: authority, headers, agent: false, auth: null });
    const late = () => asking.destroy(new ConnectTimeoutError('no connection in time'));
    const timer = setTimeout(late, connect_ms);
    asking.once('close', () => clearTimeout(timer));
    asking.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      reject(new ProxyError(proxy, statusCode));
    });
    asking.once('error', (error) => reject(new ProxyError(proxy, error)));
    asking.end();
  });
}

function watchConnecting(socket: Socket, connect_ms: number, onConnect: () => void = () => {}): void {
  const isSecure = 'encrypted' in socket;
  const isOpen = isSecure ? (socket as TLSSocket).getProtocol() !== null : !socket.connecting;
  if (isOpen) {
    onConnect();
    return;
  }
  const timer = setTimeout(
    () => socket.destroy(new ConnectTimeoutError('no connection in time')),
    connect_ms,
  );
  socket.once('close', () => clearTimeout(timer));
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer);
    onConnect();
  });
}

function answerOf(
  outgoing: ReturnType<typeof requestHttp>,
  body: string | null,
  signal: AbortSignal,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let message: IncomingMessage | undefined;
    const giveUp = () => (message ?? outgoing).destroy(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const over = () => signal.removeEventListener('abort', giveUp);
    outgoing.once('response', (answer: IncomingMessage) => {
      message = answer.once('close', over);
      resolve({ statusCode: answer.statusCode ?? 0, headers: answer.headers, body: answer });
    });
    // Also after the answer: a receiver that goes away while it is still sent to.
    outgoing.on('error', (error) => {
      over();
      reject(error);
    });
    outgoing.end(body ?? undefined);
  });
}

/** Most that is read of an answer by `readAnswer`: key sets and the words of a health check. */
const MAX_READ_BYTES = 256 * 1024;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** One question and its whole answer, as fetch gives it. */
export async function readAnswer(sender: Sender, url: URL, sending: Sending): Promise<Response> {
  const { statusCode, body } = await sender.send(url, sending);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_READ_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(Buffer.concat(chunks));
  return new Response(WITHOUT_BODY.has(statusCode) ? null : bytes, { status: statusCode });
}
