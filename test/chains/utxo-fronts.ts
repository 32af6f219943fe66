// The two kinds of UTXO provider on top of a real node: an Esplora-shaped HTTP API, and the node's own RPC.
import { createHash } from 'node:crypto';
import { request } from 'undici';
import { ProviderError } from '../../src/chains/family.ts';
import { type FaultyServer, type Reply, startFaultyServer } from './faulty-server.ts';
import type { Litecoind } from './utxo-chain.ts';

/** As Esplora does: newest 50, no paging. */
const MEMPOOL_LISTED = 50;
/** Blocks whose payments are listed alongside those that are in none. */
const BLOCKS_LISTED = 3;

export interface UtxoFront extends FaultyServer {
  provider: 'esplora' | 'core';
  /** The node behind; put another one here to be another host of the same provider. */
  node: Litecoind;
  /** Which host answers the next request, where several stand behind one name. */
  choose?: ((request: string) => Litecoind) | undefined;
}

const hostOf = (front: UtxoFront, request: string): Litecoind => front.choose?.(request) ?? front.node;

/** The node's JSON-RPC, batches included, behind the faults. */
export async function startCoreFront(node: Litecoind): Promise<UtxoFront> {
  const server = await startFaultyServer(
    async ({ body }) => {
      const { origin, username, password } = new URL(hostOf(front, body).url);
      const authorization = `Basic ${btoa(`${username}:${password}`)}`;
      const answer = await request(origin, { method: 'POST', headers: { authorization }, body });
      return { status: answer.statusCode, body: await answer.body.bytes() };
    },
    ({ body }) => {
      const asked = JSON.parse(body) as { method: string } | { method: string }[];
      return Array.isArray(asked) ? `${asked[0]?.method}[${asked.length}]` : asked.method;
    },
  );
  const front: UtxoFront = { ...server, provider: 'core', node };
  return front;
}

/** github.com/Blockstream/esplora, API.md: the routes a gateway needs. */
export async function startEsploraFront(node: Litecoind): Promise<UtxoFront> {
  const server = await startFaultyServer(
    async ({ path }) => {
      const host = hostOf(front, path);
      for (const [pattern, answer] of routes) {
        const found = pattern.exec(path);
        if (!found) continue;
        try {
          const body = await answer(host, found[1] ?? '', found[2] ?? '');
          return body instanceof Uint8Array || typeof body === 'string'
            ? { type: typeof body === 'string' ? 'text/plain' : 'application/octet-stream', body }
            : { body: JSON.stringify(body) };
        } catch (error) {
          // The node's own "no such thing": what Esplora answers with 404.
          if (error instanceof ProviderError && error.kind === 'rpc') return notFound(path);
          throw error;
        }
      }
      return notFound(path);
    },
    ({ path }) => path,
  );
  const front: UtxoFront = { ...server, provider: 'esplora', node };
  return front;
}

const notFound = (path: string): Reply => ({
  status: 404,
  type: 'text/plain',
  body: path.startsWith('/tx/') ? 'Transaction not found' : 'Block not found',
});

interface CoreTransaction {
  txid: string;
  blockhash?: string;
  vin: { txid?: string; vout?: number; coinbase?: string; sequence: number }[];
  /** Outputs inside Litecoin's MWEB have neither script nor amount. */
  vout: { value?: number; n: number; scriptPubKey?: { hex: string } }[];
}

type Answer = (node: Litecoind, first: string, second: string) => Promise<unknown>;

const routes: [RegExp, Answer][] = [
  [/^\/blocks\/tip\/hash$/, (node) => node.rpc('getbestblockhash')],
  [/^\/blocks\/tip\/height$/, async (node) => String(await node.height())],
  [/^\/block-height\/(\d+)$/, (node, height) => node.rpc('getblockhash', Number(height))],
  [/^\/block\/(\w+)$/, blockOf],
  [/^\/block\/(\w+)\/header$/, (node, hash) => node.rpc('getblockheader', hash, false)],
  [
    /^\/block\/(\w+)\/raw$/,
    async (node, hash) => Buffer.from(await node.rpc<string>('getblock', hash, 0), 'hex'),
  ],
  [/^\/block\/(\w+)\/status$/, statusOfBlock],
  [/^\/tx\/(\w+)$/, async (node, txid) => shown(node, await node.rpc('getrawtransaction', txid, true))],
  [/^\/tx\/(\w+)\/hex$/, (node, txid) => node.rpc('getrawtransaction', txid, false)],
  [/^\/tx\/(\w+)\/status$/, async (node, txid) => (await transactionOf(node, txid)).status],
  [/^\/tx\/(\w+)\/outspend\/(\d+)$/, outspend],
  [/^\/scripthash\/(\w+)\/txs$/, newestOf],
  [/^\/scripthash\/(\w+)\/txs\/mempool$/, mempoolOf],
  [/^\/scripthash\/(\w+)$/, countOf],
  [/^\/scripthash\/(\w+)\/utxo$/, unspentOf],
];

async function blockOf(node: Litecoind, hash: string): Promise<unknown> {
  const header = await node.rpc<Record<string, unknown>>('getblockheader', hash);
  const { height, time, mediantime, merkleroot, previousblockhash } = header;
  return { id: hash, height, timestamp: time, mediantime, merkle_root: merkleroot, previousblockhash };
}

async function statusOfBlock(node: Litecoind, hash: string): Promise<unknown> {
  const header = await node.rpc<{ confirmations: number; height: number; nextblockhash?: string }>(
    'getblockheader',
    hash,
  );
  if (header.confirmations < 0) return { in_best_chain: false };
  return { in_best_chain: true, height: header.height, next_best: header.nextblockhash };
}

const transactionOf = async (node: Litecoind, txid: string) =>
  shown(node, await node.rpc<CoreTransaction>('getrawtransaction', txid, true));

async function shown(node: Litecoind, transaction: CoreTransaction) {
  const { txid, blockhash } = transaction;
  const header = blockhash
    ? await node.rpc<{ confirmations: number; height: number; time: number }>('getblockheader', blockhash)
    : null;
  const status =
    header && header.confirmations > 0
      ? { confirmed: true, block_height: header.height, block_hash: blockhash, block_time: header.time }
      : { confirmed: false };
  const vin = transaction.vin.map(({ txid, vout, coinbase, sequence }) => ({
    txid,
    vout,
    is_coinbase: coinbase !== undefined,
    sequence,
  }));
  const vout = transaction.vout.map(({ value, scriptPubKey }) => ({
    scriptpubkey: scriptPubKey?.hex,
    value: value === undefined ? undefined : Number(value.toFixed(8).replace('.', '')),
  }));
  return { txid, vin, vout, status };
}

const mempoolTransactions = async (node: Litecoind) => {
  const txids = await node.rpc<string[]>('getrawmempool');
  const transactions: CoreTransaction[] = [];
  for (const txid of txids) transactions.push(await node.rpc('getrawtransaction', txid, true));
  return transactions;
};

const scriptHashOf = (script: string) =>
  createHash('sha256').update(Buffer.from(script, 'hex')).digest('hex');

const paysTo =
  (scriptHash: string) =>
  ({ vout }: CoreTransaction): boolean =>
    vout.some(({ scriptPubKey }) => scriptPubKey && scriptHashOf(scriptPubKey.hex) === scriptHash);

const payingTo = async (node: Litecoind, scriptHash: string) =>
  (await mempoolTransactions(node)).filter(paysTo(scriptHash));

/** What is unconfirmed, and of what stands in blocks that of the last few. */
async function newestOf(node: Litecoind, scriptHash: string): Promise<unknown> {
  const mined: CoreTransaction[] = [];
  let hash: string | undefined = await node.rpc<string>('getbestblockhash');
  for (let count = 0; hash !== undefined && count < BLOCKS_LISTED; count++) {
    const block: { tx: CoreTransaction[]; previousblockhash?: string } = await node.rpc('getblock', hash, 2);
    for (const each of block.tx.filter(paysTo(scriptHash))) mined.push({ ...each, blockhash: hash });
    hash = block.previousblockhash;
  }
  const shownMined = await Promise.all(mined.map((each) => shown(node, each)));
  return [...((await mempoolOf(node, scriptHash)) as unknown[]), ...shownMined];
}

async function mempoolOf(node: Litecoind, scriptHash: string): Promise<unknown> {
  const paying = await payingTo(node, scriptHash);
  return Promise.all(paying.slice(0, MEMPOOL_LISTED).map((each) => shown(node, each)));
}

async function countOf(node: Litecoind, scriptHash: string): Promise<unknown> {
  return { mempool_stats: { tx_count: (await payingTo(node, scriptHash)).length } };
}

/** The unconfirmed ones alone: no test asks for others. */
async function unspentOf(node: Litecoind, scriptHash: string): Promise<unknown> {
  const paying = await payingTo(node, scriptHash);
  return paying.map(({ txid }) => ({ txid, status: { confirmed: false } }));
}

/** Looks for the spender in the mempool and in the last block: enough for what the tests do. */
async function outspend(node: Litecoind, txid: string, vout: string): Promise<unknown> {
  if ((await node.rpc('gettxout', txid, Number(vout), true)) !== null) return { spent: false };
  const last = await node.rpc<{ tx: CoreTransaction[] }>('getblock', await node.rpc('getbestblockhash'), 2);
  const spender = [...(await mempoolTransactions(node)), ...last.tx].find(({ vin }) =>
    vin.some((input) => input.txid === txid && input.vout === Number(vout)),
  );
  return { spent: true, txid: spender?.txid };
}
