// What one reading carries along: who is watched, what was proved before it, and what it has been shown since.
import type { PendingTransfer, ReadRequest, StoredProof } from '../family.ts';
import type { Header } from './block.ts';
import { type BlockTip, type Memory, notePending, type UtxoContext } from './memory.ts';
import { type Coin, workRules } from './networks.ts';
import { badAnswer, type Listing, readable, type Source, type Watched } from './source.ts';
import { checkWork, type WorkRules } from './work.ts';

/** How far a block's time may be ahead of the true time: nodes refuse more. */
export const CLOCK_SKEW_SECONDS = 7200;
/** A main network has never been without a block for so long. */
const STALE_SECONDS = 10_800;
/** Readings so close to each other tell when a block came … */
const ARRIVED_SECONDS = 120;
/** … and the youngest block that came in so long a time how far our clock is ahead. */
const ARRIVALS_SECONDS = 3600;
/** A tip that is older than this shows a provider that is behind rather than a clock that is ahead: one in 400 is by chance. */
const UNMEASURED_MOST_SECONDS = 3600;

export interface Reading {
  source: Source;
  context: UtxoContext;
  memory: Memory;
  coin: Coin;
  rules: WorkRules;
  /** Gateway id of the coin. */
  chain: string;
  /** Unix seconds. */
  started_at: number;
  watched: Watched;
  /** Scripts that cannot wait. */
  urgent: readonly string[];
  /** Scripts whose stored proof is behind the rest. */
  behind: ReadonlyMap<string, StoredProof>;
  /** What earlier readings proved of all others, Unix seconds; 0 where nothing is proved. */
  proved_through: number;
  /** What was pending when it began, and of that what stood in no block, by script. */
  pending: readonly PendingTransfer[];
  unconfirmed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Payments that this reading showed to be gone. */
  gone: Set<string>;
  /** What was listed in this reading, in its order. */
  lists: Listing[];
}

/** Null where the coin itself is not read. */
export async function openReading(
  coin: Coin,
  source: Source,
  context: UtxoContext,
  request: ReadRequest,
): Promise<Reading | null> {
  const chain = context.gateways.find((gateway) => !gateway.is_token)?.chain;
  if (chain === undefined) return null;
  const { memory } = context;
  const pending = await request.pending();
  memory.is_whole = false;
  // Reading begins again: what was mined is what is stored as mined.
  if (request.cursor === null) {
    memory.mined.clear();
    memory.ring = null;
  }
  notePending(memory, pending);
  const unconfirmed = new Map<string, Set<string>>();
  for (const { address_key, txid, block_hash } of pending)
    if (block_hash === null)
      unconfirmed.set(address_key, (unconfirmed.get(address_key) ?? new Set()).add(txid));
  const behind = (await request.behind()).filter((proof) => proof.chain === chain);
  const urgent = (await request.urgent()).filter((account) => account.chain === chain);
  return {
    source,
    context,
    memory,
    coin,
    rules: await rulesFor(coin, source, context),
    chain,
    started_at: context.now(),
    watched: await watchedOf(request),
    urgent: [...new Set(urgent.map(({ address_key }) => address_key))],
    behind: new Map(behind.map((proof) => [proof.address_key, proof])),
    proved_through: ofThisClock(request.read_through ?? 0, context.now()),
    pending,
    unconfirmed,
    gone: new Set(),
    lists: [],
  };
}

/** A proof of a time to come was stated by a clock that was ahead: it tells nothing of when payments were made. */
const ofThisClock = (proved: number, now: number): number => (proved > now ? 0 : proved);

export const watchedOf = async (request: ReadRequest): Promise<Watched> =>
  new Map((await request.addresses()).map((each) => [each.key, each]));

/** How blocks are proved where this provider reads. Test networks are recognised by their first block. */
export async function rulesFor(
  coin: Coin,
  source: Source,
  { network, memory }: Pick<UtxoContext, 'network' | 'memory'>,
): Promise<WorkRules> {
  if (network === 'testnet') memory.genesis ??= await source.hashAt(0);
  return workRules(coin, network, memory.genesis ?? coin.main.genesis);
}

/** Throws ProviderError where the header is not proved by work, or is of a time to come. */
export function checkHeader(
  { context, memory, rules }: Pick<Reading, 'context' | 'memory' | 'rules'>,
  header: Header,
): void {
  try {
    readable(context.rpc, `block ${header.hash}`, () => checkWork(rules, header));
  } catch (error) {
    // Which network this is may have been a false answer too.
    memory.genesis = null;
    throw error;
  }
  if (header.time > context.now() + CLOCK_SKEW_SECONDS)
    throw badAnswer(context.rpc, `block ${header.hash} is of a time to come`);
}

/** The header that the provider has at this height, proved by its own work. */
export async function headerAt(reading: Reading, height: number): Promise<Header> {
  const header = await reading.source.header(await reading.source.hashAt(height));
  checkHeader(reading, header);
  return header;
}

/** The provider's tip. One of a time to come is refused, and on a main network one that is hours old. */
export async function readTip({ source, context, memory }: Reading): Promise<BlockTip> {
  const tip = await source.tip();
  const now = context.now();
  const either = "the provider's clock, or this machine's, is wrong";
  if (tip.time > now + CLOCK_SKEW_SECONDS)
    throw badAnswer(context.rpc, `the tip is ${tip.time - now} seconds ahead of now: ${either}`);
  const isStale = tip.time < now - STALE_SECONDS;
  if (context.network === 'mainnet' && isStale)
    throw badAnswer(
      context.rpc,
      `the tip is ${now - tip.time} seconds old: the provider is stuck, or ${either}`,
    );
  noteTip(memory, tip, now);
  const least = memory.arrivals.reduce((age, each) => Math.min(age, each.age_seconds), Infinity);
  // Until a block has come, the age of the newest one is the most that is known.
  const age = now - tip.time;
  const unmeasured = age <= UNMEASURED_MOST_SECONDS || isStale ? age : 0;
  memory.ahead_seconds = Math.max(0, Number.isFinite(least) ? least : unmeasured);
  return tip;
}

/**
 * A block that came between two readings was just found: how old it is by our clock shows how far that is ahead, the
 * clocks of miners aside. Nothing else does for who reads no chain that keeps time.
 */
function noteTip(memory: Memory, { hash, time }: BlockTip, now: number): void {
  const { seen_tip } = memory;
  const hasCome = seen_tip !== null && seen_tip.hash !== hash && now - seen_tip.at <= ARRIVED_SECONDS;
  memory.arrivals = memory.arrivals.filter(({ at }) => at <= now && now - at <= ARRIVALS_SECONDS);
  if (hasCome) memory.arrivals.push({ at: now, age_seconds: now - time });
  memory.seen_tip = { hash, at: now };
}
