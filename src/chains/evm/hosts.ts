// One provider as this family asks it: several calls in one request where it takes them, as many as it takes.
import { type Json, ProviderError, type Rpc, type RpcCall } from '../family.ts';
import type { HostLimits, LimitName } from '../known-hosts.ts';
import { TOO_LARGE } from '../or-failed.ts';
import { allowedCalls, isAboutBatch, isAboutWhat, isTooOften, ownWords } from '../refusals.ts';
import { badAnswer, type Header, headerOf } from './answers.ts';
import type { EvmNetwork } from './networks.ts';

/** Uses without a refusal after which twice as much is tried again. */
const GROWS_AFTER = 32;
/** Balances of final blocks asked for at once at first. */
const SOLID_BALANCES = 400;
/** Refusals for frequency make batches no smaller than this. */
const CALLS_WHERE_LIMITED = 5;
/** A question, and a header that shows whether the host which answers has the block. */
const PAIR = 2;
/** One that took a pair is asked single questions once it has refused pairs so often in a row: one answer may be garbled. */
const PAIRS_REFUSED = 3;
/** Beyond the calls themselves: names, ids, brackets. */
const CALL_BYTES = 100;

/** A limit of a provider that is learnt from its refusals. */
export interface Limit {
  value: number;
  most: number;
  used: number;
  /** Takes each new value. */
  keep(value: number): void;
}

/** What one process knows of one provider. */
export interface Host {
  /** Calls in one batch; 1: it takes none. */
  calls: Limit;
  /** How often in a row two calls were refused for no reason that it names; null before it took any. */
  pairs_refused: number | null;
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
  /** What a block took when the numbers of blocks were chosen. */
  block_seconds: number;
}

export interface Asker {
  rpc: Rpc;
  host: Host;
  batch_bytes: number;
}

const limitOf = (most: number, known = most, keep: Limit['keep'] = () => {}): Limit => ({
  value: Math.max(1, Math.min(most, known)),
  most,
  used: 0,
  keep,
});

/** Begins with what is known of the host: what it refused before, or what hosts of its name do. */
export const newHost = (
  { batch, range_blocks, whole_blocks, dialect, block_seconds }: EvmNetwork,
  stored?: HostLimits | undefined,
): Host => {
  const known = (name: LimitName, most: number) =>
    limitOf(most, stored?.get(name), (value) => stored?.learn(name, value));
  return {
    calls: known('batch_calls', batch.calls),
    pairs_refused: (stored?.get('batch_calls') ?? 1) > 1 ? 0 : null,
    blocks: known('log_blocks', range_blocks),
    whole: limitOf(whole_blocks),
    topics: known('log_values', dialect.topic_values),
    runs_code: true,
    runs_none_since: null,
    balances: limitOf(SOLID_BALANCES),
    tip: null,
    block_seconds,
  };
};

export function shrink(limit: Limit, tried: number, most?: number): void {
  if (most !== undefined) limit.most = most;
  set(limit, Math.max(1, Math.min(limit.most, most ?? Math.floor(tried / 2))));
}

export function grow(limit: Limit): void {
  if (limit.value === limit.most || ++limit.used < GROWS_AFTER) return;
  set(limit, Math.min(limit.most, limit.value * 2));
}

function set(limit: Limit, value: number): void {
  limit.value = value;
  limit.used = 0;
  limit.keep(value);
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

/** In place of an answer: the provider had no time for it while it answered others. */
const LATER = Symbol('later');

/**
 * The answers in their order; what a node refused of single calls is a ProviderError value. What was answered of a request
 * stands, and the rest is asked again in smaller ones.
 */
export async function askEach(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[]> {
  const answers: unknown[] = Array(calls.length).fill(LATER);
  let left = calls.map((_, at) => at);
  // Each request answers at least one of them, or throws.
  while (left.length > 0) {
    const group = groupOf(asker, calls, left);
    const given = await askGroup(
      asker,
      group.map((at) => calls[at] as RpcCall),
    );
    for (const [at, answer] of given.entries()) answers[group[at] as number] = answer;
    left = left.filter((at) => answers[at] === LATER);
  }
  return answers;
}

/** The answers in their order. Throws ProviderError where one was refused. */
export async function askAll(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[]> {
  return (await askEach(asker, calls)).map(given);
}

/** The answers to calls that one host answers at once; null where it did not answer them all in one request. */
export async function askAtOnce(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[] | null> {
  if (calls.length > asker.host.calls.value) return null;
  const answers = await askGroup(asker, calls, true);
  return answers.length < calls.length || answers.includes(LATER) ? null : answers;
}

/** The answers to calls that belong together: of one host, as far as it is seen to take two calls at once. */
export async function askOfOne(asker: Asker, calls: readonly RpcCall[]): Promise<unknown[]> {
  if (!takesPairs(asker.host)) return askEach(asker, calls);
  const answers = await askAtOnce(asker, calls);
  if (answers === null) throw badAnswer('it answers a part of what it is asked at once');
  return answers;
}

/** An answer that is none is thrown. */
export function given(answer: unknown): unknown {
  if (answer instanceof ProviderError) throw answer;
  return answer;
}

/** Which of those that are left fit into one request. */
function groupOf({ host, batch_bytes }: Asker, calls: readonly RpcCall[], left: readonly number[]): number[] {
  const group: number[] = [];
  let bytes = 0;
  for (const at of left.slice(0, host.calls.value)) {
    bytes += sizeOf(calls[at]?.params ?? null) + CALL_BYTES;
    if (group.length > 0 && bytes > batch_bytes) break;
    group.push(at);
  }
  return group;
}

const sizeOf = (params: Json): number => JSON.stringify(params).length;

/** The answers to a group, or to as many of it as the provider takes at once. `is_at_once`: fewer than two are of no use. */
async function askGroup(
  { rpc, host }: Asker,
  group: readonly RpcCall[],
  is_at_once = false,
): Promise<unknown[]> {
  let tried = group.length;
  for (;;) {
    try {
      const asked = group.slice(0, tried);
      if (tried > 1) return await askBatch(rpc, host, asked);
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
        if (failure.kind === 'rpc' || failure.code === TOO_LARGE) return [failure];
        throw failure;
      }
      const is_large = tried === PAIR && failure.code === TOO_LARGE;
      // Too much was asked for, and not by too many calls; or one of both is refused with a word for all.
      if (is_large || (tried === PAIR && mayTakePairs(host, failure))) {
        if (is_at_once || (!is_large && failure.kind !== 'rpc')) throw failure;
        tried = 1;
        continue;
      }
      const most = allowedCalls(ownWords(failure.message), tried);
      shrink(host.calls, tried === PAIR ? PAIR : Math.max(2 * PAIR, tried), most);
      tried = Math.min(host.calls.value, tried - 1);
    }
  }
}

/** Alone, an answer does not show which of several hosts gave it: no host that takes two calls is asked so for one failure. */
function mayTakePairs(host: Host, { message }: ProviderError): boolean {
  if (host.pairs_refused === null || isAboutBatch(ownWords(message))) return false;
  return ++host.pairs_refused < PAIRS_REFUSED;
}

/** Whether two calls in one request are answered by one host: seen to be so, not just tried again now and then. */
export const takesPairs = ({ calls, pairs_refused }: Host): boolean =>
  calls.value >= PAIR && pairs_refused !== null && pairs_refused < PAIRS_REFUSED;

/** Several calls in one request. Where some were answered, those for which there was no time come later. */
async function askBatch(rpc: Rpc, host: Host, asked: readonly RpcCall[]): Promise<unknown[]> {
  const answers = (await rpc.batch(asked)).map(asLimit);
  if (answers.length !== asked.length) throw badAnswer('a batch was answered in part');
  const unanswered = answers.filter(isOften);
  host.pairs_refused = 0;
  if (unanswered.length === 0) {
    grow(host.calls);
    return answers;
  }
  if (unanswered.length === answers.length) throw unanswered[0];
  const answered = Math.max(PAIR, answers.length - unanswered.length);
  shrink(host.calls, Math.min(Math.max(2 * PAIR, asked.length), 2 * answered));
  return answers.map((answer) => (isOften(answer) ? LATER : answer));
}

const isOften = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'rate_limited';
/** Whether it answered, and the answer was of no use. */
export const isOdd = ({ kind }: ProviderError): boolean => kind === 'rpc' || kind === 'bad_answer';

const LIMIT_EXCEEDED = -32_005;

/** A refusal because of frequency is about the provider and not about the question; of its host no more is shown than before. */
function asLimit(error: unknown): unknown {
  if (!(error instanceof ProviderError) || !isOdd(error)) return error;
  const { message, code } = error;
  const words = ownWords(message);
  const isBare = code === LIMIT_EXCEEDED && !isAboutWhat(words) && !isAboutBatch(words);
  return isTooOften(words) || isBare ? new ProviderError('rate_limited', message, code) : error;
}

/** Blocks by number; null where the node has none. */
export async function readHeaders(asker: Asker, heights: readonly number[]): Promise<(Header | null)[]> {
  const answers = await askAll(
    asker,
    heights.map((height) => blockCall(height)),
  );
  return heights.map((height, at) => headerOf(answers[at], height));
}
