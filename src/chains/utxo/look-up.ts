// What a transaction that somebody names has paid, proved as far as reading proves it.
import type { NamedTransaction, Transfer } from '../family.ts';
import { hexHash } from '../txid.ts';
import { hashIn } from './cursor.ts';
import type { UtxoContext } from './memory.ts';
import type { Coin } from './networks.ts';
import { creditsOf, minedSeenAt, transferOf } from './payments.ts';
import { checkHeader, rulesFor } from './reading.ts';
import { badAnswer, type Source } from './source.ts';

/** Mempools forget a transaction after two weeks: an older one is in a block. */
const MEMPOOL_SECONDS = 14 * 24 * 3600;

/**
 * The same transfers as reading gives, in a block that proves that it holds them. When it was made is known less well:
 * not before mempools would have forgotten it, and not after now or its block.
 */
export async function lookUpTransaction(
  coin: Coin,
  source: Source,
  context: UtxoContext,
  { txid, address_key, gateway }: NamedTransaction,
): Promise<Transfer[]> {
  if (hexHash(txid) === null) return [];
  const located = await source.locate(txid);
  if (!located) return [];
  const { transaction, block } = located;
  const credits = creditsOf(transaction, new Set([address_key]));
  if (credits.length === 0) return [];
  const { memory } = context;
  let latest_at = memory.payments.get(txid)?.seen_at ?? context.now();
  let place = { height: null as number | null, block_hash: null as string | null, confirmations: 0 };
  if (block) {
    const { hash, height } = block;
    const contents = await source.block(hash);
    checkHeader({ context, memory, rules: await rulesFor(coin, source, context) }, contents);
    if (!contents.transactions.some((each) => each.txid === txid))
      throw badAnswer(context.rpc, `transaction ${txid} is not in block ${hash}`);
    if ((await source.hashAt(height)) !== hash)
      throw badAnswer(context.rpc, `block ${hash} is not at ${height}`);
    const { height: tip } = await source.tip();
    // Blocks that no reading has reached, and blocks of a branch that it did not follow, confirm nothing.
    const { ring } = memory;
    const is_other = ring !== null && hashIn(ring, height) !== undefined && hashIn(ring, height) !== hash;
    const proved = is_other ? 0 : Math.min(tip, ring?.height ?? 0);
    place = { height, block_hash: hash, confirmations: Math.max(0, proved - height + 1) };
    latest_at = Math.min(latest_at, minedSeenAt(context.now(), contents.time, memory));
  }
  const made = { earliest_at: latest_at - MEMPOOL_SECONDS, latest_at };
  return credits.map((credit) => transferOf(gateway.chain, transaction, { ...credit, ...place, ...made }));
}
