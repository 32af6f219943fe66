// Reads the logs of successive blocks, linked to each other by their hashes.
import { badAnswer, type Header, type Log } from './answers.ts';
import type { Seen } from './credits.ts';
import { type Held, heldOf } from './cursor.ts';
import { heightsOf, readHeaders, takesPairs } from './hosts.ts';
import { readLogRange, readLogsOf } from './ranges.ts';
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

/** What is so much older than the tip is on one branch alone. */
const FORK_SECONDS = 128;
/** Of blocks younger than that, so many are shown to stand on each other: each is a request of its own. */
const MOST_LINKED = 4;

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

/**
 * Near the tip, the two headers of a provider that takes no batches may be of two hosts, and of two branches. Where there are
 * more blocks between them than can be asked for one by one, the newest are, where branches are, and the first once more.
 */
async function rejectFork({ asker, tip }: Reading, before: Header, last: Header): Promise<void> {
  if (takesPairs(asker.host) || last.time < tip.time - FORK_SECONDS) return;
  const is_short = last.height - before.height <= MOST_LINKED;
  const from = is_short ? before.height + 1 : last.height - MOST_LINKED;
  const [first, ...between] = await readHeaders(asker, [before.height, ...heightsOf(from, last.height - 1)]);
  if (first?.hash !== before.hash) throw badAnswer(`block ${before.height} changed while logs were read`);
  const blocks = linked([...(is_short ? [before] : []), ...between, last], is_short ? before.height : from);
  if (blocks.at(-1) !== last) throw badAnswer(`block ${last.height} changed while its logs were read`);
}
