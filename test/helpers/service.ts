// How tests speak HTTP to a daemon: what they send and what they get back.
import { assertContract } from './contract.ts';

export interface ServiceCall {
  token?: string;
  key?: string;
  /** Texts and bytes go as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  json: any;
}

export interface Service {
  /** Throws where the answer is not what its endpoint describes. Of a stream, the first piece is the text. */
  fetch(method: string, path: string, call?: ServiceCall): Promise<Reply>;
}

export interface ServiceOptions {
  base_url: string;
  /** How a request reaches the daemon: over a socket by default. */
  send?: (request: Request) => Response | Promise<Response>;
  /** Its latest log lines, reported with a failure of the daemon's own. */
  lines?: () => readonly string[];
}

/** A daemon that listens at `base_url`, or answers in this process. `fetch` rejects where the daemon is gone. */
export const serviceAt = ({ base_url, send = fetch, lines }: ServiceOptions): Service => ({
  async fetch(method, path, call = {}) {
    const response = await send(requestOf(`${base_url}${path}`, method, call));
    const { status, headers } = response;
    const text = await textOf(response);
    assertContract({ method, path, status, headers, text, log: lines?.() });
    let json: { value: unknown } | undefined;
    return {
      status,
      headers,
      text,
      get json() {
        json ??= { value: parse(text) };
        return json.value;
      },
    };
  },
});

function requestOf(url: string, method: string, { token, key, body, headers = {} }: ServiceCall): Request {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return new Request(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(key ? { 'x-api-key': key } : {}),
      ...(body === undefined || raw ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
  });
}

/** The whole text; of a stream without an end, what comes first. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A call that was to succeed was refused. */
export class Refused extends Error {
  readonly status: number;
  constructor(call: string, { status, text }: Reply) {
    super(`${call}: ${status} ${text}`);
    this.status = status;
  }
}

/** The body of an answer; throws `Refused`, with the name of the call, where it was not done. */
export function accepted(call: string, reply: Reply): Reply['json'] {
  if (reply.status >= 400) throw new Refused(call, reply);
  return reply.json;
}

/** What a call answers that must succeed; throws `Refused`. */
export const ask = async (
  service: Service,
  method: string,
  path: string,
  call?: ServiceCall,
): Promise<Reply['json']> => accepted(`${method} ${path}`, await service.fetch(method, path, call));
