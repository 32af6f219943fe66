// Asks what became of transfers that are not final: how deep they are, or whether another transaction took their place.
import type { PendingTransfer, TransferUpdate } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { countOf, type Receipt, receiptOf } from './answers.ts';
import { type Assets, assetsOf, isOfCoin } from './assets.ts';
import { creditsIn } from './credits.ts';
import { type EvmCursor, hashAt, headOf, lowestOf } from './cursor.ts';
import { type Asker, askEach, given, readHeaders, receiptCall } from './hosts.ts';
import type { EvmContext } from './memory.ts';
import type { EvmNetwork } from './networks.ts';
import { askerOf, placeIn } from './reading.ts';

/** Blocks below all that are held, and transactions without a block, asked about in one recheck. */
const BLOCKS_PER_RECHECK = 20;
const TRANSACTIONS_PER_RECHECK = 20;
/**
 * Two readings so far apart must show that a transaction is no more, of two providers, or of one that shows it for long: its
 * index may have a hole, and nothing brings back what was given up.
 */
const PROOFS_APART_SECONDS = 60;
const ALONE_SECONDS = 3_600;
/** What is cached of transactions and blocks; with more, counting begins again. */
const CACHE_LIMIT = 10_000;

const nowhere = { height: null, block_hash: null, confirmations: 0 } as const;

/** No request for what stands in blocks that the cursor spans: whatever leaves the chain there is seen when it is read. */
export async function recheckEvm(
  network: EvmNetwork,
  context: EvmContext,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const { memory } = context;
  const { cursor } = memory;
  if (!cursor) return [];
  const asker = askerOf(network, context);
  const onChain = await verifyOld(asker, context, cursor, pending);
  const updates = pending.flatMap((each): TransferUpdate[] => {
    const { txid, index, height, block_hash } = each;
    if (height === null || block_hash === null || height > headOf(cursor)[0]) return [];
    const known = onChain(height, block_hash);
    if (known === null) return [];
    if (!known) return [{ txid, index, state: 'pending', ...nowhere }];
    const { confirmations, final } = placeIn(network, cursor, height);
    return [{ txid, index, state: final ? 'final' : 'pending', height, block_hash, confirmations }];
  });
  return [...updates, ...(await findReplaced(network, context, asker, pending))];
}

/** Whether a block is on the chain that the cursor is on; null where that is not known now. */
async function verifyOld(
  asker: Asker,
  { memory: { verified } }: EvmContext,
  cursor: EvmCursor,
  pending: readonly PendingTransfer[],
): Promise<(height: number, hash: string) => boolean | null> {
  const lowest = lowestOf(cursor);
  if (verified.size > CACHE_LIMIT) verified.clear();
  const old = pending.flatMap(({ height }) => (height !== null && height < lowest ? [height] : []));
  const asked = [...new Set(old)].filter((height) => !verified.has(height)).slice(0, BLOCKS_PER_RECHECK);
  if (asked.length > 0) {
    const headers = (await orFailed(readHeaders(asker, [lowest, ...asked]))) ?? [];
    // Only on the chain that was read can another block at this height be the one that replaced it.
    if (headers[0]?.hash === cursor.held[0]?.[1])
      for (const header of headers.slice(1)) if (header) verified.set(header.height, header.hash);
  }
  return (height, hash) => {
    if (height >= lowest) return (hashAt(cursor, height) ?? hash) === hash;
    const found = verified.get(height);
    return found === undefined ? null : found === hash;
  };
}

/**
 * A transaction in no block is gone when its sender's number was used by another one, and that stands deep: absence alone
 * proves nothing.
 */
async function findReplaced(
  network: EvmNetwork,
  context: EvmContext,
  asker: Asker,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const { memory, now, gateways } = context;
  const { replaced, cursor } = memory;
  if (!network.dialect.has_nonces || !cursor) return [];
  if (replaced.size > CACHE_LIMIT) replaced.clear();
  const waiting = pending.filter(({ height, inputs }) => height === null && inputs.length > 0);
  for (const { txid } of pending.filter(({ height }) => height !== null)) replaced.delete(txid);
  const txids = inTurn([...new Set(waiting.map(({ txid }) => txid))], replaced);
  const updates: TransferUpdate[] = [];
  const [head] = headOf(cursor);
  const assets = assetsOf(network, { gateways, network: context.network });
  for (const txid of txids) {
    const rows = waiting.filter((each) => each.txid === txid);
    const [sender = '', number = '0'] = (rows[0]?.inputs[0] ?? '').split(':');
    const sent = { sender, number: BigInt(number) };
    const found = await orFailed(fateOf(asker, txid, sent));
    if (found === undefined) continue;
    const gone = rows.filter(({ index }) => isLost(found, assets, index));
    if (gone.length === 0) {
      replaced.delete(txid);
      continue;
    }
    const first = replaced.get(txid) ?? { at: now(), height: head };
    replaced.set(txid, first);
    const least = gateways.find(({ chain }) => chain === rows[0]?.chain)?.min_confirmations ?? 0;
    if (now() - first.at < PROOFS_APART_SECONDS || head - first.height < least) continue;
    const other = await orFailed(
      context.askOther?.((rpc) => fateOf(askerOf(network, { ...context, rpc }), txid, sent)) ??
        Promise.resolve(undefined),
    );
    if (
      other === undefined
        ? now() - first.at < ALONE_SECONDS
        : !gone.every((row) => isLost(other, assets, row.index))
    )
      continue;
    const reason =
      found === 'replaced'
        ? `another transaction of ${network.dialect.shown(sender)} has its number, ${number}`
        : 'it was mined again, and pays this no more';
    for (const { index } of gone) updates.push({ txid, index, state: 'gone', ...nowhere, reason });
  }
  return updates;
}

/** Those first that were never asked about. */
const inTurn = (txids: string[], replaced: ReadonlyMap<string, unknown>): string[] =>
  txids
    .sort((one, other) => Number(replaced.has(one)) - Number(replaced.has(other)))
    .slice(0, TRANSACTIONS_PER_RECHECK);

/**
 * What became of a transaction, as one host has it: its receipt where it was mined again, `replaced` where another one of its
 * sender has its number, null where it may still be mined.
 */
async function fateOf(
  asker: Asker,
  txid: string,
  { sender, number }: { sender: string; number: bigint },
): Promise<Receipt | 'replaced' | null> {
  const [answer, used] = await askEach(asker, [
    receiptCall(txid),
    { method: 'eth_getTransactionCount', params: [sender, 'latest'] },
  ]);
  const receipt = receiptOf(given(answer), txid);
  if (receipt) return receipt;
  return countOf(given(used), 'a count of transactions') > number ? 'replaced' : null;
}

/**
 * Whether a payment of it is no more: the same transaction may fail, or pay another, where it is mined a second time. Of an
 * asset that is not read now, only its failure tells.
 */
function isLost(found: Receipt | 'replaced' | null, { logs }: Assets, index: string): boolean {
  if (found === null || found === 'replaced') return found !== null;
  if (found.status !== '0x1') return true;
  const isRead = logs.some(({ name }) => index.startsWith(`${name}:`));
  return isRead && !isOfCoin(index) && !creditsIn(logs, found.logs).some((credit) => credit.index === index);
}
