// What one Solana transaction that somebody names has paid to an address.
import type { NamedTransaction, Transfer } from '../family.ts';
import { readAssets } from './assets.ts';
import { callerOf, type SolanaContext } from './memory.ts';
import { badAnswer, findTransaction, isSignature, readStatuses } from './providers/rpc.ts';
import { FINAL_CONFIRMATIONS, transfersOf } from './transfers.ts';

/** Three requests. Without the time of its block, nothing is known of when it was made. */
export async function lookUpSolana(
  context: SolanaContext,
  { txid, address_key, gateway }: NamedTransaction,
): Promise<Transfer[]> {
  if (!isSignature(txid)) return [];
  const { local, now } = context;
  const rpc = callerOf(context);
  const { assets, unreadable } = await readAssets(rpc, [gateway]);
  if (unreadable[0]) throw badAnswer(unreadable[0].reason);
  const transaction = await findTransaction(rpc, txid);
  const [found] = await readStatuses(rpc, [txid]);
  const status = found?.status;
  if (!transaction || !status || status.err !== null || status.confirmationStatus !== 'finalized') return [];
  const { blockTime } = transaction;
  const seen = {
    signature: txid,
    made: blockTime ? local(blockTime) : { earliest_at: 0, latest_at: now() },
    confirmations: FINAL_CONFIRMATIONS,
    final: true,
  };
  return transfersOf(transaction, seen, address_key, assets);
}
