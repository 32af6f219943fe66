// Esplora's HTTP API in front of a node of the model.
import { type Front, json, type ModelAnswer, text } from './front.ts';
import type { UtxoNode } from './utxo.ts';
import { type Block, headerOf, sha256, type Transaction } from './utxo-bytes.ts';

/** Unconfirmed transactions that one listing shows, the newest. */
const LISTED_LIMIT = 50;
const CONFIRMED_PER_PAGE = 25;

export function esplora({ node }: { node: UtxoNode }): Front {
  const routes: [RegExp, (first: string, second: string) => ModelAnswer | undefined][] = [
    [/^\/blocks\/tip\/hash$/, () => text(node.tip().hash)],
    [/^\/blocks\/tip\/height$/, () => text(String(node.tip().height))],
    [/^\/block-height\/(\d+)$/, (height) => mapped(node.hashAt(Number(height)), text)],
    [/^\/block\/(\w+)$/, (hash) => mapped(node.block(hash), (block) => json(blockJson(block)))],
    [
      /^\/block\/(\w+)\/header$/,
      (hash) => mapped(node.block(hash), (it) => text(headerOf(it).toString('hex'))),
    ],
    [
      /^\/block\/(\w+)\/raw$/,
      (hash) => mapped(node.block(hash), ({ bytes }) => ({ status: 200, body: bytes })),
    ],
    [
      /^\/block\/(\w+)\/txids$/,
      (hash) => mapped(node.block(hash), (it) => json(it.transactions.map(txidOf))),
    ],
    [
      /^\/block\/(\w+)\/status$/,
      (hash) =>
        mapped(node.block(hash), (block) =>
          json({
            in_best_chain: node.isInChain(block),
            height: block.height,
            next_best: node.isInChain(block) ? (node.hashAt(block.height + 1) ?? null) : null,
          }),
        ),
    ],
    [
      /^\/scripthash\/(\w+)\/txs\/mempool$/,
      (hash) => json(unconfirmed(hash).slice(0, LISTED_LIMIT).map(txJson)),
    ],
    [
      /^\/scripthash\/(\w+)\/txs$/,
      (hash) =>
        json(
          [...unconfirmed(hash).slice(0, LISTED_LIMIT), ...confirmed(hash).slice(0, CONFIRMED_PER_PAGE)].map(
            txJson,
          ),
        ),
    ],
    [
      /^\/scripthash\/(\w+)\/txs\/chain(?:\/(\w+))?$/,
      (hash, last) => {
        const all = confirmed(hash);
        const from = last ? all.findIndex(({ txid }) => txid === last) + 1 : 0;
        return json(all.slice(from, from + CONFIRMED_PER_PAGE).map(txJson));
      },
    ],
    [
      /^\/scripthash\/(\w+)$/,
      (hash) =>
        json({
          scripthash: hash,
          chain_stats: { tx_count: confirmed(hash).length },
          mempool_stats: { tx_count: unconfirmed(hash).length },
        }),
    ],
    [
      /^\/scripthash\/(\w+)\/utxo$/,
      (hash) =>
        json(
          [...unconfirmed(hash), ...confirmed(hash)].flatMap((sent) =>
            sent.outputs.flatMap(({ script, amount }, vout) =>
              scriptHash(script) === hash && !node.spenderOf(`${sent.txid}:${vout}`)
                ? { txid: sent.txid, vout, value: Number(amount), status: statusOf(sent) }
                : [],
            ),
          ),
        ),
    ],
    [/^\/mempool\/txids$/, () => json([...node.mempool()].map(txidOf))],
    [/^\/tx\/(\w+)$/, (txid) => mapped(node.transaction(txid), (sent) => json(txJson(sent)))],
    [/^\/tx\/(\w+)\/status$/, (txid) => mapped(node.transaction(txid), (sent) => json(statusOf(sent)))],
    [
      /^\/tx\/(\w+)\/hex$/,
      (txid) => mapped(node.transaction(txid), ({ bytes }) => text(bytes.toString('hex'))),
    ],
    [
      /^\/tx\/(\w+)\/raw$/,
      (txid) => mapped(node.transaction(txid), ({ bytes }) => ({ status: 200, body: bytes })),
    ],
    [/^\/tx\/(\w+)\/outspend\/(\d+)$/, (txid, vout) => json(spendOf(`${txid}:${vout}`))],
    [
      /^\/tx\/(\w+)\/outspends$/,
      (txid) =>
        mapped(node.transaction(txid), ({ outputs }) =>
          json(outputs.map((_, vout) => spendOf(`${txid}:${vout}`))),
        ),
    ],
  ];

  const pays = ({ outputs }: Transaction, hash: string) =>
    outputs.some(({ script }) => scriptHash(script) === hash);
  const unconfirmed = (hash: string): Transaction[] =>
    [...node.mempool()].filter((sent) => pays(sent, hash)).reverse();

  function confirmed(hash: string): Transaction[] {
    const found: Transaction[] = [];
    for (let height = node.tip().height; height > 0; height--) {
      const block = node.block(node.hashAt(height) ?? '');
      for (const each of block?.transactions.toReversed() ?? []) if (pays(each, hash)) found.push(each);
    }
    return found;
  }

  function statusOf({ txid }: Transaction) {
    const block = node.blockOf(txid);
    if (!block) return { confirmed: false };
    return { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time };
  }

  const txJson = (sent: Transaction) => ({
    txid: sent.txid,
    version: 2,
    vin: sent.inputs.map((input) => {
      const [txid, vout] = input.split(':');
      return { txid, vout: Number(vout), is_coinbase: false, sequence: 0xfffffffd };
    }),
    vout: sent.outputs.map(({ script, amount }) => ({ scriptpubkey: script, value: Number(amount) })),
    status: statusOf(sent),
  });

  function spendOf(output: string) {
    const txid = node.spenderOf(output);
    const spender = txid === undefined ? undefined : node.transaction(txid);
    if (!spender) return { spent: false };
    return { spent: true, txid, vin: spender.inputs.indexOf(output), status: statusOf(spender) };
  }

  return ({ path }) => {
    for (const [pattern, answer] of routes) {
      const found = pattern.exec(path);
      if (found) return answer(found[1] ?? '', found[2] ?? '') ?? text('Transaction not found', 404);
    }
    return text('not found', 404);
  };
}

const txidOf = ({ txid }: Transaction): string => txid;

const hashes = new Map<string, string>();
function scriptHash(script: string): string {
  const known = hashes.get(script);
  if (known !== undefined) return known;
  const made = sha256(Buffer.from(script, 'hex')).toString('hex');
  hashes.set(script, made);
  return made;
}

const blockJson = ({ hash, height, time, previous, transactions }: Block) => ({
  id: hash,
  height,
  version: 2,
  timestamp: time,
  tx_count: transactions.length,
  previousblockhash: previous,
});

const mapped = <T>(value: T | undefined, answer: (value: T) => ModelAnswer): ModelAnswer | undefined =>
  value === undefined ? undefined : answer(value);
