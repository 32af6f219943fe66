// One reading of an EVM chain: the blocks after the cursor, then those of a minute ago a second time.
import { type Page, ProviderError, type ReadRequest, type WatchedAddress } from '../family.ts';
import { lookAgain, markEnd } from './again.ts';
import { badAnswer, type Header, headerOf } from './answers.ts';
import { coinBehind, isByBalances, readCoins } from './coins.ts';
import {
  beginAt,
  cursorOf,
  type EvmCursor,
  extended,
  hashAt,
  headOf,
  paceOf,
  withCoin,
  withSighting,
} from './cursor.ts';
import { askAll, blockCall } from './hosts.ts';
import type { EvmContext } from './memory.ts';
import type { EvmNetwork } from './networks.ts';
import { closePassing, openPassing, provePassing } from './passing.ts';
import {
  creditsAt,
  filtersOf,
  NEWEST_BLOCKS,
  openReading,
  type Reading,
  rejectStuck,
  stored,
  tipOf,
  watchedOf,
  withFinal,
} from './reading.ts';
import { followFork, followShorter } from './reorg.ts';
import { readSolid } from './solid.ts';
import { readNewest, readStretch, type Stretch } from './stretch.ts';

/** Stretches read in one reading; what is left comes with the next. */
const STRETCHES_PER_READ = 60;
/** A chain that changes more often while it is read is given time to settle. */
const FORKS_PER_READ = 3;
/** The first block read is older than the oldest watch by this much, whatever blocks take on average. */
const START_SECONDS = 60;

export async function* readEvm(
  network: EvmNetwork,
  context: EvmContext,
  asked: ReadRequest,
): AsyncGenerator<Page> {
  const { memory } = context;
  const urgent = once(() => asked.urgent());
  const request: ReadRequest = { ...asked, urgent };
  const opened = await openReading(network, context, request);
  const { tip, finalized, unreadable, assets } = opened;
  const known = cursorOf(request.cursor);
  const reads_coins = assets.coin !== null;
  const cursor = withCoin(known ?? beginAt(tip.height, tip.hash, tip.time), reads_coins);
  const reading: Reading = { ...opened, ...nothing, displaced: new Set(), whole: new Map(), cursor };
  yield { transfers: [], tip: tipOf(tip), unreadable: [...unreadable, ...coinBehind(reading)] };
  reading.watched = await watchedOf(request);
  reading.filters = filtersOf(network, assets, reading.watched);
  if (known === null) {
    Object.assign(memory, { marks: [], second_at: 0, failing_since: null });
    memory.verified.clear();
    yield* stored(reading, { transfers: [] }, withCoin(await findStart(reading), reads_coins));
  }
  // Another daemon may have read meanwhile, and followed a fork.
  if (!isSame(memory.cursor, known)) {
    memory.passing.clear();
    memory.looks = [];
  }
  const before = memory.cursor && headOf(memory.cursor);
  if (before && hashAt(reading.cursor, before[0]) !== before[1]) memory.verified.clear();
  memory.cursor = reading.cursor;
  const [head] = headOf(reading.cursor);
  if (tip.height < head) yield* followShorter(reading);
  else memory.shorter_since = null;
  if (memory.marks.length === 0) markEnd(reading);
  yield* readNew(reading, finalized);
  yield* isByBalances(reading) ? openPassing(reading) : closePassing(reading);
  yield* readCoins(reading);
  yield* lookAgain(reading);
  if (isByBalances(reading)) yield* provePassing(reading);
  yield* readSolid(reading);
  // What is proved now holds for the coin only where that was read as far. With the tip it counts where this reading stands.
  const { is_unfinished = false } = reading;
  if (reads_coins || is_unfinished) {
    const behind = coinBehind(reading);
    yield { transfers: [], tip: tipOf(tip), unreadable: [...unreadable, ...behind], is_unfinished };
  }
  rejectStuck(reading);
}

/** Whether reading stands where this daemon left it. */
function isSame(own: EvmCursor | null, stored: EvmCursor | null): boolean {
  if (!own || !stored) return own === stored;
  const [one, other] = [headOf(own), headOf(stored)];
  return (
    one[1] === other[1] && own.coin?.hash === stored.coin?.hash && own.paid.length === stored.paid.length
  );
}

/** The daemon names some of many accounts each time it is asked. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

/** Before it is known what is watched. */
const nothing = { watched: new Map<string, WatchedAddress>(), filters: [] };

/** Blocks after the cursor, up to the tip. */
async function* readNew(reading: Reading, finalized: Header | null): AsyncGenerator<Page> {
  const { tip } = reading;
  let forks = 0;
  for (let read = 0; read < STRETCHES_PER_READ; read++) {
    const [head, hash] = headOf(reading.cursor);
    // Another block at the height of ours: we stay with the one seen first until either branch grows.
    if (head >= tip.height) break;
    const stretch = await nextStretch(reading, head + 1);
    if (stretch.parent === hash) yield* storeStretch(reading, stretch, finalized);
    else {
      if (++forks > FORKS_PER_READ) throw badAnswer('the chain changed while it was being read');
      yield* followFork(reading);
    }
  }
  if (withFinal(reading.cursor, finalized) !== reading.cursor)
    yield* stored(reading, { transfers: [] }, withFinal(reading.cursor, finalized));
  const [height] = headOf(reading.cursor);
  if (height >= tip.height) reading.context.memory.newest = { height, at: reading.tip_at };
  else reading.is_unfinished = true;
  markEnd(reading);
}

/** The newest blocks one by one, where they are few; what is further behind, or cannot be read so, in one piece. */
async function nextStretch(reading: Reading, from: number): Promise<Stretch> {
  const { tip, by_block } = reading;
  if (!by_block) return readStretch(reading, from, tip.height);
  if (tip.height - from >= NEWEST_BLOCKS) return readStretch(reading, from, tip.height - NEWEST_BLOCKS);
  try {
    return await readNewest(reading, from, tip.height);
  } catch (error) {
    // Not every provider has logs by the hash of a block; one that lacks the block lacks it in a stretch too.
    if (!(error instanceof ProviderError) || error.kind !== 'rpc') throw error;
    return readStretch(reading, from, tip.height);
  }
}

/** With the last moment when nothing stood above what was read. */
function withNewest({ network, cursor, context: { memory } }: Reading): EvmCursor {
  const { newest } = memory;
  if (!network.is_sequenced || newest?.height !== headOf(cursor)[0]) return cursor;
  return withSighting(cursor, newest.at);
}

async function* storeStretch(
  reading: Reading,
  { last, held, ...seen }: Stretch,
  finalized: Header | null,
): AsyncGenerator<Page> {
  const from = headOf(reading.cursor)[0] + 1;
  const { network } = reading;
  const further = extended(withNewest(reading), held, []);
  const pace = paceOf(further, network.block_seconds);
  const measured = pace ? { ...further, block_seconds: pace.recent_seconds } : further;
  const after = withFinal(
    network.is_sequenced ? withSighting(measured, reading.tip_at) : measured,
    finalized,
  );
  const { transfers, paid } = await creditsAt(reading, after, seen);
  const ranges = [{ scope: 'height', from, to: last.height }];
  yield* stored(
    reading,
    { transfers, ranges, tip: tipOf(reading.tip), ...(pace && { pace }) },
    { ...after, paid: extended(after, [], paid).paid },
  );
}

/** The last block that is surely older than every watched address: guessed by the average, then by doubling the distance. */
async function findStart({ network, context, asker, watched, tip }: Reading): Promise<EvmCursor> {
  const since = [...watched.values()].reduce((least, each) => Math.min(least, each.since), Infinity);
  const isOlder = ({ time }: Header) => context.local(time).latest_at < since;
  const ahead_seconds = Number.isFinite(since) ? Math.max(0, tip.time - since) + START_SECONDS : 0;
  if (isOlder(tip)) return beginAt(tip.height, tip.hash, tip.time);
  for (let distance = Math.ceil(ahead_seconds / network.block_seconds); ; distance *= 2) {
    const height = Math.max(0, tip.height - distance);
    const [answer] = await askAll(asker, [blockCall(height)]);
    const header = headerOf(answer, height);
    if (!header) throw badAnswer(`block ${height} cannot be read: the provider keeps no history so far back`);
    if (height === 0 || isOlder(header)) return beginAt(height, header.hash, header.time);
  }
}
