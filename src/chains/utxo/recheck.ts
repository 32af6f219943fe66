// Asks what became of transfers that are not final: how deep they are, or whether they are gone.
import type { PendingTransfer, ReadContext, Tip, TransferUpdate } from '../chain.ts';
import { hashIn, headOf, lowestHeight } from './cursor.ts';
import { type Memory, memoryIn, type Presence, type Source, trim } from './source.ts';

/** Old blocks looked up in one recheck; newer ones are known from reading. */
const BLOCKS_PER_RECHECK = 20;
/** How long a transaction must be missing before it counts as dropped, unless its money is seen spent elsewhere. */
const ABSENT_SECONDS = 60;

export async function recheckTransfers(
  source: Source,
  context: ReadContext,
  pending: readonly PendingTransfer[],
  tip: Tip | null,
): Promise<TransferUpdate[]> {
  if (!tip) return [];
  const memory = memoryIn(context.cache);
  const mined = pending.filter((each) => each.block_hash !== null);
  const waiting = pending.filter((each) => each.block_hash === null);
  return [
    ...(await recheckMined(source, memory, mined, tip)),
    ...(await recheckWaiting(source, memory, waiting, tip, context.now())),
  ];
}

const update = (
  { txid, index }: PendingTransfer,
  state: TransferUpdate['state'],
  place: { height: number; block_hash: string; confirmations: number } | null = null,
): TransferUpdate => ({
  txid,
  index,
  state,
  ...(place ?? { height: null, block_hash: null, confirmations: 0 }),
});

/** No request for blocks of the ring. Confirmations are counted only in a chain known to hold the block. */
async function recheckMined(
  source: Source,
  memory: Memory,
  pending: PendingTransfer[],
  tip: Tip,
): Promise<TransferUpdate[]> {
  const updates: TransferUpdate[] = [];
  const asked = new Map<number, string>();
  for (const each of pending) {
    const { height, block_hash } = each as PendingTransfer & { height: number; block_hash: string };
    if (height > tip.height) continue;
    const place = { height, block_hash, confirmations: tip.height - height + 1 };
    const ring = memory.ring;
    if (ring && height >= lowestHeight(ring)) {
      if (height > ring.height) continue;
      // Ours was orphaned: it waits in the mempool again, or is gone; the next recheck will tell.
      updates.push(update(each, 'pending', hashIn(ring, height) === block_hash ? place : null));
      continue;
    }
    if (!asked.has(height)) {
      if (asked.size === BLOCKS_PER_RECHECK) continue;
      asked.set(height, await source.hashAt(height));
    }
    // A difference is left alone: this provider may be on another branch. Reading finds reorganisations.
    if (asked.get(height) === block_hash) updates.push(update(each, 'pending', place));
  }
  return updates;
}

async function recheckWaiting(
  source: Source,
  memory: Memory,
  pending: PendingTransfer[],
  tip: Tip,
  now: number,
): Promise<TransferUpdate[]> {
  if (pending.length === 0) return [];
  const presences = await source.presence(pending);
  const gone = await findGone(source, memory, presences, now);
  return pending.flatMap((each) => {
    const presence = presences.get(each.txid);
    if (presence?.in === 'mempool') return update(each, 'pending');
    if (gone.has(each.txid)) return update(each, 'gone');
    if (presence?.in !== 'block') return [];
    // Confirmed beyond what has been read: its page is still to come.
    const { height, hash } = presence;
    if (!memory.ring || hashIn(memory.ring, height) !== hash || height > tip.height) return [];
    return update(each, 'pending', { height, block_hash: hash, confirmations: tip.height - height + 1 });
  });
}

/**
 * A missing transaction is gone when its money is seen spent by another, or when it stayed missing for a while
 * at a provider that stands exactly where our reading does: one that lags may simply not have it yet, and one
 * that is ahead may have it in a block that we have not read.
 */
async function findGone(
  source: Source,
  memory: Memory,
  presences: Map<string, Presence>,
  now: number,
): Promise<Set<string>> {
  const missing: string[] = [];
  for (const [txid, presence] of presences) {
    if (presence.in === 'absent') {
      missing.push(txid);
    } else {
      memory.absent.delete(txid);
      memory.conflicted.delete(txid);
    }
  }
  const gone = new Set<string>();
  if (missing.length === 0 || !memory.ring) return gone;
  if ((await source.tip()).hash !== headOf(memory.ring)) return gone;
  for (const txid of missing) {
    const since = memory.absent.get(txid) ?? now;
    memory.absent.set(txid, since);
    const inputs = memory.payments.get(txid)?.inputs ?? [];
    if (
      memory.conflicted.has(txid) ||
      now - since >= ABSENT_SECONDS ||
      (await source.spentByOther(txid, inputs))
    ) {
      gone.add(txid);
      // Should it ever be listed again, it is reported again.
      memory.known.delete(txid);
      for (const listed of memory.listed.values()) listed.delete(txid);
    }
  }
  trim(memory.absent);
  return gone;
}
