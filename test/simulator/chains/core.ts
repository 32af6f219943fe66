// The JSON-RPC of Bitcoin Core in front of a node of the model.
import { type Front, jsonRpc, RpcFault } from './front.ts';
import type { UtxoNode } from './utxo.ts';
import { type Block, headerOf, REGTEST_BITS } from './utxo-bytes.ts';

const NO_SUCH = -5;
const UPTIME_SECONDS = 5_000_000;
const OUT_OF_RANGE = -8;

export function core({ node }: { node: UtxoNode }): Front {
  const blockOf = (hash: unknown): Block => {
    const block = node.block(String(hash));
    if (!block) throw new RpcFault(NO_SUCH, 'Block not found');
    return block;
  };
  const noSuch = () => new RpcFault(NO_SUCH, 'No such mempool or blockchain transaction');
  const depth = (block: Block) => (node.isInChain(block) ? node.tip().height - block.height + 1 : -1);
  return jsonRpc(
    {
      getblockchaininfo: () => {
        const tip = node.tip();
        return {
          chain: 'regtest',
          blocks: tip.height,
          headers: tip.height,
          bestblockhash: tip.hash,
          mediantime: tip.time,
          initialblockdownload: false,
        };
      },
      getblockcount: () => node.tip().height,
      getbestblockhash: () => node.tip().hash,
      getblockhash: ([height]) => {
        const hash = node.hashAt(Number(height));
        if (hash === undefined) throw new RpcFault(OUT_OF_RANGE, 'Block height out of range');
        return hash;
      },
      getblockheader: ([hash, verbose = true]) => {
        const block = blockOf(hash);
        if (!verbose) return headerOf(block).toString('hex');
        const { height, time, previous } = block;
        return {
          hash: block.hash,
          confirmations: depth(block),
          height,
          time,
          mediantime: time,
          bits: REGTEST_BITS.toString(16),
          previousblockhash: previous,
        };
      },
      getblock: ([hash, verbosity = 1]) => {
        const block = blockOf(hash);
        if (verbosity === 0) return block.bytes.toString('hex');
        const { height, time, transactions } = block;
        return {
          hash: block.hash,
          height,
          time,
          confirmations: depth(block),
          tx: transactions.map((it) => it.txid),
        };
      },
      uptime: () => UPTIME_SECONDS,
      getrawmempool: () => [...node.mempool()].map(({ txid }) => txid),
      getmempoolinfo: () => ({ loaded: true, size: [...node.mempool()].length }),
      getmempoolentry: ([txid]) => {
        const sent = node.unconfirmed(String(txid));
        if (!sent) throw noSuch();
        return { vsize: 100, time: Math.floor(sent.sent_at_ms / 1000), depends: [] };
      },
      getrawtransaction: ([txid, verbose = false, hash]) => {
        const block = hash === undefined ? undefined : blockOf(hash);
        const found = block
          ? block.transactions.find((each) => each.txid === txid)
          : node.unconfirmed(String(txid));
        if (!found) throw noSuch();
        if (!verbose) return found.bytes.toString('hex');
        return {
          txid,
          hex: found.bytes.toString('hex'),
          ...(block ? { blockhash: block.hash, confirmations: depth(block) } : {}),
        };
      },
      gettxspendingprevout: ([outputs]) =>
        (outputs as { txid: string; vout: number }[]).map(({ txid, vout }) => {
          const spender = node.spenderOf(`${txid}:${vout}`);
          return { txid, vout, ...(spender && node.unconfirmed(spender) ? { spendingtxid: spender } : {}) };
        }),
      gettxout: ([txid, vout]) => {
        const found = node.transaction(String(txid));
        const output = found?.outputs[Number(vout)];
        if (!output || node.spenderOf(`${txid}:${vout}`)) return null;
        const block = node.blockOf(String(txid));
        return {
          bestblock: node.tip().hash,
          confirmations: block ? depth(block) : 0,
          scriptPubKey: { hex: output.script },
        };
      },
      scantxoutset: () => ({ success: true, unspents: [] }),
    },
    true,
  );
}
