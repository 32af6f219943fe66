// One provider as this family asks it: several calls in one request where it takes them, as many as it takes.
import { type Json, ProviderError, type Rpc, type RpcCall } from '../family.ts';
import { badAnswer, type Header, headerOf } from './answers.ts';
import type { EvmNetwork } from './networks.ts';

/** Uses without a refusal after which twice as much is tried again. */
const GROWS_AFTER = 32;
/** Balances of final blocks asked for at once at first. */
const SOLID_BALANCES = 400;
/** Refusals for frequency make batches no smaller than this. */
const CALLS_WHERE_LIMITED = 5;
/** Beyond the calls themselves: names, ids, brackets. */
const CALL_BYTES = 100;

/** A limit of a provider that is learnt from its refusals. */
export interface Limit {
  value: number;
  most: number;
  used: number;
}

/** What one process knows of one provider. */
export interface Host {
  /** Calls in one batch; 1: it takes none. */
  calls: Limit;
  /** Blocks of one log filter. */
  blocks: Limit;
  /** Whole blocks in one request. */
  whole: Limit;
  /** Whether it runs code that is part of a question. */
  runs_code: boolean;
  /** Since when it does not, Unix seconds; null where it does, or that was not noticed yet. */
  runs_none_since: number | null;
  /** Balances that it tells by code that runs on final blocks. */
  balances: Limit;
  /** Values of one topic, and contracts, in one filter. */
  topics: Limit;
  /** Its newest block, and when that was seen first, Unix seconds. */
  tip: { height: number; at: number } | null;
}

export interface Asker {
  rpc: Rpc;
  host: Host;
  batch_bytes: number;
}

const limitOf = (value: number): Limit => ({ value, most: value, used: 0 });

export const newHost = ({ batch, range_blocks, whole_blocks, dialect }: EvmNetwork): Host => ({
  calls: limitOf(batch.calls),
  blocks: limitOf(range_blocks),
  whole: limitOf(whole_blocks),
  topics: limitOf(dialect.topic_values),
  runs_code: true,
  runs_none_since: null,
  balances: limitOf(SOLID_BALANCES),
  tip: null,
});

export function shrink(limit: Limit, tried: number, most?: number): void {
  if (most !== undefined) limit.most = most;
  limit.value = Math.max(1, Math.min(limit.most, most ?? Math.floor(tried / 2)));
  limit.used = 0;
}

export function grow(limit: Limit): void {
  if (limit.value === limit.most || ++limit.used < GROWS_AFTER) return;
  limit.value = Math.min(limit.most, limit.value * 2);
  limit.used = 0;
}

export const hex = (height: number): string => `0x${height.toString(16)}`;
/** Both ends included. */
export const heightsOf = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
export const blockCall = (at: number | string, full = false): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [typeof at === 'number' ? hex(at) : at, full],
});
/** How many transactions a block has. */
export const sizeCall = (height: number): RpcCall => ({
  method: 'eth_getBlockTransactionCountByNumber',
  params: [hex(height)],
});
export const receiptCall = (txid: string): RpcCall => ({
  method: 'eth_getTransactionReceipt',
  params: [txid],
});
export const transactionCall = (txid: string): RpcCall => ({
  method: 'eth_getTransactionByHash',
  params: [txid],
});

/** The answers in their order; what a node refused of single calls is a ProviderError value. */
export async function askEach(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let at = 0; at < calls.length; ) {
    const group = groupAt(asker, calls, at);
    const given = await askGroup(asker, group);
    answers.push(...given);
    at += given.length;
  }
  return answers;
}

/** The answers in their order. Throws ProviderError where one was refused. */
export async function askAll(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[]> {
  return (await askEach(asker, calls)).map(given);
}

/** An answer that is none is thrown. */
export function given(answer: unknown): unknown {
  if (answer instanceof ProviderError) throw answer;
  return answer;
}

/** How many calls from `at` fit into one request. */
function groupAt({ host, batch_bytes }: Asker, calls: readonly RpcCall[], at: number): RpcCall[] {
  const group: RpcCall[] = [];
  let bytes = 0;
  for (const call of calls.slice(at, at + host.calls.value)) {
    bytes += sizeOf(call.params) + CALL_BYTES;
    if (group.length > 0 && bytes > batch_bytes) break;
    group.push(call);
  }
  return group;
}

const sizeOf = (params: Json): number => JSON.stringify(params).length;

/** The answers to a group, or to as many of it as the provider takes at once. */
async function askGroup({ rpc, host }: Asker, group: readonly RpcCall[]): Promise<unknown[]> {
  let tried = group.length;
  for (;;) {
    try {
      const asked = group.slice(0, tried);
      if (tried > 1) {
        const answers = await rpc.batch(asked);
        if (answers.length !== tried) throw badAnswer('a batch was answered in part');
        grow(host.calls);
        return answers.map(asLimit);
      }
      const { method, params } = asked[0] as RpcCall;
      const answer = await rpc.call(method, params);
      grow(host.calls);
      return [answer];
    } catch (error) {
      const failure = asLimit(error);
      // Some refuse what they never allow at once as if it came too often; of others, more requests get more refusals.
      if (tried > CALLS_WHERE_LIMITED && isOften(failure)) shrink(host.calls, tried);
      if (!(failure instanceof ProviderError) || !isOdd(failure)) throw failure;
      if (tried === 1) {
        if (failure.kind === 'rpc') return [failure];
        throw failure;
      }
      shrink(host.calls, tried);
      tried = Math.min(host.calls.value, tried - 1);
    }
  }
}

const isOften = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'rate_limited';
/** Whether it answered, and the answer was of no use. */
export const isOdd = ({ kind }: ProviderError): boolean => kind === 'rpc' || kind === 'bad_answer';

/** Providers word the same refusal differently: with 200, as an error of the call, or as text. */
const TOO_OFTEN =
  /rate.?limit|too many requests|requests? limit|compute units|throughput|quota|lack of computing|over capacity|try again later|(?:requests?|calls?) (?:per|a|each) (?:second|minute|hour|day)/i;
const LIMIT_EXCEEDED = -32_005;

/** A refusal because of frequency is about the provider and not about the question; of its host no more is shown than before. */
function asLimit(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { message, code } = error;
  if (!isOdd(error)) return error;
  const isLimit = TOO_OFTEN.test(message) || (code === LIMIT_EXCEEDED && !isAboutRange(message));
  return isLimit ? new ProviderError('rate_limited', message, code) : error;
}

/** Whether a refusal speaks of how much was asked for at once: by the provider's own words, not by its name. */
const isAboutRange = (message: string): boolean =>
  /block|range|results|logs|response size/i.test(message.replace(/^.*?eth_\w+: /, ''));

/** Blocks by number; null where the node has none. */
export async function readHeaders(asker: Asker, heights: readonly number[]): Promise<(Header | null)[]> {
  const answers = await askAll(
    asker,
    heights.map((height) => blockCall(height)),
  );
  return heights.map((height, at) => headerOf(answers[at], height));
}
