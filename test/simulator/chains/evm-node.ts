// A model of an EVM node: JSON-RPC over a model of the chain, as of a moment.
import type { ChainBlock, ChainLog, ChainTransaction, EvmChain } from './evm.ts';
import { type Methods, RpcFault } from './front.ts';

export interface EvmNodeOptions {
  chain: EvmChain;
  chain_id: number;
  /** Decimals by contract. */
  decimals: ReadonlyMap<string, number>;
  /** Unix seconds as of which it answers. */
  seen(): number;
  /** Blocks after which one is final. */
  final_blocks: number;
}

interface Filter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address: string[];
  topics: (string | null | string[])[];
}

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

export function evmMethods({ chain, chain_id, decimals, seen, final_blocks }: EvmNodeOptions): Methods {
  const blocks = () => chain.blocks.filter(({ timestamp }) => timestamp <= seen());
  const at = (tag: unknown): ChainBlock | undefined => {
    const known = blocks();
    if (tag === 'latest') return known.at(-1);
    if (tag === 'finalized') return known.at(-final_blocks) ?? known[0];
    return known[Number(tag)];
  };
  const shownBlock = (block: ChainBlock | undefined, full: unknown) =>
    block && {
      number: hex(block.number),
      hash: block.hash,
      parentHash: block.parent,
      timestamp: hex(block.timestamp),
      transactionsRoot: block.transactions.length === 0 ? EMPTY_ROOT : block.hash,
      transactions: block.transactions.map((each, position) =>
        full ? shownTransaction(each, block, position) : each.hash,
      ),
    };
  const placed = (txid: unknown) => {
    const block = blocks().find(({ transactions }) => transactions.some(({ hash }) => hash === txid));
    const position = block?.transactions.findIndex(({ hash }) => hash === txid) ?? -1;
    return block ? { block, position, made: block.transactions[position] as ChainTransaction } : null;
  };
  return {
    eth_chainId: () => hex(chain_id),
    eth_getBlockByNumber: ([tag, full]) => shownBlock(at(tag), full),
    eth_getBlockByHash: ([hash, full]) =>
      shownBlock(
        blocks().find((each) => each.hash === hash),
        full,
      ),
    eth_getBlockTransactionCountByNumber: ([tag]) => {
      const block = at(tag);
      return block ? hex(block.transactions.length) : null;
    },
    eth_getTransactionByHash: ([txid]) => {
      const found = placed(txid);
      return found && shownTransaction(found.made, found.block, found.position);
    },
    eth_getTransactionReceipt: ([txid]) => {
      const found = placed(txid);
      if (!found) return null;
      const { block, made } = found;
      return {
        transactionHash: made.hash,
        blockHash: block.hash,
        blockNumber: hex(block.number),
        status: '0x1',
        logs: logsOf(block).filter(({ transactionHash }) => transactionHash === made.hash),
      };
    },
    eth_getTransactionCount: ([sender]) => {
      const sent = blocks().flatMap(({ transactions }) => transactions.filter(({ from }) => from === sender));
      return hex(sent.reduce((most, { nonce }) => Math.max(most, nonce + 1), 0));
    },
    eth_call: ([call]) => {
      const found = decimals.get((call as { to: string }).to);
      return found === undefined ? '0x' : `0x${found.toString(16).padStart(64, '0')}`;
    },
    eth_getLogs: ([filter]) => {
      const { fromBlock, toBlock, blockHash, ...wanted } = filter as Filter;
      const known = blocks();
      if (blockHash !== undefined && !known.some(({ hash }) => hash === blockHash))
        throw new RpcFault(-32_000, 'unknown block');
      return known
        .filter(({ number, hash }) =>
          blockHash === undefined
            ? number >= Number(fromBlock) && number <= Number(toBlock)
            : hash === blockHash,
        )
        .flatMap(logsOf)
        .filter((log) => isWanted(log, wanted));
    },
  };
}

function isWanted({ address, topics }: ChainLog, wanted: Pick<Filter, 'address' | 'topics'>): boolean {
  const fits = (topic: string | null | string[], at: number) =>
    topic === null || (Array.isArray(topic) ? topic.includes(topics[at] ?? '') : topic === topics[at]);
  return wanted.address.includes(address) && wanted.topics.every(fits);
}

function logsOf({ hash, number, transactions }: ChainBlock) {
  let index = 0;
  return transactions.flatMap((made) =>
    made.logs.map((log) => ({
      ...log,
      blockHash: hash,
      blockNumber: hex(number),
      transactionHash: made.hash,
      logIndex: hex(index++),
      removed: false,
    })),
  );
}

const shownTransaction = (made: ChainTransaction, block: ChainBlock, position: number) => ({
  hash: made.hash,
  from: made.from,
  to: made.to,
  value: hex(made.value),
  nonce: hex(made.nonce),
  input: '0x',
  type: '0x2',
  blockHash: block.hash,
  blockNumber: hex(block.number),
  transactionIndex: hex(position),
});
