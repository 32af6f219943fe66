// Reads a chain through the JSON-RPC of Bitcoin Core or Litecoin Core. Blocks and transactions are taken as
// bytes: their amounts are integers there, while the JSON form has decimals and differs between versions.
import { type Json, ProviderError, type Rpc } from '../chain.ts';
import { parseBlock, parseHeader, type Transaction } from './block.ts';
import {
  asBytes,
  asHash,
  asNumber,
  asObject,
  badAnswer,
  type Memory,
  type MempoolScan,
  nextTurn,
  type Presence,
  parsedAs,
  provedTip,
  type Source,
  transactionAs,
} from './source.ts';

/** Transactions in one JSON-RPC batch: most are under 1 KB, a rare one may take 800 KB of hex. */
const BATCH = 50;
/** Mempool transactions read in one read; a node with a full mempool is caught up over several. */
const TRANSACTIONS_PER_READ = 5_000;
/** Pending transactions asked about in one recheck. */
const PRESENCES_PER_RECHECK = 1_000;
/** Blocks whose headers the node knows but whose contents it still has to fetch, before it counts as behind. */
const SYNC_TOLERANCE = 3;
/** RPC_INVALID_ADDRESS_OR_KEY: no such transaction. */
const NO_SUCH_TRANSACTION = -5;

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
      parsedAs(rpc, hash, parseHeader, asBytes(rpc, await rpc.call('getblockheader', [hash, false]))),
    block: async (hash) =>
      parsedAs(rpc, hash, parseBlock, asBytes(rpc, await rpc.call('getblock', [hash, 0]))),
    mempool: (now) => listMempool(rpc, memory, now),
    listedThrough: () => memory.caught_up_at,
    presence: (payments) => {
      const txids = [...new Set(payments.map(({ txid }) => txid))];
      const turn = nextTurn(txids, memory.last_asked, PRESENCES_PER_RECHECK);
      memory.last_asked = turn.at(-1) ?? '';
      return findInMempool(rpc, turn);
    },
    // Every transaction of the mempool and of the blocks is read, so a conflict has been noticed already.
    spentByOther: async () => false,
  };
}

/** Lists at once, reads what is new in batches; the newest arrivals come before what is left from earlier. */
async function listMempool(rpc: Rpc, memory: Memory, now: number): Promise<MempoolScan> {
  const answer = await rpc.call('getrawmempool', []);
  if (!Array.isArray(answer)) throw badAnswer(rpc, 'a list of transactions was expected');
  const listed = new Set(answer.map((txid) => asHash(rpc, txid)));
  for (const txid of memory.known) if (!listed.has(txid)) memory.known.delete(txid);
  const left = new Set(memory.unread.filter((txid) => listed.has(txid)));
  const arrived = [...listed].filter((txid) => !memory.known.has(txid) && !left.has(txid));
  memory.unread = [...arrived, ...left];
  return async function* scan() {
    const turn = memory.unread.slice(0, TRANSACTIONS_PER_READ);
    for (let from = 0; from < turn.length; from += BATCH) {
      const batch = turn.slice(from, from + BATCH);
      yield await readTransactions(rpc, batch);
      for (const txid of batch) memory.known.add(txid);
      memory.unread = memory.unread.slice(batch.length);
    }
    if (memory.unread.length === 0) memory.caught_up_at = now;
  };
}

async function readTransactions(rpc: Rpc, txids: string[]): Promise<Transaction[]> {
  const answers = await batched(rpc, 'getrawtransaction', txids);
  return answers.flatMap((answer, index) => {
    // Mined or replaced since it was listed.
    if (answer === null) return [];
    return transactionAs(rpc, txids[index] as string, asBytes(rpc, answer)) ?? [];
  });
}

/** One answer per txid, null where the node has no such transaction; any other failure is thrown. */
async function batched(rpc: Rpc, method: string, txids: readonly string[]): Promise<unknown[]> {
  const answers = await rpc.batch(
    method,
    txids.map((txid): Json => [txid]),
  );
  if (answers.length !== txids.length) throw badAnswer(rpc, 'the batch is incomplete');
  return answers.map((answer) => {
    if (!(answer instanceof ProviderError)) return answer;
    if (answer.kind === 'rpc' && answer.code === NO_SUCH_TRANSACTION) return null;
    throw answer;
  });
}

async function findInMempool(rpc: Rpc, txids: readonly string[]): Promise<Map<string, Presence>> {
  const found = new Map<string, Presence>();
  let missing = false;
  for (let from = 0; from < txids.length; from += BATCH) {
    const batch = txids.slice(from, from + BATCH);
    const answers = await batched(rpc, 'getmempoolentry', batch);
    answers.forEach((answer, index) => {
      found.set(batch[index] as string, { in: answer === null ? 'absent' : 'mempool' });
      missing ||= answer === null;
    });
  }
  if (missing) {
    const info = asObject(await rpc.call('getmempoolinfo', []));
    // A node that was just restarted has not read its mempool back yet: everything seems to be missing.
    if (info.loaded === false) throw badAnswer(rpc, 'the node is still loading its mempool');
  }
  return found;
}
