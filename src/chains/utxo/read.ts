// Lists unconfirmed payments, then reads the blocks after the cursor, one page each; follows reorganisations.
import { type Page, ProviderError, type ReadRequest, type Transfer } from '../family.ts';
import { inTurns } from '../steps.ts';
import type { Block } from './block.ts';
import { extended, hashIn, headOf, lowestHeight, RING_LENGTH, type Ring, ringOf } from './cursor.ts';
import { type BlockTip, notePending, trim, type UtxoContext } from './memory.ts';
import type { Coin } from './networks.ts';
import { creditsOfOrphan, pageOfBlock, pageOfMempool } from './payments.ts';
import { concludeReading, PROPAGATION_SECONDS } from './proofs.ts';
import {
  CLOCK_SKEW_SECONDS,
  checkHeader,
  headerAt,
  openReading,
  type Reading,
  readTip,
  watchedOf,
} from './reading.ts';
import { placesInRing } from './recheck.ts';
import { badAnswer, readable, type Source } from './source.ts';
import { followTarget } from './work.ts';

/** Blocks read in one read; what is left comes with the next. */
const BLOCKS_PER_READ = 200;
/** A chain that changes more often while it is read is given time to settle. */
const REORGANISATIONS_PER_READ = 5;
/** How often a block that left the chain is asked for: of several hosts one may never have had it. */
const HOSTS_PER_ORPHAN = 3;

/**
 * Lists come before the tip: what was sent before a list and is not in it stands in a block that the tip has. Only with
 * those blocks read does a list prove anything.
 */
export async function* readChain(
  coin: Coin,
  source: Source,
  context: UtxoContext,
  request: ReadRequest,
): AsyncGenerator<Page> {
  const reading = await openReading(coin, source, context, request);
  if (!reading) return;
  const { memory } = reading;
  // Payments in blocks must not wait for lists that fail.
  const failure = yield* readLists(reading, { again: false, urgent: reading.urgent });
  const tip = await readTip(reading);
  reading.watched = await watchedOf(request);
  let ring = ringOf(request.cursor);
  if (!ring) {
    ring = await findStart(reading, tip);
    yield { transfers: [], cursor: ring, tip };
  }
  memory.ring = ring;
  if (tip.height < ring.height) throw behindRing(reading, ring, tip);
  yield* readBlocks(reading, request, { start: ring, tip });
  if (failure) {
    // Confirmations do not wait for it. What lost its block may stand in another by now.
    const updates = placesInRing(memory.ring, reading.pending).filter(({ height }) => height !== null);
    yield { transfers: [], updates, tip };
    throw failure;
  }
  // What is left: blocks for the next reading, or another block at the height of ours. Like any node, we stay with the
  // one seen first until either branch grows.
  if (headOf(memory.ring) !== tip.hash) return;
  memory.is_whole = true;
  if (!source.lists_alone) {
    const listed = new Set(reading.lists.flatMap(({ script, complete }) => (complete && script) || []));
    const urgent = reading.urgent.filter((script) => listed.has(script));
    // Without it they are proved by the next reading.
    yield* readLists(reading, { again: true, urgent });
  }
  const { page, commit } = concludeReading(reading);
  yield { ...page, tip };
  commit();
}

/** Adds what was listed to the reading. Returns the provider's failure, if any. */
async function* readLists(
  reading: Reading,
  { again, urgent }: { again: boolean; urgent: readonly string[] },
): AsyncGenerator<Page, ProviderError | null> {
  const { source, context, memory, watched, behind, proved_through, unconfirmed } = reading;
  const paused = new Set([...behind.values()].flatMap((proof) => (proof.paused ? proof.address_key : [])));
  const { spare_requests, now } = context;
  const lists = source.list({
    watched,
    urgent: urgent.filter((script) => watched.has(script)),
    followed: unconfirmed.keys(),
    paused,
    again,
    listed_at: Math.max(
      memory.all_listed_at,
      proved_through === 0 ? 0 : proved_through + PROPAGATION_SECONDS,
    ),
    now,
    spare_requests,
  });
  try {
    for (;;) {
      const step = await lists.next();
      if (step.done) {
        reading.lists.push(...step.value);
        return null;
      }
      const page = pageOfMempool(reading, step.value);
      if (page.transfers.length > 0 || (page.updates ?? []).length > 0) yield page;
    }
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

/** Not a reorganisation: chains do not shrink. Another provider, or this one later, will know more. */
function behindRing({ context }: Reading, ring: Ring, tip: BlockTip): ProviderError {
  const isOurs = hashIn(ring, tip.height) === tip.hash;
  const what = isOurs ? 'is behind' : 'is on another, shorter branch';
  const remedy = isOurs ? '' : `; if the chain was reset: ${rereadCommand(context)}`;
  const message = `the provider ${what}: it is at block ${tip.height}, ${ring.height} has been read${remedy}`;
  return new ProviderError('bad_answer', message);
}

const rereadCommand = ({ blockchain }: UtxoContext): string => `gatewayd reread ${blockchain}`;

async function* readBlocks(
  reading: Reading,
  request: ReadRequest,
  { start, tip }: { start: Ring; tip: BlockTip },
): AsyncGenerator<Page> {
  const { source, memory } = reading;
  let ring = start;
  let reorganisations = 0;
  for (let read = 0; read < BLOCKS_PER_READ && ring.height < tip.height; read++) {
    const height = ring.height + 1;
    const block = await source.block(height === tip.height ? tip.hash : await source.hashAt(height));
    checkHeader(reading, block);
    if (block.previous === headOf(ring)) {
      ring = extended(ring, block.hash, await followBits(reading, ring, block));
      const mined = { height, hash: block.hash, time: block.time };
      const page = await inTurns(reading.context.rpc, pageOfBlock(reading, block.transactions, mined));
      yield { ...page, cursor: ring, ranges: [{ scope: 'height', from: height, to: height }], tip };
      for (const { txid } of page.transfers) memory.mined.set(txid, block.hash);
      trim(memory.mined);
    } else {
      const back = await walkBack(reading, ring);
      if (back.orphaned.length === 0 || ++reorganisations > REORGANISATIONS_PER_READ) {
        throw new ProviderError('bad_answer', 'the chain changed while it was being read');
      }
      ring = back.ring;
      const orphaned_transfers = await readOrphans(reading, back.orphaned);
      yield { transfers: [], cursor: ring, orphaned_blocks: back.orphaned, orphaned_transfers, tip };
      for (const [txid, hash] of memory.mined) if (back.orphaned.includes(hash)) memory.mined.delete(txid);
      // What was final in those blocks waits again: the branch that replaced them may spend the same.
      notePending(memory, await request.pending());
    }
    memory.ring = ring;
  }
}

/** The target that the next block has to follow. Throws ProviderError where this one does not follow the last. */
async function followBits(
  { source, context, rules }: Reading,
  ring: Ring,
  block: { hash: string; bits: number },
): Promise<number | null> {
  const isKnown = ring.bits !== null || rules.retarget === 'with_exceptions';
  const last_bits = isKnown ? ring.bits : (await source.header(headOf(ring))).bits;
  return readable(context.rpc, `block ${block.hash}`, () =>
    followTarget(rules, block.bits, ring.height + 1, last_bits),
  );
}

/** Drops the blocks that are no longer on the provider's chain. A failed answer is thrown, never a difference. */
async function walkBack(reading: Reading, ring: Ring): Promise<{ ring: Ring; orphaned: string[] }> {
  const { source, context } = reading;
  const hashes = [...ring.hashes];
  const orphaned: string[] = [];
  for (let height = ring.height; hashes.length > 0; height--) {
    if ((await source.hashAt(height)) === hashes.at(-1))
      return { ring: { height, hashes, bits: null }, orphaned };
    orphaned.push(hashes.pop() as string);
  }
  const lowest = lowestHeight(ring);
  if (ring.hashes.length === RING_LENGTH || lowest === 0) {
    const message = `none of the last ${ring.hashes.length} blocks read is on the provider's chain; if it was reset or reorganised so deeply: ${rereadCommand(context)}`;
    throw badAnswer(context.rpc, message);
  }
  // A young ring does not reach down to the fork: well below it everything is read once more.
  return { ring: await ringAt(reading, Math.max(0, lowest - RING_LENGTH)), orphaned };
}

/** What the blocks that left the chain had paid; those that no host has any more are left out. */
async function readOrphans(reading: Reading, hashes: readonly string[]): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  for (const hash of hashes) {
    const block = await orphanOf(reading.source, hash);
    if (block) transfers.push(...creditsOfOrphan(reading, block.transactions));
  }
  return transfers;
}

/** Null where no host has it that answered. */
async function orphanOf(source: Source, hash: string): Promise<Block | null> {
  for (let attempt = 0; attempt < HOSTS_PER_ORPHAN; attempt++) {
    try {
      return await source.block(hash);
    } catch (error) {
      if (!(error instanceof ProviderError && error.kind === 'rpc')) throw error;
    }
  }
  return null;
}

async function ringAt(reading: Reading, height: number): Promise<Ring> {
  const { hash, bits } = await headerAt(reading, height);
  const isException = reading.rules.retarget === 'with_exceptions' && bits === reading.rules.limit_bits;
  return { height, hashes: [hash], bits: isException ? null : bits };
}

/**
 * The last block that is surely older than every watched address, by doubling the distance, then halving it. Block
 * times are not in order, but within the skew of the true time, so any crossing of the target will do.
 */
async function findStart(reading: Reading, tip: BlockTip): Promise<Ring> {
  const since = [...reading.watched.values()].reduce((least, each) => Math.min(least, each.since), Infinity);
  const target = since - reading.memory.ahead_seconds - CLOCK_SKEW_SECONDS;
  const isOlder = async (height: number) => (await headerAt(reading, height)).time < target;
  let newer = tip.height + 1;
  let older = 0;
  for (let step = 0; newer > 0; step = Math.max(1, step * 2)) {
    const height = Math.max(0, tip.height - step);
    if (height === 0 || (await isOlder(height))) {
      older = height;
      break;
    }
    newer = height;
  }
  while (newer - older > 1) {
    const middle = Math.floor((older + newer) / 2);
    if (await isOlder(middle)) older = middle;
    else newer = middle;
  }
  return ringAt(reading, older);
}
