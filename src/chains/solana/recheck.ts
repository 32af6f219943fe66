// Asks what became of Solana transactions that were not final when they were read.
import type { PendingTransfer, ReadContext, TransferUpdate } from '../chain.ts';
import { readFirstSlot, readStatuses, STATUSES_PER_CALL } from './rpc.ts';

/** A blockhash lives 150 slots, about a minute and a half: after this long nothing brings a lost one back. */
const GONE_AFTER_SECONDS = 180;
/** … and for so long every look must say so: nothing brings back what was given up, and one answer may be wrong. */
const MISSING_SECONDS = 60;
/** Slots the node must be past the transaction's own before its not knowing it means anything. */
const GONE_AFTER_SLOTS = 300;
const FINAL_CONFIRMATIONS = 32;

/** One request per 256 transactions; one more where some are unknown. What cannot be told now is left out. */
export async function recheckSolana(
  context: ReadContext,
  pending: readonly PendingTransfer[],
): Promise<TransferUpdate[]> {
  const signatures = [...new Set(pending.map((transfer) => transfer.txid))];
  const updates = new Map<string, Omit<TransferUpdate, 'txid' | 'index'>>();
  const unknown = new Map<string, number>();
  const failed = new Set<string>();
  for (let start = 0; start < signatures.length; start += STATUSES_PER_CALL) {
    const asked = signatures.slice(start, start + STATUSES_PER_CALL);
    const { context: answered, value } = await readStatuses(context.rpc, asked);
    for (const [position, signature] of asked.entries()) {
      const status = value[position];
      if (!status) {
        unknown.set(signature, answered.slot);
      } else if (status.err !== null) {
        // Before it is final another branch of the chain may hold it as a success.
        if (status.confirmationStatus === 'finalized') failed.add(signature);
      } else if (status.confirmationStatus !== 'processed') {
        const isFinal = status.confirmationStatus === 'finalized';
        updates.set(signature, {
          state: isFinal ? 'final' : 'pending',
          confirmations: isFinal
            ? FINAL_CONFIRMATIONS
            : Math.max(1, Math.min(FINAL_CONFIRMATIONS - 1, status.confirmations ?? 1)),
          height: status.slot,
          block_hash: null,
        });
      }
    }
  }
  const old = pending.filter(
    ({ txid, height, first_seen_at }) =>
      (unknown.get(txid) ?? 0) > (height ?? 0) + GONE_AFTER_SLOTS &&
      context.now() - first_seen_at > GONE_AFTER_SECONDS,
  );
  if (old.length > 0) {
    // A node that has dropped its old blocks does not know old transactions either: that proves nothing.
    const firstSlot = await readFirstSlot(context.rpc);
    for (const { txid, height } of old) if ((height ?? 0) >= firstSlot) failed.add(txid);
  }
  for (const txid of failed) if (missingFor(context, txid) >= MISSING_SECONDS) updates.set(txid, gone);
  for (const txid of signatures) if (!failed.has(txid) || updates.has(txid)) missingOf(context).delete(txid);
  return pending.flatMap(({ txid, index }) => {
    const update = updates.get(txid);
    return update ? { txid, index, ...update } : [];
  });
}

/** Since when a transaction is missing, Unix seconds. A restart begins to count anew. */
function missingOf({ cache }: ReadContext): Map<string, number> {
  const missing = (cache.get('missing') as Map<string, number> | undefined) ?? new Map<string, number>();
  cache.set('missing', missing);
  return missing;
}

function missingFor(context: ReadContext, txid: string): number {
  const missing = missingOf(context);
  const since = missing.get(txid) ?? context.now();
  missing.set(txid, since);
  return context.now() - since;
}

const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
