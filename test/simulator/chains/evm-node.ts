// A model of an EVM node: JSON-RPC over a model of the chain, as of a moment.
import type { ChainBlock, ChainLog, ChainTransaction, EvmChain, EvmView } from './evm.ts';
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
  /** The height that it calls final in place of that, where it differs. */
  finalized?(): number;
  /** Whether its index of logs has those of a transaction in a block; all by default. */
  lists?(made: ChainTransaction, block: ChainBlock): boolean;
  /** Whether an address runs code; none does by default. */
  has_code?(address: string): boolean;
  /** Whether it still has blocks that were replaced. */
  has_replaced?: boolean;
  /** Newest blocks whose balances and counts it can tell; all by default. */
  state_blocks?: number;
  /** The most blocks of one filter of logs, and what it writes where more are asked for. */
  range_cap?: { blocks: number; message: string };
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

export function evmMethods(options: EvmNodeOptions): Methods {
  const { chain, chain_id, decimals, seen } = options;
  const view = () => chain.asOf(seen());
  const blockAt = (tag: unknown) => view().at(heightOf(view(), options, tag));
  const placed = (txid: unknown) => {
    const place = view().placeOf(String(txid));
    if (!place) return null;
    return { ...place, position: place.block.transactions.indexOf(place.made) };
  };
  return {
    eth_chainId: () => hex(chain_id),
    eth_getBlockByNumber: ([tag, full]) => shownBlock(blockAt(tag), full),
    eth_getBlockByHash: ([hash, full]) => shownBlock(byHash(options, hash), full),
    eth_getBlockTransactionCountByNumber: ([tag]) => {
      const block = blockAt(tag);
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
        status: made.failed ? '0x0' : '0x1',
        logs: logsOf(block)
          .filter((each) => each.made === made)
          .map(({ log }) => log),
      };
    },
    eth_getTransactionCount: ([sender, tag]) => hex(countAt(view(), String(sender), stateAt(options, tag))),
    eth_getCode: ([address]) => (options.has_code?.(String(address)) ? '0x60' : '0x'),
    eth_getBalance: ([address, tag]) => hex(balanceAt(view(), String(address), stateAt(options, tag))),
    eth_call: ([call]) => {
      const found = decimals.get((call as { to: string }).to);
      return found === undefined ? '0x' : `0x${found.toString(16).padStart(64, '0')}`;
    },
    eth_getLogs: ([filter]) => logsFor(options, filter as Filter),
  };
}

export function heightOf(view: EvmView, { final_blocks, finalized }: EvmNodeOptions, tag: unknown): number {
  if (tag === 'latest' || tag === undefined) return view.tip;
  if (tag === 'finalized')
    return Math.max(0, Math.min(view.tip, finalized?.() ?? view.tip + 1 - final_blocks));
  return Number(tag);
}

/** A height of which the node has the state. Throws RpcFault. */
function stateAt(options: EvmNodeOptions, tag: unknown): number {
  const view = options.chain.asOf(options.seen());
  const height = heightOf(view, options, tag);
  if (height > view.tip) throw new RpcFault(-32_000, 'header not found');
  if (view.tip - height >= (options.state_blocks ?? Number.POSITIVE_INFINITY))
    throw new RpcFault(-32_000, 'missing trie node');
  return height;
}

function countAt(view: EvmView, sender: string, height: number): number {
  let count = 0;
  for (const txid of view.sentBy(sender)) {
    const place = view.placeOf(txid);
    if (place && place.block.number <= height) count = Math.max(count, place.made.nonce + 1);
  }
  return count;
}

/** Coins that came and went up to a block; what is spent without having come is not there, as if it had come before. */
export function balanceAt(view: EvmView, address: string, height: number): bigint {
  let balance = 0n;
  for (const txid of view.movingAt(address)) {
    const place = view.placeOf(txid);
    if (!place || place.block.number > height || place.made.failed) continue;
    const { from, to, value, inner, contract_type } = place.made;
    const amount = contract_type === undefined ? value : 0n;
    for (const each of [{ from, to, amount }, ...inner]) {
      if (each.to === address) balance += each.amount;
      if (each.from === address) balance -= each.amount;
    }
  }
  return balance < 0n ? 0n : balance;
}

function byHash(
  { chain, seen, has_replaced = false }: EvmNodeOptions,
  hash: unknown,
): ChainBlock | undefined {
  const view = chain.asOf(seen());
  const block = view.byHash(String(hash));
  return block && (has_replaced || view.at(block.number) === block) ? block : undefined;
}

function logsFor(options: EvmNodeOptions, { fromBlock, toBlock, blockHash, ...wanted }: Filter) {
  const { chain, seen, lists = () => true, range_cap } = options;
  const blocks: ChainBlock[] = [];
  if (blockHash !== undefined) {
    const block = byHash(options, blockHash);
    if (!block) throw new RpcFault(-32_000, 'unknown block');
    blocks.push(block);
  } else {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    if (range_cap && to - from >= range_cap.blocks) throw new RpcFault(-32_000, range_cap.message);
    const view = chain.asOf(seen());
    for (let height = from; height <= Math.min(to, view.tip); height++)
      blocks.push(view.at(height) as ChainBlock);
  }
  return blocks.flatMap((block) =>
    block.transactions.length === 0
      ? []
      : logsOf(block)
          .filter(({ made, log }) => isWanted(log, wanted) && lists(made, block))
          .map(({ log }) => log),
  );
}

function isWanted({ address, topics }: ChainLog, wanted: Pick<Filter, 'address' | 'topics'>): boolean {
  const fits = (topic: string | null | string[], at: number) =>
    topic === null || (Array.isArray(topic) ? topic.includes(topics[at] ?? '') : topic === topics[at]);
  return wanted.address.includes(address) && wanted.topics.every(fits);
}

function logsOf({ hash, number, transactions }: ChainBlock) {
  let index = 0;
  return transactions.flatMap((made) =>
    (made.failed ? [] : made.logs).map((log) => ({
      made,
      log: {
        ...log,
        blockHash: hash,
        blockNumber: hex(number),
        transactionHash: made.hash,
        logIndex: hex(index++),
        removed: false,
      },
    })),
  );
}

const shownBlock = (block: ChainBlock | undefined, full: unknown) =>
  block && {
    number: hex(block.number),
    hash: block.hash,
    parentHash: block.parent,
    timestamp: hex(Math.floor(block.timestamp)),
    transactionsRoot: block.transactions.length === 0 ? EMPTY_ROOT : block.hash,
    transactions: block.transactions.map((each, position) =>
      full ? shownTransaction(each, block, position) : each.hash,
    ),
  };

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
