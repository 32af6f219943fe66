// What contracts pay where a source shows payments alone: balances, held against all that final blocks show of an address.
import { type Json, type Page, ProviderError, type Transfer } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { transferOfGain } from './accounts.ts';
import { badAnswer } from './answers.ts';
import { type Held, hashAt, headOf, type SolidPosition, withPaid } from './cursor.ts';
import { blocksIn } from './depth.ts';
import { type Asker, grow, isOdd, readHeaders, shrink } from './hosts.ts';
import type { SolidAccount, SolidAccounts } from './memory.ts';
import type { CoinSource, SolidBalances } from './networks.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';
import { readSource, type WholeBlock } from './whole-blocks.ts';

/** Balances are asked for this often; sooner where one is not known, or an increase waits to be seen a second time. */
const LOOK_SECONDS = 60;
const SOON_SECONDS = 6;
/** Pieces of blocks read in one look, and questions for balances; what is left comes with the next. */
const PIECES_PER_LOOK = 30;
const QUESTIONS_PER_LOOK = 5;
/** Where no code is run, so many balances are asked for one by one in a look, each in its turn. */
const ALONE_PER_LOOK = 5;
/** With fewer, code is refused for something else than its size. */
const FEW_BALANCES = 20;
/** A coin whose balances cannot be read for so long is not sold. */
const LATE_SECONDS = 600;

const sourceOf = ({ assets }: Reading): CoinSource | null =>
  assets.coin?.by.found_by === 'source' ? assets.coin.by.source : null;

/**
 * Once a minute. Blocks that no branch replaces are read a second time here, as far as balances are known of; what a balance
 * has beyond what these show is listed once two looks agree. What fails is tried again and drops nothing: the next look
 * holds the balance against all blocks since the last one.
 */
export async function* readSolid(reading: Reading): AsyncGenerator<Page> {
  const source = sourceOf(reading);
  const { watched, context } = reading;
  const { memory, now } = context;
  if (!source || watched.size === 0) return;
  const { solid } = memory;
  const all = [...(solid?.all.values() ?? [])];
  const is_new = memory.solid_failing === null && [...watched.keys()].some((key) => !solid?.all.has(key));
  const waits = all.some(({ balance, more }) => balance === null || more !== null);
  const pause = is_new ? 0 : waits ? SOON_SECONDS : LOOK_SECONDS;
  if (now() - memory.solid_at < pause && now() >= memory.solid_at) return;
  memory.solid_at = now();
  try {
    yield* look(reading, source);
    memory.solid_failing = null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    memory.solid_failing = {
      since: Math.min(memory.solid_failing?.since ?? now(), now()),
      why: error.message,
    };
  }
}

/** Why balances could not be read for long; null where they could. */
export function solidTrouble({ context: { memory, now } }: Reading): string | null {
  const { solid_failing } = memory;
  if (!solid_failing || now() - solid_failing.since < LATE_SECONDS) return null;
  return `what contracts pay in it cannot be read: ${solid_failing.why}`;
}

async function* look(reading: Reading, source: CoinSource): AsyncGenerator<Page> {
  const [head] = headOf(reading.cursor);
  const [height, hash] = await either(reading, async ({ asker: { rpc }, network }) => {
    const newest = await source.solid.newest(rpc);
    // One that stands still has no balance that changes.
    const { alone_seconds } = network.final;
    // Where blocks are slower than is known, it is only noticed later.
    const usual = alone_seconds / network.block_seconds;
    if (head - newest[0] > Math.max(usual, blocksIn(network, reading.cursor, alone_seconds)))
      throw badAnswer(`its newest final block is ${newest[0]}, ${head} was read`);
    return newest;
  });
  if ((hashAt(reading.cursor, height) ?? hash) !== hash)
    throw badAnswer(`block ${height} is another one than was read`);
  const accounts = await accountsAt(reading, [height, hash]);
  yield* advance(reading, source, accounts, Math.min(height, head));
  for (let asked = 0; asked < QUESTIONS_PER_LOOK; asked++) {
    const keys = nextKeys(accounts, reading.cursor.solid as SolidPosition);
    if (keys.length === 0 || (reading.cursor.solid as SolidPosition).height < Math.min(height, head)) return;
    const found = await either(reading, ({ asker }) => ask(asker, source, keys));
    // What was made since then is read first.
    if (found.height > head) throw badAnswer(`balances are of block ${found.height}, ${head} was read`);
    yield* advance(reading, source, accounts, found.height);
    const at = reading.cursor.solid as SolidPosition;
    if (found.height !== at.height)
      throw badAnswer(`balances are of block ${found.height}, ${at.height} was read`);
    yield* compare(reading, accounts, keys.slice(0, found.balances.length), found);
    if (!found.by_code) return;
  }
}

/** Those first whose balance was not read for the longest time. */
function nextKeys(accounts: SolidAccounts, { height }: SolidPosition): string[] {
  const due = [...accounts].filter(
    ([, { balance, exact, more }]) => balance === null || (more?.height ?? exact) < height,
  );
  const age = ({ balance, exact }: SolidAccount) => (balance === null ? -1 : exact);
  return due.sort(([, one], [, other]) => age(one) - age(other)).map(([key]) => key);
}

/** Of the usual provider, else of another one, which is not backed off for what is odd about its answer. */
async function either<T extends object>(reading: Reading, work: (of: Reading) => Promise<T>): Promise<T> {
  const { network, context } = reading;
  try {
    return await work(reading);
  } catch (error) {
    if (!(error instanceof ProviderError) || !context.askOther) throw error;
    const asked = context.askOther((rpc) =>
      unlessOdd(work({ ...reading, asker: askerOf(network, { ...context, rpc }) })),
    );
    const found = await orFailed(asked);
    if (!found) throw error;
    return found;
  }
}

async function unlessOdd<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError && isOdd(error)) return null;
    throw error;
  }
}

/** As many balances as one host gives at once. */
async function ask(
  { rpc, host }: Asker,
  { solid }: CoinSource,
  keys: readonly string[],
): Promise<SolidBalances & { by_code: boolean }> {
  if (!host.runs_code)
    return { ...(await solid.balances(rpc, keys.slice(0, ALONE_PER_LOOK), false)), by_code: false };
  const asked = keys.slice(0, host.balances.value);
  try {
    const found = await solid.balances(rpc, asked, true);
    grow(host.balances);
    return { ...found, by_code: true };
  } catch (error) {
    if (!(error instanceof ProviderError) || !isOdd(error)) throw error;
    if (asked.length > FEW_BALANCES) shrink(host.balances, asked.length);
    else host.runs_code = false;
    throw error;
  }
}

/** What is known of each watched address where looking stands; with nothing known of any it begins at the newest block. */
async function accountsAt(reading: Reading, newest: Held): Promise<SolidAccounts> {
  const { watched, context, request, cursor } = reading;
  const { solid: cached } = context.memory;
  const at = cursor.solid;
  const is_cached = at && cached?.height === at.height && cached.hash === at.hash;
  const keys = [...watched.keys()];
  const rows = is_cached || !at ? new Map<string, Json>() : await request.accounts(keys);
  const known = keys.flatMap((key): [string, SolidAccount][] => {
    const account = is_cached ? cached.all.get(key) : at && accountOf(rows.get(key), at);
    return account ? [[key, account]] : [];
  });
  if (!at || known.length === 0) reading.cursor = { ...cursor, solid: beginAt(newest) };
  const { height } = reading.cursor.solid as SolidPosition;
  const fresh = { balance: null, exact: height, height, more: null };
  const found = new Map(known);
  return new Map(keys.map((key) => [key, found.get(key) ?? fresh]));
}

const beginAt = ([height, hash]: Held): SolidPosition => ({ height, hash, since: height });

type StoredAccount = Omit<SolidAccount, 'balance' | 'more'> & {
  balance: string | null;
  more: { amount: string; height: number; hash: string; time: number } | null;
};

const storedAccount = ({ balance, more, ...rest }: SolidAccount): Json => ({
  ...rest,
  balance: balance?.toString() ?? null,
  more: more && { ...more, amount: more.amount.toString() },
});

/** As it was stored; undefined where it is of another branch, or not from a time without a gap. */
function accountOf(row: Json | undefined, { since, height }: SolidPosition): SolidAccount | undefined {
  if (row === undefined) return undefined;
  const { balance, more, ...rest } = row as unknown as StoredAccount;
  if (more === undefined || rest.height < since || Math.max(rest.height, more?.height ?? 0) > height)
    return undefined;
  return {
    ...rest,
    balance: balance === null ? null : BigInt(balance),
    more: more && { ...more, amount: BigInt(more.amount) },
  };
}

/** Reads blocks up to a height, and what they move. */
async function* advance(
  reading: Reading,
  source: CoinSource,
  accounts: SolidAccounts,
  to: number,
): AsyncGenerator<Page> {
  for (let read = 0; read < PIECES_PER_LOOK; read++) {
    const at = reading.cursor.solid as SolidPosition;
    if (at.height >= to) return;
    const { last, moves, transfers, paid } = await either(reading, (of) => pieceOf(of, source, at, to));
    const { height, hash } = last;
    const changed: string[] = [];
    for (const [key, moved] of moves) {
      const account = accounts.get(key);
      if (!account || account.balance === null || moved === 0n) continue;
      accounts.set(key, { ...account, balance: account.balance + moved, height });
      changed.push(key);
    }
    yield* storeSolid(reading, accounts, changed, {
      transfers,
      at: { ...at, height, hash },
      paid,
    });
  }
}

function* storeSolid(
  reading: Reading,
  all: SolidAccounts,
  changed: readonly string[],
  { transfers, at, paid = [] }: { transfers: Transfer[]; at: SolidPosition; paid?: readonly Held[] },
): Generator<Page> {
  const { cursor, context } = reading;
  yield* stored(
    reading,
    { transfers, accounts: changed.map((key) => [key, storedAccount(all.get(key) as SolidAccount)]) },
    { ...cursor, solid: at, paid: withPaid(cursor.paid, paid) },
  );
  context.memory.solid = { height: at.height, hash: at.hash, all };
}

interface SolidPiece {
  last: WholeBlock;
  /** By how much each watched address gained and lost by transactions that say so. */
  moves: Map<string, bigint>;
  transfers: Transfer[];
  paid: Held[];
}

async function pieceOf(
  reading: Reading,
  source: CoinSource,
  at: SolidPosition,
  to: number,
): Promise<SolidPiece> {
  const { asker, watched, cursor } = reading;
  const blocks = await readSource(
    asker,
    source,
    at.height + 1,
    Math.min(to, at.height + asker.host.whole.value),
  );
  const [first, last] = [blocks[0] as WholeBlock, blocks.at(-1) as WholeBlock];
  if (first.parent !== at.hash) throw badAnswer(`block ${first.height} does not follow the one before it`);
  if ((hashAt(cursor, last.height) ?? last.hash) !== last.hash)
    throw badAnswer(`block ${last.height} is another one than was read`);
  const moves = new Map<string, bigint>();
  const move = (key: string, amount: bigint) => moves.set(key, (moves.get(key) ?? 0n) + amount);
  for (const { to: key, amount } of blocks.flatMap(({ coins }) => coins))
    if (watched.has(key)) move(key, amount);
  for (const { txid, from, amount } of blocks.flatMap(({ spendings }) => spendings))
    if (watched.has(from)) move(from, (await source.solid.change(asker.rpc, txid)) - amount);
  const headers = new Map(blocks.map((block) => [block.height, block]));
  const coins = blocks.flatMap((block) => block.coins);
  return { last, moves, ...(await creditsAt(reading, cursor, { logs: [], coins, headers })) };
}

/** What both looks have found: nothing where one has more than is known, and the other less. */
function agreed(before: bigint, now: bigint): bigint {
  if (before < 0n !== now < 0n) return 0n;
  return now < 0n === before < now ? now : before;
}

/**
 * Holds balances against what is known; what two looks find more is listed. What one look finds less is no less yet: a server
 * that is behind lacks a payment that was listed, which would rise out of its answer a second time.
 */
async function* compare(
  reading: Reading,
  accounts: SolidAccounts,
  keys: readonly string[],
  { balances }: SolidBalances,
): AsyncGenerator<Page> {
  const at = reading.cursor.solid as SolidPosition;
  const { height, hash } = at;
  const changeAt = (key: string, position: number) => {
    const balance = accounts.get(key)?.balance ?? null;
    return balance === null ? 0n : (balances[position] as bigint) - balance;
  };
  const [header] = keys.some((key, position) => changeAt(key, position) > 0n)
    ? await readHeaders(reading.asker, [height])
    : [];
  if (header && header.hash !== hash) throw badAnswer(`block ${height} is another one than was read`);
  const time = header?.time ?? 0;
  const transfers: Transfer[] = [];
  const changed: string[] = [];
  for (const [position, key] of keys.entries()) {
    const account = accounts.get(key) as SolidAccount;
    const found = balances[position] as bigint;
    const { more, exact } = account;
    const change = changeAt(key, position);
    const sure = agreed(more?.amount ?? 0n, change);
    if (more && sure > 0n)
      transfers.push(
        ...transferOfGain(reading, { key, amount: sure, height: more.height, from: exact + 1 }, more),
      );
    const rest = change - sure;
    const waiting = { balance: found - rest, exact: more && sure !== 0n ? more.height : exact, height };
    // The first one is a single look, too.
    const is_settled = rest === 0n && account.balance !== null;
    const next = is_settled ? null : { amount: rest, height, hash, time };
    accounts.set(
      key,
      next ? { ...waiting, more: next } : { balance: found, exact: height, height, more: null },
    );
    if (change !== 0n || more || account.balance === null) changed.push(key);
  }
  yield* storeSolid(reading, accounts, changed, { transfers, at });
}
