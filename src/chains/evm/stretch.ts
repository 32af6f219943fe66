// Reads the logs and coins of successive blocks, linked to each other by their hashes.
import { badAnswer, type FullBlock, fullBlockOf, type Header, type Log } from './answers.ts';
import type { PlacedCoin, Seen } from './credits.ts';
import type { Held } from './cursor.ts';
import { type Asker, askAll, blockCall, readHeaders, sizeCall } from './hosts.ts';
import type { CoinBlock } from './networks.ts';
import { readLogRange, readLogsOf } from './ranges.ts';
import type { Reading } from './reading.ts';

/** Full blocks asked for in one request: some hundred kilobytes each. */
const FULL_BLOCKS_AT_ONCE = 10;

export interface Stretch extends Seen {
  /** The hash that the first block names as its parent. */
  parent: string;
  last: Header;
  /** Blocks to hold, oldest first. */
  held: Held[];
  logs: Log[];
  coins: PlacedCoin[];
}

const heldOf = ({ height, hash }: Header | CoinBlock): Held => [height, hash];

/** The newest blocks, each with its logs by its hash: as far as the provider has them. */
export async function readNewest(reading: Reading, from: number, to: number): Promise<Stretch> {
  const { asker, assets, tip } = reading;
  const heights = heightsOf(from, to);
  if (assets.coin?.by.found_by === 'blocks') {
    const full = linked(await readFullBlocks(asker, heights), from);
    return { ...(await newestOf(reading, full)), coins: full.flatMap(coinsIn) };
  }
  const blocks = from === tip.height ? [tip] : linked(await readHeaders(asker, heights), from);
  return newestOf(reading, blocks);
}

const heightsOf = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** As many of the blocks as the provider has, each on the one before it; at least one. */
function linked<B extends Header>(blocks: readonly (B | null)[], from: number): B[] {
  const found: B[] = [];
  for (const block of blocks) {
    const before = found.at(-1);
    if (!block || (before && block.parent !== before.hash)) break;
    found.push(block);
  }
  if (found.length === 0) throw badAnswer(`block ${from} was announced, and cannot be read`);
  return found;
}

async function newestOf(reading: Reading, blocks: readonly Header[]): Promise<Stretch> {
  const { asker, filters, assets } = reading;
  const [first, last] = [blocks[0] as Header, blocks.at(-1) as Header];
  const coins = assets.coin?.by.found_by === 'source' ? await sourceCoins(reading, first, last) : [];
  const logs = await readLogsOf(asker, filters, blocks);
  const headers = new Map(blocks.map((block) => [block.height, block]));
  return { parent: first.parent, last, held: blocks.map(heldOf), logs, coins, headers };
}

/** Blocks in one piece: logs by height between two headers, and coins where they are found in whole blocks. */
export async function readStretch(reading: Reading, from: number, to: number): Promise<Stretch> {
  const { asker, filters, assets } = reading;
  const by = assets.coin?.by;
  const at_once = by?.found_by === 'source' ? by.source.blocks_at_once : FULL_BLOCKS_AT_ONCE;
  const most = by ? Math.min(to, from + at_once - 1) : to;
  const { before, last, logs } = await readLogRange(asker, filters, from, most);
  const headers = new Map([[last.height, last]]);
  const stretch = { parent: before.hash, last, held: [heldOf(last)], logs, coins: [], headers };
  if (!by) return stretch;
  const blocks =
    by.found_by === 'source'
      ? await by.source.blocks(asker.rpc, from, last.height)
      : linked(await readFullBlocks(asker, heightsOf(from, last.height)), from);
  rejectGaps(blocks, { from, parent: before.hash, last });
  const coins =
    by.found_by === 'source'
      ? (blocks as CoinBlock[]).flatMap(paymentsIn)
      : (blocks as FullBlock[]).flatMap(coinsIn);
  for (const { height, hash, parent, time } of blocks) headers.set(height, { height, hash, parent, time });
  return { ...stretch, held: blocks.map(heldOf), coins, headers };
}

async function sourceCoins({ asker, assets }: Reading, first: Header, last: Header): Promise<PlacedCoin[]> {
  const by = assets.coin?.by;
  if (by?.found_by !== 'source') return [];
  const blocks = await by.source.blocks(asker.rpc, first.height, last.height);
  rejectGaps(blocks, { from: first.height, parent: first.parent, last });
  return blocks.flatMap(paymentsIn);
}

/** Where the source of coins is on another branch than that of logs, neither is believed. */
function rejectGaps(
  blocks: readonly (Header | CoinBlock)[],
  { from, parent, last }: { from: number; parent: string; last: Header },
): void {
  let before = parent;
  for (const [at, block] of blocks.entries()) {
    if (block.height !== from + at || block.parent !== before)
      throw badAnswer(`block ${from + at} does not follow the one before it`);
    before = block.hash;
  }
  if (before !== last.hash) throw badAnswer(`block ${last.height} changed while it was read`);
}

/** Null where the provider has none. */
async function readFullBlocks(asker: Asker, heights: readonly number[]): Promise<(FullBlock | null)[]> {
  const calls = heights.flatMap((height) => [blockCall(height, true), sizeCall(height)]);
  const answers = await askAll(asker, calls);
  return heights.map((height, at) => fullBlockOf(answers[2 * at], height, answers[2 * at + 1]));
}

const paymentsIn = ({ height, hash, payments }: CoinBlock): PlacedCoin[] =>
  payments.map((payment) => ({ ...payment, height, hash }));

/** What transactions pay by their own value; a failed one too, which its receipt shows. */
export const coinsIn = ({ height, hash, transactions }: FullBlock): PlacedCoin[] =>
  transactions.flatMap(({ hash: txid, from, to, value: amount }) =>
    to == null ? [] : [{ txid, from, to, amount, height, hash }],
  );
