// One HTTP request to somebody else, over Node's own client: what is said before the answer (1xx, RFC 9110 §15.2) is passed over.
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import type { TLSSocket } from 'node:tls';

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

class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/** Nothing of TLS is loaded before it is used. */
const moduleOf = (protocol: string) =>
  protocol === 'https:' ? import('node:https') : Promise.resolve({ request: requestHttp, Agent: undefined });

export function openSender(options: SenderOptions): Sender {
  const { connect_ms, keep, lookup, address_attempt_ms, max_header_bytes } = options;
  const agents = new Map<string, Agent>();
  let closed = false;

  async function agentFor(protocol: string): Promise<Agent | false> {
    if (!keep) return false;
    const known = agents.get(protocol);
    if (known) return known;
    const { Agent } = await (protocol === 'https:' ? import('node:https') : import('node:http'));
    const agent = new Agent({ keepAlive: true, maxSockets: keep.connections, timeout: keep.idle_ms });
    agents.set(protocol, agent);
    return agent;
  }

  return {
    async send(url, { method, headers = {}, body = null, signal, onConnect }) {
      const { request } = await moduleOf(url.protocol);
      const agent = await agentFor(url.protocol);
      signal.throwIfAborted();
      if (closed) throw new ClosedError('no request is sent any more');
      const addresses: Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
        autoSelectFamily: true,
        ...(address_attempt_ms ? { autoSelectFamilyAttemptTimeout: address_attempt_ms } : {}),
      };
      const outgoing = request(url, {
        method,
        headers,
        agent,
        ...addresses,
        ...(lookup ? { lookup } : {}),
        ...(max_header_bytes ? { maxHeaderSize: max_header_bytes } : {}),
      });
      outgoing.once('socket', (socket: Socket) => watchConnecting(socket, connect_ms, onConnect));
      return answerOf(outgoing, body, signal);
    },
    close() {
      closed = true;
      for (const agent of agents.values()) agent.destroy();
    },
  };
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
