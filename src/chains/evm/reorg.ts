// Follows a reorganisation: how far back the chain is another one, and what the blocks that left it had paid.
import { type Page, ProviderError, type Transfer } from '../family.ts';
import { badAnswer, fullBlockOf, type Header, headerOf, type Log, logsOf } from './answers.ts';
import { coinIndex } from './assets.ts';
import { creditsIn, type PlacedCoin, readableTxid } from './credits.ts';
import { beginAt, cutAt, type EvmCursor, type Held, headOf, lowestOf } from './cursor.ts';
import { askEach, given, readHeaders } from './hosts.ts';
import { type Reading, stored } from './reading.ts';
import { coinsIn } from './stretch.ts';

/** A cursor that is younger than this does not reach down to the fork: so far below it everything is read once more. */
const YOUNG_BLOCKS = 256;
/** Blocks that left the chain and are read for what they paid. */
const ORPHANS_READ = 96;

/** Cuts the cursor back to where it agrees with the provider's chain. Throws ProviderError where that is nowhere. */
export async function* followFork(reading: Reading): AsyncGenerator<Page> {
  const { cursor, context, request } = reading;
  const [head] = headOf(cursor);
  const pending = await request.pending();
  // What is older than all that was read is asked about on its own.
  const placed = pending.flatMap(({ height, block_hash }): Held[] =>
    height !== null && block_hash !== null && height <= head && height >= lowestOf(cursor)
      ? [[height, block_hash]]
      : [],
  );
  const known = distinct([...cursor.held, ...cursor.paid, ...placed]);
  const { agreed, orphaned } = await agreedWith(reading, known);
  if (orphaned.length === 0) throw badAnswer('the chain changed while it was being read');
  const after = agreed ? cutFor(cursor, agreed) : await beginBelow(reading);
  const fork = headOf(after)[0];
  const { memory } = context;
  const orphaned_transfers = await readOrphans(reading, orphaned, fork);
  memory.marks = memory.marks.filter(({ height }) => height <= fork);
  memory.verified.clear();
  const orphaned_blocks = orphaned.map(([, hash]) => hash);
  yield* stored(reading, { transfers: [], orphaned_blocks, orphaned_transfers }, after);
  // What was final in those blocks waits again, too.
  for (const { txid } of await request.pending()) reading.displaced.add(txid);
}

const distinct = (blocks: readonly Held[]): Held[] => [
  ...new Map(blocks.map((each) => [`${each[0]} ${each[1]}`, each])).values(),
];

/** The newest of these blocks that is on the provider's chain, and those above it that are not. */
async function agreedWith(
  { asker, tip }: Reading,
  known: readonly Held[],
): Promise<{ agreed: Held | null; orphaned: Held[] }> {
  const heights = [...new Set(known.map(([height]) => height))].sort((one, other) => other - one);
  const orphaned: Held[] = [];
  for (let at = 0, count = 1; at < heights.length; at += count, count *= 2) {
    const asked = heights.slice(at, at + count);
    const headers = await readHeaders(asker, asked);
    for (const [position, height] of asked.entries()) {
      const header = headers[position];
      if (!header && height <= tip.height) throw badAnswer(`the provider has no block ${height}`);
      const here = known.filter(([each]) => each === height);
      const agreed = here.find(([, hash]) => hash === header?.hash);
      orphaned.push(...here.filter((each) => each !== agreed));
      if (agreed) return { agreed, orphaned };
    }
  }
  return { agreed: null, orphaned };
}

function cutFor(cursor: EvmCursor, [height, hash]: Held): EvmCursor {
  const cut = cutAt(cursor, height);
  const isHeld = cut.held.at(-1)?.[0] === height;
  return isHeld ? cut : { ...cut, held: [...cut.held, [height, hash]] };
}

async function beginBelow({ cursor, asker, context }: Reading): Promise<EvmCursor> {
  const lowest = lowestOf(cursor);
  if (headOf(cursor)[0] - lowest >= YOUNG_BLOCKS) {
    const remedy = `if it was reset or reorganised so deeply: gatewayd reread ${context.blockchain}`;
    throw badAnswer(`none of the blocks read is on the provider's chain; ${remedy}`);
  }
  const height = Math.max(0, lowest - YOUNG_BLOCKS);
  const [header] = await readHeaders(asker, [height]);
  if (!header) throw badAnswer(`block ${height} cannot be read: the provider keeps no history so far back`);
  return beginAt(height, header.hash);
}

/**
 * What the blocks that left the chain had paid, as far as the provider still has them: what was read before its address was
 * watched is older than any invoice of that watch, wherever it is mined again.
 */
async function readOrphans(reading: Reading, orphaned: readonly Held[], fork: number): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  const read = new Set<string>();
  for (const [, top] of [...orphaned].sort(([one], [other]) => other - one)) {
    for (let hash: string | null = top; hash !== null && !read.has(hash) && read.size < ORPHANS_READ; ) {
      read.add(hash);
      const orphan = await readOrphan(reading, hash);
      if (!orphan) break;
      transfers.push(...creditsOfOrphan(reading, orphan));
      hash = orphan.block.height > fork + 1 ? orphan.block.parent : null;
    }
  }
  return transfers;
}

interface Orphan {
  block: Header;
  logs: Log[];
  coins: PlacedCoin[];
}

/** Null where the provider has forgotten it. */
async function readOrphan({ asker, filters, assets }: Reading, hash: string): Promise<Orphan | null> {
  const full = assets.coin?.by.found_by === 'blocks';
  const calls = [
    { method: 'eth_getBlockByHash', params: [hash, full] },
    ...filters.map((filter) => ({ method: 'eth_getLogs', params: [{ ...filter, blockHash: hash }] })),
  ];
  try {
    const [answer, ...listed] = await askEach(asker, calls);
    const block = full ? fullBlockOf(given(answer), hash) : headerOf(given(answer), hash);
    if (block?.hash !== hash) return null;
    const logs = listed.flatMap((each) => (each instanceof ProviderError ? [] : logsOf(each)));
    const coins = full ? coinsIn(fullBlockOf(answer, hash) ?? { ...block, transactions: [] }) : [];
    return { block, logs: logs.filter(({ blockHash }) => blockHash === hash), coins };
  } catch (error) {
    if (error instanceof ProviderError && (error.kind === 'rpc' || error.kind === 'bad_answer')) return null;
    throw error;
  }
}

/** Made before its address was watched, where it is not stored. */
function creditsOfOrphan(
  { network: { dialect }, assets, watched }: Reading,
  { logs, coins }: Orphan,
): Transfer[] {
  const of_coin = coins.map(({ txid, from, to, amount }) => ({
    txid,
    credit: { chain: assets.coin?.chain as string, index: coinIndex(to), from, to, amount },
  }));
  const of_logs = [...new Set(logs.map(({ transactionHash }) => transactionHash))].flatMap((txid) => {
    const own = logs.filter(({ transactionHash }) => transactionHash === txid);
    const ordered = own.toSorted((one, other) => one.logIndex - other.logIndex);
    return creditsIn(assets.logs, ordered).map((credit) => ({ txid, credit }));
  });
  return [...of_coin, ...of_logs].flatMap(({ txid, credit: { chain, index, from, to, amount } }) => {
    const watch = watched.get(to);
    if (!watch || amount === 0n || from === to) return [];
    const before = watch.since - 1;
    return [
      {
        chain,
        address_key: to,
        txid: readableTxid(dialect, txid),
        index,
        amount_atomic: amount,
        memo: null,
        references: [],
        sender: dialect.shown(from),
        height: null,
        block_hash: null,
        inputs: [],
        confirmations: 0,
        final: false,
        earliest_at: before,
        latest_at: before,
      },
    ];
  });
}
