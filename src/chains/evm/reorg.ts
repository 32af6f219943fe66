// Follows a reorganisation: how far back the chain is another one, and what the blocks that left it had paid.
import {
  type Page,
  type PendingTransfer,
  ProviderError,
  type Transfer,
  type TransferUpdate,
} from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { inTurns } from '../steps.ts';
import { badAnswer, type Header, headerOf, type Log, readFullBlock, readLogs } from './answers.ts';
import { coinIndex, isOfBalance } from './assets.ts';
import { creditsIn, type PlacedCoin, readableTxid } from './credits.ts';
import { beginAt, cutAt, type EvmCursor, type Held, headOf, lowestOf, withCoin } from './cursor.ts';
import { blocksIn } from './depth.ts';
import { askEach, given, readHeaders } from './hosts.ts';
import { fitting } from './ranges.ts';
import { askerOf, type Reading, stored } from './reading.ts';
import { coinsIn } from './whole-blocks.ts';

/** A cursor that is younger than this does not reach down to the fork: so far below it everything is read once more. */
const YOUNG_SECONDS = 3_072;
/** A shorter branch is believed after so long, where no other provider can be asked. */
const SHORTER_SECONDS = 60;
/** A tip so young is no lagging node's, … */
const FRESH_SECONDS = 30;
/** … and what is so far above it was not made yet. */
const LEAD_SECONDS = 150;
/** Blocks that left the chain and are read for what they paid: each is a question of its own, so there are not more of them. */
const ORPHAN_SECONDS = 192;
const [LEAST_ORPHANS, MOST_ORPHANS] = [96, 480];

/**
 * Where what was read is higher than what the provider has, it lags; unless its blocks are others, or are made at this very
 * moment so far below that no network is so fast: then blocks were read that no one made, and the cursor goes back. Where
 * another provider does not have these blocks either that is at once, else after a while. Throws ProviderError.
 */
export async function* followShorter(reading: Reading): AsyncGenerator<Page> {
  const { cursor, tip, context } = reading;
  const { memory, now, blockchain } = context;
  const [head] = headOf(cursor);
  const behind = `the provider is behind: it is at block ${tip.height}, ${head} has been read`;
  if (!(await isOnAnother(reading))) {
    memory.shorter_since = null;
    throw badAnswer(`${behind}; if the chain was reset: gatewayd reread ${blockchain}`);
  }
  const since = Math.min(memory.shorter_since ?? now(), now());
  memory.shorter_since = since;
  if (now() - since < SHORTER_SECONDS && !(await isSharedBelow(reading)))
    throw badAnswer(`${behind}, on another branch`);
  memory.shorter_since = null;
  yield* followFork(reading);
}

/** Whether the provider cannot be behind on the chain that was read. */
async function isOnAnother({ network, cursor, tip, asker, context }: Reading): Promise<boolean> {
  const below = cursor.held.findLast(([height]) => height <= tip.height);
  const [header] = below ? await readHeaders(asker, [below[0]]) : [];
  if (below && header && header.hash !== below[1]) return true;
  const age = context.now() - context.local(tip.time).latest_at;
  const lead = headOf(cursor)[0] - tip.height;
  return age < FRESH_SECONDS && lead > blocksIn(network, cursor, LEAD_SECONDS);
}

/** Whether another provider, too, has no block as high as what was read. */
async function isSharedBelow({ network, cursor, context }: Reading): Promise<boolean> {
  try {
    const [head, hash] = headOf(cursor);
    return (
      (await context.askOther?.(async (rpc) => {
        const [header] = await readHeaders(askerOf(network, { ...context, rpc }), [head]);
        return header?.hash !== hash;
      })) ?? false
    );
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}

/** Cuts the cursor back to where it agrees with the provider's chain. Throws ProviderError where that is nowhere. */
export async function* followFork(reading: Reading): AsyncGenerator<Page> {
  const { cursor, context, request } = reading;
  const [head] = headOf(cursor);
  const pending = await request.pending();
  // What is older than all that was read is asked about on its own.
  const placed = pending.flatMap(({ height, block_hash }): Held[] =>
    height !== null && block_hash !== null && height <= head && height >= lowestOf(cursor)
      ? [[height, block_hash]]
      : [],
  );
  const { final, final_hash } = cursor;
  const called_final: Held[] = final_hash === undefined ? [] : [[final, final_hash]];
  const known = distinct([...cursor.held, ...cursor.paid, ...called_final, ...placed]);
  const { agreed, orphaned } = await agreedWith(reading, known);
  if (orphaned.length === 0) throw badAnswer('the chain changed while it was being read');
  const cut = agreed ? cutAt(cursor, agreed) : await beginBelow(reading);
  const after = withCoin(cut, reading.assets.coin !== null);
  const fork = headOf(after)[0];
  const { memory } = context;
  await noteExpiries(reading, pending, orphaned);
  const orphaned_transfers = await readOrphans(reading, orphaned, fork);
  memory.marks = memory.marks.filter(({ height }) => height <= fork);
  memory.verified.clear();
  memory.has_fallen = true;
  memory.looks = [];
  const orphaned_blocks = orphaned.map(([, hash]) => hash);
  // Few of the blocks above the fork are held, and the others may still be on the chain.
  const has_left = fork < final && orphaned.some(([height]) => height <= final);
  const broken = has_left && { final_left: { from: fork + 1, to: final } };
  yield* stored(reading, { transfers: [], orphaned_blocks, orphaned_transfers, ...broken }, after);
  // What was final in those blocks waits again, too.
  for (const { txid } of await request.pending()) reading.displaced.add(txid);
  yield* dropGains(reading);
}

/** Until when what stood in these blocks can be mined again: a node has them for a while. */
async function noteExpiries(
  { network, asker, context: { memory } }: Reading,
  pending: readonly PendingTransfer[],
  orphaned: readonly Held[],
): Promise<void> {
  for (const [, hash] of orphaned) {
    const here = pending.filter(({ block_hash, index }) => block_hash === hash && !isOfBalance(index));
    if (here.length === 0 || !network.expiries) continue;
    const expiries = await orFailed(network.expiries(asker.rpc, hash));
    for (const { txid } of here) {
      const until = expiries?.get(txid);
      if (until !== undefined) memory.expiries.set(txid, until);
    }
  }
}

/** Increases whose block left the chain are gone: they are known by it alone. */
export async function* dropGains(reading: Reading): AsyncGenerator<Page> {
  const waiting = await reading.request.pending();
  const updates = waiting.flatMap(({ txid, index, height }): TransferUpdate[] =>
    height === null && isOfBalance(index) ? [{ txid, index, ...lost }] : [],
  );
  if (updates.length > 0) yield* stored(reading, { transfers: [], updates }, reading.cursor);
}

const lost = {
  state: 'gone',
  confirmations: 0,
  height: null,
  block_hash: null,
  reason: 'its block left the chain; what the new blocks pay is listed of them',
} satisfies Partial<TransferUpdate>;

const distinct = (blocks: readonly Held[]): Held[] => [
  ...new Map(blocks.map((each) => [`${each[0]} ${each[1]}`, each])).values(),
];

/** The newest of these blocks that is on the provider's chain, and those above it that are not. */
async function agreedWith(
  { asker, tip }: Reading,
  known: readonly Held[],
): Promise<{ agreed: Held | null; orphaned: Held[] }> {
  const heights = [...new Set(known.map(([height]) => height))].sort((one, other) => other - one);
  const orphaned: Held[] = [];
  for (let at = 0, count = 1; at < heights.length; at += count, count *= 2) {
    const asked = heights.slice(at, at + count);
    const headers = await readHeaders(asker, asked);
    for (const [position, height] of asked.entries()) {
      const header = headers[position];
      if (!header && height <= tip.height) throw badAnswer(`the provider has no block ${height}`);
      const here = known.filter(([each]) => each === height);
      const agreed = here.find(([, hash]) => hash === header?.hash);
      orphaned.push(...here.filter((each) => each !== agreed));
      if (agreed) return { agreed, orphaned };
    }
  }
  return { agreed: null, orphaned };
}

async function beginBelow({ network, cursor, asker, context }: Reading): Promise<EvmCursor> {
  const lowest = lowestOf(cursor);
  const young = blocksIn(network, cursor, YOUNG_SECONDS);
  if (headOf(cursor)[0] - lowest >= young) {
    const remedy = `if it was reset or reorganised so deeply: gatewayd reread ${context.blockchain}`;
    throw badAnswer(`none of the blocks read is on the provider's chain; ${remedy}`);
  }
  const height = Math.max(0, lowest - young);
  const [header] = await readHeaders(asker, [height]);
  if (!header) throw badAnswer(`block ${height} cannot be read: the provider keeps no history so far back`);
  return beginAt(height, header.hash, header.time);
}

/**
 * What the blocks that left the chain had paid, as far as the provider still has them: what was read before its address was
 * watched is older than any invoice of that watch, wherever it is mined again.
 */
async function readOrphans(reading: Reading, orphaned: readonly Held[], fork: number): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  const read = new Set<string>();
  const wanted = blocksIn(reading.network, reading.cursor, ORPHAN_SECONDS);
  const most = Math.min(MOST_ORPHANS, Math.max(LEAST_ORPHANS, wanted));
  for (const [, top] of [...orphaned].sort(([one], [other]) => other - one)) {
    for (let hash: string | null = top; hash !== null && !read.has(hash) && read.size < most; ) {
      read.add(hash);
      const orphan = await readOrphan(reading, hash);
      if (!orphan) break;
      transfers.push(...creditsOfOrphan(reading, orphan));
      hash = orphan.block.height > fork + 1 ? orphan.block.parent : null;
    }
  }
  return transfers;
}

interface Orphan {
  block: Header;
  logs: Log[];
  coins: PlacedCoin[];
}

/** Null where the provider has forgotten it. */
async function readOrphan({ asker, filters, assets }: Reading, hash: string): Promise<Orphan | null> {
  const full = assets.coin !== null && assets.coin.by.found_by !== 'source';
  const calls = [
    { method: 'eth_getBlockByHash', params: [hash, full] },
    ...fitting(asker, filters).map((filter) => ({
      method: 'eth_getLogs',
      params: [{ ...filter, blockHash: hash }],
    })),
  ];
  try {
    const [answer, ...listed] = await askEach(asker, calls);
    const whole = full ? await inTurns(asker.rpc, readFullBlock(given(answer), hash)) : null;
    const block = full ? whole : headerOf(given(answer), hash);
    if (block?.hash !== hash) return null;
    // A node that lacks the block refuses; whatever else stands in the way is no answer.
    const logs: Log[] = [];
    for (const each of listed) {
      if (each instanceof ProviderError && each.kind === 'rpc') continue;
      for (const log of await inTurns(asker.rpc, readLogs(given(each))))
        if (log.blockHash === hash) logs.push(log);
    }
    return { block, logs, coins: whole ? coinsIn(whole) : [] };
  } catch (error) {
    if (error instanceof ProviderError && (error.kind === 'rpc' || error.kind === 'bad_answer')) return null;
    throw error;
  }
}

/** Made before its address was watched, where it is not stored. */
function creditsOfOrphan(
  { network: { dialect }, assets, watched, context: { local } }: Reading,
  { block: { time }, logs, coins }: Orphan,
): Transfer[] {
  const of_coin = coins.map(({ txid, from, to, amount }) => ({
    txid,
    credit: { chain: assets.coin?.chain as string, index: coinIndex(to), from, to, amount },
  }));
  const of_logs = [...new Set(logs.map(({ transactionHash }) => transactionHash))].flatMap((txid) => {
    const own = logs.filter(({ transactionHash }) => transactionHash === txid);
    const ordered = own.toSorted((one, other) => one.logIndex - other.logIndex);
    return creditsIn(assets.logs, ordered).map((credit) => ({ txid, credit }));
  });
  return [...of_coin, ...of_logs].flatMap(({ txid, credit: { chain, index, from, to, amount } }) => {
    const watch = watched.get(to);
    if (!watch || amount === 0n || from === to) return [];
    // What is younger than its watch was read while that lasted: it can only have been left out, and is read where it stands.
    if (local(time).latest_at >= watch.since) return [];
    const before = watch.since - 1;
    return [
      {
        chain,
        address_key: to,
        txid: readableTxid(dialect, txid),
        index,
        amount_atomic: amount,
        memo: null,
        references: [],
        sender: dialect.shown(from),
        height: null,
        block_hash: null,
        inputs: [],
        confirmations: 0,
        final: false,
        earliest_at: before,
        latest_at: before,
      },
    ];
  });
}
