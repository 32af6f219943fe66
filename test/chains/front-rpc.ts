// A provider's model as an Rpc, without a socket: its own wire format, and failures as the test says.
import { ProviderError, type RequestOptions, type Rpc } from '../../src/chains/family.ts';
import type { LimitName } from '../../src/chains/known-hosts.ts';
import type { Front } from '../simulator/chains/front.ts';

export interface FrontRpc extends Rpc {
  /** Requests so far. */
  asked: number;
  /** Fails so many requests from now: 1 is the next one. */
  failAt(request: number | null): void;
}

interface Reply {
  result?: unknown;
  error?: { code: number; message: string };
}

/**
 * Answers as the front does at this moment; what has an HTTP error or an RPC error is a ProviderError. `most_calls`: in one
 * request; 0 where it takes no batches.
 */
export function frontRpc(
  provider: string,
  front: () => Front,
  most_calls = Number.POSITIVE_INFINITY,
): FrontRpc {
  let fails_at: number | null = null;
  const send = async (path: string, { query = {}, body }: RequestOptions = {}) => {
    rpc.asked++;
    if (fails_at !== null && --fails_at === 0) throw new ProviderError('unreachable', `${provider} is away`);
    const [pathname = '', search] = path.split('?', 2);
    const params = new URLSearchParams(search);
    for (const [name, value] of Object.entries(query))
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== undefined) params.append(name, String(each));
    const method = body === undefined ? 'GET' : 'POST';
    const sent = body === undefined ? null : JSON.stringify(body);
    const answer = front()({ method, path: pathname, query: params, body: sent });
    if (answer.status < 400) return Buffer.from(answer.body);
    const kind = answer.status < 500 ? 'rpc' : 'unreachable';
    throw new ProviderError(kind, `${provider}: ${path}: HTTP ${answer.status}`, answer.status);
  };
  const resultOf = ({ result, error }: Reply): unknown => {
    if (error) throw new ProviderError('rpc', error.message, error.code);
    return result;
  };
  const envelope = (method: string, params: RequestOptions['body']) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: params ?? [],
  });
  const learnt = new Map<LimitName, number>();
  const rpc: FrontRpc = {
    provider,
    limits: { get: (name) => learnt.get(name), learn: (name, value) => void learnt.set(name, value) },
    asked: 0,
    failAt: (request) => {
      fails_at = request;
    },
    json: async (path, options) => JSON.parse((await send(path, options)).toString()) as unknown,
    text: async (path, options) => (await send(path, options)).toString(),
    bytes: send,
    call: async (method, params) => {
      const answer = await send('', { body: envelope(method, params) });
      return resultOf(JSON.parse(answer.toString()) as Reply);
    },
    batch: async (calls) => {
      if (calls.length === 0) return [];
      if (calls.length > most_calls) {
        rpc.asked++;
        throw new ProviderError('rpc', `${provider}: a batch of ${calls.length} calls is too large`, -32_600);
      }
      const answer = await send('', { body: calls.map(({ method, params }) => envelope(method, params)) });
      return (JSON.parse(answer.toString()) as Reply[]).map((reply) => {
        try {
          return resultOf(reply);
        } catch (error) {
          return error;
        }
      });
    },
  };
  return rpc;
}
