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
import { askingBalances, balancesAt, balancesIfStored } from './balances.ts';
import { type CoinPosition, fallen, type Held, hashAt, headOf, withPaid } from './cursor.ts';
import { askEach, grow, isOdd, readHeaders, shrink } from './hosts.ts';
import type { Account, Accounts, Memory } from './memory.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';
import { dropGains } from './reorg.ts';
import { solidTrouble } from './solid.ts';
import { readSource, type WholeBlock, wholeBlocksIn, wholeCalls } from './whole-blocks.ts';

/** Pieces read in one reading; what is left comes with the next. */
const PIECES_PER_READ = 60;
/** So many blocks have their state stored by most nodes. */
const STATE_BLOCKS = 128;
/** Over a longer time than this coins may come and go again: equal balances tell nothing. */
const LOOK_SECONDS = 120;
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
  for (let read = 0; read < PIECES_PER_READ && assets.coin; read++) {
    const { coin } = reading.cursor;
    if (!coin || coin.height >= headOf(reading.cursor)[0]) break;
    const found = await readPiece(reading, coin);
    if (!found) return yield* fallBack(reading, coin);
    const { transfers, paid, accounts, changed } = found;
    const { last, actual } = found.piece;
    const { height, hash } = last;
    const isLook = (actual?.size ?? 0) === accounts.size;
    const position = { ...coin, height, hash, ...(isLook && { looked: [height, hash] as Held }) };
    yield* stored(
      reading,
      { transfers, accounts: changed.map((key) => [key, storedAccount(accounts.get(key) as Account)]) },
      { ...reading.cursor, coin: position, paid: withPaid(reading.cursor.paid, paid) },
    );
    memory.accounts = { height, hash, all: accounts };
  }
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

/** The blocks after `coin`, as many as one request gives; none where no balance has changed up to the head. */
async function readAfter(reading: Reading, coin: CoinPosition, accounts: Accounts): Promise<Piece> {
  const { asker, assets, cursor, network } = reading;
  const { host } = asker;
  const head = headOf(cursor);
  const keys = [...accounts.keys()];
  if (assets.coin?.by.found_by === 'balances') {
    const actual = await balancesAt(asker, keys, head);
    const isShort = (head[0] - coin.height) * network.block_seconds <= LOOK_SECONDS;
    if (isShort && keys.every((key) => accounts.get(key)?.balance === actual.get(key)))
      return { after: coin, blocks: [], last: await headerAt(reading, head), actual };
    const { blocks, last } = await readBlocks(reading, coin, []);
    if (last.hash === head[1]) return { after: coin, blocks, last, actual };
    const moved = keys.filter((key) => accounts.get(key)?.balance !== actual.get(key));
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
  const to = Math.min(headOf(cursor)[0], coin.height + host.whole.value);
  const count = to - from + 1;
  const by = assets.coin?.by;
  try {
    const asked = by?.found_by === 'source' ? [] : wholeCalls(from, to);
    const answers = await askEach(asker, [...asked, ...more]);
    const blocks =
      by?.found_by === 'source'
        ? await readSource(asker, by.source, from, to)
        : wholeBlocksIn(answers.slice(0, asked.length), from);
    const [first, last] = [blocks[0] as WholeBlock, blocks.at(-1) as WholeBlock];
    if (first.parent !== coin.hash) throw badAnswer(`block ${from} does not follow the one before it`);
    await rejectOther(reading, last);
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
