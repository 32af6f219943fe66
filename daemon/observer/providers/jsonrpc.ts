// JSON-RPC 2.0 over one provider's HTTP: what is sent, and what an answer to it means.
import { type Json, ProviderError, type Rpc } from '../../../src/chains/family.ts';
import { readJsonBytes, TooMuchJson } from '../../../src/chains/json.ts';
import { isAboutBatch, isTooOften } from '../../../src/chains/refusals.ts';
import { type Answer, type HttpProvider, RateLimited, textOf, waitIn } from './http.ts';

interface Sent {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params: Json;
}

interface Reply {
  id?: unknown;
  result?: unknown;
  error?: unknown;
}

export interface JsonRpc {
  envelope(method: string, params: Json): Sent & { [key: string]: Json };
  /** The result that an answer holds; throws ProviderError. */
  result(answer: Answer, sent: Sent): Promise<unknown>;
  /**
   * The results of a batch in the order asked; an entry that failed alone is a ProviderError value. Throws where none was
   * answered and the refusal is of the batch.
   */
  results(answer: Answer, sent: readonly Sent[]): Promise<(unknown | ProviderError)[]>;
}

/** What some nodes write outside JSON-RPC, with HTTP 200, where they have no time for a question. */
const OVERLOADED = /^\s*\{\s*"Error"\s*:.*(lack of computing|frequency limit|rate.?limit|too many)/is;
const OVERLOAD_CHARS = 1024;
const TOO_MANY_REQUESTS = 429;
/** A contract refused what it was asked, in words of its own. */
const REVERTED = 3;

export function createJsonRpc(
  { label, excerpt }: Pick<HttpProvider, 'label' | 'excerpt'>,
  inTurns: NonNullable<Rpc['inTurns']>,
): JsonRpc {
  let next_id = 1;

  /** Nodes send their errors with any HTTP status (Core: 500), batches too; only an answer without one is judged by it. */
  async function parse({ status, bytes }: Answer, method: string): Promise<unknown> {
    const value = await valueIn(bytes, inTurns);
    if (isReply(value) || (Array.isArray(value) && (status < 400 || value.some(isReply)))) return value;
    const text = textOf(bytes);
    if (OVERLOADED.test(text.slice(0, OVERLOAD_CHARS)))
      throw new RateLimited(`${label}: ${method}: ${excerpt(text)}`, status, waitIn(text));
    const kind = status >= 500 ? 'unreachable' : 'bad_answer';
    throw new ProviderError(
      kind,
      `${label}: ${method} did not answer with JSON-RPC (HTTP ${status}): ${excerpt(text)}`,
      status,
    );
  }

  function resultOf(reply: Reply | undefined, { id, method }: Sent): unknown {
    if (!reply) throw new ProviderError('bad_answer', `${label}: ${method} was left out of the answer`);
    if (reply.error) {
      const { code: given, message: sent = reply.error } = reply.error as {
        code?: unknown;
        message?: unknown;
      };
      const code = typeof given === 'number' ? given : null;
      const text = excerpt(typeof sent === 'string' ? sent : JSON.stringify(reply.error));
      const message = `${label}: ${method}: ${text}`;
      const isLimit = code === TOO_MANY_REQUESTS || (code !== REVERTED && isTooOften(text));
      throw isLimit ? new RateLimited(message, code, waitIn(text)) : new ProviderError('rpc', message, code);
    }
    if (reply.id !== id)
      throw new ProviderError('bad_answer', `${label}: ${method} answered another request`);
    return reply.result;
  }

  return {
    envelope: (method, params) => ({ jsonrpc: '2.0', id: next_id++, method, params }),
    async result(answer, sent) {
      const value = await parse(answer, sent.method);
      if (isReply(value)) return resultOf(value, sent);
      throw new ProviderError('bad_answer', `${label}: ${sent.method} has neither result nor error`);
    },
    async results(answer, sent) {
      const [first] = sent;
      if (!first) return [];
      const value = await parse(answer, first.method);
      if (!Array.isArray(value)) {
        resultOf(value as Reply, first); // A node that refuses the whole batch says why.
        throw new ProviderError('bad_answer', `${label}: ${first.method} did not answer the batch`);
      }
      const by_id = new Map(value.filter(isReply).map((reply) => [reply.id, reply]));
      // One that refuses the batch may say so once for each call, or once for all of them.
      const refused = value.filter(isReply).find(({ id }) => id === null);
      const results = sent.map((each) => {
        try {
          return resultOf(by_id.get(each.id) ?? refused, each);
        } catch (error) {
          if (error instanceof ProviderError && error.kind !== 'bad_answer') return error;
          throw error;
        }
      });
      const [failure] = results;
      if (!(failure instanceof ProviderError) || !results.every((each) => each instanceof ProviderError))
        return results;
      const isWhole =
        answer.status >= 400 || failure.kind === 'rate_limited' || isAboutBatch(failure.message);
      if (isWhole) throw failure;
      return results;
    },
  };
}

const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  ('result' in value || 'error' in value);

async function valueIn(bytes: Uint8Array, inTurns: NonNullable<Rpc['inTurns']>): Promise<unknown> {
  try {
    return await inTurns(readJsonBytes(bytes));
  } catch (error) {
    if (error instanceof TooMuchJson) throw error;
    return undefined;
  }
}
