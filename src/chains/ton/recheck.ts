// Asks how deep the TON transactions are that were read.
import type { PendingTransfer, ReadContext, Tip, TransferUpdate } from '../family.ts';
import { getTip } from './providers/toncenter.ts';
import { confirmationsAt } from './transfers.ts';

/** A transaction in a masterchain block stays there, so its height and the tip say everything. */
export async function recheckTon(
  context: ReadContext,
  pending: readonly PendingTransfer[],
  tip: Tip | null,
): Promise<TransferUpdate[]> {
  if (pending.length === 0) return [];
  const now = tip ?? (await getTip(context.rpc)).tip;
  return pending.flatMap(({ chain, txid, index, height, block_hash }) => {
    const gateway = context.gateways.find((each) => each.chain === chain);
    if (height === null || !gateway) return [];
    const confirmations = confirmationsAt(now, height);
    const state = confirmations >= gateway.min_confirmations ? 'final' : 'pending';
    return { txid, index, state, confirmations, height, block_hash };
  });
}
