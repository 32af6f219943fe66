// A plain HTTP Rpc for the chain tests: no rate, no retry, every failure is a ProviderError.
import { request as undici } from 'undici';
import { type Json, ProviderError, type RequestOptions, type Rpc } from '../../src/chains/family.ts';

const TIMEOUT_MS = 10_000;
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Of a server that could not answer this one question. */
const QUESTION_STATUSES: ReadonlySet<number> = new Set([500, 501, 533]);

export interface TestRpcOptions {
  provider: string;
  /** May carry `user:password@`, sent as basic authorization. */
  url: string;
  /** Sent as `X-API-Key`. */
  api_key?: string;
  timeout_ms?: number;
}

export interface TestRpc extends Rpc {
  /** Every request made so far, in order: the path and query, or the JSON-RPC method. */
  requests: string[];
}

interface RpcReply {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string } | null;
}

/** A provider over real HTTP. JSON-RPC errors are read whatever the HTTP status (Core answers them with 500). */
export function createTestRpc({ provider, url, api_key, timeout_ms = TIMEOUT_MS }: TestRpcOptions): TestRpc {
  const target = new URL(url);
  const headers: Record<string, string> = {};
  if (api_key) headers['x-api-key'] = api_key;
  if (target.username) headers.authorization = `Basic ${btoa(credentials(target))}`;
  target.username = '';
  target.password = '';
  const base = target.href.replace(/\/$/, '');
  const requests: string[] = [];
  let nextId = 1;

  async function send(
    address: string,
    body: Json | undefined,
  ): Promise<{ status: number; bytes: Uint8Array }> {
    try {
      const { statusCode, body: answer } = await undici(address, {
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeout_ms),
      });
      const bytes = await answer.bytes();
      if (bytes.length > BODY_LIMIT_BYTES)
        throw new ProviderError('bad_answer', `${provider}: body too large`);
      return { status: statusCode, bytes };
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw new ProviderError(
        'unreachable',
        `${provider}: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  async function request(path: string, { query, body }: RequestOptions = {}): Promise<Uint8Array> {
    const pathAndQuery = path + queryText(query);
    requests.push(pathAndQuery);
    const { status, bytes } = await send(
      base + (path.startsWith('/') || path === '' ? '' : '/') + pathAndQuery,
      body,
    );
    if (status === 429) throw new ProviderError('rate_limited', `${provider}: rate limited`, status);
    if (status >= 500 && !QUESTION_STATUSES.has(status))
      throw new ProviderError('unreachable', `${provider}: HTTP ${status}`, status);
    if (status >= 400) {
      throw new ProviderError('rpc', `${provider}: HTTP ${status} ${textOf(bytes).slice(0, 200)}`, status);
    }
    return bytes;
  }

  async function post(body: Json): Promise<unknown> {
    const { status, bytes } = await send(base, body);
    if (status === 429) throw new ProviderError('rate_limited', `${provider}: rate limited`, status);
    try {
      return JSON.parse(textOf(bytes));
    } catch {
      const kind = status >= 500 ? 'unreachable' : status >= 400 ? 'rpc' : 'bad_answer';
      throw new ProviderError(kind, `${provider}: HTTP ${status}, not JSON`, status);
    }
  }

  const ask = (method: string, params: Json) => ({ jsonrpc: '2.0', id: nextId++, method, params });

  return {
    provider,
    requests,
    async json(path, options) {
      const bytes = await request(path, options);
      try {
        return JSON.parse(textOf(bytes));
      } catch {
        throw new ProviderError('bad_answer', `${provider}: ${path} did not answer JSON`);
      }
    },
    async text(path, options) {
      return textOf(await request(path, options));
    },
    bytes: request,
    async call(method, params) {
      requests.push(method);
      return resultOf((await post(ask(method, params))) as RpcReply, method);
    },
    async batch(calls) {
      requests.push(`${calls[0]?.method}[${calls.length}]`);
      const asked = calls.map(({ method, params }) => ask(method, params));
      const replies = await post(asked);
      if (!Array.isArray(replies))
        throw new ProviderError('bad_answer', `${provider}: no JSON-RPC batch answer`);
      const byId = new Map((replies as RpcReply[]).map((reply) => [reply.id, reply]));
      return asked.map(({ id, method }) => {
        try {
          return resultOf(byId.get(id), method);
        } catch (error) {
          return error;
        }
      });
    },
  };
}

const credentials = ({ username, password }: URL) =>
  `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function resultOf(reply: RpcReply | undefined, method: string): unknown {
  if (reply?.error) throw new ProviderError('rpc', `${method}: ${reply.error.message}`, reply.error.code);
  if (!reply || !('result' in reply))
    throw new ProviderError('bad_answer', `${method}: neither result nor error`);
  return reply.result;
}

function queryText(query: RequestOptions['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  const text = search.toString();
  return text && `?${text}`;
}
