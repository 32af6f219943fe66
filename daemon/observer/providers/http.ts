// One provider over HTTP: credentials, limits, and every failure turned into a ProviderError that holds no secret.
import { ProviderError, type RequestOptions } from '../../../src/chains/family.ts';
import { TOO_LARGE } from '../../../src/chains/or-failed.ts';
import { namedWait } from '../../../src/chains/refusals.ts';
import type { Clock } from '../../clock.ts';
import type { HttpLimits, ProxyOf, Transport } from '../../process/network.ts';
import { openSender } from '../../process/outgoing.ts';
import type { Runtime } from '../../process/runtime.ts';
import { credentialsOf } from './credentials.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_CONNECTIONS = 8;
/** A Retry-After beyond this is taken as this: one bad header must not blind the daemon for a day. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;
/** The largest answer that is read, unless the question names another: a page of a thousand transactions is a third of it. */
const ANSWER_BYTES = 16 * 1024 * 1024;
/** How much of a provider's own words goes into a message. */
const EXCERPT_CHARS = 200;
/** Spaces, and what neither a database nor a terminal should be given: control, format and lone surrogate characters. */
const UNPRINTABLE = /[\s\p{Cc}\p{Cf}\p{Cs}]+/gu;
/** Of those that refuse with the status of something else, such as TronGrid, who is asked too often. */
const SAYS_TOO_OFTEN = /rate.?limit|frequency limit|allowed_rps|too many|quota/i;
/** Secrets are removed from this much before it is cut, so that none is cut in two and missed. */
const EXCERPT_SOURCE_CHARS = 65_536;

export interface HttpOptions {
  provider: string;
  url: string;
  api_key?: string;
  key_header?: string | undefined;
  limits: HttpLimits;
  clock: Clock;
  runtime?: Runtime;
}

export interface Answer {
  status: number;
  bytes: Uint8Array;
}

/** `rate_limited`, with how long the provider asked to be left alone; null where it did not say. */
export class RateLimited extends ProviderError {
  readonly retry_after_ms: number | null;
  constructor(message: string, code: number | null, retry_after_ms: number | null = null) {
    super('rate_limited', message, code);
    this.retry_after_ms = retry_after_ms;
  }
}

/** `unreachable` because time ran out: trying again at once would take as long again. */
export class TimedOut extends ProviderError {}

export interface HttpProvider {
  /** `toncenter at toncenter.com`: how messages name it. */
  label: string;
  host: string;
  /**
   * One request: GET, or POST where there is a body. Resolves with any status that is about the question (2xx, 404, 500 with
   * a body, …); rejects with ProviderError where the provider itself is the trouble (no answer, 429, refused key, too large).
   */
  send(path: string, options?: RequestOptions): Promise<Answer>;
  /** The beginning of an answer, on one line and without secrets, for a message. */
  excerpt(text: string): string;
  close(): Promise<void>;
}

function openTransport(limits: HttpLimits, proxyOf?: ProxyOf): Transport {
  const sender = openSender({
    proxyOf,
    connect_ms: Math.min(CONNECT_TIMEOUT_MS, limits.timeout_ms),
    keep: { connections: MAX_CONNECTIONS, idle_ms: KEEP_ALIVE_MS },
  });
  return {
    async request(url, { response_bytes = limits.response_bytes, ...sent }) {
      const signal = AbortSignal.timeout(limits.timeout_ms);
      const { statusCode, headers, body } = await sender.send(url, { ...sent, signal });
      return { statusCode, headers, body: { bytes: () => bytesOf(body, response_bytes) } };
    },
    close: async () => sender.close(),
  };
}

const TOO_LARGE_CODE = 'ANSWER_TOO_LARGE';

/** The rest is not waited for: more is held in memory of no answer. */
async function bytesOf(body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw Object.assign(new Error('too large'), { code: TOO_LARGE_CODE });
    chunks.push(chunk);
  }
  const { buffer, byteOffset } = Buffer.concat(chunks, length);
  return new Uint8Array(buffer, byteOffset, length);
}

export function createHttpProvider({
  provider,
  url,
  api_key,
  key_header,
  limits,
  clock,
  runtime,
}: HttpOptions): HttpProvider {
  const { base, headers, redact } = credentialsOf(provider, url, { api_key, key_header });
  const label = `${provider} at ${base.host}`;
  const transport = runtime?.network?.toProvider(limits) ?? openTransport(limits, runtime?.proxyOf);
  const excerpt = (text: string) =>
    redact(text.slice(0, EXCERPT_SOURCE_CHARS)).replace(UNPRINTABLE, ' ').trim().slice(0, EXCERPT_CHARS);

  async function send(path: string, { query, body, most_bytes }: RequestOptions = {}): Promise<Answer> {
    const response_bytes = Math.min(limits.response_bytes, most_bytes ?? ANSWER_BYTES);
    let answered = false;
    try {
      const response = await transport.request(target(base, path, query), {
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        response_bytes,
      });
      answered = true;
      const { statusCode: status } = response;
      const bytes = await response.body.bytes();
      if (status >= 300)
        refuse(status, textOf(bytes), retryAfterMs(response.headers['retry-after'], clock.ms()));
      return { status, bytes };
    } catch (error) {
      throw error instanceof ProviderError ? error : failure(error, answered, response_bytes);
    }
  }

  /** Throws where the status says that the provider does not want to answer; returns where it is about the question. */
  function refuse(status: number, text: string, retry_after_ms: number | null): void {
    const say = (what: string) => `${label}: ${what} (HTTP ${status})`;
    const limited =
      (status === 403 && retry_after_ms !== null) ||
      ((status === 403 || status === 503) && SAYS_TOO_OFTEN.test(text));
    if (status === 429 || limited)
      throw new RateLimited(say('rate limited'), status, retry_after_ms ?? waitIn(text));
    if (status < 400) throw new ProviderError('bad_answer', say('redirects: its URL has changed'), status);
    if (status === 401 || status === 403) {
      throw new ProviderError(
        'unreachable',
        `${say('refuses the key or the caller')}: ${excerpt(text)}`,
        status,
      );
    }
  }

  function failure(error: unknown, answered: boolean, most_bytes: number): ProviderError {
    const { name, code } = error as Error & { code?: string };
    if (code === TOO_LARGE_CODE)
      return new ProviderError('bad_answer', `${label}: an answer of over ${most_bytes} bytes`, TOO_LARGE);
    if (/Timeout/.test(name)) {
      return new TimedOut('unreachable', `${label}: no complete answer in ${limits.timeout_ms} ms`);
    }
    const why = excerpt(describe(error as Error));
    if (answered || code?.startsWith('HPE_')) {
      return new ProviderError('bad_answer', `${label}: the answer broke off: ${why}`);
    }
    return new ProviderError('unreachable', `${label}: cannot be reached: ${why}`);
  }

  return { label, host: base.host, send, excerpt, close: () => transport.close() };
}

/** What a provider that sends no Retry-After says in words of how long it wants to be left alone. */
export function waitIn(text: string): number | null {
  const wait_ms = namedWait(text.slice(0, EXCERPT_SOURCE_CHARS));
  return wait_ms === null ? null : Math.min(wait_ms, MAX_RETRY_AFTER_MS);
}

/** Node leaves the message of a refused connection to several addresses empty; the code still tells. */
function describe(error: Error & { code?: unknown }): string {
  return error.message || (typeof error.code === 'string' ? error.code : error.name);
}

function target(base: URL, path: string, query: RequestOptions['query'] = {}): URL {
  const [pathname = '', search = ''] = path.split('?', 2);
  const url = new URL(base);
  if (pathname !== '') url.pathname = `${base.pathname.replace(/\/+$/, '')}/${pathname.replace(/^\/+/, '')}`;
  for (const [name, value] of new URLSearchParams(search)) url.searchParams.append(name, value);
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) url.searchParams.append(name, String(each));
    }
  }
  return url;
}

/** Retry-After in seconds or as an HTTP date, as milliseconds from now; null where it is absent or senseless. */
function retryAfterMs(header: string | string[] | undefined, now_ms: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return null;
  const wait_ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now_ms;
  return Number.isFinite(wait_ms) && wait_ms >= 0 ? Math.min(wait_ms, MAX_RETRY_AFTER_MS) : null;
}

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
