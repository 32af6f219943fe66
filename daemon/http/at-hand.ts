// Answers that may be given again: what thousands ask for again and again is sent without being routed, read and made again.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { App } from '../context.ts';
import { callerAddress, type Trust } from './proxies.ts';
import { recordAnswer } from './record.ts';
import { type Answer, NO_PHRASE } from './reply.ts';
import { namesTwoHosts, requestId } from './request.ts';

/** Of all bodies together. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What an entry takes besides its body. */
const ENTRY_BYTES = 1_000;
/** What a caller sends is part of the key. */
const MAX_KEY = 1_000;
/** All that an answer which may be given again can depend on, besides its path. */
const VARIES = ['accept', 'accept-encoding', 'accept-language', 'user-agent', 'sec-ch-ua-mobile'] as const;

interface Known {
  endpoint_id: string;
  answer: Answer;
  /** Whether it may be given once more; asks without waiting. */
  again(): boolean;
}

/** As it is sent: only the value of its first header is new each time. */
interface Ready extends Omit<Known, 'answer'> {
  status: number;
  /** Names and values in turn, as Node takes them without looking each up. */
  head: readonly string[];
  body: Uint8Array | null;
}

export interface AtHand {
  /** Answers at once where it can; false where the routes have to. */
  give(req: IncomingMessage, res: ServerResponse): boolean;
  keep(req: IncomingMessage, known: Known): void;
}

export function openAtHand(app: App, trust: Trust | null, closing: AbortSignal): AtHand {
  const answers = new LRUCache<string, Ready>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => ENTRY_BYTES + (body?.byteLength ?? 0),
  });
  return {
    give(req, res) {
      if (req.method !== 'GET' || closing.aborted || hasBody(req) || namesTwoHosts(req)) return false;
      const known = answers.get(keyOf(req));
      if (!known) return false;
      const started = performance.now();
      try {
        if (!known.again()) return false;
      } catch {
        // How it fails is for the route to say.
        return false;
      }
      const { endpoint_id, status, body } = known;
      const headers = { get: (name: string) => (req.headers[name] as string | undefined) ?? null };
      const request_id = requestId(headers, app.runtime);
      const head = known.head.slice();
      head[1] = request_id;
      res.writeHead(status, NO_PHRASE, head).end(body);
      recordAnswer(app, {
        request_id,
        endpoint_id,
        method: 'GET',
        status,
        took_ms: performance.now() - started,
        ip: () => callerAddress(req.socket.remoteAddress, headers, trust),
      });
      return true;
    },
    keep(req, known) {
      const key = keyOf(req);
      if (key.length > MAX_KEY) return;
      const { endpoint_id, again, answer } = known;
      const { 'x-request-id': _, ...headers } = answer.headers;
      const body =
        typeof answer.body === 'string' ? Buffer.from(answer.body) : (answer.body as Ready['body']);
      const length = body === null ? {} : { 'content-length': String(body.byteLength) };
      const head = Object.entries({ 'x-request-id': '', ...headers, ...length }).flat();
      answers.set(key, { endpoint_id, again, status: answer.status, head, body });
    },
  };
}

/** Its length has a limit that the route knows. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function keyOf({ url, headers }: IncomingMessage): string {
  let key = url ?? '';
  for (const name of VARIES) key += `\n${headers[name] ?? ''}`;
  return key;
}
