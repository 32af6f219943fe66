// What watched addresses have by the transactions that were read, and what their balances say beyond that.
import type { Json, Transfer } from '../family.ts';
import { inTurns } from '../steps.ts';
import { badAnswer, feeOf, type Header, type Receipt, readReceipt, type Transaction } from './answers.ts';
import { balanceIndex } from './assets.ts';
import { balancesIfStored } from './balances.ts';
import { readableTxid } from './credits.ts';
import type { CoinPosition } from './cursor.ts';
import { placeIn } from './depth.ts';
import { type Asker, askAll, readHeaders, receiptCall } from './hosts.ts';
import type { Account, Accounts, Proof } from './memory.ts';
import type { Reading } from './reading.ts';
import type { WholeBlock } from './whole-blocks.ts';

export const storedAccount = ({ balance, ...rest }: Account): Json => ({
  ...rest,
  balance: balance?.toString() ?? null,
});

/** An account as it was stored; null where it is of another branch, or from before its address was watched. */
export function accountOf(
  stored: Json | undefined,
  { since, height }: CoinPosition,
  isOld: (time: number) => boolean,
): Account | null {
  if (stored === undefined) return null;
  const { balance, ...rest } = stored as unknown as Omit<Account, 'balance'> & { balance: string | null };
  if (rest.height < since || rest.height > height || isOld(rest.time)) return null;
  return { ...rest, balance: balance === null ? null : BigInt(balance) };
}

/** Transactions asked about in one piece. */
const PROOFS_AT_ONCE = 50;

/** The receipts of all transactions that paid a watched address, or that one of them made. */
export async function proveMoves(
  asker: Asker,
  blocks: readonly WholeBlock[],
  watched: ReadonlyMap<string, unknown>,
  proofs: Map<string, Proof>,
): Promise<void> {
  const moves = blocks.flatMap(({ hash, transactions }) =>
    (transactions ?? []).flatMap((transaction) => {
      const { from, to, value } = transaction;
      const isMove = watched.has(from) || (to != null && value > 0n && watched.has(to));
      return isMove && proofs.get(transaction.hash)?.receipt.blockHash !== hash
        ? [{ transaction, hash }]
        : [];
    }),
  );
  for (let at = 0; at < moves.length; at += PROOFS_AT_ONCE) {
    const group = moves.slice(at, at + PROOFS_AT_ONCE);
    const answers = await askAll(
      asker,
      group.map(({ transaction }) => receiptCall(transaction.hash)),
    );
    for (const [position, { transaction, hash }] of group.entries()) {
      const receipt = await inTurns(asker.rpc, readReceipt(answers[position], transaction.hash));
      if (receipt?.blockHash !== hash)
        throw badAnswer(`transaction ${transaction.hash} is listed, but not delivered`);
      proofs.set(transaction.hash, { receipt, transaction });
    }
  }
}

/** By how much each watched address gained and lost by transactions of one block. */
type Moves = Map<string, bigint>;

export function movesOf(
  { transactions }: WholeBlock,
  watched: ReadonlyMap<string, unknown>,
  proofs: ReadonlyMap<string, Proof>,
): Moves {
  const moves: Moves = new Map();
  const move = (key: string, amount: bigint) => {
    if (watched.has(key)) moves.set(key, (moves.get(key) ?? 0n) + amount);
  };
  for (const transaction of transactions ?? []) {
    const receipt = proofs.get(transaction.hash)?.receipt;
    if (receipt) moveBy(transaction, receipt, move);
  }
  return moves;
}

function moveBy(
  { from, to, value }: Transaction,
  receipt: Receipt,
  move: (key: string, amount: bigint) => void,
): void {
  move(from, -feeOf(receipt));
  if (receipt.status !== '0x1') return;
  move(from, -value);
  if (to != null) move(to, value);
}

/** A piece of the chain whose coins were read. */
export interface Piece {
  /** Where it begins: what is known of accounts is as of there. */
  after: CoinPosition;
  /** Its last block. */
  last: Header;
  /** Empty where no balance has changed, so that none was read. */
  blocks: readonly WholeBlock[];
  /** What accounts have at its last block; null where that was not asked. */
  actual: ReadonlyMap<string, bigint> | null;
}

/** Accounts as they are at the end of a piece, and what they gained that no transaction explains. */
export async function follow(
  reading: Reading,
  accounts: ReadonlyMap<string, Account>,
  piece: Piece,
): Promise<{ accounts: Accounts; transfers: Transfer[] }> {
  const { watched, context } = reading;
  const { last, blocks, actual } = piece;
  const noted = { height: last.height, time: context.now() };
  const moves = new Map(
    blocks.map((block) => [block.height, movesOf(block, watched, context.memory.proofs)]),
  );
  const after: Accounts = new Map();
  const rises: Rise[] = [];
  for (const [key, account] of accounts) {
    const between = (low: number, high: number) => {
      let sum = 0n;
      for (const [height, moved] of moves) if (height > low && height <= high) sum += moved.get(key) ?? 0n;
      return sum;
    };
    const moved = between(piece.after.height, last.height);
    const expected = account.balance === null ? null : account.balance + moved;
    const found = actual?.get(key);
    if (found === undefined) {
      after.set(key, { ...account, ...noted, balance: expected });
      continue;
    }
    after.set(key, { ...noted, balance: found, exact: last.height });
    if (expected === null || found <= expected) continue;
    const low = { height: piece.after.height, balance: account.balance as bigint };
    const high = { height: last.height, balance: found };
    rises.push({ span: { key, between, exact: account.exact }, low, high });
  }
  const keys = rises.map(({ span }) => span.key);
  const balanceAt = balancesOf(reading, piece, keys);
  const gains: Gain[] = [];
  for (const rise of rises) gains.push(...(await gainsSince(balanceAt, rise)));
  return { accounts: after, transfers: await transfersOfGains(reading, gains, piece) };
}

/** An increase that no transaction explains: a contract paid it, or the network itself. */
interface Gain {
  key: string;
  amount: bigint;
  /** The block that shows it, and the first one that it may be in. */
  height: number;
  from: number;
}

interface Span {
  key: string;
  /** What transactions moved above one height, and up to another. */
  between(low: number, high: number): bigint;
  /** The height whose balance is known to be right. */
  exact: number;
}

interface Point {
  height: number;
  balance: bigint;
}

/** More than transactions explain, somewhere between two heights. */
interface Rise {
  span: Span;
  low: Point;
  high: Point;
}

type BalanceAt = (key: string, height: number) => Promise<bigint | undefined>;

/** Asks once at each height for all of these: a stranger may pay many in one transaction. */
function balancesOf({ asker }: Reading, { after, blocks }: Piece, keys: readonly string[]): BalanceAt {
  const hashes = new Map([after, ...blocks].map(({ height, hash }) => [height, hash]));
  const known = new Map<number, ReadonlyMap<string, bigint> | undefined>();
  return async (key, height) => {
    if (!known.has(height))
      known.set(height, await balancesIfStored(asker, keys, [height, hashes.get(height) as string]));
    return known.get(height)?.get(key);
  };
}

/** What was gained before `low`, where no balance was read, is apart from the rest: a fork reaches less far. */
async function gainsSince(balanceAt: BalanceAt, { span, low, high }: Rise): Promise<Gain[]> {
  const { key, exact } = span;
  const balance = exact < low.height ? await balanceAt(key, low.height) : undefined;
  if (balance === undefined) return locate(balanceAt, span, low, high);
  const amount = balance - low.balance;
  const before: Gain[] = amount > 0n ? [{ key, amount, height: low.height, from: exact + 1 }] : [];
  const rest = await locate(balanceAt, { ...span, exact: low.height }, { ...low, balance }, high);
  return [...before, ...rest];
}

/** The blocks that an address gained something in, found by halves as long as the provider has the state. */
async function locate(balanceAt: BalanceAt, span: Span, low: Point, high: Point): Promise<Gain[]> {
  const { key, between, exact } = span;
  const amount = high.balance - low.balance - between(low.height, high.height);
  if (amount <= 0n) return [];
  const blocks = high.height - low.height;
  const from = Math.min(low.height, exact) + 1;
  const whole: Gain = { key, amount, height: high.height, from };
  if (blocks === 1) return [whole];
  const middle = low.height + Math.floor(blocks / 2);
  const balance = await balanceAt(key, middle);
  if (balance === undefined) return [whole];
  const centre = { height: middle, balance };
  const first = await locate(balanceAt, span, low, centre);
  return [...first, ...(await locate(balanceAt, { ...span, exact: middle }, centre, high))];
}

/** Credited to no one: which transaction paid it is not known. */
async function transfersOfGains(
  reading: Reading,
  gains: readonly Gain[],
  { after, blocks, last }: Piece,
): Promise<Transfer[]> {
  const { asker } = reading;
  const [before] = gains.some(({ height }) => height === after.height)
    ? await readHeaders(asker, [after.height])
    : [];
  const found: Header[] = [...blocks, last, ...(before?.hash === after.hash ? [before] : [])];
  const headers = new Map(found.map((header) => [header.height, header]));
  return gains.flatMap(({ key, amount, height, from }): Transfer[] => {
    const header = headers.get(height);
    if (!header) throw badAnswer(`block ${height} cannot be read`);
    return transferOfGain(reading, { key, amount, height, from }, header);
  });
}

/** Empty where its address was not watched yet. */
export function transferOfGain(
  { network, watched, assets, cursor, context }: Reading,
  { key, amount, height, from }: Gain,
  { hash, time }: Pick<Header, 'hash' | 'time'>,
  passed?: 'passed',
): Transfer[] {
  const made = context.local(time);
  if (made.latest_at < (watched.get(key)?.since ?? 0)) return [];
  const blocks = from === height ? `block ${height}` : `blocks ${from} to ${height}`;
  return [
    {
      chain: assets.coin?.chain as string,
      address_key: key,
      txid: readableTxid(network.dialect, hash),
      index: balanceIndex(key, passed),
      amount_atomic: amount,
      memo: null,
      references: [],
      sender: null,
      height,
      block_hash: hash,
      inputs: [],
      ...placeIn(network, cursor, height, time),
      ...made,
      ambiguous: `${passed ? 'this came and left again' : 'the balance rose by this'} in ${blocks}, and no transaction there pays it to the address: a contract or the network did (the id is that of the block)`,
    },
  ];
}
