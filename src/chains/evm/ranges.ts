// Logs of a stretch of blocks, read so that a node that lacks some of them cannot answer as if they were empty.
import { type Json, ProviderError, type RpcCall } from '../family.ts';
import { TOO_LARGE } from '../or-failed.ts';
import { ownWords } from '../refusals.ts';
import { inTurns } from '../steps.ts';
import { badAnswer, type Header, headerOf, type Log, readLogs } from './answers.ts';
import { type Asker, askAtOnce, askEach, blockCall, given, grow, type Host, hex, shrink } from './hosts.ts';

export type Filter = { [name: string]: Json };

/** Logs of blocks up to `last`, with the header of the block before them. */
export interface LogRange {
  before: Header;
  last: Header;
  logs: Log[];
}

const LOGS = 'eth_getLogs';
const logsCall = (filter: Filter): RpcCall => ({ method: LOGS, params: [filter] });

/**
 * The logs from `from` on, up to `to` or as far as the provider allows and has blocks: each request asks the same host for
 * the last block too. Where it allows few blocks in one filter, several filters stand in one request. Throws ProviderError.
 */
export async function readLogRange(
  asker: Asker,
  filters: readonly Filter[],
  from: number,
  to: number,
): Promise<LogRange> {
  const { host } = asker;
  const { topics } = host;
  const before = { ...topics };
  let most = to;
  let several = true;
  for (;;) {
    const asked = fitting(asker, filters);
    const blocks = Math.min(host.blocks.value, most - from + 1);
    const calls = host.calls.value;
    const spans = several ? spansAtOnce(asker, asked) : 1;
    const last = Math.min(most, from + blocks * spans - 1);
    try {
      const range = await readBracketed(asker, asked, { from, to: last, blocks });
      if (range === 'in parts') {
        if (host.calls.value < calls) continue;
        throw new ProviderError('rate_limited', 'it answers a part of what it is asked at once');
      }
      if (range) {
        if (blocks === host.blocks.value) grow(host.blocks);
        // It was for the addresses that fewer blocks were refused as well.
        if (topics.most < before.most) shrink(host.blocks, blocks, host.blocks.most);
        return range;
      }
      // It does not have them all yet.
      if (last === from) throw badAnswer(`block ${from} was announced, and cannot be read`);
      most = from + Math.floor((last - from + 1) / 2) - 1;
    } catch (error) {
      // A filter that takes the provider too long is asked for less of the next time.
      if (error instanceof ProviderError && error.kind === 'unreachable' && blocks > 1)
        shrink(host.blocks, blocks);
      several = false;
      if (error instanceof TooWide && isNarrowed(host, asked, blocks, error.message)) continue;
      // It was not for the addresses either.
      if (error instanceof TooWide) Object.assign(topics, before);
      throw error;
    }
  }
}

/** Whether less will be asked for: of what the provider speaks of, else of blocks, and at last of addresses. */
function isNarrowed(
  { blocks: of_blocks, topics }: Asker['host'],
  asked: readonly Filter[],
  blocks: number,
  message: string,
): boolean {
  const values = Math.max(...asked.map(valuesIn));
  const words = ownWords(message);
  const is_named = ABOUT_VALUES.test(words) && !ABOUT_BLOCKS.test(words);
  if (is_named && values > LEAST_VALUES)
    shrink(topics, values, Math.max(LEAST_VALUES, allowedValues(words, values) ?? Math.floor(values / 2)));
  else if (blocks > 1) {
    const most = allowedBlocks(message, blocks);
    shrink(
      of_blocks,
      most === undefined ? 2 * (proposedBlocks(message, blocks) ?? blocks / 2) : blocks,
      most,
    );
  } else if (values > FEW_VALUES) shrink(topics, values, FEW_VALUES);
  else return false;
  return true;
}

/** What every provider takes: a refusal of so many, and of one block, is for something else. */
const FEW_VALUES = 60;
const ABOUT_VALUES = /topic|address/i;
const ABOUT_BLOCKS = /block|range/i;
/** With fewer, a provider that refuses everything would be asked for more and more. */
const LEAST_VALUES = 10;

/** How many values a refusal says that are allowed; undefined where it says nothing that helps. */
function allowedValues(words: string, tried: number): number | undefined {
  const counts = [...words.matchAll(/(?<![\w.-])\d{1,5}(?![\w.]|-\d)/g)].map(Number);
  return counts.find((count) => count >= 1 && count < tried);
}

const listsIn = ({ address, topics }: Filter): Json[][] =>
  [address as Json, ...((topics ?? []) as Json[])].filter((each) => Array.isArray(each));
const valuesIn = (filter: Filter): number => Math.max(1, ...listsIn(filter).map((each) => each.length));

/** The same filters, each with no more values than the provider takes. */
export function fitting({ host }: Asker, filters: readonly Filter[]): Filter[] {
  const { value } = host.topics;
  return filters.flatMap((filter) => {
    if (valuesIn(filter) <= value) return [filter];
    const topics = filter.topics as (Json | string[])[];
    const each = combined(topics.map((topic) => (Array.isArray(topic) ? chunks(topic, value) : [topic])));
    return chunks(filter.address as Json[], value).flatMap((address) =>
      each.map((chosen): Filter => ({ ...filter, address, topics: chosen })),
    );
  });
}

const chunks = (values: readonly Json[], size: number): Json[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    values.slice(at * size, (at + 1) * size),
  );

/** One of each, in every way. */
const combined = (choices: readonly Json[][]): Json[][] =>
  choices.reduce<Json[][]>(
    (all, choice) => all.flatMap((head) => choice.map((each) => [...head, each])),
    [[]],
  );

/** How many ranges fit into one request. */
export function spansAtOnce(asker: Asker, filters: readonly Filter[]): number {
  if (filters.length === 0) return 1;
  return Math.max(
    1,
    Math.floor(
      callsAtOnce(
        asker,
        filters.map((filter) => logsCall(filter)),
      ) / filters.length,
    ),
  );
}

/** A refusal of a log filter, which may be for its size: providers have no common error for that. */
class TooWide extends ProviderError {}

function asTooWide(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { kind, message, code } = error;
  return kind === 'rpc' || code === TOO_LARGE ? new TooWide(kind, message, code) : error;
}

/** Null where the host lacks the last block; `in parts` where it took less at once than was to be one answer. */
async function readBracketed(
  asker: Asker,
  filters: readonly Filter[],
  { from, to, blocks }: { from: number; to: number; blocks: number },
): Promise<LogRange | 'in parts' | null> {
  const calls: RpcCall[] = [];
  for (let first = from; first <= to; first += blocks) {
    const range = { fromBlock: hex(first), toBlock: hex(Math.min(to, first + blocks - 1)) };
    calls.push(...filters.map((filter) => logsCall({ ...filter, ...range })));
  }
  const before = blockCall(from - 1);
  const last = blockCall(to);
  const isOneHost = takesBatches(asker.host);
  const groups = bracketedGroups(asker, calls, { before, last });
  const headers = { before: [] as (Header | null)[], last: [] as (Header | null)[] };
  const logs: Log[] = [];
  for (const group of groups) {
    const asked = isOneHost ? askAtOnce(asker, group) : askEach(asker, group);
    const answers = await asked.catch((error: unknown) => {
      // A filter and its header, refused as one.
      throw group.some(({ method }) => method === LOGS) ? asTooWide(error) : error;
    });
    if (answers === null) return 'in parts';
    // What a node refuses because it lacks the blocks is not too much.
    if (group.some((call, at) => call === last && answers[at] === null)) return null;
    for (const [at, call] of group.entries()) {
      const answer = answers[at];
      if (call === before) headers.before.push(headerOf(given(answer), from - 1));
      else if (call === last) headers.last.push(headerOf(given(answer), to));
      else for (const log of await logsIn(asker, answer)) logs.push(log);
    }
  }
  const [first] = headers.before;
  const [end] = headers.last;
  if (!first) throw badAnswer(`block ${from - 1} cannot be read: the provider keeps no history so far back`);
  if (!end || headers.last.some((each) => each?.hash !== end.hash))
    throw badAnswer(`block ${to} changed while its logs were read`);
  const isInside = ({ blockNumber, blockHash }: Log) =>
    blockNumber >= from && blockNumber <= to && (blockNumber < to || blockHash === end.hash);
  if (!logs.every(isInside)) throw badAnswer('eth_getLogs answered with logs of other blocks');
  return { before: first, last: end, logs };
}

async function logsIn({ rpc }: Asker, answer: unknown): Promise<Log[]> {
  if (answer instanceof ProviderError) throw asTooWide(answer);
  return inTurns(rpc, readLogs(answer));
}

/** A filter and the header of the last block; that of the block before it has a request of its own where there are not three. */
const BRACKETED_CALLS = 2;
/** Whether a filter and a header are one request, which one host answers. */
export const takesBatches = ({ calls }: Host): boolean => calls.value >= BRACKETED_CALLS;

/** Each group is one request, which asks for the last block after the logs; also before them where each call is one. */
function bracketedGroups(
  { host, batch_bytes }: Asker,
  calls: readonly RpcCall[],
  { before, last }: { before: RpcCall; last: RpcCall },
): RpcCall[][] {
  if (!takesBatches(host)) return [[last, before, ...calls, last]];
  const each = callsAtOnce({ host, batch_bytes }, calls);
  const groups: RpcCall[][] = [];
  for (let at = 0; at < calls.length; at += each) groups.push([...calls.slice(at, at + each), last]);
  if (groups.length === 0 || host.calls.value === BRACKETED_CALLS) return [[before, last], ...groups];
  return groups.map((group, at) => (at === 0 ? [before, ...group] : group));
}

/** How many of these fit into one request, with the headers around them; 1 where a provider takes no batch. */
function callsAtOnce(
  { host, batch_bytes }: Pick<Asker, 'host' | 'batch_bytes'>,
  calls: readonly RpcCall[],
): number {
  if (host.calls.value < BRACKETED_CALLS) return 1;
  const size = Math.max(...calls.map(({ params }) => JSON.stringify(params).length), 1);
  return Math.max(1, Math.min(host.calls.value - 2, Math.floor(batch_bytes / size) - 1));
}

/** The logs of single blocks, by their hashes: a node that does not have one refuses. */
export async function readLogsOf(
  asker: Asker,
  filters: readonly Filter[],
  blocks: readonly { height: number; hash: string }[],
): Promise<Log[]> {
  const asked = blocks.flatMap((block) =>
    fitting(asker, filters).map((filter) => ({
      block,
      call: logsCall({ ...filter, blockHash: block.hash }),
    })),
  );
  const answers = await askEach(
    asker,
    asked.map(({ call }) => call),
  );
  const found: Log[] = [];
  for (const [at, { block }] of asked.entries())
    for (const log of await inTurns(asker.rpc, readLogs(given(answers[at])))) {
      if (log.blockHash !== block.hash || log.blockNumber !== block.height)
        throw badAnswer(`eth_getLogs answered for block ${block.height} with logs of another`);
      found.push(log);
    }
  return found;
}

const COUNT = '(?:a |an )?([\\d,]+)(k)?';
/** What providers write about the number of blocks that they allow. */
const ALLOWED = [
  new RegExp(`block range:?\\s*${COUNT}`, 'i'),
  new RegExp(`max(?:imum)? range:?\\s*${COUNT}`, 'i'),
  new RegExp(`limited to (?:0 - )?${COUNT}(?![\\d,k]| ?(?:requests?|calls?|/))`, 'i'),
  new RegExp(`(?:at most|up to|ranges? over) ${COUNT} blocks?`, 'i'),
  new RegExp(`range \\d+ exceeds limit of ${COUNT}`, 'i'),
  new RegExp(`range greater than ${COUNT} max`, 'i'),
];
const PROPOSED = /\[(0x[0-9a-f]{1,12}),\s*(0x[0-9a-f]{1,12})\]/i;

/** How many blocks a refusal says that are allowed; undefined where it says nothing that helps. */
function allowedBlocks(message: string, tried: number): number | undefined {
  const counts = ALLOWED.flatMap((form) => {
    const [, digits, thousands] = form.exec(message) ?? [];
    return digits === undefined ? [] : Number(digits.replaceAll(',', '')) * (thousands ? 1000 : 1);
  });
  return counts.find((count) => count >= 1 && count < tried);
}

/** How many it proposes this time: for what is in these blocks, so that others may be asked for more at once. */
function proposedBlocks(message: string, tried: number): number | undefined {
  const [, first, last] = PROPOSED.exec(message) ?? [];
  const count = Number(last) - Number(first) + 1;
  return count >= 1 && count < tried ? count : undefined;
}
