// Wallets that pass on what they get: equal balances tell nothing of what came and went between two looks.
import type { AccountProof, Json, Page, RpcCall, Transfer } from '../family.ts';
import { ProviderError } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { movesOf, proveMoves, transferOfGain } from './accounts.ts';
import { badAnswer, codeOf, countOf, type Header, headerOf } from './answers.ts';
import { isOfBalance } from './assets.ts';
import { type CoinPosition, type Held, hashAt, headOf, withPaid } from './cursor.ts';
import { type Asker, askAll, askEach, blockCall, given, hex } from './hosts.ts';
import type { Passing, Passings, Point } from './memory.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';
import { following, type WholeBlock, wholeBlocksIn, wholeCalls } from './whole-blocks.ts';

/** An address that is quiet is checked this often; one that was not, in each reading for so long. */
const CHECK_SECONDS = 60;
const RESTLESS_SECONDS = 3_600;
/** Addresses checked in one reading, and of those whose invoices are about to end; and new ones in one piece. */
const CHECKS_PER_READ = 8;
const URGENT_PER_READ = 40;
const SNAPSHOTS_AT_ONCE = 50;
/** Pieces of blocks read in one reading, and how long that may take; what is left comes with the next. */
const PIECES_PER_READ = 20;
/** With fewer calls in a batch, blocks are asked for without their sizes. */
const FEW_CALLS = 6;
const PASSING_SECONDS = 6;
/** Increases that are stored one by one, of one address. */
const MOST_LISTED = 300;
/** No invoice waits for so long: what is older is not read any more. */
const FORGOTTEN_SECONDS = 100_000;

const nameOf = (key: string): string => `passing:${key}`;

const replacer = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
const storedOf = (passing: Passing): Json => JSON.parse(JSON.stringify(passing, replacer)) as Json;
const big = (value: unknown): bigint | null => (value == null ? null : BigInt(value as string));

function passingOf(row: Json): Passing {
  const { seen, next, moved, listed, ...rest } = row as unknown as Passing;
  return {
    ...rest,
    seen: { ...seen, balance: big(seen.balance) },
    next: next && { ...next, balance: big(next.balance) },
    moved: big(moved) as bigint,
    listed: listed.map(([height, amount]) => [height, BigInt(amount)]),
    stated: rest.stated,
  };
}

const beginAt = (seen: Point, before?: Passing, up_to = Number.POSITIVE_INFINITY): Passing => ({
  seen,
  next: null,
  at: { height: seen.height, hash: seen.hash },
  moved: 0n,
  // What was listed of later blocks is not in that balance.
  listed: (before?.listed ?? []).filter(([height]) => height > seen.height && height <= up_to),
  checked_at: 0,
  restless_until: before?.restless_until ?? 0,
  stated: before?.stated,
});

/** Asks of these addresses, at one block, how many transactions they made and whether they run code. */
export const stateCalls = (keys: readonly string[], height: number): RpcCall[] =>
  keys.flatMap((key) => [
    { method: 'eth_getTransactionCount', params: [key, hex(height)] },
    { method: 'eth_getCode', params: [key, hex(height)] },
  ]);

/** The answers to `stateCalls`. Throws ProviderError. */
function statesIn(
  keys: readonly string[],
  answers: readonly unknown[],
  { height, hash, time }: Header,
  balanceOf: (key: string) => bigint | null,
): Map<string, Point> {
  return new Map(
    keys.map((key, at): [string, Point] => {
      const nonce = Number(countOf(given(answers[2 * at]), 'a count of transactions'));
      const has_code = codeOf(given(answers[2 * at + 1]), key) !== '0x';
      return [key, { height, hash, time, balance: balanceOf(key), nonce, has_code }];
    }),
  );
}

/**
 * Before coins are read: what is known of each address with open invoices, from where coins stand. Nothing of it is proved
 * until that is shown, whatever is read of the rest.
 */
export async function* openPassing(reading: Reading): AsyncGenerator<Page> {
  const { watched, request, context, cursor, assets } = reading;
  const { memory, now } = context;
  const { coin } = cursor;
  if (!coin || !assets.coin) return;
  const urgent = await urgentKeys(reading);
  const keys = [...watched.values()].flatMap(({ key, open }) => (open || urgent.has(key) ? [key] : []));
  const unknown = keys.filter((key) => !memory.passing.has(key));
  const rows = unknown.length > 0 ? await request.accounts(unknown.map(nameOf)) : new Map<string, Json>();
  for (const key of unknown) {
    const row = rows.get(nameOf(key));
    if (row !== undefined) memory.passing.set(key, passingOf(row));
  }
  // Coins may be far behind what was seen: that alone takes nothing back.
  const perhaps = memory.has_fallen ? [...memory.passing.keys()] : unknown;
  const fallen: Passings = new Map();
  for (const key of perhaps) {
    const known = memory.passing.get(key);
    const here = known && onBranch(known, coin);
    if (here && here !== known) fallen.set(key, here);
  }
  // Before coins are read further: at their new position what was seen on the other branch looks as if it were of this one.
  if (fallen.size > 0) yield* store(reading, fallen, { transfers: [] });
  memory.has_fallen = false;
  const isOld = ({ seen }: Passing) => seen.time !== null && seen.time < now() - FORGOTTEN_SECONDS;
  const fresh = keys.filter((key) => {
    const known = memory.passing.get(key);
    return known?.stated === undefined || isOld(known);
  });
  if (fresh.length > 0) yield* beginPassing(reading, coin, fresh);
  reading.checking = dueKeys(memory.passing, keys, urgent, now());
}

/** Where each block is read whatever balances say, all is seen: what was stated of single addresses falls away. */
export async function* closePassing(reading: Reading): AsyncGenerator<Page> {
  const { assets, request, context, cursor } = reading;
  if (assets.coin?.by.found_by !== 'blocks') return;
  const urgent = [...(await urgentKeys(reading))];
  if (urgent.length === 0) return;
  const { chain } = assets.coin;
  const rows = await request.accounts(urgent.map(nameOf));
  const known = urgent.flatMap((key): [string, Passing][] => {
    const row = rows.get(nameOf(key));
    const passing = row === undefined ? undefined : passingOf(row);
    return passing?.stated ? [[key, { ...passing, stated: undefined }]] : [];
  });
  if (known.length === 0) return;
  const accounts = rowsOf(new Map(known));
  const caught_up = known.map(([address_key]) => ({ address_key, chain }));
  yield* stored(reading, { transfers: [], accounts, caught_up }, cursor);
  for (const [key] of known) context.memory.passing.delete(key);
}

/** What was seen above where coins stand may be of another branch, where blocks left the chain or another process saw it. */
function onBranch(passing: Passing, { height, hash }: CoinPosition): Passing {
  const { seen, next, at, listed } = passing;
  if (seen.height > height)
    return beginAt({ ...seen, height, hash, time: null, balance: null, nonce: null }, passing, height);
  const highest = Math.max(at.height, next?.height ?? 0, ...listed.map(([each]) => each));
  return highest > height ? beginAt(seen, passing, height) : passing;
}

async function* beginPassing(
  reading: Reading,
  { height, hash }: CoinPosition,
  fresh: readonly string[],
): AsyncGenerator<Page> {
  const { asker, context } = reading;
  const { passing } = context.memory;
  const began = context.now();
  const known = new Map<string, Point>();
  for (let at = 0; at < fresh.length && context.now() - began < PASSING_SECONDS; at += SNAPSHOTS_AT_ONCE) {
    const found = await orFailed(stateAt(asker, fresh.slice(at, at + SNAPSHOTS_AT_ONCE), { height, hash }));
    if (!found) break;
    for (const [key, point] of found) known.set(key, point);
  }
  const blank = { height, hash, time: null, balance: null, nonce: null, has_code: false };
  const stated = { read_through: null, trouble: null };
  const begun = fresh.map((key): [string, Passing] => [
    key,
    { ...beginAt(known.get(key) ?? blank, passing.get(key)), stated },
  ]);
  const proofs = fresh.map((key) => proofOf(reading, key, stated));
  yield* store(reading, new Map(begun), { transfers: [], proofs });
}

/** As long as the provider has the state of that block. */
async function stateAt(
  asker: Asker,
  keys: readonly string[],
  { height, hash }: Pick<Point, 'height' | 'hash'>,
): Promise<Map<string, Point>> {
  const answers = await askEach(asker, [blockCall(height), ...stateCalls(keys, height)]);
  const header = headerOf(given(answers[0]), height);
  if (header?.hash !== hash) throw badAnswer(`block ${height} changed while it was read`);
  return statesIn(keys, answers.slice(1), header, () => null);
}

async function urgentKeys({ request, assets }: Reading): Promise<ReadonlySet<string>> {
  const all = await request.urgent();
  return new Set(all.flatMap((each) => (each.chain === assets.coin?.chain ? [each.address_key] : [])));
}

/** Those first whose invoices are about to end, then the restless, then those that were checked longest ago. */
function dueKeys(all: Passings, keys: readonly string[], urgent: ReadonlySet<string>, now: number): string[] {
  const isWaiting = (key: string) => all.get(key)?.next === null;
  const of = (key: string) => all.get(key) as Passing;
  const isDue = (key: string) =>
    now - of(key).checked_at >= CHECK_SECONDS || now < of(key).checked_at || of(key).restless_until > now;
  const first = keys.filter((key) => urgent.has(key) && isWaiting(key) && isDue(key));
  const rank = (key: string) => (of(key).restless_until > now ? 0 : of(key).checked_at);
  const others = keys
    .filter((key) => !urgent.has(key) && isWaiting(key) && isDue(key))
    .sort((one, other) => rank(one) - rank(other));
  const isBlank = (key: string) => of(key).seen.nonce === null;
  return [
    ...first.slice(0, URGENT_PER_READ),
    ...others.filter(isBlank).slice(0, SNAPSHOTS_AT_ONCE),
    ...others.filter((key) => !isBlank(key)).slice(0, CHECKS_PER_READ),
  ];
}

/** What the reading of balances has shown besides: whether something may have left an address since the last one. */
export function noteStates(
  { context: { memory, now } }: Reading,
  keys: readonly string[],
  seen: { block: Header; answers: readonly unknown[]; balances: ReadonlyMap<string, bigint> },
): void {
  let points: ReadonlyMap<string, Point>;
  try {
    points = statesIn(keys, seen.answers, seen.block, (key) => seen.balances.get(key) ?? null);
  } catch (error) {
    // Coins are read all the same; what these addresses got is not proved.
    if (!(error instanceof ProviderError)) throw error;
    memory.passing_trouble = error.message;
    return;
  }
  for (const [key, point] of points) {
    const known = memory.passing.get(key);
    if (!known || known.next || point.height <= known.seen.height) continue;
    const checked_at = now();
    if (isQuiet(known.seen, point)) memory.passing.set(key, { ...beginAt(point, known), checked_at });
    else
      memory.passing.set(key, {
        ...known,
        next: point,
        at: { height: known.seen.height, hash: known.seen.hash },
        checked_at,
        restless_until: checked_at + RESTLESS_SECONDS,
      });
  }
}

/** Nothing leaves an address without code on its own but by a transaction of its own, which is counted. */
const isQuiet = (before: Point, after: Point): boolean =>
  before.nonce !== null &&
  before.nonce === after.nonce &&
  !before.has_code &&
  !after.has_code &&
  // One that lost something all the same was emptied by a contract that is no more.
  (before.balance === null || after.balance === null || after.balance >= before.balance);

/**
 * Increases that a page lists: how its addresses are known with them. It is stored with that page, so that none of them is
 * taken for another one that came and left again, neither after a restart nor by another daemon.
 */
export async function withListed(
  { context: { memory }, request }: Reading,
  transfers: readonly Transfer[],
): Promise<{ changed: Passings; rows: [string, Json][] }> {
  const gains = transfers.filter(({ index }) => isOfBalance(index));
  const changed: Passings = new Map();
  if (gains.length === 0) return { changed, rows: [] };
  const unknown = gains.map(({ address_key }) => address_key).filter((key) => !memory.passing.has(key));
  const rows = unknown.length > 0 ? await request.accounts(unknown.map(nameOf)) : new Map<string, Json>();
  for (const { address_key, amount_atomic, height } of gains) {
    const row = rows.get(nameOf(address_key));
    const stored = row === undefined ? undefined : passingOf(row);
    const known = changed.get(address_key) ?? memory.passing.get(address_key) ?? stored;
    if (!known || height === null || height <= known.seen.height) continue;
    const others = known.listed.filter(([each]) => each !== height);
    const listed = [...others, [height, amount_atomic] as const].sort(([one], [other]) => one - other);
    changed.set(address_key, { ...known, listed: bounded(listed) });
  }
  return { changed, rows: rowsOf(changed) };
}

/** The oldest two count as one where there are too many: only a fork between them could tell them apart. */
function bounded(listed: Passing['listed']): Passing['listed'] {
  const [first, second, ...rest] = listed;
  if (!first || !second || listed.length <= MOST_LISTED) return listed;
  return bounded([[second[0], first[1] + second[1]], ...rest]);
}

const rowsOf = (changed: Passings): [string, Json][] =>
  [...changed].map(([key, each]): [string, Json] => [nameOf(key), storedOf(each)]);

/** After all else: reads the blocks in which something may have come and gone, and states what is proved by that. */
export async function* provePassing(reading: Reading): AsyncGenerator<Page> {
  const { context, assets } = reading;
  const { memory, now } = context;
  if (!assets.coin || memory.passing.size === 0) return;
  const urgent = await urgentKeys(reading);
  const checked = (reading.checking ?? []).flatMap((key): [string, Passing][] => {
    const known = memory.passing.get(key);
    return known ? [[key, known]] : [];
  });
  if (checked.length > 0) yield* store(reading, new Map(checked), { transfers: [] });
  const began = now();
  for (let read = 0; read < PIECES_PER_READ && now() - began < PASSING_SECONDS; read++) {
    const group = nextGroup(reading, urgent);
    if (group.length === 0) break;
    const found = await readPiece(reading, group);
    if (!found) break;
    memory.passing_trouble = null;
    reading.cursor = { ...reading.cursor, paid: withPaid(reading.cursor.paid, found.paid) };
    yield* store(reading, found.after, { transfers: found.transfers });
  }
  // Where coins stand behind what is proved of the rest, nothing new is proved of them.
  const { coin, proved } = reading.cursor;
  if (coin && coin.looked[0] < proved) return;
  const stated = new Map([...urgent].flatMap((key) => statedIfNew(reading, key)));
  const proofs = [...stated].map(([key, each]) => proofOf(reading, key, each.stated));
  if (proofs.length > 0) yield* store(reading, stated, { transfers: [], proofs });
}

interface PassingPiece {
  transfers: Transfer[];
  paid: Held[];
  /** The addresses as they are after it. */
  after: Passings;
}

/** The addresses whose blocks are read next: all that stand at the same one, and no further than coins were read. */
function nextGroup(
  { watched, cursor: { coin }, context: { memory } }: Reading,
  urgent: ReadonlySet<string>,
): string[] {
  const open = [...memory.passing].filter(
    ([key, { next, at }]) => next !== null && watched.has(key) && at.height < (coin?.height ?? 0),
  );
  const first = open.filter(([key]) => urgent.has(key));
  const lowest = (first.length > 0 ? first : open).reduce<Passing['at'] | null>(
    (least, [, { at }]) => (least === null || at.height < least.height ? at : least),
    null,
  );
  return open.flatMap(([key, { at }]) => (at.hash === lowest?.hash ? [key] : []));
}

/** Of the usual provider, else of another one; null where neither gives the blocks. */
async function readPiece(reading: Reading, group: readonly string[]): Promise<PassingPiece | null> {
  const { network, context } = reading;
  try {
    return await pieceOf(reading, group);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    context.memory.passing_trouble = error.message;
  }
  const asked = context.askOther?.((rpc) =>
    pieceOf({ ...reading, asker: askerOf(network, { ...context, rpc }) }, group),
  );
  if (!asked) return null;
  const found = await orFailed(asked);
  return found ?? null;
}

/** The blocks after one, as many as one request gives. */
async function readAfter(asker: Asker, { height, hash }: Passing['at'], most: number): Promise<WholeBlock[]> {
  const to = Math.min(most, height + asker.host.whole.value);
  const is_sized = asker.host.calls.value >= FEW_CALLS;
  const answers = await askAll(asker, wholeCalls(height + 1, to, is_sized));
  const blocks = await wholeBlocksIn(asker, answers, height + 1, is_sized);
  if (blocks[0]?.parent !== hash) throw badAnswer(`block ${height + 1} does not follow the one before it`);
  return blocks;
}

/** Of blocks that coins were read of, where they continue from there: none is asked for twice. */
async function pieceOf(reading: Reading, group: readonly string[]): Promise<PassingPiece> {
  const { asker, cursor, watched, context } = reading;
  const { passing, proofs } = context.memory;
  const known = group.map((key) => passing.get(key) as Passing);
  const { at } = known[0] as Passing;
  const next = Math.max(...known.map((each) => each.next?.height ?? 0));
  const most = Math.min(next, cursor.coin?.height ?? next);
  const known_blocks = following(reading.whole, at, most);
  const blocks = known_blocks.length > 0 ? known_blocks : await readAfter(asker, at, most);
  const last = blocks.at(-1) as WholeBlock;
  if ((hashAt(cursor, last.height) ?? last.hash) !== last.hash)
    throw badAnswer(`block ${last.height} is another one than was read`);
  const own = new Map(group.map((key) => [key, true]));
  await proveMoves(asker, blocks, own, proofs);
  const moves = new Map(blocks.map((block) => [block.height, movesOf(block, own, proofs)]));
  const headers = new Map(blocks.map((block) => [block.height, block]));
  const coins = blocks.flatMap((block) => block.coins).filter(({ to: key }) => watched.has(key));
  const credits = await creditsAt(reading, cursor, { logs: [], coins, headers });
  const after: Passings = new Map();
  const gains = group.flatMap((key) => {
    const { passing: own, gained } = advanced(reading, key, last, moves);
    after.set(key, own);
    return gained;
  });
  return { transfers: [...credits.transfers, ...gains], paid: credits.paid, after };
}

/** Further, up to the last of these blocks or to where it was checked; what came besides is listed then. */
function advanced(
  reading: Reading,
  key: string,
  last: Header,
  moves: ReadonlyMap<number, ReadonlyMap<string, bigint>>,
): { passing: Passing; gained: Transfer[] } {
  const { passing } = reading.context.memory;
  const known = passing.get(key) as Passing & { next: Point };
  const { seen, next, at, listed } = known;
  let { moved } = known;
  for (const [height, of] of moves)
    if (height > at.height && height <= next.height) moved += of.get(key) ?? 0n;
  const { height, hash, time } = last;
  if (height < next.height) return { passing: { ...known, moved, at: { height, hash } }, gained: [] };
  if (next.height === height && next.hash !== hash)
    throw badAnswer(`block ${height} is another one than was read`);
  const after = { ...beginAt(next, known), checked_at: known.checked_at };
  const is_known = seen.balance !== null && next.balance !== null;
  const before = listed.reduce((sum, [each, amount]) => (each <= next.height ? sum + amount : sum), 0n);
  const amount = is_known ? (next.balance as bigint) - (seen.balance as bigint) - moved - before : 0n;
  if (amount <= 0n) return { passing: after, gained: [] };
  const gain = { key, amount, height: next.height, from: seen.height + 1 };
  const block = { hash: next.hash, time: next.time ?? time };
  return { passing: after, gained: transferOfGain(reading, gain, block, 'passed') };
}

/** What was stated of an address, and what is to be. */
function proofOf({ assets }: Reading, key: string, stated: Passing['stated']): AccountProof {
  const chain = assets.coin?.chain as string;
  const { read_through = null, trouble = null } = stated ?? {};
  return { address_key: key, chain, account: key, read_through, trouble, failed: false };
}

/** What is proved of an address, where that has changed. */
function statedIfNew(reading: Reading, key: string): [string, Passing][] {
  const { context, cursor, request, read_through = request.read_through } = reading;
  const { memory, local } = context;
  const known = memory.passing.get(key);
  if (!known) return [];
  const { seen, next, at, stated } = known;
  const through =
    seen.time === null || read_through == null ? null : Math.min(local(seen.time).earliest_at, read_through);
  const why = memory.passing_trouble === null ? '' : `: ${memory.passing_trouble}`;
  const trouble =
    next === null
      ? null
      : `it passes on what it gets, so that each block is read: up to ${at.height} of ${headOf(cursor)[0]}${why}`;
  if (stated?.read_through === through && (stated.trouble === null) === (trouble === null)) return [];
  return [[key, { ...known, stated: { read_through: through, trouble } }]];
}

/** What is known of addresses counts once it is stored. */
function* store(reading: Reading, changed: Passings, page: Omit<Page, 'cursor'>): Generator<Page> {
  yield* stored(reading, { ...page, accounts: rowsOf(changed) }, reading.cursor);
  for (const [key, each] of changed) reading.context.memory.passing.set(key, each);
}
