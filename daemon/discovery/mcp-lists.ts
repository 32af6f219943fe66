// Answers to `tools/list`, made once for each kind of question: the library checks and prints the whole list each time.
import { LRUCache } from 'lru-cache';
import { Prepared } from '../http/exchange.ts';

/** Kinds of questions whose answers are stored: clients differ in their headers and in what they say of themselves. */
const KINDS = 16;
/** A longer question is left to the library. */
const MAX_QUESTION_BYTES = 4 * 1024;
/** What an answer depends on, besides the question. */
const HEADERS = /^(accept|content-type|mcp-.*)$/;
/** Stands for the id of a question in an answer that is stored. */
const ID = '"the id of the question"';

interface Stored {
  headers: Record<string, string>;
  /** What comes before, between and after the places of the id. */
  parts: Buffer[];
}

export interface ListCall {
  web: Request;
  include_hidden: boolean;
  /** Asks the library. */
  ask(web: Request): Promise<Response>;
}

/** Answers a call of MCP, from memory where it is a question for the list of tools that was answered before. */
export function cacheLists(): (call: ListCall) => Promise<Prepared> {
  const lists = new LRUCache<string, Stored>({ max: KINDS });
  return async ({ web, include_hidden, ask }) => {
    if (!isShort(web)) return passed(await ask(web));
    const text = await web.text();
    const question = questionOf(text);
    const { url, method, signal } = web;
    const again = (body: string) => ask(new Request(url, { method, headers: web.headers, body, signal }));
    if (!question) return passed(await again(text));
    const { id, ...rest } = question;
    const headers = [...web.headers].filter(([name]) => HEADERS.test(name));
    const key = JSON.stringify([include_hidden, headers, rest]);
    const known = lists.get(key) ?? (await made(again, rest));
    if (known instanceof Response) return passed(await again(text));
    lists.set(key, known);
    return new Prepared({ status: 200, headers: known.headers, body: withId(known, id) });
  };
}

/** The library's own answer. */
export const passed = ({ status, headers, body }: Response): Prepared =>
  new Prepared({ status, headers: Object.fromEntries(headers), body });

function withId({ parts }: Stored, id: string | number): Uint8Array {
  const text = Buffer.from(JSON.stringify(id));
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [text, part])));
}

/** Asks under an id that is found again in the answer; a refusal is not stored. */
async function made(ask: (body: string) => Promise<Response>, rest: object): Promise<Stored | Response> {
  const response = await ask(JSON.stringify({ ...rest, id: JSON.parse(ID) }));
  if (response.status !== 200) return response;
  const parts = (await response.text()).split(ID).map((part) => Buffer.from(part));
  return { headers: Object.fromEntries(response.headers), parts };
}

const isShort = ({ method, headers }: Request): boolean =>
  method === 'POST' && Number(headers.get('content-length') ?? Number.NaN) <= MAX_QUESTION_BYTES;

/** The question of a single call for the list of tools; undefined for any other body. */
function questionOf(text: string): { id: string | number } | undefined {
  try {
    const { method, id, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const isQuestion = method === 'tools/list' && (typeof id === 'string' || typeof id === 'number');
    return isQuestion ? ({ ...rest, method, id } as { id: string | number }) : undefined;
  } catch {
    return undefined;
  }
}
