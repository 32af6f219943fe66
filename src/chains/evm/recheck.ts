// Asks what became of transfers that are not final: how deep they are, or whether another transaction took their place.
import { type PendingTransfer, ProviderError, type TransferUpdate } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { inTurns } from '../steps.ts';
import { countOf, type Header, headerOf, type Receipt, readFullBlock, readReceipt } from './answers.ts';
import { type Assets, assetsOf, isOfCoin } from './assets.ts';
import { creditsIn } from './credits.ts';
import { type EvmCursor, type Held, hashAt, headOf, heldAbove } from './cursor.ts';
import { blocksIn, placer } from './depth.ts';
import {
  type Asker,
  askAll,
  askEach,
  askOfOne,
  blockCall,
  given,
  heightsOf,
  hex,
  readHeaders,
  receiptCall,
} from './hosts.ts';
import type { EvmContext, Memory } from './memory.ts';
import type { EvmNetwork } from './networks.ts';
import { askerOf } from './reading.ts';

/** Blocks that are not held, and transactions without a block, asked about in one recheck. */
const BLOCKS_PER_RECHECK = 20;
const TRANSACTIONS_PER_RECHECK = 20;
/** A block that is not held is followed from hash to hash over so many, which is what a few polls find. */
const LINKED_BLOCKS = 64;
/**
 * Two readings so far apart must show that a transaction is no more, of two providers; or of one that has the transaction
 * which took its place, or shows it for long: its index may have a hole, and nothing brings back what was given up.
 */
const PROOFS_APART_SECONDS = 60;
const ALONE_SECONDS = 3_600;
/** So many blocks have their state stored by most nodes: among them it is looked for what took its place. */
const STATE_BLOCKS = 120;
/** What is cached of transactions and blocks; with more, counting begins again. */
const CACHE_LIMIT = 10_000;

const nowhere = { height: null, block_hash: null, confirmations: 0, depth_seconds: null } as const;

/** No request for what stands in blocks whose hashes the cursor holds: whatever leaves the chain there is seen when it is read. */
export async function recheckEvm(
  network: EvmNetwork,
  context: EvmContext,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const { memory } = context;
  const { cursor } = memory;
  if (!cursor) return [];
  const asker = askerOf(network, context);
  const onChain = await verifyUnheld(asker, context, cursor, pending);
  const place = placer(network, cursor);
  const updates = pending.flatMap((each): TransferUpdate[] => {
    const { txid, index, height, block_hash } = each;
    if (height === null || block_hash === null || height > headOf(cursor)[0]) return [];
    const known = onChain(height, block_hash);
    if (known === null) return [];
    if (!known) return [{ txid, index, state: 'pending', ...nowhere }];
    // Of one that was asked for its own time is known, which may be long before that of the next one that is held.
    const asked = memory.verified.get(height);
    const { final, ...depth } = place(height, asked?.hash === block_hash ? asked.time : undefined);
    return [{ txid, index, state: final ? 'final' : 'pending', height, block_hash, ...depth }];
  });
  return [...updates, ...(await findReplaced(network, context, asker, pending))];
}

/**
 * Whether a block is on the chain that the cursor is on; null where that is not known now. One that is not held is followed
 * from hash to hash up to the next one above it that is: on its own it may be of any branch. Where that is too far, it must be
 * the same one a while later.
 */
async function verifyUnheld(
  asker: Asker,
  { memory: { verified, seen_once, tried }, now }: EvmContext,
  cursor: EvmCursor,
  pending: readonly PendingTransfer[],
): Promise<(height: number, hash: string) => boolean | null> {
  for (const cache of [verified, seen_once, tried]) if (cache.size > CACHE_LIMIT) cache.clear();
  const [head] = headOf(cursor);
  const unheld = pending.flatMap(({ height }) =>
    height !== null && height < head && hashAt(cursor, height) === undefined ? [height] : [],
  );
  const isWaiting = (height: number) => {
    const first = seen_once.get(height);
    return first !== undefined && first.at <= now() && now() - first.at < PROOFS_APART_SECONDS;
  };
  // What cannot be known now keeps no other from its turn.
  const triesOf = (height: number) => tried.get(height) ?? 0;
  const asked = [...new Set(unheld)]
    .filter((height) => !verified.has(height) && !isWaiting(height))
    .sort((one, other) => triesOf(one) - triesOf(other))
    .slice(0, BLOCKS_PER_RECHECK);
  const wanted = asked.flatMap((height) => {
    const [top] = heldAbove(cursor, height);
    return isNear(height, top) ? heightsOf(height, top) : [height, top];
  });
  const found = (await orFailed(headersIn(asker, [...new Set(wanted)]))) ?? new Map<number, Header>();
  for (const height of asked) {
    tried.set(height, triesOf(height) + 1);
    const [top, hash] = heldAbove(cursor, height);
    const header = isNear(height, top)
      ? linked(found, height, [top, hash])
      : found.get(top)?.hash === hash && found.get(height);
    if (!header) continue;
    const first = seen_once.get(height);
    if (isNear(height, top) || (first?.hash === header.hash && now() - first.at >= PROOFS_APART_SECONDS))
      verified.set(height, header);
    else if (first?.hash !== header.hash || first.at > now())
      seen_once.set(height, { hash: header.hash, at: now() });
  }
  return (height, hash) => {
    const known = hashAt(cursor, height) ?? verified.get(height)?.hash;
    return known === undefined ? null : known === hash;
  };
}

/** Those of these blocks that the provider has, and that can be read: one that is refused keeps no other. */
async function headersIn(asker: Asker, heights: readonly number[]): Promise<Map<number, Header>> {
  const answers = await askEach(
    asker,
    heights.map((height) => blockCall(height)),
  );
  const found = new Map<number, Header>();
  for (const [at, height] of heights.entries()) {
    const answer = answers[at];
    const header = answer instanceof ProviderError ? null : headerOf(answer, height);
    if (header) found.set(height, header);
  }
  return found;
}

const isNear = (height: number, top: number): boolean => top - height <= LINKED_BLOCKS;

/** The block of this height that each of those above it follows, up to one that is held. */
function linked(found: ReadonlyMap<number, Header>, height: number, [top, hash]: Held): Header | undefined {
  let expected = hash;
  for (let at = top; ; at--) {
    const header = found.get(at);
    if (header?.hash !== expected) return undefined;
    if (at === height) return header;
    expected = header.parent;
  }
}

/**
 * A transaction in no block is gone when its sender's number was used by another one, or its time is over, and that stands
 * deep: absence alone proves nothing.
 */
async function findReplaced(
  network: EvmNetwork,
  context: EvmContext,
  asker: Asker,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const { memory, now, gateways } = context;
  const { replaced, cursor } = memory;
  if (!cursor) return [];
  for (const cache of [replaced, memory.expiries]) if (cache.size > CACHE_LIMIT) cache.clear();
  const waiting = pending.filter((each) => each.height === null && boundOf(each, memory) !== null);
  for (const { txid } of pending.filter(({ height }) => height !== null)) {
    replaced.delete(txid);
    memory.expiries.delete(txid);
  }
  const txids = inTurn([...new Set(waiting.map(({ txid }) => txid))], replaced);
  const updates: TransferUpdate[] = [];
  const [head, , time] = headOf(cursor);
  const place = placer(network, cursor);
  const least = blocksIn(network, cursor, network.final.depth_seconds / 2);
  const assets = assetsOf(network, { gateways, network: context.network });
  for (const txid of txids) {
    const rows = waiting.filter((each) => each.txid === txid);
    const bound = boundOf(rows[0] as PendingTransfer, memory) as Bound;
    const found = await orFailed(fateOf(asker, txid, bound));
    if (found === undefined) continue;
    const gone = rows.filter(({ index }) => isLost(found, assets, index));
    if (gone.length === 0) {
      replaced.delete(txid);
      continue;
    }
    const by = replaced.has(txid) ? undefined : await orFailed(replacementOf(asker, txid, bound, head));
    const first = replaced.get(txid) ?? { at: now(), height: head, time, by: by ?? null };
    replaced.set(txid, first);
    const { depth_seconds } = place(first.height, first.time);
    if (now() - first.at < PROOFS_APART_SECONDS || head - first.height < least) continue;
    if ((depth_seconds ?? 0) < network.final.depth_seconds) continue;
    const other = await orFailed(
      context.askOther?.((rpc) => fateOf(askerOf(network, { ...context, rpc }), txid, bound)) ??
        Promise.resolve(undefined),
    );
    if (
      other === undefined
        ? now() - first.at < ALONE_SECONDS && !(await stands(asker, first.by))
        : !gone.every((row) => isLost(other, assets, row.index))
    )
      continue;
    const reason = found === 'over' ? reasonOf(network, bound) : 'it was mined again, and pays this no more';
    for (const { index } of gone) updates.push({ txid, index, state: 'gone', ...nowhere, reason });
  }
  return updates;
}

/** Those first that were never asked about. */
const inTurn = (txids: string[], replaced: ReadonlyMap<string, unknown>): string[] =>
  txids
    .sort((one, other) => Number(replaced.has(one)) - Number(replaced.has(other)))
    .slice(0, TRANSACTIONS_PER_RECHECK);

/** What proves that a transaction in no block never will be in one: its number of its sender is used, or its time is over. */
type Bound = { sender: string; number: bigint } | { until: number };

function boundOf({ txid, inputs }: PendingTransfer, { expiries }: Memory): Bound | null {
  const until = expiries.get(txid);
  if (until !== undefined) return { until };
  const [sender = '', number] = inputs[0]?.split(':') ?? [];
  return number === undefined ? null : { sender, number: BigInt(number) };
}

const reasonOf = ({ dialect }: EvmNetwork, bound: Bound): string =>
  'until' in bound
    ? 'its block left the chain, and the time in which it could be in another one is over'
    : `another transaction of ${dialect.shown(bound.sender)} has its number, ${bound.number}`;

/**
 * What became of a transaction, as one host has it: its receipt where it was mined again, `over` where it never will be, null
 * where it may still be.
 */
async function fateOf(asker: Asker, txid: string, bound: Bound): Promise<Receipt | 'over' | null> {
  const asked = `0x${txid.replace(/^0x/, '')}`;
  const [answer, other] = await askOfOne(asker, [
    receiptCall(asked),
    'until' in bound
      ? blockCall('finalized')
      : { method: 'eth_getTransactionCount', params: [bound.sender, 'latest'] },
  ]);
  const receipt = await inTurns(asker.rpc, readReceipt(given(answer), asked));
  if (receipt) return receipt;
  const is_over =
    'until' in bound
      ? (headerOf(given(other), 'finalized')?.time ?? 0) > bound.until
      : countOf(given(other), 'a count of transactions') > bound.number;
  return is_over ? 'over' : null;
}

/** The block with another transaction of the same sender and number, found by halves; null where none is found. */
async function replacementOf(asker: Asker, txid: string, bound: Bound, head: number): Promise<Held | null> {
  if ('until' in bound) return null;
  const { sender, number } = bound;
  const isUsedAt = async (height: number) => {
    const params = [sender, hex(height)];
    const [answer] = await askAll(asker, [{ method: 'eth_getTransactionCount', params }]);
    return countOf(answer, 'a count of transactions') > number;
  };
  let [low, high] = [Math.max(0, head - STATE_BLOCKS), head];
  if (!(await isUsedAt(high)) || (await isUsedAt(low))) return null;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await isUsedAt(middle)) high = middle;
    else low = middle;
  }
  const [answer] = await askAll(asker, [blockCall(high, true)]);
  const block = await inTurns(asker.rpc, readFullBlock(answer, high));
  const asked = `0x${txid.replace(/^0x/, '')}`;
  const other = block?.transactions.find(({ from, nonce }) => from === sender && nonce === number);
  return block && other && other.hash !== asked ? [block.height, block.hash] : null;
}

async function stands(asker: Asker, block: Held | null): Promise<boolean> {
  if (block === null) return false;
  const [header] = (await orFailed(readHeaders(asker, [block[0]]))) ?? [];
  return header?.hash === block[1];
}

/**
 * Whether a payment of it is no more: the same transaction may fail, or pay another, where it is mined a second time. Of an
 * asset that is not read now, only its failure tells.
 */
function isLost(found: Receipt | 'over' | null, { logs }: Assets, index: string): boolean {
  if (found === null || found === 'over') return found !== null;
  if (found.status !== '0x1') return true;
  const isRead = logs.some(({ name }) => index.startsWith(`${name}:`));
  return isRead && !isOfCoin(index) && !creditsIn(logs, found.logs).some((credit) => credit.index === index);
}
