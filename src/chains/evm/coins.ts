// Reads coins where logs do not show them, on their own: what fails here holds up no token.
import {
  type Json,
  type Page,
  ProviderError,
  type RpcCall,
  type Transfer,
  type UnreadableAsset,
} from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { accountOf, follow, type Piece, proveMoves, storedAccount } from './accounts.ts';
import { badAnswer, type Header } from './answers.ts';
import { askingBalances, type BalancesAt, balancesAt, balancesIfStored } from './balances.ts';
import { type CoinPosition, fallen, type Held, hashAt, headOf, withPaid } from './cursor.ts';
import { askEach, grow, isOdd, readHeaders, shrink } from './hosts.ts';
import { lookAhead, MARGIN_BLOCKS, noteLook, STATE_BLOCKS, seenOf } from './looks.ts';
import type { Account, Accounts, Look, Memory } from './memory.ts';
import { noteStates, stateCalls, withListed } from './passing.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';
import { dropGains } from './reorg.ts';
import { solidTrouble } from './solid.ts';
import { ofWatched, readSource, type WholeBlock, wholeBlocksIn, wholeCalls } from './whole-blocks.ts';

/** Pieces read in one reading, and how long it may take: what is left comes with the next, and tokens are read before it. */
const PIECES_PER_READ = 60;
const COINS_SECONDS = 6;
/** With fewer calls in a batch, each is a large part of it. */
const FEW_CALLS = 6;
/** A provider that has no older state is not asked for it again for so long. */
const NO_STATE_SECONDS = 600;
/** A provider that fails is left for another one for so long. */
const OTHER_SECONDS = 300;

/**
 * Up to the head that logs were read to. Where no provider can be read, the rest goes its way: the coin counts as unreadable
 * once others are proved further than it was read.
 */
export async function* readCoins(reading: Reading): AsyncGenerator<Page> {
  const { assets, context } = reading;
  const { memory } = context;
  noteCatchingUp(reading);
  const began = context.now();
  for (let read = 0; read < PIECES_PER_READ && assets.coin; read++) {
    const { coin } = reading.cursor;
    if (!coin || coin.height >= headOf(reading.cursor)[0]) break;
    if (context.now() - began >= COINS_SECONDS) {
      if (read > 0) reading.is_unfinished = true;
      return;
    }
    const found = await readPiece(reading, coin);
    if (!found) return yield* fallBack(reading, coin);
    const { transfers, paid, accounts, changed } = found;
    const { last, actual } = found.piece;
    const { height, hash } = last;
    const isLook = (actual?.size ?? 0) === accounts.size;
    const position = { ...coin, height, hash, ...(isLook && { looked: [height, hash] as Held }) };
    const passing = await withListed(reading, transfers);
    const rows = changed.map((key): [string, Json] => [key, storedAccount(accounts.get(key) as Account)]);
    yield* stored(
      reading,
      { transfers, accounts: [...rows, ...passing.rows] },
      { ...reading.cursor, coin: position, paid: withPaid(reading.cursor.paid, paid) },
    );
    for (const [key, each] of passing.changed) memory.passing.set(key, each);
    memory.accounts = { height, hash, all: accounts };
  }
  if ((reading.cursor.coin?.height ?? Infinity) < headOf(reading.cursor)[0]) reading.is_unfinished = true;
  memory.coin_trouble = null;
}

/** A source shows payments alone: no balance is held against them. */
const isSource = ({ assets }: Reading): boolean => assets.coin?.by.found_by === 'source';

/** Where coins were read on a branch that is none any more, from a block on that is still held; what they paid loses its place. */
async function* fallBack(reading: Reading, coin: CoinPosition): AsyncGenerator<Page> {
  const { cursor, asker } = reading;
  const below = cursor.held.findLast(([each]) => each < coin.height);
  if (!below) return;
  const paid = cursor.paid.filter(([height]) => height > below[0] && height < coin.height);
  const blocks: Held[] = [[coin.height, coin.hash], ...paid];
  const heights = blocks.map(([height]) => height);
  const headers = (await orFailed(readHeaders(asker, heights))) ?? [];
  const isGone = ([, hash]: Held, at: number) => (headers[at]?.hash ?? hash) !== hash;
  if (!isGone(blocks[0] as Held, 0)) return;
  Object.assign(reading.context.memory, { has_fallen: true, looks: [] });
  const gone = new Set(blocks.filter(isGone).map(([, hash]) => hash));
  const after = { ...cursor, paid: cursor.paid.filter(([, hash]) => !gone.has(hash)) };
  yield* stored(
    reading,
    { transfers: [], orphaned_blocks: [...gone] },
    { ...after, coin: fallen(coin, below) },
  );
  yield* dropGains(reading);
}

/** The coin, where others are proved further than it was read. */
export function coinBehind(reading: Reading): UnreadableAsset[] {
  const { network, assets, cursor, context } = reading;
  const { coin, proved } = cursor;
  if (!assets.coin || !coin) return [];
  const unseen = solidTrouble(reading);
  if (unseen !== null) return [{ chain: assets.coin.chain, reason: unseen }];
  // What contracts pay is found where balances are read.
  const [read] = coin.looked;
  if (read >= proved) return [];
  const why = context.memory.coin_trouble ?? catchingUp(reading, read);
  const reason = `payments in the coin of ${network.name} are read up to block ${read} of ${proved}: ${why}`;
  return [{ chain: assets.coin.chain, reason }];
}

/** How long it takes, by the pace since it began. */
function catchingUp({ cursor, context: { memory, now } }: Reading, read: number): string {
  const began = memory.coin_began;
  const done = began ? read - began.height : 0;
  if (!began || done <= 0 || now() <= began.at) return 'it is catching up';
  const seconds = ((headOf(cursor)[0] - read) * (now() - began.at)) / done;
  const minutes = Math.ceil(seconds / 60);
  return `it is catching up, which takes about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} more`;
}

/** Notes where catching up began; null where it is not behind. */
function noteCatchingUp({ cursor, context: { memory, now } }: Reading): void {
  const [read] = cursor.coin?.looked ?? headOf(cursor);
  if (read >= cursor.proved) memory.coin_began = null;
  else memory.coin_began ??= { height: read, at: now() };
}

interface Found {
  piece: Piece;
  transfers: Transfer[];
  paid: Held[];
  accounts: Accounts;
  /** The keys of accounts to store: that a balance was seen again is not worth it. */
  changed: string[];
}

/** The next piece, of the usual provider or of another one; null where neither can be read. */
async function readPiece(reading: Reading, coin: CoinPosition): Promise<Found | null> {
  const { network, context } = reading;
  const { memory, now, askOther } = context;
  const own = () => pieceOf(reading, coin);
  const other = () =>
    askOther?.((rpc) =>
      orOdd(memory, pieceOf({ ...reading, asker: askerOf(network, { ...context, rpc }) }, coin)),
    );
  const left_for = memory.coin_other_until - now();
  const is_left = left_for > 0 && left_for <= OTHER_SECONDS;
  for (const ask of is_left ? [other, own] : [own, other]) {
    const found = await orTrouble(memory, ask());
    if (!found) continue;
    if (ask === own) memory.coin_other_until = 0;
    else if (!is_left) memory.coin_other_until = now() + OTHER_SECONDS;
    return found;
  }
  return null;
}

async function orTrouble<T>(
  memory: Memory,
  answer: Promise<T> | undefined,
  isMeant: (error: ProviderError) => boolean = () => true,
): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ProviderError) || !isMeant(error)) throw error;
    memory.coin_trouble = error.message;
    return undefined;
  }
}

/** A provider that serves no coins may serve tokens: for what is odd about its answers to this it is not backed off. */
const orOdd = <T>(memory: Memory, answer: Promise<T>) => orTrouble(memory, answer, isOdd);

async function pieceOf(reading: Reading, coin: CoinPosition): Promise<Found> {
  const { watched, asker, context, cursor } = reading;
  const known = isSource(reading) ? { accounts: new Map(), fresh: [] } : await accountsAt(reading, coin);
  const piece = await readAfter(reading, coin, known.accounts);
  const { blocks } = piece;
  await proveMoves(asker, blocks, watched, context.memory.proofs);
  const headers = new Map(blocks.map((block) => [block.height, block]));
  const coins = blocks.flatMap((block) => block.coins);
  const credits = await creditsAt(reading, cursor, { logs: [], coins, headers });
  const { accounts, transfers } = await follow(reading, known.accounts, piece);
  const fresh = new Set(known.fresh);
  const isChanged = (key: string, { balance }: Account) =>
    fresh.has(key) || balance !== known.accounts.get(key)?.balance;
  return {
    piece,
    transfers: [...credits.transfers, ...transfers],
    paid: [...credits.paid, ...transfers.flatMap(placeOf)],
    accounts,
    changed: [...accounts].flatMap(([key, account]) => (isChanged(key, account) ? [key] : [])),
  };
}

const placeOf = ({ height, block_hash }: Transfer): Held[] =>
  height === null || block_hash === null ? [] : [[height, block_hash]];

/** What is known of each watched address where reading coins stands; what is not known is asked. */
async function accountsAt(
  { request, context, watched, asker }: Reading,
  coin: CoinPosition,
): Promise<{ accounts: Accounts; fresh: string[] }> {
  const { accounts: cached } = context.memory;
  const all = cached?.height === coin.height && cached.hash === coin.hash ? cached.all : undefined;
  const keys = [...watched.keys()].sort();
  const unknown = keys.filter((key) => !all?.has(key));
  const rows = unknown.length > 0 ? await request.accounts(unknown) : new Map<string, Json>();
  const accounts: Accounts = new Map();
  for (const key of keys) {
    // Where the last look is not of here, what is known of that look is needed still.
    const isOld = (time: number) => coin.looked[0] === coin.height && time < (watched.get(key)?.since ?? 0);
    const known = all?.get(key) ?? accountOf(rows.get(key), coin, isOld);
    if (known) accounts.set(key, known);
  }
  const fresh = keys.filter((key) => !accounts.has(key));
  const { height, hash } = coin;
  // A provider keeps the state of some blocks alone: without it, the blocks that follow tell.
  const balances = await balancesIfStored(asker, fresh, [height, hash]);
  for (const key of fresh)
    accounts.set(key, { balance: balances?.get(key) ?? null, exact: height, height, time: 0 });
  return { accounts, fresh };
}

/** Whether balances say in which blocks coins are looked for. Where a poll finds few blocks, each may be read. */
export function isByBalances({ assets, by_block }: Pick<Reading, 'assets' | 'by_block'>): boolean {
  const found_by = assets.coin?.by.found_by;
  return found_by === 'balances' || (found_by === 'blocks' && !by_block);
}

/**
 * The blocks after `coin`, as many as one request gives; none up to the head where no balance has changed, or up to the last
 * block that is known to come before the change. That nothing came and went meanwhile is shown on its own.
 */
async function readAfter(reading: Reading, coin: CoinPosition, accounts: Accounts): Promise<Piece> {
  const { asker, assets, cursor } = reading;
  const { host } = asker;
  const head = headOf(cursor);
  const keys = [...accounts.keys()];
  if (isByBalances(reading)) {
    const actual = await readLook(reading, keys);
    const moved = keys.filter((key) => accounts.get(key)?.balance !== actual.get(key));
    if (moved.length === 0) return { after: coin, blocks: [], last: await headerAt(reading, head), actual };
    const { same, changed } = lookAhead(reading, accounts);
    if (same) {
      await rejectLook(reading, same);
      return { after: coin, blocks: [], last: same.block, actual: seenOf(same, accounts) };
    }
    const known = changed?.block ?? null;
    const skipped = await skipTo(reading, coin, accounts, { moved, by: known?.height ?? head[0] });
    if (skipped) {
      await rejectOther(reading, skipped.block);
      return { after: coin, blocks: [], last: skipped.block, actual: skipped.balances };
    }
    const { blocks, last } = await readBlocks(reading, coin, []);
    if (last.hash === head[1]) return { after: coin, blocks, last, actual };
    if (changed && last.hash === known?.hash)
      return { after: coin, blocks, last, actual: seenOf(changed, accounts) };
    return { after: coin, blocks, last, actual: await recentBalances(reading, moved, last) };
  }
  const reaches = coin.height + host.whole.value >= head[0];
  const question =
    keys.length > 0 && reaches && assets.coin?.by.found_by === 'blocks'
      ? askingBalances(host, keys, head)
      : null;
  const { blocks, last, others } = await readBlocks(reading, coin, question?.calls ?? []);
  if (question && last.hash === head[1]) return { after: coin, blocks, last, actual: question.read(others) };
  // An increase that is known by its very block stays listed where a fork takes later ones.
  const isCheap = assets.coin?.by.found_by === 'blocks' && host.runs_code;
  return { after: coin, blocks, last, actual: isCheap ? await recentBalances(reading, keys, last) : null };
}

/** The balances at the head, and with them, once in a reading, what tells whether something left an address. */
async function readLook(reading: Reading, keys: readonly string[]): Promise<BalancesAt> {
  const head = headOf(reading.cursor);
  if (reading.looked?.block?.hash === head[1] && keys.every((key) => reading.looked?.has(key)))
    return reading.looked;
  const checking = reading.is_checked ? [] : (reading.checking ?? []);
  const actual = await balancesAt(reading.asker, keys, head, stateCalls(checking, head[0]));
  reading.is_checked = true;
  reading.looked = actual;
  await noteLook(reading, actual, leastOf(reading));
  if (checking.length > 0 && actual.block && actual.others)
    noteStates(reading, checking, { block: actual.block, answers: actual.others, balances: actual });
  return actual;
}

/**
 * The last block that is known, by halves, to come before any of these balances changed, which one has by a block; null where
 * that is `coin`, or as far as the provider has no state.
 */
async function skipTo(
  reading: Reading,
  coin: CoinPosition,
  accounts: Accounts,
  { moved, by }: { moved: readonly string[]; by: number },
): Promise<{ block: Header; balances: BalancesAt } | null> {
  const { asker, cursor, context } = reading;
  const { memory, now } = context;
  const least = leastOf(reading);
  const [head] = headOf(cursor);
  const names = moved.join();
  // What has the same in the end may have had another balance in between.
  const keys = [...accounts.keys()];
  if (isChangedAfter(reading, coin.height) && reading.changed?.keys === names) return null;
  let [low, high] = [coin.height, by];
  let found: { block: Header; balances: BalancesAt } | null = null;
  while (high - low > least) {
    const middle = Math.floor((low + high) / 2);
    const is_old = head - middle > STATE_BLOCKS - MARGIN_BLOCKS;
    const stored = head - STATE_BLOCKS + MARGIN_BLOCKS;
    const lacks_old = Math.abs(now() - memory.no_state_at) < NO_STATE_SECONDS;
    const asked = is_old && lacks_old && stored < high ? Math.max(low, stored) : middle;
    if (asked <= low || (is_old && lacks_old && asked < stored)) break;
    const balances = await balancesIfStored(asker, keys, [asked, null]);
    if (!balances?.block) {
      if (!is_old || asked === stored) break;
      memory.no_state_at = now();
      continue;
    }
    const is_same = keys.every((key) => accounts.get(key)?.balance === balances.get(key));
    if (is_same) [low, found] = [asked, { block: balances.block, balances }];
    else high = asked;
  }
  reading.changed = { after: low, by: high, keys: names };
  return found;
}

const isChangedAfter = ({ changed }: Reading, height: number): boolean =>
  changed !== undefined && height >= changed.after && height < changed.by;

/** So few blocks one request gives: no question about balances makes them cheaper. */
function leastOf(reading: Reading): number {
  const { calls, whole } = reading.asker.host;
  return Math.max(1, Math.min(whole.value, Math.floor(calls.value / (isSized(reading) ? 2 : 1))));
}

/**
 * Whether blocks are asked for with their sizes. A provider that takes few calls at once would fall behind; what it leaves out
 * of a block is missing in a balance.
 */
const isSized = (reading: Reading): boolean =>
  !isByBalances(reading) || reading.asker.host.calls.value >= FEW_CALLS;

/** Below the head, as long as its state is usually stored. */
async function recentBalances(
  { asker, cursor }: Reading,
  keys: readonly string[],
  { height, hash }: Header,
): Promise<Piece['actual']> {
  const [head] = headOf(cursor);
  if (head - height >= STATE_BLOCKS) return null;
  return (await balancesIfStored(asker, keys, [height, hash])) ?? null;
}

async function headerAt({ tip, asker }: Reading, [height, hash]: Held): Promise<Header> {
  const header = tip.hash === hash ? tip : (await readHeaders(asker, [height]))[0];
  if (header?.hash !== hash) throw badAnswer(`block ${height} changed while balances were read`);
  return header;
}

/** Whole blocks on the chain that logs were read of, and the answers to `more` of the same request. */
async function readBlocks(
  reading: Reading,
  coin: CoinPosition,
  more: readonly RpcCall[],
): Promise<{ blocks: WholeBlock[]; last: WholeBlock; others: unknown[] }> {
  const { asker, assets, cursor } = reading;
  const { host } = asker;
  const from = coin.height + 1;
  const most = isChangedAfter(reading, coin.height) ? (reading.changed?.by as number) : headOf(cursor)[0];
  const to = Math.min(most, coin.height + host.whole.value);
  const count = to - from + 1;
  const by = assets.coin?.by;
  try {
    const is_sized = isSized(reading);
    const asked = by?.found_by === 'source' ? [] : wholeCalls(from, to, is_sized);
    const answers = await askEach(asker, [...asked, ...more]);
    const blocks =
      by?.found_by === 'source'
        ? await readSource(asker, by.source, from, to)
        : await wholeBlocksIn(asker, answers.slice(0, asked.length), from, is_sized);
    const [first, last] = [blocks[0] as WholeBlock, blocks.at(-1) as WholeBlock];
    if (first.parent !== coin.hash) throw badAnswer(`block ${from} does not follow the one before it`);
    await rejectOther(reading, last);
    for (const block of blocks) reading.whole.set(block.height, ofWatched(block, reading.watched));
    if (count === host.whole.value) grow(host.whole);
    return { blocks, last, others: answers.slice(asked.length) };
  } catch (error) {
    const is_large = error instanceof ProviderError && error.kind !== 'rate_limited';
    if (is_large && count > 1) shrink(host.whole, count);
    throw error;
  }
}

/** A block of another branch than the one that logs are read of shows other payments. */
async function rejectOther({ network, context, cursor }: Reading, last: Header): Promise<void> {
  const held = hashAt(cursor, last.height);
  if (held === last.hash) return;
  const [head, hash] = headOf(cursor);
  // A host on another branch does not have the head that logs were read to.
  const asked = held === undefined ? [last.height, head] : [];
  const [same, top] = await readHeaders(askerOf(network, context), asked);
  if (same?.hash !== last.hash || top?.hash !== hash)
    throw badAnswer(`block ${last.height} is another one than was read`);
}

/** A look that one host gave of another branch is not taken again, or coins would stand below it for ever. */
async function rejectLook(reading: Reading, look: Look): Promise<void> {
  const { memory } = reading.context;
  try {
    await rejectOther(reading, look.block);
  } catch (error) {
    memory.looks = memory.looks.filter((each) => each !== look);
    throw error;
  }
}
