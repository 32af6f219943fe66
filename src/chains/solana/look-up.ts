// What one Solana transaction that somebody names has paid to an address.
import type { NamedTransaction, ReadContext, Transfer } from '../family.ts';
import { readAssets } from './assets.ts';
import { badAnswer, findTransaction, isSignature, readStatuses } from './providers/rpc.ts';
import { FINAL_CONFIRMATIONS, transfersOf } from './transfers.ts';

/** Three requests. Without the time of its block, nothing is known of when it was made. */
export async function lookUpSolana(
  { rpc, local, now }: ReadContext,
  { txid, address_key, gateway }: NamedTransaction,
): Promise<Transfer[]> {
  if (!isSignature(txid)) return [];
  const { assets, unreadable } = await readAssets(rpc, [gateway]);
  if (unreadable[0]) throw badAnswer(unreadable[0].reason);
  const transaction = await findTransaction(rpc, txid);
  const { context, value } = await readStatuses(rpc, [txid]);
  const status = value[0];
  if (!transaction || !status || status.err !== null || status.confirmationStatus === 'processed') return [];
  const final = status.confirmationStatus === 'finalized';
  const depth = Math.max(1, Math.min(FINAL_CONFIRMATIONS - 1, context.slot - status.slot));
  const { blockTime } = transaction;
  const seen = {
    signature: txid,
    made: blockTime ? local(blockTime) : { earliest_at: 0, latest_at: now() },
    confirmations: final ? FINAL_CONFIRMATIONS : depth,
    final,
  };
  return transfersOf(transaction, seen, address_key, assets);
}
