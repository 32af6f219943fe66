// How calls leave gw: a redirect is refused, so that credentials and bodies reach no one but the service that was named.
// Over node:http, which is loaded in a tenth of the time that fetch takes.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer, Sent } from '../../src/api/client/call.ts';
import { isLoopback } from './address.ts';
import { GwError, NetworkError } from './errors.ts';

/** 303 is an answer of its own: it names what to read next, and nothing follows it. */
const REDIRECTS = new Set([301, 302, 307, 308]);
/** How long a connection may take to stand. */
const CONNECT_MS = 10_000;
/** More than any answer of the service that is read whole; what has no end is read as it comes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** An answer whose body is still to be read. */
export interface Opened {
  status: number;
  ok: boolean;
  headers: Answer['headers'];
  /** As they were sent. */
  fields: IncomingHttpHeaders;
  body: AsyncGenerator<Buffer, void>;
}

/**
 * Like fetch, to the service, and whole: its body has been read. Throws NetworkError where no whole answer came, the reason of
 * the signal once that is aborted, and GwError where the service redirects: nothing was sent to its target.
 */
export async function fetchService(url: string, call: Partial<Sent> = {}): Promise<Answer & Opened> {
  // On this machine, compressing takes longer than sending.
  const encoding = isLoopback(new URL(url)) ? 'identity' : 'gzip';
  const opened = await openService(url, {
    ...call,
    headers: { 'accept-encoding': encoding, ...call.headers },
  });
  const sent = await wholeOf(opened.body, url);
  const bytes = opened.headers.get('content-encoding') === 'gzip' ? await unzipped(sent, url) : sent;
  return {
    ...opened,
    text: async () => new TextDecoder().decode(bytes),
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
  };
}

/** The same, until it is longer than any answer: then GwError is thrown, and the rest is not read. */
export async function* limited(body: AsyncIterable<Buffer>, url: string): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw tooLarge(url);
    yield chunk;
  }
}

/** Throws GwError for one that is longer than any answer. */
export async function wholeOf(body: AsyncIterable<Buffer>, url: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of limited(body, url)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const tooLarge = (url: string): GwError =>
  new GwError('general', `${new URL(url).origin} answers with more than ${MAX_ANSWER_BYTES} bytes`, {
    code: 'answer_too_large',
    hint: 'check that this is the address of a gatewayd: gw doctor',
  });

async function unzipped(bytes: Buffer, url: string): Promise<Buffer> {
  const { gunzipSync } = await import('node:zlib');
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url);
    throw new NetworkError(error, true);
  }
}

/** The same as soon as the head of the answer is there: its body, which may have no end, is read by the caller. */
export async function openService(url: string, call: Partial<Sent> = {}): Promise<Opened> {
  const asked = new URL(url);
  const message = await answerTo(asked, call);
  const status = message.statusCode ?? 0;
  if (REDIRECTS.has(status)) {
    message.destroy();
    throw redirected(asked, status, message.headers.location);
  }
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name) => [message.headers[name.toLowerCase()]].flat().join(', ') || null },
    fields: message.headers,
    body: chunksOf(message, call.signal),
  };
}

const PROXIED = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** How a request to `url` goes through the proxy that the environment names for it; null where it goes directly. */
async function wayThrough(url: URL) {
  const { proxyOf, throughProxy, tunnelTo } = await import('./tunnel.ts');
  const proxy = proxyOf(url);
  if (proxy === null) return null;
  const optionsFor = async (headers: Record<string, string>) => {
    if (url.protocol === 'http:') return throughProxy(proxy, url, headers);
    const agent = await tunnelTo(url, proxy, CONNECT_MS).catch((error: Error) => {
      throw new NetworkError(error, false);
    });
    return { agent };
  };
  return { url: proxy, optionsFor };
}

async function answerTo(url: URL, { method = 'GET', headers, body, signal }: Partial<Sent>) {
  const proxy = PROXIED.some((name) => process.env[name]) ? await wayThrough(url) : null;
  // Without TLS a proxy is asked for the whole address.
  const asked = proxy && url.protocol === 'http:' ? proxy.url : url;
  // What is not used is not loaded: TLS takes as long as all the rest.
  const { request } = await (asked.protocol === 'https:' ? import('node:https') : import('node:http'));
  signal?.throwIfAborted();
  const length = body === undefined ? undefined : { 'content-length': String(Buffer.byteLength(body)) };
  const sent: Record<string, string> = { ...headers, ...length };
  const outgoing = request(asked, { method, headers: sent, ...(await proxy?.optionsFor(sent)) });
  let isConnected = false;
  const giveUp = () => outgoing.destroy(new Error('no answer in time'));
  signal?.addEventListener('abort', giveUp, { once: true });
  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) {
      isConnected = true;
      return;
    }
    const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), CONNECT_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      isConnected = true;
    });
  });
  return new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', (error) =>
      reject(signal?.aborted && isConnected ? signal.reason : new NetworkError(error, isConnected)),
    );
    outgoing.end(body);
  });
}

async function* chunksOf(
  message: IncomingMessage,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  try {
    yield* message;
  } catch (error) {
    throw signal?.aborted ? signal.reason : new NetworkError(error, true);
  }
}

function redirected(asked: URL, status: number, location: string | undefined): GwError {
  const target =
    location !== undefined && URL.canParse(location, asked.href) ? new URL(location, asked.href) : null;
  const isSamePath = target !== null && target.pathname === asked.pathname;
  const where = target ? `${target.origin}${isSamePath ? '' : target.pathname}` : 'an address that is none';
  return new GwError('config', `${asked.origin} redirects to ${where}; nothing was sent there`, {
    code: 'redirected',
    status,
    hint:
      target && isSamePath
        ? `if that is the service: gw config set url ${target.origin}, or --url ${target.origin}`
        : 'check that this is the address of a gatewayd: gw doctor',
  });
}
