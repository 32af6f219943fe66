// Logs of a stretch of blocks, read so that a node that lacks some of them cannot answer as if they were empty.
import { type Json, ProviderError, type RpcCall } from '../family.ts';
import { badAnswer, type Header, headerOf, type Log, logsOf } from './answers.ts';
import { type Asker, askEach, blockCall, given, grow, type Host, hex, shrink } from './hosts.ts';

export type Filter = { [name: string]: Json };

/** Logs of blocks up to `last`, with the header of the block before them. */
export interface LogRange {
  before: Header;
  last: Header;
  logs: Log[];
}

const logsCall = (filter: Filter): RpcCall => ({ method: 'eth_getLogs', params: [filter] });

/**
 * The logs from `from` on, up to `to` or as far as the provider allows and has blocks: each request asks the same host for
 * the last block too. Throws ProviderError.
 */
export async function readLogRange(
  asker: Asker,
  filters: readonly Filter[],
  from: number,
  to: number,
): Promise<LogRange> {
  const { host } = asker;
  let last = Math.min(to, from + host.blocks.value - 1);
  for (;;) {
    const blocks = last - from + 1;
    try {
      const range = await readBracketed(asker, filters, from, last);
      if (range) {
        if (blocks === host.blocks.value) grow(host.blocks);
        return range;
      }
      // It does not have them all yet.
      if (blocks === 1) throw badAnswer(`block ${from} was announced, and cannot be read`);
      last = from + Math.floor(blocks / 2) - 1;
    } catch (error) {
      // A filter that takes the provider too long is asked for less of the next time.
      if (error instanceof ProviderError && error.kind === 'unreachable' && blocks > 1)
        shrink(host.blocks, blocks);
      if (!(error instanceof TooWide) || blocks === 1) throw error;
      shrink(host.blocks, blocks, allowedBlocks(error.message, blocks));
      last = Math.min(last - 1, from + host.blocks.value - 1);
    }
  }
}

/** A refusal of a log filter, which may be for its size: providers have no common error for that. */
class TooWide extends ProviderError {}

/** Null where the host lacks the last block. */
async function readBracketed(
  asker: Asker,
  filters: readonly Filter[],
  from: number,
  to: number,
): Promise<LogRange | null> {
  const calls = filters.map((filter) => logsCall({ ...filter, fromBlock: hex(from), toBlock: hex(to) }));
  const before = blockCall(from - 1);
  const last = blockCall(to);
  const groups = bracketedGroups(asker, calls, { before, last });
  const headers = { before: [] as (Header | null)[], last: [] as (Header | null)[] };
  const logs: Log[] = [];
  for (const group of groups) {
    const answers = await askEach(asker, group);
    for (const [at, call] of group.entries()) {
      const answer = answers[at];
      if (call === before) headers.before.push(headerOf(given(answer), from - 1));
      else if (call === last) headers.last.push(headerOf(given(answer), to));
      else logs.push(...logsIn(answer));
    }
    if (headers.last.includes(null)) return null;
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

function logsIn(answer: unknown): Log[] {
  if (answer instanceof ProviderError) {
    const { kind, message, code } = answer;
    throw kind === 'rpc' ? new TooWide(kind, message, code) : answer;
  }
  return logsOf(answer);
}

/** A filter between two headers. */
const BRACKETED_CALLS = 3;
/** Whether a filter and its headers are one request, which one host answers. */
export const takesBatches = ({ calls }: Host): boolean => calls.value >= BRACKETED_CALLS;

/** Each group is one request, which asks for the last block after the logs; also before them where each call is one. */
function bracketedGroups(
  { host, batch_bytes }: Asker,
  calls: readonly RpcCall[],
  { before, last }: { before: RpcCall; last: RpcCall },
): RpcCall[][] {
  if (!takesBatches(host)) return [[last, before, ...calls, last]];
  const size = Math.max(...calls.map(({ params }) => JSON.stringify(params).length), 1);
  const each = Math.max(1, Math.min(host.calls.value - 2, Math.floor(batch_bytes / size) - 1));
  const groups: RpcCall[][] = [];
  for (let at = 0; at === 0 || at < calls.length; at += each) {
    const group = calls.slice(at, at + each);
    groups.push([...(at === 0 ? [before] : []), ...group, last]);
  }
  return groups;
}

/** The logs of single blocks, by their hashes: a node that does not have one refuses. */
export async function readLogsOf(
  asker: Asker,
  filters: readonly Filter[],
  blocks: readonly { height: number; hash: string }[],
): Promise<Log[]> {
  const asked = blocks.flatMap((block) =>
    filters.map((filter) => ({ block, call: logsCall({ ...filter, blockHash: block.hash }) })),
  );
  const answers = await askEach(
    asker,
    asked.map(({ call }) => call),
  );
  return asked.flatMap(({ block }, at) => {
    const logs = logsOf(given(answers[at]));
    if (logs.every(({ blockHash, blockNumber }) => blockHash === block.hash && blockNumber === block.height))
      return logs;
    throw badAnswer(`eth_getLogs answered for block ${block.height} with logs of another`);
  });
}

const COUNT = '(?:a |an )?([\\d,]+)(k)?';
/** What providers write about the number of blocks that they allow. */
const ALLOWED = [
  new RegExp(`block range:?\\s*${COUNT}`, 'i'),
  new RegExp(`max(?:imum)? range:?\\s*${COUNT}`, 'i'),
  new RegExp(`limited to ${COUNT}(?![\\d,k]| ?(?:requests?|calls?|/))`, 'i'),
  new RegExp(`(?:at most|up to) ${COUNT} blocks?`, 'i'),
];
const PROPOSED = /\[(0x[0-9a-f]{1,12}),\s*(0x[0-9a-f]{1,12})\]/i;

/** How many blocks a refusal says that are allowed; undefined where it says nothing that helps. */
export function allowedBlocks(message: string, tried: number): number | undefined {
  const counts = ALLOWED.flatMap((form) => {
    const [, digits, thousands] = form.exec(message) ?? [];
    return digits === undefined ? [] : Number(digits.replaceAll(',', '')) * (thousands ? 1000 : 1);
  });
  const [, first, last] = PROPOSED.exec(message) ?? [];
  if (first !== undefined && last !== undefined) counts.push(Number(last) - Number(first) + 1);
  return counts.find((count) => count >= 1 && count < tried);
}
