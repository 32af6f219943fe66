// Answers that servers really gave, and how the product's own connection is made to get them.
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createProvider, type Provider } from '../../../daemon/observer/providers/provider.ts';
import type { Transport } from '../../../daemon/process/network.ts';
import { type Runtime, systemRuntime } from '../../../daemon/process/runtime.ts';
import { type Json, ProviderError } from '../../../src/chains/family.ts';

export const kinds = ['toncenter', 'solana', 'esplora', 'core', 'evm', 'tron', 'prices', 'telegram'] as const;
export type RecordedKind = (typeof kinds)[number];

export interface Recorded {
  name: string;
  /** Where it is published. */
  source: string;
  /** When it was given, as far as that is known; `documented`: the documentation or the source of its server shows it. */
  recorded: string;
  /** What the product asks where it gets such an answer: a method of JSON-RPC, or a path. */
  asks: string;
  /** The parameters, as far as the answer depends on them. */
  params?: Json;
  status: number;
  headers?: Record<string, string>;
  /** A text is sent as it is; anything else as JSON, with the id of the question where it has one. */
  body: Json;
}

export const recordedOf = (kind: RecordedKind): readonly Recorded[] =>
  JSON.parse(readFileSync(new URL(`./${kind}.json`, import.meta.url), 'utf8')) as Recorded[];

/** Hands out the records of one kind by their names, and tells which no test has asked for. */
export function openRecords(kind: RecordedKind) {
  const left = new Map(recordedOf(kind).map((each) => [each.name, each]));
  const all = new Map(left);
  return {
    named(name: string): Recorded {
      left.delete(name);
      const record = all.get(name);
      if (!record) throw new Error(`no recorded answer of ${kind} is named ${name}`);
      return record;
    },
    unread: () => [...left.keys()],
  };
}

export interface Asked {
  path: string;
  query: URLSearchParams;
  /** Methods of JSON-RPC. */
  methods: string[];
  body: unknown;
}

/** Answers a call without fault, where a test continues after a refusal. */
export type Honest = (call: unknown) => Json;

const inJson = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/** A text of hexadecimal digits stands for these bytes. */
const RAW = /\/raw$/;

/** The answer, with the ids that were asked. */
function bodyOf(record: Recorded, path: string, sent: unknown): Uint8Array {
  const { body } = record;
  if (typeof body === 'string') return RAW.test(path) ? Buffer.from(body, 'hex') : Buffer.from(body);
  const calls = [sent].flat() as ({ id?: number } | null)[];
  const withId = (reply: Json, at: number): Json => {
    const id = calls[at]?.id;
    const isReply = typeof reply === 'object' && reply !== null && !Array.isArray(reply) && 'id' in reply;
    return isReply && id !== undefined && reply.id !== null ? { ...reply, id } : reply;
  };
  return inJson(Array.isArray(body) ? body.map(withId) : withId(body, 0));
}

const toEach = (sent: unknown, answer: Honest): unknown =>
  Array.isArray(sent) ? sent.map(answer) : answer(sent);

/** What was recorded of one call: where that stands in a batch, all others get an honest answer. */
function bytesOf(record: Recorded, path: string, sent: unknown, honest: Honest | undefined): Uint8Array {
  const { asks, body } = record;
  const isOfBatch = asks === 'batch' || Array.isArray(body);
  if (!honest || isOfBatch || !Array.isArray(sent)) return bodyOf(record, path, sent);
  const one: Honest = (call) => {
    const { id, method } = call as { id: number; method: string };
    return method === asks ? { ...(body as { [member: string]: Json }), id } : honest(call);
  };
  return inJson(toEach(sent, one));
}

/** A thousand times as fast: what is asked again after a refusal comes at once. */
const HASTE = 1_000;
const hastened: Runtime = {
  ...systemRuntime,
  elapsed_ms: () => systemRuntime.elapsed_ms() * HASTE,
  after: (ms, work) => systemRuntime.after(ms / HASTE, work),
};

const refuseReceiver = () => {
  throw new Error('nothing is sent to receivers here');
};

/** What the product runs on, with these answers in place of the network. */
export const runtimeOf = (transport: Transport): Runtime => ({
  ...hastened,
  network: { toProvider: () => transport, toReceiver: refuseReceiver },
});

/** A chain of which nothing is known but its headers: its blocks have no logs. */
export function headersOnly(call: unknown): Json {
  const { id, method, params } = call as { id: number; method: string; params: string[] };
  const height = Number(params[0]);
  const hashAt = (at: number) => `0x${at.toString(16).padStart(64, 'a')}`;
  const header = {
    number: `0x${height.toString(16)}`,
    hash: hashAt(height),
    parentHash: hashAt(height - 1),
    timestamp: '0x65070517',
  };
  return { jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [] : header };
}

/** A provider of the product, which gets these answers in this order; the last one stays. */
export function answering(
  records: readonly (Recorded | Honest)[],
  kind = 'evm',
): { rpc: Provider['rpc']; provider: Provider; transport: Transport; asked: Asked[] } {
  const asked: Asked[] = [];
  const transport: Transport = {
    async request(url, { body }) {
      const record = records[Math.min(asked.length, records.length - 1)] as Recorded | Honest;
      const sent: unknown = body === null ? null : JSON.parse(body);
      const methods = [sent].flat().flatMap((call) => (call as { method?: string } | null)?.method ?? []);
      asked.push({ path: url.pathname, query: url.searchParams, methods, body: sent });
      if (typeof record === 'function')
        return { statusCode: 200, headers: {}, body: { bytes: async () => inJson(toEach(sent, record)) } };
      const { status: statusCode, headers = {} } = record;
      const honest = records.find((each) => typeof each === 'function');
      const bytes = bytesOf(record, url.pathname, sent, honest);
      return { statusCode, headers, body: { bytes: async () => bytes } };
    },
    close: async () => {},
  };
  const provider = createProvider(
    { provider: kind, url: 'https://provider.example/v1' },
    {
      requests_per_second: 1e6,
      limits: { timeout_ms: 5_000, response_bytes: 64 * 1024 * 1024 },
      clock: { ms: Date.now },
      random: () => 0,
      runtime: runtimeOf(transport),
    },
  );
  onTestFinished(() => provider.close(new ProviderError('unreachable', 'the test is over')));
  return { rpc: provider.rpc, provider, transport, asked };
}

/** What a failure is taken for. */
export async function failureOf(answer: Promise<unknown>): Promise<{ kind: string; code: number | null }> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { kind: error.kind, code: error.code };
  }
  throw new Error('it was answered');
}
