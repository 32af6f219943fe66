// Asks what became of transfers that are not final: how deep they are, or whether they are gone.
import type { PendingTransfer, TransferUpdate } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { hashIn, lowestHeight, type Ring } from './cursor.ts';
import type { Memory, UtxoContext } from './memory.ts';
import { creditsOf, goneUpdate, transferOf } from './payments.ts';
import type { Source } from './source.ts';

/** Old blocks whose place is asked for in one recheck; newer ones are known from reading. */
const BLOCKS_PER_RECHECK = 20;
/** Outputs whose spender is asked for in one recheck, in turns. */
const OUTPUTS_PER_RECHECK = 10;
/** What no list has shown for so long after the time of its invoice is given up. */
const GIVEN_UP_SECONDS = 24 * 3600;

export async function recheckTransfers(
  source: Source,
  context: UtxoContext,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const { memory } = context;
  if (!memory.ring) return [];
  const mined = pending.filter((each) => each.block_hash !== null);
  const waiting = pending.filter((each) => each.block_hash === null);
  return [
    ...(await recheckMined(source, memory, memory.ring, mined)),
    ...(await recheckWaiting(source, context, memory, waiting)),
  ];
}

interface MinedPlace {
  height: number;
  block_hash: string;
  confirmations: number;
}

const stillPending = ({ txid, index }: PendingTransfer, place: MinedPlace | null = null): TransferUpdate => ({
  txid,
  index,
  state: 'pending',
  ...(place ?? { height: null, block_hash: null, confirmations: 0 }),
});

/** How deep the transfers are that stand in blocks of the ring; those whose block left it lose their place. */
export function placesInRing(ring: Ring, pending: readonly PendingTransfer[]): TransferUpdate[] {
  return pending.flatMap((each) => {
    const { height, block_hash } = each;
    if (height === null || block_hash === null) return [];
    if (height > ring.height || height < lowestHeight(ring)) return [];
    // Ours was orphaned: it waits in the mempool again, or is gone; the next readings will show which.
    const isThere = hashIn(ring, height) === block_hash;
    const place = { height, block_hash, confirmations: ring.height - height + 1 };
    return stillPending(each, isThere ? place : null);
  });
}

/** No request for blocks of the ring. Confirmations are counted in blocks that were read, and by no one's word. */
async function recheckMined(
  source: Source,
  { is_whole }: Memory,
  ring: Ring,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const updates = placesInRing(ring, pending);
  const hashes = new Map<number, string | undefined>();
  let isSameChain: boolean | undefined;
  for (const each of pending) {
    const { height, block_hash } = each as PendingTransfer & { height: number; block_hash: string };
    if (height > ring.height) {
      // Where all blocks there are have been read, one above them is on no chain any more.
      if (is_whole) updates.push(stillPending(each));
      continue;
    }
    if (height >= lowestHeight(ring)) continue;
    const place = { height, block_hash, confirmations: ring.height - height + 1 };
    if (!hashes.has(height)) {
      if (hashes.size === BLOCKS_PER_RECHECK) continue;
      hashes.set(height, await orFailed(source.hashAt(height)));
    }
    const hash = hashes.get(height);
    if (hash === undefined) continue;
    // Only on the chain that was read does it tell anything that ours is at this height, or another one in its place.
    isSameChain ??= (await orFailed(source.hashAt(lowestHeight(ring)))) === ring.hashes[0];
    if (isSameChain) updates.push(stillPending(each, hash === block_hash ? place : null));
  }
  return updates;
}

/**
 * A payment that is missing from its list is gone when another transaction spends its money, or when no provider has
 * had it for a day after the time of its invoice. Until then nothing is known of it.
 */
async function recheckWaiting(
  source: Source,
  { now, gateways }: UtxoContext,
  memory: Memory,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const missing = new Map(
    pending.flatMap((each): [string, PendingTransfer][] =>
      memory.absent.has(each.txid) && !memory.mined.has(each.txid) ? [[each.txid, each]] : [],
    ),
  );
  const lost = await findSpenders(source, memory, missing, now());
  for (const [txid, { chain }] of missing) {
    const absent_seconds = now() - (memory.absent.get(txid) ?? now());
    const ttl_seconds = gateways.find((gateway) => gateway.chain === chain)?.payment_ttl_seconds ?? 0;
    if (lost.has(txid) || absent_seconds < ttl_seconds + GIVEN_UP_SECONDS) continue;
    if ((await orFailed(source.locate(txid))) === null)
      lost.set(txid, { reason: 'no provider has had it for a day' });
  }
  return pending.flatMap((each) => {
    const { reason, replaced_by } = lost.get(each.txid) ?? {};
    if (reason !== undefined)
      return { ...goneUpdate(each.txid, each.index, reason), ...(replaced_by && { replaced_by }) };
    return missing.has(each.txid) || memory.mined.has(each.txid) ? [] : stillPending(each);
  });
}

type Lost = Pick<TransferUpdate, 'reason' | 'replaced_by'>;

/**
 * By txid, which transaction spends what it spends, and what that pays to the same address: a fee bump that no list has
 * shown yet. Inputs are asked for in turns.
 */
async function findSpenders(
  source: Source,
  memory: Memory,
  missing: ReadonlyMap<string, PendingTransfer>,
  now: number,
): Promise<Map<string, Lost>> {
  const lost = new Map<string, Lost>();
  const outputs = [...missing.values()].flatMap(({ txid, inputs }) =>
    inputs.map((input) => ({ txid, input, turn: `${input} ${txid}` })),
  );
  outputs.sort((a, b) => (a.turn < b.turn ? -1 : 1));
  const from = outputs.findIndex(({ turn }) => turn > memory.last_output);
  const inTurn = from < 1 ? outputs : [...outputs.slice(from), ...outputs.slice(0, from)];
  for (const { txid, input, turn } of inTurn.slice(0, OUTPUTS_PER_RECHECK)) {
    memory.last_output = turn;
    if (lost.has(txid)) continue;
    const spender = await orFailed(source.spender(input));
    if (!spender || spender.txid === txid || !spender.inputs.includes(input)) continue;
    const { chain, address_key } = missing.get(txid) as PendingTransfer;
    const unplaced = { height: null, block_hash: null, confirmations: 0, earliest_at: now, latest_at: now };
    const credits = creditsOf(spender, new Set([address_key]));
    lost.set(txid, {
      reason: `transaction ${spender.txid} spends the same`,
      replaced_by: credits.map((credit) => transferOf(chain, spender, { ...credit, ...unplaced })),
    });
  }
  return lost;
}
