// Reads a chain through the JSON-RPC of Bitcoin Core or Litecoin Core. Blocks and transactions are taken as
// bytes: their amounts are integers there, while the JSON form has decimals and differs between versions.
import { ProviderError, type RequestOptions, type Rpc, type RpcCall } from '../../family.ts';
import { isOfQuestion } from '../../or-failed.ts';
import { allowedCalls } from '../../refusals.ts';
import { inTurns, mapInSteps } from '../../steps.ts';
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
  provedTip,
  type Sighting,
  type Source,
  type SourceKind,
  transactionAs,
  type Watched,
} from '../source.ts';

/** Transactions in one JSON-RPC batch: most are under 1 KB, a rare one may take 800 KB of hex. */
const BATCH = 50;
/** The names of half a million transactions. */
const MEMPOOL_BYTES = 32 * 1024 * 1024;
/** Fifty transactions in hexadecimal: nodes pass on none of over 400 kB. */
const TRANSACTIONS_BYTES = 64 * 1024 * 1024;
/** Mempool transactions read in one read; a node with a full mempool is caught up over several. */
const TRANSACTIONS_PER_READ = 5_000;
/**
 * For so long a transaction is asked for again that is listed, and that the node does not have: one of several nodes may
 * be without the last blocks.
 */
const MISSED_SECONDS = 600;
/** Blocks whose headers the node knows but whose contents it still has to fetch, before it counts as behind. */
const SYNC_TOLERANCE = 3;
/** How long a node that was started again may lack what was sent while it was down: wallets and blocks bring it back. */
const RESTARTED_SECONDS = 3600;
/** RPC_INVALID_ADDRESS_OR_KEY: no such transaction. */
const NO_SUCH_TRANSACTION = -5;
/** RPC_MISC_ERROR, with these words: a node that keeps the newest blocks only no longer has the one that is named. */
const PRUNED = { code: -1, words: /block not available|pruned/i };
/** The digits of a script by which it is recognised among thousands: within the hash that every kind has. */
const MARK = [8, 16] as const;

export const core: SourceKind = {
  kind: 'core',
  needs_url: true,
  key_header: 'x-api-key',
  open: coreSource,
};

export function coreSource(rpc: Rpc, memory: Memory): Source {
  const hashAt = async (height: number) => asHash(rpc, await rpc.call('getblockhash', [height]));
  return {
    hashAt,
    async tip() {
      const info = asObject(await rpc.call('getblockchaininfo', []));
      const missing = asNumber(rpc, info.headers) - asNumber(rpc, info.blocks);
      if (missing > SYNC_TOLERANCE) throw badAnswer(rpc, `the node still has ${missing} blocks to fetch`);
      const hash = asHash(rpc, info.bestblockhash);
      if (memory.tip?.hash === hash) return memory.tip;
      const header = asObject(await rpc.call('getblockheader', [hash]));
      const tip = { hash, height: asNumber(rpc, header.height), time: asNumber(rpc, header.time) };
      memory.tip = await provedTip(rpc, tip, hashAt);
      return memory.tip;
    },
    header: async (hash) =>
      headerAs(rpc, hash, asBytes(rpc, await rpc.call('getblockheader', [hash, false]))),
    block: async (hash) =>
      blockAs(rpc, hash, asBytes(rpc, await rpc.call('getblock', [hash, 0], { most_bytes: BLOCK_BYTES }))),
    list: (request) => listMempool(rpc, memory, request),
    lists_alone: true,
    // Every transaction of the mempool and of the blocks is read, so a conflict has been noticed already.
    spender: async () => null,
    locate: (txid) => locate(rpc, memory, txid),
  };
}

/** Lists at once, reads what is new in batches; the newest arrivals come before what is left from earlier. */
async function* listMempool(
  rpc: Rpc,
  memory: Memory,
  { watched, now, listed_at }: ListRequest,
): AsyncGenerator<Sighting[], Listing[]> {
  const at = now();
  const { listed, tip_hash, uptime_seconds } = await askMempool(rpc);
  const seen_at = now();
  const listed_before = Math.max(memory.last_list_at, listed_at);
  const left = new Set(memory.unread.filter((txid) => listed.has(txid)));
  // In a list before a block that is still to be read it may be missing for being in there.
  if (tip_hash === null || memory.ring?.hashes.includes(tip_hash))
    for (const txid of memory.missed.keys()) if (!listed.has(txid)) memory.missed.delete(txid);
  const arrived = [...listed].filter(
    (txid) => !memory.known.has(txid) && !left.has(txid) && !memory.missed.has(txid),
  );
  memory.unread = [...arrived, ...left];
  const known = payingNew(memory, watched, listed);
  for (let from = 0; from < known.length; from += BATCH)
    yield (await readTransactions(rpc, memory, known.slice(from, from + BATCH), seen_at)).read;
  memory.indexed = new Set(watched.keys());
  const turn = [...memory.unread, ...memory.missed.keys()].slice(0, TRANSACTIONS_PER_READ);
  for (let from = 0; from < turn.length; from += BATCH) {
    const batch = turn.slice(from, from + BATCH);
    const { read, missing } = await readTransactions(rpc, memory, batch, seen_at);
    yield read;
    noteRead(memory, batch, { read, missing, seen_at, listed_before });
  }
  const started_at = uptime_seconds === null ? 0 : at - uptime_seconds;
  const trouble = troubleOf(memory, { at, started_at, listed_at });
  // What is listed and cannot be read was sent after the list before the first that showed it.
  const before = [...memory.missed.values()].map((missed) => missed.listed_before);
  const whole_at = Math.min(at, ...before);
  const complete = trouble === null;
  return [{ script: null, at, whole_at, txids: listed, tip_hash, complete, trouble, failed: false }];
}

interface Mempool {
  listed: Set<string>;
  /** The newest block of the node that listed; null where it does not say. */
  tip_hash: string | null;
  /** For how long that node has been running; null where it does not say. */
  uptime_seconds: number | null;
}

/**
 * In one batch, which one node answers: where several stand behind one name, the next request may be another's. One that
 * takes no batches is taken for a single node. The block comes after the list, so that all that the list lacks because it
 * was mined is in that block or in one before it.
 */
async function askMempool(rpc: Rpc): Promise<Mempool> {
  const methods = ['getrawmempool', 'getbestblockhash', 'uptime'];
  const answers = await askEach(
    rpc,
    methods.map((method) => ({ method, params: [] })),
    { most_bytes: MEMPOOL_BYTES },
  );
  // Some nodes let their users call little.
  const [txids, hash = null, uptime] = answers.map((answer, index) => {
    if (answer instanceof ProviderError && index > 0) return null;
    if (answer instanceof ProviderError) throw answer;
    return answer;
  });
  if (!Array.isArray(txids)) throw badAnswer(rpc, 'a list of transactions was expected');
  return {
    listed: new Set(
      await inTurns(
        rpc,
        mapInSteps(txids, (txid) => asHash(rpc, txid)),
      ),
    ),
    tip_hash: hash === null ? null : asHash(rpc, hash),
    uptime_seconds: Number.isSafeInteger(uptime) ? (uptime as number) : null,
  };
}

interface Batch {
  read: Sighting[];
  missing: ReadonlySet<string>;
  /** When it was listed, and when everything was listed before, Unix seconds. */
  seen_at: number;
  listed_before: number;
}

/** Caches what was read of a batch, and for a while what the node that was asked did not have. */
function noteRead(
  memory: Memory,
  batch: readonly string[],
  { read, missing, seen_at, listed_before }: Batch,
): void {
  for (const txid of batch) {
    // Mined or replaced since it was listed; or one node listed it and another answered, which has not received it yet or
    // has it in a block already.
    const missed = memory.missed.get(txid) ?? { seen_at, listed_before };
    if (missing.has(txid) && seen_at - missed.seen_at < MISSED_SECONDS) memory.missed.set(txid, missed);
    else {
      memory.missed.delete(txid);
      memory.known.set(txid, { seen_at: missed.seen_at, payees: '' });
    }
  }
  for (const { transaction } of read) {
    const payees = transaction.outputs.map(({ script }) => markOf(script)).join(' ');
    memory.known.set(transaction.txid, {
      seen_at: memory.known.get(transaction.txid)?.seen_at ?? seen_at,
      payees,
    });
  }
  const done = new Set(batch);
  memory.unread = memory.unread.filter((txid) => !done.has(txid));
}

/** Why the list does not show everything that was sent. */
function troubleOf(
  { unread }: Memory,
  { at, started_at, listed_at }: { at: number; started_at: number; listed_at: number },
): string | null {
  if (unread.length > 0) return `${unread.length} unconfirmed transactions of the node are still to be read`;
  const lacksPast = listed_at > 0 && started_at > listed_at;
  if (lacksPast && at - started_at < RESTARTED_SECONDS)
    return 'the node was started again, and may lack what was sent while it was down';
  return null;
}

const markOf = (script: string): string => script.slice(...MARK);

/** Transactions that were read before their payee was watched. */
function payingNew(memory: Memory, watched: Watched, listed: ReadonlySet<string>): string[] {
  const marks = new Set<string>();
  for (const script of watched.keys()) if (!memory.indexed.has(script)) marks.add(markOf(script));
  if (marks.size === 0) return [];
  return [...memory.known].flatMap(([txid, { payees }]) =>
    listed.has(txid) && payees.split(' ').some((mark) => marks.has(mark)) ? txid : [],
  );
}

/** The transactions that pay someone, and the ids of those that the node does not have. */
async function readTransactions(
  rpc: Rpc,
  memory: Memory,
  txids: string[],
  now: number,
): Promise<{ read: Sighting[]; missing: ReadonlySet<string> }> {
  const answers = await batched(rpc, 'getrawtransaction', txids);
  const missing = new Set<string>();
  const read: Sighting[] = [];
  for (const [index, answer] of answers.entries()) {
    const txid = txids[index] as string;
    if (answer === null) {
      missing.add(txid);
      continue;
    }
    const transaction = await transactionAs(rpc, txid, asBytes(rpc, answer));
    const seen_at = memory.known.get(txid)?.seen_at ?? memory.missed.get(txid)?.seen_at ?? now;
    if (transaction) read.push({ transaction, seen_at });
  }
  return { read, missing };
}

/** One answer per txid, null where the node has no such transaction; any other failure is thrown. */
async function batched(rpc: Rpc, method: string, txids: readonly string[]): Promise<unknown[]> {
  const answers = await askEach(
    rpc,
    txids.map((txid) => ({ method, params: [txid] })),
    { most_bytes: TRANSACTIONS_BYTES },
  );
  return answers.map((answer) => {
    if (!(answer instanceof ProviderError)) return answer;
    if (answer.kind === 'rpc' && answer.code === NO_SUCH_TRANSACTION) return null;
    throw answer;
  });
}

/**
 * The answers in their order, in as many requests as the node takes them in; what it refused of single calls is a
 * ProviderError value.
 */
async function askEach(
  rpc: Rpc,
  calls: readonly RpcCall[],
  options: Pick<RequestOptions, 'most_bytes'>,
): Promise<unknown[]> {
  const answers: unknown[] = [];
  let most = rpc.limits?.get('batch_calls') ?? BATCH;
  while (answers.length < calls.length) {
    const some = calls.slice(answers.length, answers.length + most);
    const is_alone = most === 1;
    try {
      answers.push(...(await (is_alone ? askAlone : askBatch)(rpc, some, options)));
    } catch (error) {
      if (is_alone || !isOfQuestion(error)) throw error;
      most = Math.max(1, allowedCalls(error.message, some.length) ?? Math.floor(some.length / 2));
      // An answer that is too large, or broken off, says nothing of the next one.
      if (error.kind === 'rpc') rpc.limits?.learn('batch_calls', most);
    }
  }
  return answers;
}

async function askBatch(
  rpc: Rpc,
  calls: readonly RpcCall[],
  options: Pick<RequestOptions, 'most_bytes'>,
): Promise<unknown[]> {
  const answers = await rpc.batch(calls, options);
  if (answers.length !== calls.length) throw badAnswer(rpc, 'the batch is incomplete');
  return answers;
}

async function askAlone(
  rpc: Rpc,
  calls: readonly RpcCall[],
  options: Pick<RequestOptions, 'most_bytes'>,
): Promise<unknown[]> {
  const [{ method, params }] = calls as [RpcCall];
  try {
    return [await rpc.call(method, params, options)];
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rpc') return [error];
    throw error;
  }
}

/** Of mined transactions only those that the node has an index of, or whose block was read by this process. */
async function locate(rpc: Rpc, memory: Memory, txid: string): Promise<Located | null> {
  const mined = memory.mined.get(txid);
  const found =
    (await orUnknown(rpc.call('getrawtransaction', [txid, true]))) ??
    (mined && (await orUnknown(rpc.call('getrawtransaction', [txid, true, mined])))) ??
    null;
  if (found === null) return null;
  const { hex, blockhash } = asObject(found);
  const transaction = await transactionAs(rpc, txid, asBytes(rpc, hex));
  if (!transaction) return null;
  if (blockhash === undefined) return { transaction, block: null };
  const hash = asHash(rpc, blockhash);
  const header = asObject(await rpc.call('getblockheader', [hash]));
  return { transaction, block: { hash, height: asNumber(rpc, header.height) } };
}

/** Null where the node has no such transaction, or no longer the block that it is in. */
async function orUnknown(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isPruned = error.code === PRUNED.code && PRUNED.words.test(error.message);
    if (error.code === NO_SUCH_TRANSACTION || isPruned) return null;
    throw error;
  }
}
