// Whole blocks, linked to each other by their hashes, and what their transactions pay in coins.
import type { RpcCall } from '../family.ts';
import { inTurns } from '../steps.ts';
import { badAnswer, type FullBlock, type Header, readFullBlock, type Transaction } from './answers.ts';
import type { PlacedCoin } from './credits.ts';
import { type Asker, blockCall, given, heightsOf, sizeCall } from './hosts.ts';
import type { CoinBlock, CoinSource, CoinSpending } from './networks.ts';

export interface WholeBlock extends Header {
  /** What its transactions pay by their own value; a failed one too, which its receipt shows. */
  coins: PlacedCoin[];
  /** Every transaction of it; null where its source shows payments alone. */
  transactions: readonly Transaction[] | null;
  /** What they took of those who made them, where its source shows that. */
  spendings: readonly CoinSpending[];
}

/** What asks for the blocks of these heights, both ends included; `is_sized`: and how many transactions each has. */
export const wholeCalls = (from: number, to: number, is_sized = true): RpcCall[] =>
  heightsOf(from, to).flatMap((height) => [blockCall(height, true), ...(is_sized ? [sizeCall(height)] : [])]);

/** As many of them as were given, each on the one before it; at least one. `answers`: to `wholeCalls`. */
export async function wholeBlocksIn(
  { rpc }: Pick<Asker, 'rpc'>,
  answers: readonly unknown[],
  from: number,
  is_sized = true,
): Promise<WholeBlock[]> {
  const blocks: (WholeBlock | null)[] = [];
  const each = is_sized ? 2 : 1;
  for (let at = 0; each * at < answers.length; at++) {
    const answer = given(answers[each * at]);
    const size = is_sized ? given(answers[each * at + 1]) : undefined;
    const block = await inTurns(rpc, readFullBlock(answer, from + at, size));
    blocks.push(block && { ...block, coins: coinsIn(block), spendings: [] });
  }
  return linked(blocks, from);
}

export async function readSource(
  { rpc }: Asker,
  source: CoinSource,
  from: number,
  to: number,
): Promise<WholeBlock[]> {
  const blocks = await source.blocks(rpc, from, to);
  return linked(
    blocks.map((block) => ({ ...block, coins: paymentsIn(block), transactions: null })),
    from,
  );
}

/** As many of the blocks as the provider has, each on the one before it; at least one. */
export function linked<B extends Header>(blocks: readonly (B | null)[], from: number): B[] {
  const found: B[] = [];
  for (const block of blocks) {
    const before = found.at(-1);
    if (!block || (before && block.parent !== before.hash)) break;
    found.push(block);
  }
  if (found.length === 0) throw badAnswer(`block ${from} was announced, and cannot be read`);
  return found;
}

const paymentsIn = ({ height, hash, payments }: CoinBlock): PlacedCoin[] =>
  payments.map((payment) => ({ ...payment, height, hash }));

/** What transactions pay by their own value; a failed one too, which its receipt shows. */
export const coinsIn = ({ height, hash, transactions }: FullBlock): PlacedCoin[] =>
  transactions.flatMap(({ hash: txid, from, to, value: amount }) =>
    to == null ? [] : [{ txid, from, to, amount, height, hash }],
  );

/** With what moves these addresses alone. */
export const ofWatched = (block: WholeBlock, watched: ReadonlyMap<string, unknown>): WholeBlock => ({
  ...block,
  coins: block.coins.filter(({ to }) => watched.has(to)),
  transactions:
    block.transactions?.filter(({ from, to }) => watched.has(from) || (to != null && watched.has(to))) ??
    null,
});

/** The blocks after one, as far as these continue it and up to a height. */
export function following(
  blocks: ReadonlyMap<number, WholeBlock>,
  { height, hash }: Pick<Header, 'height' | 'hash'>,
  to: number,
): WholeBlock[] {
  const found: WholeBlock[] = [];
  for (let at = height + 1; at <= to; at++) {
    const block = blocks.get(at);
    if (block?.parent !== (found.at(-1)?.hash ?? hash)) break;
    found.push(block);
  }
  return found;
}
