// What was paid to watched addresses: found in logs and blocks, taken from receipts.
import { type Interval, ProviderError, type Transfer, type WatchedAddress } from '../family.ts';
import { inTurns } from '../steps.ts';
import {
  badAnswer,
  type Header,
  headerOf,
  type Log,
  type Receipt,
  readReceipt,
  type Transaction,
  transactionOf,
} from './answers.ts';
import { type Assets, coinIndex, indexOf, type LogAsset, paymentIn } from './assets.ts';
import { type Held, heldOf } from './cursor.ts';
import type { Depth } from './depth.ts';
import {
  type Asker,
  askAll,
  askOfOne,
  blockCall,
  given,
  readHeaders,
  receiptCall,
  takesPairs,
  transactionCall,
} from './hosts.ts';
import type { Absent, Proof } from './memory.ts';
import type { CoinPayment, Dialect, EvmNetwork } from './networks.ts';

/** Transactions asked about in one piece. */
const PROOFS_AT_ONCE = 50;
/** How often one that takes a single question at once is asked for what it has no receipt of. */
const TIMES_ALONE = 5;
/** Listed transactions without receipts asked about in one reading; what is left comes with the next. */
const ABSENT_PER_READ = 50;
/** Who lists so many that are not there makes them up. */
const MADE_UP = 500;

export type Watched = ReadonlyMap<string, WatchedAddress>;

/** A payment in coins, and the block that it stands in. */
export type PlacedCoin = CoinPayment & { height: number; hash: string };

/** What a stretch of blocks shows. */
export interface Seen {
  logs: readonly Log[];
  coins: readonly PlacedCoin[];
  /** Headers of its blocks that were read, by height. */
  headers: ReadonlyMap<number, Header>;
}

interface CreditDeps {
  network: EvmNetwork;
  asker: Asker;
  assets: Assets;
  watched: Watched;
  /** Transactions that stood in blocks which left the chain: they may stand anywhere now. */
  displaced: ReadonlySet<string>;
  /** What earlier tries of this page were given. */
  proofs: Map<string, Proof>;
  /** Whether these blocks are read a second time, so that what cannot be shown now never will be. */
  is_second: boolean;
  /** Whether another provider alone lists them: what the one that is read has no receipt of is made up. */
  is_others: boolean;
  /** What it is known to have no receipt of. */
  absent: Absent;
  /** When a moment of the chain was by our clock. */
  local(chain_time: number): Interval;
  /** How deep a block stands, and whether it is final. */
  place(height: number, time: number): Depth;
}

/** One payment of a transaction, by its receipt. */
interface Credit {
  chain: string;
  index: string;
  from: string;
  to: string;
  amount: bigint;
  ambiguous?: string;
}

/** A transaction that something was found of, and what. */
interface Hit {
  txid: string;
  height: number;
  hash: string;
  logs: Log[];
  coins: PlacedCoin[];
}

/** What was surely made before its address was watched is left out. `paid`: the blocks that hold payments. */
export async function readCredits(
  deps: CreditDeps,
  seen: Seen,
): Promise<{ transfers: Transfer[]; paid: Held[] }> {
  const hits = hitsIn(deps, seen);
  const headers = await withHeaders(deps.asker, seen.headers, hits);
  const proofs = await readProofs(deps, hits);
  const transfers = hits.flatMap((hit) => {
    const header = headers.get(hit.height);
    const proof = proofs.get(hit.txid);
    if (header?.hash !== hit.hash) throw badAnswer(`block ${hit.height} changed while it was read`);
    if (!proof) return unproved(deps, hit, header);
    const { transaction } = proof;
    try {
      const credits = creditsOfHit(deps, hit, proof.receipt);
      return transfersOf(deps, credits, { txid: hit.txid, transaction, header });
    } catch (error) {
      deps.proofs.delete(hit.txid);
      if (deps.is_others && error instanceof Refuted) return [];
      throw error;
    }
  });
  const heights = new Set(transfers.map(({ height }) => height));
  const paid = [...headers.values()].filter(({ height }) => heights.has(height)).map(heldOf);
  return { transfers, paid };
}

/**
 * A node may list a log and have no receipt of its transaction: it lags, or the network itself made it (the bridge of
 * Polygon). It stops no other; read a second time it is listed for the operator, and credits no one.
 */
function unproved(deps: CreditDeps, { txid, logs }: Hit, header: Header): Transfer[] {
  if (!deps.is_second || deps.is_others) return [];
  const ambiguous = 'the network lists it, and has no receipt of its transaction';
  const credits = creditsIn(deps.assets.logs, logs).map((credit) => ({ ambiguous, ...credit }));
  return transfersOf(deps, credits, { txid, transaction: null, header });
}

/** What is listed contradicts what the provider that is read has of the same transaction. */
export class Refuted extends ProviderError {
  override name = 'Refuted';
}

const refuted = (message: string) => new Refuted('bad_answer', message);

/** More was listed without receipts than one reading asks about: the next one continues there. */
export class Unasked extends ProviderError {
  override name = 'Unasked';
}

/** Whether one of both makes up more than is worth asking about. */
export const isMadeUp = (absent: Absent, by: 'own' | 'others'): boolean => absent[by] >= MADE_UP;

const nameOf = ({ txid, hash }: Hit): string => `${txid} ${hash}`;

/**
 * A node that is behind has no receipt either: only one that has the block too, in the same answer where it takes several
 * questions at once, says that there is none.
 */
async function rejectLagging(
  { asker, absent, is_others }: CreditDeps,
  unproved: readonly Hit[],
): Promise<void> {
  const { host } = asker;
  for (const hit of unproved) {
    const { txid, height, hash } = hit;
    if (!is_others && isMadeUp(absent, 'own'))
      throw badAnswer(`${absent.own} transactions are listed, of which there are no receipts`);
    if (absent.asked >= ABSENT_PER_READ)
      throw new Unasked('bad_answer', `${absent.asked} transactions are listed, but not delivered`);
    absent.asked++;
    for (let time = 0; time < (takesPairs(host) ? 1 : TIMES_ALONE); time++) {
      const [receipt, block] = await askOfOne(asker, [receiptCall(txid), blockCall(height)]);
      const found = await inTurns(asker.rpc, readReceipt(given(receipt), txid));
      if (found !== null || headerOf(given(block), height)?.hash !== hash)
        throw badAnswer(`transaction ${txid} is listed, but not delivered`);
    }
    absent.names.add(nameOf(hit));
    absent[is_others ? 'others' : 'own']++;
  }
}

async function withHeaders(
  asker: Asker,
  known: ReadonlyMap<number, Header>,
  hits: readonly Hit[],
): Promise<Map<number, Header>> {
  const unknown = [...new Set(hits.map(({ height }) => height))].filter((height) => !known.has(height));
  const found = await readHeaders(asker, unknown);
  return new Map([
    ...known,
    ...found.flatMap((each): [number, Header][] => (each ? [[each.height, each]] : [])),
  ]);
}

/**
 * The receipts of transactions, and where they are numbered the transactions, in pieces: strangers decide how many there
 * are, and what failed in between continues with the next try.
 */
async function readProofs(deps: CreditDeps, hits: readonly Hit[]): Promise<ReadonlyMap<string, Proof>> {
  const { asker, network, proofs, is_second, absent } = deps;
  const { has_nonces } = network.dialect;
  const isFresh = ({ txid, hash }: Hit) => proofs.get(txid)?.receipt.blockHash === hash;
  const isAbsent = (hit: Hit) => is_second && absent.names.has(nameOf(hit));
  const unknown = hits.filter((hit) => !isFresh(hit) && !isAbsent(hit));
  for (let at = 0; at < unknown.length; at += PROOFS_AT_ONCE) {
    const group = unknown.slice(at, at + PROOFS_AT_ONCE);
    const receipts = group.map(({ txid }) => receiptCall(txid));
    const transactions = has_nonces ? group.map(({ txid }) => transactionCall(txid)) : [];
    const answers = await askAll(asker, [...receipts, ...transactions]);
    for (const [position, { txid, coins }] of group.entries()) {
      const receipt = await inTurns(asker.rpc, readReceipt(answers[position], txid));
      const transaction = has_nonces ? transactionOf(answers[group.length + position], txid) : null;
      if (receipt && (transaction || !has_nonces)) proofs.set(txid, { receipt, transaction });
      // What a block shows itself is read this once.
      else if (coins.length > 0) throw badAnswer(`transaction ${txid} is listed, but not delivered`);
    }
    if (is_second)
      await rejectLagging(
        deps,
        group.filter(({ txid }) => !proofs.has(txid)),
      );
  }
  return proofs;
}

function hitsIn({ assets, watched }: CreditDeps, { logs, coins }: Seen): Hit[] {
  const hits = new Map<string, Hit>();
  const hitOf = (txid: string, height: number, hash: string): Hit => {
    const hit = hits.get(txid) ?? { txid, height, hash, logs: [], coins: [] };
    if (hit.hash !== hash) throw refuted(`transaction ${txid} is in two blocks`);
    hits.set(txid, hit);
    return hit;
  };
  for (const log of logs) {
    const payment = paymentIn(assets.logs, log);
    if (payment && watched.has(payment.to))
      hitOf(log.transactionHash, log.blockNumber, log.blockHash).logs.push(log);
  }
  for (const coin of coins)
    if (coin.amount > 0n && coin.from !== coin.to && watched.has(coin.to))
      hitOf(coin.txid, coin.height, coin.hash).coins.push(coin);
  return [...hits.values()];
}

/**
 * A log that was left out moves no other: their positions are those of the receipt, which must have every log that was
 * listed.
 */
function creditsOfHit({ assets, watched }: CreditDeps, hit: Hit, receipt: Receipt): Credit[] {
  if (receipt.blockHash !== hit.hash || receipt.blockNumber !== hit.height)
    throw refuted(`the receipt of ${hit.txid} is of another block`);
  const known = new Map(receipt.logs.map((each) => [each.logIndex, each]));
  const isSame = (log: Log) => JSON.stringify(known.get(log.logIndex)) === JSON.stringify(log);
  if (!hit.logs.every(isSame)) throw refuted(`the receipt of ${hit.txid} lacks a log that was listed`);
  if (receipt.status !== '0x1') {
    // A block shows the value of a transaction that failed too.
    if (hit.logs.length > 0) throw refuted(`transaction ${hit.txid} failed, and has logs`);
    return [];
  }
  const coins = hit.coins.map(({ from, to, amount }) => ({
    chain: assets.coin?.chain as string,
    index: coinIndex(to),
    from,
    to,
    amount,
  }));
  return [...coins, ...creditsIn(assets.logs, receipt.logs)].filter(({ to }) => watched.has(to));
}

/** Every payment in these assets, to anyone, from logs of one transaction in their order. */
export function creditsIn(assets: readonly LogAsset[], logs: readonly Log[]): Credit[] {
  const counts = new Map<string, number>();
  return logs.flatMap((log) => {
    const payment = paymentIn(assets, log);
    if (!payment) return [];
    const { asset, from, to, amount } = payment;
    const counted = `${asset.name} ${to}`;
    const position = counts.get(counted) ?? 0;
    counts.set(counted, position + 1);
    const ambiguous = asset.look_alike;
    const credit = { chain: asset.chain, index: indexOf(asset.name, to, position), from, to, amount };
    return [{ ...credit, ...(ambiguous === undefined ? {} : { ambiguous }) }];
  });
}

interface Placed {
  /** As JSON-RPC has it. */
  txid: string;
  transaction: Transaction | null;
  header: Header;
}

export const readableTxid = ({ txid_prefix }: Dialect, hash: string): string =>
  `${txid_prefix}${hash.slice(2)}`;

/** A transaction is one of a numbered sequence of its sender: another with the same number takes its place. */
const inputsOf = (transaction: Transaction | null): string[] =>
  transaction?.nonce == null ? [] : [`${transaction.from}:${transaction.nonce}`];

export function transfersOf(
  {
    network: { dialect },
    watched,
    displaced,
    local,
    place,
  }: Pick<CreditDeps, 'network' | 'watched' | 'displaced' | 'local' | 'place'>,
  credits: readonly Credit[],
  { txid: hash, transaction, header }: Placed,
): Transfer[] {
  const made = local(header.time);
  const txid = readableTxid(dialect, hash);
  return credits.flatMap(({ chain, index, from, to, amount, ambiguous }): Transfer[] => {
    if (made.latest_at < (watched.get(to)?.since ?? 0) && !displaced.has(txid)) return [];
    return [
      {
        chain,
        address_key: to,
        txid,
        index,
        amount_atomic: amount,
        memo: null,
        references: [],
        sender: dialect.shown(from),
        height: header.height,
        block_hash: header.hash,
        inputs: inputsOf(transaction),
        ...place(header.height, header.time),
        ...made,
        ...(ambiguous === undefined ? {} : { ambiguous }),
      },
    ];
  });
}
