// Reads a chain through an Esplora HTTP API (mempool.space, blockstream.info, litecoinspace.org, self-hosted).
// Source: github.com/Blockstream/esplora, API.md. Scripts are asked by hash, so no address is ever compared.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ProviderError, type Rpc } from '../../family.ts';
import { orFailed } from '../../or-failed.ts';
import type { Transaction } from '../block.ts';
import type { Memory } from '../memory.ts';
import {
  asBytes,
  asHash,
  asNumber,
  asObject,
  BLOCK_BYTES,
  badAnswer,
  blockAs,
  headerAs,
  type Listing,
  type ListRequest,
  type Located,
  type PaidBlock,
  provedTip,
  type Sighting,
  type Source,
  type SourceKind,
  transactionAs,
} from '../source.ts';

/** Lists asked for in one read, in turns: bounds the requests however many invoices are open. */
const LISTS_PER_READ = 16;
/** Of those, the share that scripts which cannot wait may take, each of them twice … */
const URGENT_SHARE = 3 / 8;
/** … and how many of them come in the order in which they are asked for, before the others in turns. */
const URGENT_FIRST = 2;
/** Transactions asked for in one read, and of one script: none delays the others by what strangers send to it. */
const TRANSACTIONS_PER_READ = 16;
const SHARE_OF_ONE = 1 / 2;
/** Scripts whose list may fail in one read, before the others are left for the next one. */
const FAILURES_PER_READ = 2;
/** Nothing can be paid to it (an output of data without data): where all lists are refused, its list shows whom that is for. */
const NO_ONES_SCRIPT = '6a';
/** A list that is shorter than the shortest page in use is whole; of a longer one the provider's count is asked for. */
const SHORTEST_PAGE = 10;
/** Where the provider does not count: more than this is never listed. */
const LISTED_LIMIT = 50;
const NOT_FOUND = 404;

export const esplora: SourceKind = {
  kind: 'esplora',
  needs_url: false,
  key_header: 'x-api-key',
  open: esploraSource,
};

export function esploraSource(rpc: Rpc, memory: Memory): Source {
  const hashAt = async (height: number) => asHash(rpc, await rpc.text(`/block-height/${height}`));
  return {
    hashAt,
    /** One request while nothing changes; hash and height come from one answer, so they belong together. */
    async tip() {
      const hash = asHash(rpc, await rpc.text('/blocks/tip/hash'));
      if (memory.tip?.hash === hash) return memory.tip;
      const block = asObject(await rpc.json(`/block/${hash}`));
      const time = asNumber(rpc, block.timestamp);
      const tip = { hash: asHash(rpc, block.id), height: asNumber(rpc, block.height), time };
      memory.tip = await provedTip(rpc, tip, hashAt);
      return memory.tip;
    },
    header: async (hash) => headerAs(rpc, hash, asBytes(rpc, await rpc.text(`/block/${hash}/header`))),
    block: async (hash) =>
      blockAs(rpc, hash, await rpc.bytes(`/block/${hash}/raw`, { most_bytes: BLOCK_BYTES })),
    list: (request) => listScripts(rpc, memory, request),
    lists_alone: false,
    async spender(output) {
      const [spent, vout] = output.split(':');
      const answer = asObject(await orNotFound(rpc.json(`/tx/${spent}/outspend/${vout}`)));
      if (answer.spent !== true) return null;
      return (await readTransaction(rpc, asHash(rpc, answer.txid))) ?? null;
    },
    locate: (txid) => locate(rpc, txid),
  };
}

/** Some of the scripts in each read: the urgent ones, then those that were asked for longest ago. */
function turnOf(memory: Memory, request: ListRequest): string[] {
  const limit = Math.max(LISTS_PER_READ, request.spare_requests);
  const byTurn = (scripts: Iterable<string>) =>
    [...new Set(scripts)]
      .filter((script) => !request.paused.has(script))
      .sort((a, b) => (memory.turns.get(a) ?? 0) - (memory.turns.get(b) ?? 0) || (a < b ? -1 : 1));
  if (request.again) return [...request.urgent];
  const cannotWait = new Set(request.urgent);
  const first = request.urgent.filter((script) => !request.paused.has(script)).slice(0, URGENT_FIRST);
  const urgent = [...new Set([...first, ...byTurn(cannotWait)])].slice(0, Math.floor(limit * URGENT_SHARE));
  const open = [...request.watched.values()].filter((each) => each.open).map((each) => each.key);
  const others = byTurn([...open, ...request.followed]).filter((script) => !cannotWait.has(script));
  return [...urgent, ...others.slice(0, limit - 2 * urgent.length)];
}

/** Scripts that are listed no more. */
function forgetScripts(memory: Memory, { watched, followed }: ListRequest): void {
  const follows = new Set(followed);
  for (const cache of [memory.read, memory.turns, memory.list_times])
    for (const script of cache.keys())
      if (!watched.get(script)?.open && !follows.has(script)) cache.delete(script);
}

/** The unconfirmed transactions of some scripts; one that cannot be listed keeps no other from its turn. */
async function* listScripts(
  rpc: Rpc,
  memory: Memory,
  request: ListRequest,
): AsyncGenerator<Sighting[], Listing[]> {
  if (!request.again) forgetScripts(memory, request);
  const lists: Listing[] = [];
  const budget = { left: Math.max(TRANSACTIONS_PER_READ, request.spare_requests) };
  const share = Math.ceil(budget.left * SHARE_OF_ONE);
  const failures: ProviderError[] = [];
  const away = () => failures.filter(({ kind }) => kind !== 'rpc');
  for (const script of turnOf(memory, request)) {
    if (!request.again) memory.turns.set(script, ++memory.turn);
    const at = request.now();
    try {
      const { now, again } = request;
      lists.push(yield* readScript(rpc, memory, { script, at, now, again, budget, share }));
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind === 'rate_limited') throw error;
      failures.push(error);
      const failed = { complete: false, trouble: error.message, failed: true };
      lists.push({ script, at, txids: new Set(), ...failed });
      if (away().length === FAILURES_PER_READ) break;
    }
  }
  if (failures[0] && failures.length === lists.length) {
    // Refused for what is in them, or to everyone.
    const isOfThese = away().length === 0 && (await orFailed(listScript(rpc, NO_ONES_SCRIPT, false)));
    if (!isOfThese) throw failures[0];
  }
  return lists;
}

interface Turn {
  script: string;
  at: number;
  now(): number;
  again: boolean;
  /** Transactions that may still be asked for in this read. */
  budget: { left: number };
  /** The most of them for this script. */
  share: number;
}

async function* readScript(
  rpc: Rpc,
  memory: Memory,
  { script, at, now, again, budget, share }: Turn,
): AsyncGenerator<Sighting[], Listing> {
  const { txids, paid_in, isWhole } = await listScript(rpc, script, again);
  const seen_at = now();
  const before = memory.read.get(script) ?? new Set();
  const read = new Set([...txids].filter((txid) => before.has(txid)));
  memory.read.set(script, read);
  let left = Math.min(share, budget.left);
  for (const txid of txids) {
    if (read.has(txid)) continue;
    if (left === 0) break;
    left--;
    budget.left--;
    const transaction = await readTransaction(rpc, txid);
    // Mined or replaced since it was listed, or this host has not heard of it.
    if (transaction === undefined) continue;
    if (transaction) yield [{ transaction, seen_at }];
    read.add(txid);
  }
  const unread = txids.size - read.size;
  const trouble = !isWhole
    ? 'more unconfirmed transactions than the provider lists'
    : unread > 0
      ? `${unread} unconfirmed transactions are still to be read`
      : null;
  return { script, at, txids, paid_in, complete: trouble === null, trouble, failed: !isWhole };
}

interface Listed {
  txids: Set<string>;
  paid_in: PaidBlock[];
  isWhole: boolean;
}

/**
 * The txids alone: what a transaction pays is taken from its bytes, which its txid proves. The list holds the newest only;
 * where the provider counts more, those whose outputs are unspent are listed too. `again` lists what stands in blocks as
 * well: one host may have a block that another, which was asked for the tip, does not have yet.
 */
async function listScript(rpc: Rpc, script: string, again: boolean): Promise<Listed> {
  const path = `/scripthash/${bytesToHex(sha256(hexToBytes(script)))}`;
  // A provider that refuses the longer list still has the other.
  const newest = again ? await orRefused(rpc.json(`${path}/txs`)) : undefined;
  const rows = asList(rpc, newest ?? (await rpc.json(`${path}/txs/mempool`))).map(asObject);
  const mined = rows
    .map(({ status }) => asObject(status ?? {}))
    .filter(({ confirmed }) => confirmed === true);
  const paid_in = mined.map(({ block_height, block_hash }) => ({
    height: asNumber(rpc, block_height),
    hash: block_hash === undefined ? null : asHash(rpc, block_hash),
  }));
  const txids = new Set(
    rows.flatMap(({ txid, status }) => (asObject(status ?? {}).confirmed === true ? [] : asHash(rpc, txid))),
  );
  if (txids.size < SHORTEST_PAGE) return { txids, paid_in, isWhole: true };
  const { mempool_stats } = asObject(await orNotFound(rpc.json(path)));
  const count = asObject(mempool_stats).tx_count;
  if (count === undefined) return { txids, paid_in, isWhole: txids.size < LISTED_LIMIT };
  if (asNumber(rpc, count) > txids.size) for (const each of await listUnspent(rpc, path)) txids.add(each);
  return { txids, paid_in, isWhole: txids.size >= asNumber(rpc, count) };
}

/** Unconfirmed transactions with an unspent output to the script; none where there are too many to be listed. */
async function listUnspent(rpc: Rpc, path: string): Promise<string[]> {
  try {
    return asList(rpc, await rpc.json(`${path}/utxo`)).flatMap((each) => {
      const { txid, status } = asObject(each);
      return asObject(status).confirmed === false ? asHash(rpc, txid) : [];
    });
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rpc') return [];
    throw error;
  }
}

function asList(rpc: Rpc, answer: unknown): unknown[] {
  if (!Array.isArray(answer)) throw badAnswer(rpc, 'a list was expected');
  return answer;
}

/** Null where there is nothing in it to read; undefined where the provider does not have it. */
async function readTransaction(rpc: Rpc, txid: string): Promise<Transaction | null | undefined> {
  const hex = await orNotFound(rpc.text(`/tx/${txid}/hex`));
  return hex === undefined ? undefined : transactionAs(rpc, txid, asBytes(rpc, hex));
}

async function locate(rpc: Rpc, txid: string): Promise<Located | null> {
  const answer = await orNotFound(rpc.json(`/tx/${txid}/status`));
  const transaction = answer === undefined ? null : await readTransaction(rpc, txid);
  if (!transaction) return null;
  const { confirmed, block_hash, block_height } = asObject(answer);
  if (confirmed === false) return { transaction, block: null };
  if (confirmed !== true) throw badAnswer(rpc, 'a transaction status was expected');
  return { transaction, block: { hash: asHash(rpc, block_hash), height: asNumber(rpc, block_height) } };
}

/** Undefined where the provider refuses the question itself; every other failure is thrown on. */
async function orRefused(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rpc') return undefined;
    throw error;
  }
}

/** Undefined only for the provider's own "not found": every other failure is thrown on. */
async function orNotFound(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}
