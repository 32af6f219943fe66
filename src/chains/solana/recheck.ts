// Asks what became of Solana transactions that were not final when they were read.
import type { PendingTransfer, ReadContext, TransferUpdate } from '../family.ts';
import { callerOf, type SolanaContext } from './memory.ts';
import { readBlockhashValid, readFirstSlot, readStatuses } from './providers/rpc.ts';
import { FINAL_CONFIRMATIONS } from './transfers.ts';

/**
 * The protocol counts the life of a blockhash in blocks, 150, whatever they take; the finalized block must be further past
 * the transaction's own before its end counts.
 */
const EXPIRED_AFTER_SLOTS = 300;
/** Two readings so far apart must prove that a transaction is gone: nothing brings back what was given up. */
const PROOFS_APART_SECONDS = 60;
/** Blockhashes asked about at a time; the others have their turn in the next reading. */
const BLOCKHASHES_AT_A_TIME = 16;
/** Transactions recorded as gone once; with more, counting begins again. */
const MISSING_LIMIT = 10_000;

type Update = Omit<TransferUpdate, 'txid' | 'index'>;

/**
 * For what was not final when it was read, though only what is final is asked for: a node may list more, and earlier
 * versions read more. One request per 256 transactions, or for as many as the provider takes; where some are unknown, one
 * more, and one for each blockhash of theirs. That a node does not know a transaction proves nothing while it may still be
 * included, and nothing ever of one with a nonce instead of a blockhash. What cannot be determined now is left out.
 */
export async function recheckSolana(
  context: SolanaContext,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const signatures = [...new Set(pending.map(({ txid }) => txid))];
  const updates = new Map<string, Update>();
  /** By transaction that the node does not know: the slot as of which it reported that. */
  const unknown = new Map<string, number>();
  const lost = new Map<string, string>();
  const rpc = callerOf(context);
  for (const [position, { slot, status }] of (await readStatuses(rpc, signatures)).entries()) {
    const signature = signatures[position] as string;
    const isFinal = status?.confirmationStatus === 'finalized';
    if (!status) unknown.set(signature, slot);
    else if (status.err !== null) {
      // Before it is final another branch of the chain may hold it as a success.
      if (isFinal) lost.set(signature, 'the transaction failed: it is final, and paid nothing');
    } else if (status.confirmationStatus !== 'processed') {
      const depth = Math.max(1, Math.min(FINAL_CONFIRMATIONS - 1, status.confirmations ?? 1));
      updates.set(signature, {
        state: isFinal ? 'final' : 'pending',
        confirmations: isFinal ? FINAL_CONFIRMATIONS : depth,
        height: status.slot,
        block_hash: null,
      });
    }
  }
  for (const [txid, reason] of await expired(context, pending, unknown)) lost.set(txid, reason);
  const { missing } = context.memory;
  if (missing.size > MISSING_LIMIT) missing.clear();
  for (const [txid, reason] of lost)
    if (missingSeconds(context, txid) >= PROOFS_APART_SECONDS) updates.set(txid, { ...gone, reason });
  for (const txid of signatures) if (!lost.has(txid)) missing.delete(txid);
  return pending.flatMap(({ txid, index }) => {
    const update = updates.get(txid);
    return update ? { txid, index, ...update } : [];
  });
}

const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;

/** Those that can never be included any more, with the reason. */
async function expired(
  { rpc }: ReadContext,
  pending: readonly PendingTransfer[],
  unknown: ReadonlyMap<string, number>,
): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  // A replica that is behind does not know what is newer than it.
  const bound = pending.filter(
    ({ txid, height, blockhash }) =>
      blockhash !== null && (unknown.get(txid) ?? 0) > (height ?? 0) + EXPIRED_AFTER_SLOTS,
  );
  if (bound.length === 0) return reasons;
  // A node that has dropped its old blocks does not know old transactions either: that proves nothing.
  const first_slot = await readFirstSlot(rpc);
  const old = bound.filter(({ height }) => (height ?? 0) >= first_slot);
  const blockhashes = [...new Set(old.map(({ blockhash }) => blockhash ?? ''))];
  for (const blockhash of blockhashes.slice(0, BLOCKHASHES_AT_A_TIME)) {
    const { slot, is_valid } = await readBlockhashValid(rpc, blockhash);
    if (is_valid) continue;
    for (const { txid, height } of old.filter((each) => each.blockhash === blockhash)) {
      if (slot <= (height ?? 0) + EXPIRED_AFTER_SLOTS) continue;
      reasons.set(
        txid,
        `no block has the transaction, and its blockhash had expired in slot ${slot}: it can no longer be included`,
      );
    }
  }
  return reasons;
}

/** For how long a transaction has been proved to be gone. A restart begins to count again. */
function missingSeconds({ memory: { missing }, now }: SolanaContext, txid: string): number {
  const since = missing.get(txid) ?? now();
  missing.set(txid, since);
  return now() - since;
}
