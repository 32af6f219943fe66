// Reads the blocks after the cursor, one page each, then the mempool; follows reorganisations.
import { type Page, ProviderError, type ReadContext, type ReadRequest, type Transfer } from '../chain.ts';
import type { Block, Transaction } from './block.ts';
import { extended, hashIn, headOf, lowestHeight, RING_LENGTH, type Ring, ringOf } from './cursor.ts';
import {
  type BlockTip,
  type Memory,
  memoryIn,
  type SeenPayment,
  type Source,
  trim,
  type Watched,
} from './source.ts';

/** Blocks read in one read; what is left comes with the next. */
const BLOCKS_PER_READ = 200;
/** A chain that changes more often while it is read is given time to settle. */
const REORGANISATIONS_PER_READ = 5;
/** How far a block's time may be from the time it was made: nodes refuse more than this ahead. */
const CLOCK_SKEW_SECONDS = 7200;

interface Reading {
  /** Up to when unconfirmed payments had been listed before this read, Unix seconds. */
  listed_through: number;
  source: Source;
  memory: Memory;
  tip: BlockTip;
  watched: Watched;
  chain: string;
}

export async function* readChain(
  source: Source,
  context: ReadContext,
  request: ReadRequest,
): AsyncGenerator<Page> {
  const chain = context.gateways.find((gateway) => !gateway.is_token)?.chain;
  if (chain === undefined) return;
  const memory = memoryIn(context.cache);
  const started_at = context.now();
  const tip = await source.tip();
  const scan = await source.mempool(started_at);
  const watched: Watched = new Map((await request.addresses()).map((each) => [each.key, each]));
  const reading = { source, memory, tip, watched, chain, listed_through: source.listedThrough(watched) };

  let ring = ringOf(request.cursor);
  if (!ring) {
    ring = await findStart(reading);
    yield { transfers: [], cursor: ring, tip };
  }
  memory.ring = ring;
  if (tip.height > ring.height) yield* readBlocks(reading, ring);
  else if (hashIn(ring, tip.height) === tip.hash && tip.height === ring.height) yield { transfers: [], tip };
  else if (tip.height < ring.height) throw behind(ring, tip);
  // What is left: another block at the height of ours. Like any node, we stay with the one seen first until
  // either branch grows; its mempool is good to read all the same.

  for await (const transactions of scan(watched)) {
    const transfers = unconfirmed(reading, transactions, context.now());
    if (transfers.length > 0) yield { transfers };
  }
  yield { transfers: [], read_through: Math.min(started_at, readThrough(reading)) };
}

/** While blocks are missing it cannot be told what was paid since the addresses are watched. */
function readThrough({ source, memory, tip, watched }: Reading): number {
  const isWhole = memory.ring !== null && memory.ring.height >= tip.height;
  const since = earliestSince(watched);
  return isWhole ? Math.max(since, source.listedThrough(watched)) : since;
}

const earliestSince = (watched: Watched): number =>
  [...watched.values()].reduce((least, { since }) => Math.min(least, since), Infinity);

/** Not a reorganisation: chains do not shrink. Another provider, or this one later, will know more. */
function behind(ring: Ring, tip: BlockTip): ProviderError {
  const what = hashIn(ring, tip.height) === tip.hash ? 'is behind' : 'is on another, shorter branch';
  const message = `the provider ${what}: it is at block ${tip.height}, ${ring.height} has been read`;
  return new ProviderError('bad_answer', message);
}

async function* readBlocks(reading: Reading, start: Ring): AsyncGenerator<Page> {
  const { source, memory, tip } = reading;
  let ring = start;
  let reorganisations = 0;
  for (let read = 0; read < BLOCKS_PER_READ && ring.height < tip.height; read++) {
    const height = ring.height + 1;
    const block = await source.block(height === tip.height ? tip.hash : await source.hashAt(height));
    if (block.previous === headOf(ring)) {
      ring = extended(ring, block.hash);
      const transfers = confirmed(reading, block, height);
      yield { transfers, cursor: ring, ranges: [{ scope: 'height', from: height, to: height }], tip };
      for (const { txid } of transfers) {
        memory.mined.set(txid, block.hash);
        memory.conflicted.delete(txid);
        memory.absent.delete(txid);
      }
      trim(memory.mined);
    } else {
      const back = await walkBack(source, ring);
      if (back.orphaned.length === 0 || ++reorganisations > REORGANISATIONS_PER_READ) {
        throw new ProviderError('bad_answer', 'the chain changed while it was being read');
      }
      ring = back.ring;
      yield { transfers: [], cursor: ring, orphaned_blocks: back.orphaned, tip };
      for (const [txid, hash] of memory.mined) if (back.orphaned.includes(hash)) memory.mined.delete(txid);
    }
    memory.ring = ring;
  }
}

/** Drops the blocks that are no longer on the provider's chain. A failed answer is thrown, never a difference. */
async function walkBack(source: Source, ring: Ring): Promise<{ ring: Ring; orphaned: string[] }> {
  const hashes = [...ring.hashes];
  const orphaned: string[] = [];
  for (let height = ring.height; hashes.length > 0; height--) {
    if ((await source.hashAt(height)) === hashes.at(-1)) return { ring: { height, hashes }, orphaned };
    orphaned.push(hashes.pop() as string);
  }
  const lowest = lowestHeight(ring);
  if (ring.hashes.length === RING_LENGTH || lowest === 0) {
    const message = `none of the last ${ring.hashes.length} blocks read is on the provider's chain`;
    throw new ProviderError('bad_answer', message);
  }
  // A young ring does not reach down to the fork: well below it everything is read once more.
  const height = Math.max(0, lowest - RING_LENGTH);
  return { ring: { height, hashes: [await source.hashAt(height)] }, orphaned };
}

/**
 * The last block that is surely older than every watched address, by galloping and halving. Block times are
 * not in order, but within the skew of the true time, so any crossing of the target will do.
 */
async function findStart({ source, tip, watched }: Reading): Promise<Ring> {
  const target = earliestSince(watched) - CLOCK_SKEW_SECONDS;
  const isOlder = async (height: number) => (await source.header(await source.hashAt(height))).time < target;
  if ((await source.header(tip.hash)).time < target) return { height: tip.height, hashes: [tip.hash] };
  let newer = tip.height;
  let older = 0;
  for (let step = 1; newer > 0; step *= 2) {
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
  return { height: older, hashes: [await source.hashAt(older)] };
}

function confirmed(reading: Reading, block: Block, height: number): Transfer[] {
  const { hash, time } = block;
  const made = { earliest_at: time, latest_at: time };
  const place = { height, block_hash: hash, ...made, confirmations: reading.tip.height - height + 1 };
  return block.transactions.flatMap((transaction) => {
    noteConflicts(reading.memory, transaction);
    const found = credits(reading, transaction, place).filter(
      ({ address_key }) => (reading.watched.get(address_key)?.since ?? 0) <= time + CLOCK_SKEW_SECONDS,
    );
    const seen = reading.memory.payments.get(transaction.txid) ?? { first_seen: time, made_after: time };
    if (found.length > 0) remember(reading.memory, transaction, seen);
    return found;
  });
}

function unconfirmed(reading: Reading, transactions: Transaction[], now: number): Transfer[] {
  const { memory } = reading;
  return transactions.flatMap((transaction) => {
    noteConflicts(memory, transaction);
    if (memory.mined.has(transaction.txid)) return [];
    const seen = memory.payments.get(transaction.txid) ?? {
      first_seen: now,
      made_after: reading.listed_through,
    };
    const made = { earliest_at: seen.first_seen, latest_at: seen.first_seen };
    const place = { height: null, block_hash: null, ...made, confirmations: 0 };
    const found = credits(reading, transaction, place);
    if (found.length > 0) remember(memory, transaction, seen);
    return found.map((transfer) => ({
      ...transfer,
      earliest_at: earliestOf(reading, transfer, seen.made_after),
    }));
  });
}

/**
 * A payment in no block has no time of its own. It was made at some moment since the listing before: the buyer is
 * given the benefit, because one that was made in time must not count as late for our pause between two looks.
 */
function earliestOf({ watched }: Reading, { address_key, latest_at }: Transfer, made_after: number): number {
  return Math.min(latest_at, Math.max(made_after, watched.get(address_key)?.since ?? 0));
}

/** What a payment spends is how its replacement or double spend will be recognised. */
function remember(memory: Memory, { txid, inputs }: Transaction, seen: Omit<SeenPayment, 'inputs'>): void {
  memory.payments.set(txid, { ...seen, inputs });
  for (const input of inputs) memory.spends.set(input, txid);
  trim(memory.payments);
  trim(memory.spends);
}

type Place = Pick<Transfer, 'height' | 'block_hash' | 'earliest_at' | 'latest_at' | 'confirmations'>;

/**
 * Every output to a watched script. A coinbase is no payment: it cannot be spent for 100 blocks, and no wallet
 * pays an invoice with one.
 */
function credits({ watched, chain }: Reading, transaction: Transaction, place: Place): Transfer[] {
  if (transaction.coinbase) return [];
  return transaction.outputs.flatMap(({ script, amount }, index) => {
    if (amount === 0n || !watched.has(script)) return [];
    return {
      chain,
      address_key: script,
      txid: transaction.txid,
      index: String(index),
      amount_atomic: amount,
      memo: null,
      references: [],
      sender: null,
      inputs: transaction.inputs,
      final: false,
      ...place,
    };
  });
}

/** Remembers that a payment seen in the mempool lost what it spends to another transaction. */
function noteConflicts(memory: Memory, { txid, inputs }: Transaction): void {
  for (const input of inputs) {
    const other = memory.spends.get(input);
    if (other !== undefined && other !== txid) memory.conflicted.add(other);
  }
  trim(memory.conflicted);
}
