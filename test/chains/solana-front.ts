// HTTP in front of surfpool: corrects what it answers differently from a real node, and fails on request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request as undici } from 'undici';
import { CLOCK_SYSVAR } from '../../src/chains/solana/address.ts';

export interface RpcAsk {
  method: string;
  params: unknown[];
}
export type RpcReply = { result: unknown } | { error: { code: number; message: string } };
type Forward = (ask: RpcAsk) => Promise<RpcReply>;

/** What a front answers instead; `cut` sends only the first half of the body. */
export interface Raw {
  status: number;
  type: string;
  body: string;
  cut?: boolean;
}

/** Takes the place of the next answers to `method`. */
interface Intercept {
  method: string;
  /** How many answers; all until removed where absent. */
  times?: number;
  answer(ask: RpcAsk, forward: Forward): Promise<RpcReply | Raw> | RpcReply | Raw;
}

export const failures = {
  rate_limited: (): Raw => ({ status: 429, type: 'application/json', body: '{"error":"Too many requests"}' }),
  html: (): Raw => ({ status: 200, type: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' }),
  truncated: async (ask: RpcAsk, forward: Forward): Promise<Raw> => ({
    status: 200,
    type: 'application/json',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...(await forward(ask)) }),
    cut: true,
  }),
  /** A node that is behind: it lists what it cannot give yet. */
  lagging: (): RpcReply => ({ result: null }),
  /** A node that has never heard of the signature asked to stop at. */
  forgetful: ({ method, params: [key, options] }: RpcAsk, forward: Forward) =>
    forward({ method, params: [key, { ...(options as object), until: undefined }] }),
};

export interface Front {
  url: string;
  /** Methods asked, in order. */
  requests: string[];
  /** Returns a function that removes it. */
  intercept(rule: Intercept): () => void;
  stop(): Promise<void>;
}

/** At the start the finalized slot is of before the node's: older than any block that follows. */
const UNKNOWN_TIME_SECONDS = 5;
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
const INVALID_PARAMS = -32602;

export async function startFront(nodeUrl: string): Promise<Front> {
  const requests: string[] = [];
  const rules: (Intercept & { left: number })[] = [];
  const remove = (rule: Intercept & { left: number }) => {
    const at = rules.indexOf(rule);
    if (at >= 0) rules.splice(at, 1);
  };

  const forward: Forward = async ({ method, params }) => {
    const { body } = await undici(nodeUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await body.json()) as RpcReply;
  };

  const answer = async (ask: RpcAsk): Promise<RpcReply | Raw> => {
    requests.push(ask.method);
    const corrected: Forward = (each) => correct(each, forward);
    const rule = rules.find((each) => each.method === ask.method);
    if (!rule) return corrected(ask);
    rule.left--;
    if (rule.left <= 0) remove(rule);
    return rule.answer(ask, corrected);
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as
      | (RpcAsk & { id: unknown })
      | (RpcAsk & { id: unknown })[];
    const replies = await Promise.all([body].flat().map(answer));
    const raw = replies.find((reply): reply is Raw => 'status' in reply);
    const objects = replies.map((reply, index) => ({
      ...reply,
      jsonrpc: '2.0',
      id: [body].flat()[index]?.id,
    }));
    const text = raw?.body ?? JSON.stringify(Array.isArray(body) ? objects : objects[0]);
    response.writeHead(raw?.status ?? 200, { 'content-type': raw?.type ?? 'application/json' });
    response.end(raw?.cut ? text.slice(0, text.length / 2) : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    intercept(rule) {
      const entry = { ...rule, left: rule.times ?? Number.POSITIVE_INFINITY };
      rules.push(entry);
      return () => remove(entry);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Options {
  commitment?: string;
  minContextSlot?: number;
}

/**
 * surfpool ignores commitments, is final by votes as before Alpenglow, misreads minContextSlot, and its transactions' block
 * time is a thousandth. Here what it calls confirmed is final, and nothing else can be asked for.
 */
async function correct(ask: RpcAsk, forward: Forward): Promise<RpcReply> {
  const options: Options = isObject(ask.params[1]) ? ask.params[1] : {};
  if ((options.commitment ?? 'finalized') !== 'finalized')
    return { error: { code: INVALID_PARAMS, message: `unknown commitment ${options.commitment}` } };
  const commitment = 'confirmed';
  const slotOf = async () => resultOf<number>(await forward({ method: 'getSlot', params: [{ commitment }] }));
  const timeOf = async (slot: number) =>
    resultOf<number | null>(await forward({ method: 'getBlockTime', params: [slot] }));
  if (options.minContextSlot !== undefined && (await slotOf()) < options.minContextSlot) {
    return {
      error: { code: MIN_CONTEXT_SLOT_NOT_REACHED, message: 'Minimum context slot has not been reached' },
    };
  }
  const slot = ask.method === 'getMultipleAccounts' ? await slotOf() : 0;
  // surfpool takes minContextSlot for the first slot that it may list.
  const [first, , ...rest] = ask.params;
  const params = isObject(ask.params[1])
    ? [first, { ...options, commitment, minContextSlot: undefined }, ...rest]
    : ask.params;
  const reply = await forward({ method: ask.method, params });
  if ('error' in reply || reply.result === null) return reply;
  if (ask.method === 'getSignaturesForAddress') {
    const listed = reply.result as Reached[];
    return { result: listed.filter(reaches).map(asFinal) };
  }
  if (ask.method === 'getSignatureStatuses') {
    const found = reply.result as { value: (Reached | null)[] };
    return { result: { ...found, value: found.value.map((each) => each && asFinal(each)) } };
  }
  if (ask.method === 'getTransaction') {
    const statuses = await forward({ method: 'getSignatureStatuses', params: [[ask.params[0]]] });
    const [status] = resultOf<{ value: (Reached | null)[] }>(statuses).value;
    if (!status || !reaches(status)) return { result: null };
    const found = reply.result as { slot: number };
    return { result: { ...found, blockTime: await timeOf(found.slot) } };
  }
  if (ask.method === 'getMultipleAccounts') {
    const found = reply.result as { context: object; value: unknown[] };
    const clock = (ask.params[0] as string[]).indexOf(CLOCK_SYSVAR);
    const value = clock < 0 ? found.value : found.value.with(clock, clockAccount(slot, await timeOf(slot)));
    return { result: { context: { ...found.context, slot }, value } };
  }
  return reply;
}

const isObject = (value: unknown): value is Options => typeof value === 'object' && value !== null;

interface Reached {
  confirmationStatus: string;
  confirmations?: number | null;
}

const reaches = ({ confirmationStatus }: Reached) => confirmationStatus !== 'processed';
const asFinal = (each: Reached): Reached =>
  reaches(each)
    ? {
        ...each,
        confirmationStatus: 'finalized',
        ...('confirmations' in each ? { confirmations: null } : {}),
      }
    : each;

function resultOf<T>(reply: RpcReply): T {
  if ('error' in reply) throw new Error(reply.error.message);
  return reply.result as T;
}

/** The clock as it stood at a slot; surfpool knows no time of the slots before its start. */
const clockAccount = (slot: number, time: number | null) => ({
  data: {
    program: 'sysvar',
    parsed: {
      type: 'clock',
      info: { slot, unixTimestamp: time ?? Math.floor(Date.now() / 1000) - UNKNOWN_TIME_SECONDS },
    },
    space: 40,
  },
  executable: false,
  lamports: 1_169_280,
  owner: 'Sysvar1111111111111111111111111111111111111',
  rentEpoch: 0,
  space: 40,
});
