// A provider in front of an EVM node, without a socket: adds what public providers limit, delay, leave out and garble.
import { type Json, ProviderError, type Rpc, type RpcCall } from '../../src/chains/family.ts';

type Answer = (call: RpcCall) => Promise<unknown>;
/** Sees each call before the node does; answers in its place, or changes what it answers. */
export type Fault = (call: RpcCall, next: Answer) => Promise<unknown>;

export interface EvmFront {
  rpc: Rpc;
  /** The calls of each request. */
  requests: RpcCall[][];
  /** Adds a fault, before those that are there; returns what removes it. */
  add(fault: Fault): () => void;
  /** Calls in one batch at most; 0: batches are refused. */
  batch_calls: number;
  /** Sees each batch before it is answered. */
  onBatch: (calls: readonly RpcCall[]) => void;
}

type Upstream = (method: string, ...params: unknown[]) => Promise<unknown>;

/** An error as a node sends it, the way the daemon hands it to a family. */
export const refused = (message: string, code = -32_000): ProviderError =>
  new ProviderError('rpc', `evm at a.test: eth_call: ${message}`, code);

const noApi: Rpc['text'] = async () => Promise.reject(new Error('this family asks over JSON-RPC'));

/** `api`: what the node answers next to JSON-RPC, by path. */
export function createFront(upstream: Upstream, api: Rpc['text'] = noApi): EvmFront {
  const faults: Fault[] = [];
  const node: Answer = async ({ method, params }) => {
    try {
      return await upstream(method, ...(params as unknown[]));
    } catch (error) {
      const { message, code } = error as Error & { code?: number };
      throw code === undefined ? error : new ProviderError('rpc', `evm at a.test: ${message}`, code);
    }
  };
  const answer: Answer = (call) =>
    faults.reduceRight<Answer>((next, fault) => (each) => fault(each, next), node)(call);
  const front: EvmFront = {
    requests: [],
    batch_calls: 100,
    onBatch: () => {},
    add(fault) {
      faults.unshift(fault);
      return () => void faults.splice(faults.indexOf(fault), 1);
    },
    rpc: {
      provider: 'evm',
      json: async () => Promise.reject(new Error('this family asks over JSON-RPC')),
      text: async (path, options) => {
        front.requests.push([{ method: path, params: options?.body ?? null }]);
        return api(path, options);
      },
      bytes: async () => Promise.reject(new Error('this family asks over JSON-RPC')),
      async call(method, params) {
        front.requests.push([{ method, params }]);
        return structuredClone(await answer({ method, params }));
      },
      async batch(calls) {
        front.requests.push([...calls]);
        if (calls.length > front.batch_calls) throw refused('batch too large', -32_600);
        front.onBatch(calls);
        const answers: unknown[] = [];
        for (const call of calls)
          answers.push(
            await answer(call).catch((error: unknown) => {
              if (error instanceof ProviderError && error.kind === 'rpc') return error;
              throw error;
            }),
          );
        return structuredClone(answers.map((each) => (each instanceof ProviderError ? null : each))).map(
          (each, at) => (answers[at] instanceof ProviderError ? answers[at] : each),
        );
      },
    },
  };
  return front;
}

export interface LogFilter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address: string[];
  topics: (string | null | string[])[];
}

export const filterOf = ({ params }: RpcCall): LogFilter => (params as Json[])[0] as never;

/** Every node: so many values in one topic. */
export const topicCap =
  (values = 1000): Fault =>
  async (call, next) => {
    const isOver =
      call.method === 'eth_getLogs' &&
      filterOf(call).topics.some((topic) => Array.isArray(topic) && topic.length > values);
    if (isOver) throw refused('exceed max topics', -32_602);
    return next(call);
  };

/** A provider that allows so many blocks in one filter, and writes so. */
export const rangeCap =
  (blocks: number, text: string, code?: number): Fault =>
  async (call, next) => {
    if (call.method !== 'eth_getLogs') return next(call);
    const { fromBlock, toBlock } = filterOf(call);
    if (Number(toBlock) - Number(fromBlock) + 1 > blocks) throw refused(text, code);
    return next(call);
  };

/** Answers as a node that has no block above this height: ranges beyond it are empty, not refused. */
export const lagging =
  (height: () => number): Fault =>
  async (call, next) => {
    const most = height();
    const isAbove = (block: unknown) =>
      Number((block as { number?: string; blockNumber?: string })?.number ?? NaN) > most ||
      Number((block as { blockNumber?: string })?.blockNumber ?? NaN) > most;
    const [first, ...others] = call.params as Json[];
    if (call.method === 'eth_getBlockByNumber' && (first === 'latest' || first === 'finalized'))
      return next({ ...call, params: [`0x${most.toString(16)}`, ...others] });
    const answer = await next(call);
    if (call.method === 'eth_getLogs') {
      const logs = answer as { blockNumber: string }[];
      const isUnknown = filterOf(call).blockHash !== undefined && logs.some(isAbove);
      if (isUnknown) throw refused('unknown block');
      return logs.filter((log) => !isAbove(log));
    }
    return isAbove(answer) ? null : answer;
  };

/** Leaves logs out. */
export const omitting =
  (isOmitted: (log: { transactionHash: string; logIndex: string }) => boolean): Fault =>
  async (call, next) => {
    const answer = await next(call);
    if (call.method !== 'eth_getLogs') return answer;
    return (answer as { transactionHash: string; logIndex: string }[]).filter((log) => !isOmitted(log));
  };

/** Changes the answers to one method. */
export const changing =
  (method: string, change: (answer: never, call: RpcCall) => unknown): Fault =>
  async (call, next) =>
    call.method === method ? change((await next(call)) as never, call) : next(call);

/** Has every block that it has shown, and the logs of it, also after it left the chain: as most nodes do for a while. */
export function withOrphans(upstream: Upstream): Upstream {
  const blocks = new Map<string, unknown>();
  const logs = new Map<string, { address: string; topics: string[] }[]>();
  return async (method, ...params) => {
    const [first] = params as [LogFilter & string];
    const known = method === 'eth_getBlockByHash' ? blocks.get(first) : undefined;
    if (known) return known;
    const hash = method === 'eth_getLogs' ? (first.blockHash ?? '') : '';
    const listed = logs.get(hash);
    if (listed)
      return listed.filter(
        ({ address, topics }) =>
          first.address.includes(address) &&
          first.topics.every((topic, at) => topic === null || topic.includes(topics[at] ?? 'none')),
      );
    const answer = await upstream(method, ...params);
    const shown = answer as { hash?: string } | null;
    for (
      let hash = method === 'eth_getBlockByNumber' ? shown?.hash : undefined;
      hash && !blocks.has(hash);
    ) {
      const block = (await upstream('eth_getBlockByHash', hash, true)) as { parentHash?: string } | null;
      blocks.set(hash, block);
      // Anvil does not know its first block by hash.
      logs.set(hash, (await upstream('eth_getLogs', { blockHash: hash }).catch(() => [])) as never);
      hash = block?.parentHash;
    }
    return answer;
  };
}
