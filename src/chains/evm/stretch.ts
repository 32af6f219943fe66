// Reads the logs of successive blocks, linked to each other by their hashes.
import { badAnswer, type Header, type Log } from './answers.ts';
import type { Seen } from './credits.ts';
import type { Held } from './cursor.ts';
import { heightsOf, readHeaders } from './hosts.ts';
import { readLogRange, readLogsOf, takesBatches } from './ranges.ts';
import type { Reading } from './reading.ts';
import { linked } from './whole-blocks.ts';

export interface Stretch extends Seen {
  /** The hash that the first block names as its parent. */
  parent: string;
  last: Header;
  /** Blocks to hold, oldest first. */
  held: Held[];
  logs: Log[];
}

/** Blocks above this many are taken to be final. */
const FORK_BLOCKS = 64;

const heldOf = ({ height, hash }: Header): Held => [height, hash];

/** The newest blocks, each with its logs by its hash: as far as the provider has them. */
export async function readNewest(
  { asker, filters, tip, ahead }: Reading,
  from: number,
  to: number,
): Promise<Stretch> {
  const heights = heightsOf(from, to);
  const known = heights.flatMap((height) => [...ahead, tip].find((each) => each.height === height) ?? []);
  const all = known.length === heights.length ? known : await readHeaders(asker, heights);
  const blocks = linked(all, from);
  const logs = await readLogsOf(asker, filters, blocks);
  const headers = new Map(blocks.map((block) => [block.height, block]));
  const [first, last] = [blocks[0] as Header, blocks.at(-1) as Header];
  return { parent: first.parent, last, held: blocks.map(heldOf), logs, coins: [], headers };
}

/** Blocks in one piece: logs by height between two headers. */
export async function readStretch(reading: Reading, from: number, to: number): Promise<Stretch> {
  const { before, last, logs } = await readLogRange(reading.asker, reading.filters, from, to);
  await rejectFork(reading, before, last);
  const headers = new Map([[last.height, last]]);
  return { parent: before.hash, last, held: [heldOf(last)], logs, coins: [], headers };
}

/** Near the tip, the two headers of a provider that takes no batches may be of two hosts, and of two branches. */
async function rejectFork({ asker, tip }: Reading, before: Header, last: Header): Promise<void> {
  if (takesBatches(asker.host) || last.height <= tip.height - FORK_BLOCKS) return;
  const between = await readHeaders(asker, heightsOf(before.height + 1, last.height - 1));
  const blocks = linked([before, ...between, last], before.height);
  if (blocks.at(-1) !== last) throw badAnswer(`block ${last.height} changed while its logs were read`);
}
