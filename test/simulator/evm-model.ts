// EVM networks and TRON in the virtual world: model chains that reorganise, behind nodes that lag, and whose index is late.
import { withChecksum } from '../../src/chains/evm/address.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { disabledGatewaysOf } from '../../src/chains/gateways.ts';
import { showAddress } from '../../src/chains/tron/address.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import {
  type ChainBlock,
  type ChainLog,
  type ChainTransaction,
  EvmChain,
  type InnerTransfer,
  LOG_TRANSFER,
  tokenLog,
  topicAmount,
  wordOf,
} from './chains/evm.ts';
import { type EvmNodeOptions, evmMethods } from './chains/evm-node.ts';
import { type Front, json, jsonRpc, type Methods } from './chains/front.ts';
import { tronNode } from './chains/tron-node.ts';
import type { Manner, Model, ModelOptions, Order, Payment, Version, Wallet } from './model.ts';

/** Probabilities, and how bad it is then. */
export interface EvmFaults {
  /** Of a request: it comes to a replica that is far behind, by up to so much. */
  far_behind: number;
  behind_ms: number;
  /** Of a transaction in a block, at each provider: the index of logs has it so much later. */
  late_index: number;
  late_ms: number;
  /** Of a transaction: it is in a block so much later, and may be replaced meanwhile. */
  slow: number;
  slow_ms: number;
  /** Of a minute: the newest blocks leave the chain. */
  forks: number;
  /** Of a fork: it is deep. */
  deep: number;
  /** Of a transaction that left the chain: mined again it fails. */
  fails_again: number;
  /** Of a stretch of some minutes: no block becomes final … */
  stalls: number;
  /** … or no contract answers. */
  lacks_contracts: number;
  /** Of a request: it is refused with status 200, for there are too many. */
  overloaded: number;
  /** Blocks of one filter, and calls of one batch. */
  range_cap: number;
  batch_cap: number;
  providers: number;
  /** After some minutes blocks come so many times as fast, as after an upgrade; 0: the pace stays. */
  pace: number;
}

export const NO_EVM_FAULTS: EvmFaults = {
  far_behind: 0,
  behind_ms: 0,
  late_index: 0,
  late_ms: 0,
  slow: 0,
  slow_ms: 0,
  forks: 0,
  deep: 0,
  fails_again: 0,
  stalls: 0,
  lacks_contracts: 0,
  overloaded: 0,
  range_cap: 1000,
  batch_cap: 100,
  providers: 1,
  pace: 0,
};

export const EVM_NETWORKS = ['polygon', 'base', 'bsc', 'tron'] as const;
export type EvmNetworkId = (typeof EVM_NETWORKS)[number];
export const isEvm = (id: string): id is EvmNetworkId => EVM_NETWORKS.some((each) => each === id);
/** Blockchains with the same word here have the same addresses. */
export const spaceOf = (id: string): string => (isEvm(id) && id !== 'tron' ? 'evm' : id);

/** A fork is less deep than what invoices wait for, in seconds; no network is faster at first than the pace at which all are read. */
const PACE: Record<EvmNetworkId, { block_seconds: number; final_seconds: number; deepest_seconds: number }> =
  {
    polygon: { block_seconds: 2, final_seconds: 32, deepest_seconds: 110 },
    base: { block_seconds: 2, final_seconds: 80, deepest_seconds: 26 },
    bsc: { block_seconds: 1, final_seconds: 18, deepest_seconds: 5 },
    tron: { block_seconds: 3, final_seconds: 57, deepest_seconds: 50 },
  };
/** Whether blocks that are final may leave the chain all the same. */
export const breaksFinality = (id: string): boolean =>
  isEvm(id) && PACE[id].deepest_seconds >= PACE[id].final_seconds;
/** After so long the pace changes, where it does. */
const PACE_CHANGES_MS = { least: 120_000, more: 900_000 };
/** Of the wallets: contracts that pass coins on within the transaction that brings them. */
const FORWARDERS = 0.15;
const SHALLOW_FORK = 3;
/** With fewer calls and blocks at once, what is much takes longer to read. */
const PLAIN_BATCH = 20;
const PLAIN_RANGE = 100;
/** Beyond the deepest fork, after which a payment stays. */
const SETTLED_SECONDS = 6;
const HISTORY_BLOCKS = 400;
const LAG_MEAN_MS = 600;
const LAG_MOST_MS = 6_000;
const INCLUSION_MEAN_MS = 1_000;
/** Shorter than the time between the two readings of a block. */
const LIE_MOST_MS = 40_000;
const STRETCH_MS = { least: 60_000, most: 600_000 };
const REPLACED_WITHIN_SECONDS = 24;
const DISTURBS = 0.15;
/** Of the payments, where every minute has a fork. */
const MOVED = 0.15;
const MOVED_AFTER_MS = { least: 3_000, more: 25_000 };
/** Tokens that cost a stranger a few dollars in all. */
const FLOOD = 1_200;
const NOISE = 0.4;
const EXCHANGES = 3;
const FROM_EXCHANGE = 0.3;
const BY_CONTRACT = 0.4;
const TOO_WIDE = [
  'maximum block range: {n}',
  'eth_getLogs is limited to a {n} range',
  'block range is too wide',
  'exceed max block range: {n}',
  'query returned more than 10000 results',
];

export interface EvmModelOptions extends ModelOptions {
  network: EvmNetworkId;
  faults: EvmFaults;
}

interface Lie {
  until_ms: number;
  block: ChainBlock;
  log: Record<string, unknown>;
}

/** One block of a branch, as a host shows it to who asks for just that. */
interface Branch {
  until_ms: number;
  receipt: { name: string; answer: object };
  transaction: { name: string; answer: object };
  header: { name: string; answer: object };
}

export function evmModel({ world, random, network: id, faults }: EvmModelOptions): Model {
  let current = faults;
  const network: EvmNetwork = id === 'tron' ? tronNetwork : networks[id];
  const { dialect } = network;
  const { block_seconds, final_seconds, deepest_seconds } = PACE[id];
  const gateways = disabledGatewaysOf('testnet').filter(({ blockchain }) => blockchain === id);
  const contractOf = (chain: string): string | null => {
    const { token_contract = null } = gateways.find((each) => each.chain === chain) as Gateway;
    return token_contract === null ? null : dialect.contractKey(token_contract);
  };
  const chain = new EvmChain({
    random: random.fork('chain'),
    now: () => world.now_ms,
    block_seconds,
    history: HISTORY_BLOCKS,
    height_hashes: id === 'tron',
  });
  const views = random.fork('views');
  const payers = random.fork('payers');
  const miners = random.fork('miners');
  const exchanges = Array.from({ length: EXCHANGES }, () => chain.address());
  const sent = new Map<string, ChainTransaction>();
  const lies: Lie[] = [];
  const branches: Branch[] = [];
  /** Wallets that have code, and pass on what comes. */
  const forwarders = new Set<string>();
  /** The newest blocks, of so many seconds. */
  function blocksIn(seconds: number): number {
    const { blocks, tip } = chain;
    let count = 1;
    while (count < blocks.length && tip.timestamp - (blocks.at(-1 - count)?.timestamp ?? 0) < seconds)
      count++;
    return count;
  }
  const finalBlocks = () => blocksIn(final_seconds);
  /** Blocks that a fork replaces at most: where blocks are slow, both spans are as few blocks, and what is final stays. */
  const deepestFork = () =>
    breaksFinality(id) ? blocksIn(deepest_seconds) : Math.min(blocksIn(deepest_seconds), finalBlocks() - 1);
  /** Whether nothing that a provider does keeps a payment from being read at once. */
  const isPlain =
    ['far_behind', 'late_index', 'forks', 'stalls', 'lacks_contracts', 'overloaded'].every(
      (name) => faults[name as keyof EvmFaults] === 0,
    ) &&
    faults.batch_cap >= PLAIN_BATCH &&
    faults.range_cap >= PLAIN_RANGE;
  const stalls = stretches('stalls');
  const silences = stretches('lacks_contracts');
  let stalled_at = 0;

  /** Whether it is one of the stretches of time that a fault makes. */
  function stretches(fault: 'stalls' | 'lacks_contracts'): () => boolean {
    const own = random.fork(fault);
    let until_ms = 0;
    let is_on = false;
    return () => {
      if (world.now_ms >= until_ms) {
        is_on = own.chance(current[fault]);
        until_ms = world.now_ms + own.int(STRETCH_MS.least, STRETCH_MS.most);
        stalled_at = Math.max(0, chain.tip.number + 1 - finalBlocks());
      }
      return is_on && current[fault] > 0;
    };
  }

  function provider(): Front {
    let seconds = 0;
    const listed = new Map<string, number>();
    const options: EvmNodeOptions = {
      chain,
      chain_id: network.chain_ids.testnet,
      decimals: new Map(),
      seen: () => seconds,
      final_blocks: finalBlocks(),
      finalized: () => (stalls() ? stalled_at : chain.tip.number + 1 - finalBlocks()),
      has_code: (address) => forwarders.has(address),
      lists(made, block) {
        const name = `${block.hash} ${made.hash}`;
        const late_ms = views.chance(current.late_index) ? views.unit() * current.late_ms : 0;
        const at_ms = listed.get(name) ?? block.counts_from * 1000 + late_ms;
        listed.set(name, at_ms);
        return at_ms <= world.now_ms;
      },
      has_replaced: views.chance(0.5),
    };
    const decimals = new Map(
      gateways.flatMap((each) => {
        const contract = contractOf(each.chain);
        return contract === null ? [] : [[contract, each.decimals] as const];
      }),
    );
    const message = views.pick(TOO_WIDE);
    const front = (): Front => {
      const { range_cap } = current;
      const asked = {
        ...options,
        decimals: silences() ? new Map<string, number>() : decimals,
        range_cap: { blocks: range_cap, message: message.replace('{n}', String(range_cap)) },
      };
      if (id === 'tron') return tronNode(asked);
      const methods = evmMethods(asked);
      const logs = methods.eth_getLogs as (params: readonly unknown[]) => object[];
      return jsonRpc(
        { ...invented(methods), eth_getLogs: (params) => [...logs(params), ...lied(params)] },
        true,
      );
    };
    return (request) => {
      chain.catchUp();
      const lag_ms = views.chance(current.far_behind)
        ? views.unit() * current.behind_ms
        : Math.min(LAG_MOST_MS, views.exponential(LAG_MEAN_MS));
      seconds = (world.now_ms - lag_ms) / 1000;
      const isOverloaded = views.chance(current.overloaded);
      if (isOverloaded && id === 'tron') return json({ Error: 'lack of computing resources' });
      if (isOverloaded) return refused(-32_005, 'rate limit exceeded');
      const asked: unknown = JSON.parse(request.body ?? 'null');
      if (Array.isArray(asked) && asked.length > current.batch_cap)
        return refused(-32_600, `batch limit ${current.batch_cap} exceeded`);
      return front()(request);
    };
  }

  const refused = (code: number, message: string) =>
    json({ jsonrpc: '2.0', id: null, error: { code, message } });

  /** What is listed and was never sent. */
  function lied([filter]: readonly unknown[]): object[] {
    const { fromBlock, toBlock, blockHash } = filter as Record<string, string | undefined>;
    return lies.flatMap(({ until_ms, block, log }) => {
      const isAsked =
        blockHash === undefined
          ? block.number >= Number(fromBlock) && block.number <= Number(toBlock)
          : block.hash === blockHash;
      const stands = chain.blocks[block.number] === block;
      return isAsked && stands && until_ms > world.now_ms ? [log] : [];
    });
  }

  /** The receipt of a transaction that was never sent, in a block of a branch that no one else has. */
  function invented(methods: Methods): Methods {
    const found = (key: 'receipt' | 'transaction' | 'header', value: unknown) =>
      branches.find(({ until_ms, [key]: shown }) => until_ms > world.now_ms && shown.name === value)?.[key];
    const instead =
      (method: string, key: 'receipt' | 'transaction' | 'header'): Methods[string] =>
      (params) =>
        found(key, params[0])?.answer ?? methods[method]?.(params);
    return {
      ...methods,
      eth_getTransactionReceipt: instead('eth_getTransactionReceipt', 'receipt'),
      eth_getTransactionByHash: instead('eth_getTransactionByHash', 'transaction'),
      eth_getBlockByNumber: instead('eth_getBlockByNumber', 'header'),
    };
  }

  const hosts = new Map(
    Array.from({ length: faults.providers }, (_, at) => [`${id}${at + 1}.example`, provider()] as const),
  );
  const payer = () => (payers.chance(FROM_EXCHANGE) ? payers.pick(exchanges) : chain.address());
  const readable = (hash: string) => `${dialect.txid_prefix}${hash.slice(2)}`;

  /** What a transaction has that pays these. */
  function paying(
    from: string,
    orders: readonly Pick<Order, 'chain' | 'wallet' | 'amount'>[],
  ): Partial<ChainTransaction> {
    const [first] = orders;
    if (!first) return {};
    const contract = contractOf(first.chain);
    if (contract !== null)
      return {
        from,
        to: contract,
        logs: orders.map(({ wallet, amount }) => tokenLog(contract, from, wallet.key, amount)),
      };
    const coins = network.coins.testnet;
    const logs = coins.found_by === 'log' ? (log: ChainLog) => [log] : () => [];
    const logOf = (sender: string, { wallet, amount }: Pick<Order, 'wallet' | 'amount'>) =>
      logs(coinLog(sender, wallet.key, amount));
    if (orders.length === 1 && !(coins.found_by === 'log' && payers.chance(BY_CONTRACT)))
      return { from, to: first.wallet.key, value: first.amount, logs: logOf(from, first) };
    const by = chain.address();
    const inner = orders.map(({ wallet, amount }): InnerTransfer => ({ from: by, to: wallet.key, amount }));
    return { from, to: by, inner, logs: orders.flatMap((each) => logOf(by, each)) };
  }

  function coinLog(from: string, to: string, amount: bigint): ChainLog {
    const coins = network.coins.testnet;
    const address = coins.found_by === 'log' ? coins.log.contract : from;
    const topics = [LOG_TRANSFER, wordOf(address), wordOf(from), wordOf(to)];
    return { address, topics, data: topicAmount(amount, 9n, 9n, 9n, 9n) };
  }

  function included(): number {
    const slow_ms = payers.chance(current.slow) ? payers.unit() * current.slow_ms : 0;
    return world.now_ms + slow_ms + payers.exponential(INCLUSION_MEAN_MS);
  }

  function send(orders: readonly Order[], { forwards = false }: Manner = {}): Version[] {
    chain.catchUp();
    const [first] = orders as [Order];
    if (payers.chance(NOISE)) noise();
    if (payers.chance(DISTURBS)) disturb(first);
    const from = payer();
    const from_ms = included();
    const paid = paying(from, orders);
    const made = chain.send({ ...paid, inner: [...(paid.inner ?? []), ...passedOn(orders)], from_ms });
    const txid = readable(made.hash);
    sent.set(txid, made);
    if (forwards) sweepSoon(first, from_ms);
    if (payers.chance(current.forks * MOVED)) moveSoon(made);
    return orders.map(({ amount }) => ({ txid, amount }));
  }

  /** What a wallet that is a contract passes on within the transaction. */
  const passedOn = (orders: readonly Order[]): InnerTransfer[] =>
    orders.flatMap(({ chain: gateway, wallet, amount }) =>
      contractOf(gateway) === null && forwarders.has(wallet.key)
        ? { from: wallet.key, to: chain.address(), amount }
        : [],
    );

  /** The holder of the key sends on what came, in one of the next blocks. */
  function sweepSoon({ chain: gateway, wallet, amount }: Order, from_ms: number): void {
    if (contractOf(gateway) !== null || forwarders.has(wallet.key)) return;
    const coins = network.coins.testnet;
    const logs = coins.found_by === 'log' ? [coinLog(wallet.key, chain.address(), amount)] : [];
    world.after(Math.max(0, from_ms - world.now_ms) + chain.block_seconds * 1000, () => {
      chain.send({ from: wallet.key, to: chain.address(), value: amount, logs });
    });
  }

  /** What looks like a payment and is none. */
  function disturb(order: Order): void {
    const [from, { key }] = [chain.address(), order.wallet];
    const { amount } = order;
    const contract = contractOf(order.chain);
    const fake = chain.address();
    const call = (to: string, log: ChainLog) => () => chain.send({ from, to, logs: [log] });
    const fails = () => chain.send({ ...paying(from, [order]), failed: true });
    if (contract === null) {
      const kinds: (() => unknown)[] = [
        fails,
        call(fake, { ...coinLog(from, key, amount), address: fake }),
        call(fake, tokenLog(fake, from, key, amount)),
      ];
      // A worthless token, a vote and a freeze look like coins.
      const worthless = { from, to: key, value: amount, contract_type: 'TransferAssetContract' };
      if (id === 'tron') kinds.push(() => chain.send(worthless));
      return void payers.pick(kinds)();
    }
    const log = tokenLog(contract, from, key, amount);
    payers.pick([
      fails,
      call(fake, { ...log, address: fake }),
      call(contract, tokenLog(contract, from, key, 0n)),
      call(contract, tokenLog(contract, key, key, amount)),
      // Other numbers of topics and words: a token of another kind, or one that was changed.
      call(contract, { ...log, topics: [...log.topics, wordOf(9n)], data: '0x' }),
      call(contract, { ...log, topics: log.topics.slice(0, 2) }),
      call(contract, { ...log, data: topicAmount(amount, 1n) }),
    ])();
  }

  /** `lost` leaves for good, or `moved` is mined again: after another payment, so that its log has another number. */
  function fork(depth: number, { lost, moved }: { lost?: string; moved?: string } = {}): void {
    chain.catchUp();
    const most = Math.min(depth, chain.blocks.length - 1);
    const fails = () => dialect.has_nonces && miners.chance(current.fails_again);
    noise();
    chain.fork(most, {
      stays: ({ hash }) => miners.chance(0.5) && hash !== lost && hash !== moved,
      returns: ({ hash }) => hash !== lost,
      again: (made) => (fails() ? { ...made, failed: true } : made),
    });
    world.note(`${id} fork ${most}`, () => `${id} fork ${most} below ${chain.tip.number}`);
  }

  function noise(): void {
    const token = gateways.map((each) => contractOf(each.chain)).find((each) => each !== null);
    chain.payToken(token ?? chain.address(), chain.address(), 7n);
  }

  /** A payment that was just read is mined again, if only forks are there. */
  function moveSoon({ hash }: ChainTransaction): void {
    world.after(MOVED_AFTER_MS.least + miners.unit() * MOVED_AFTER_MS.more, () => {
      chain.catchUp();
      const block = chain.blockOf(hash);
      const depth = block ? chain.tip.number - block.number + 1 : 0;
      if (current.forks > 0 && depth > 0 && depth <= deepestFork()) fork(depth, { moved: hash });
    });
  }

  function schedule(): void {
    world.after(miners.exponential(60_000), () => {
      const deepest = deepestFork();
      const shallow = Math.min(SHALLOW_FORK, deepest);
      if (miners.chance(current.forks) && deepest > 0)
        fork(miners.chance(current.deep) ? miners.int(shallow, deepest) : miners.int(1, shallow));
      schedule();
    });
  }

  /** Makes room for another transaction of the same number; false where that cannot be. */
  function withdraw(txid: string): ChainTransaction | null {
    chain.catchUp();
    const made = sent.get(txid);
    if (!made || !dialect.has_nonces) return null;
    const block = chain.blockOf(made.hash);
    if (!block) chain.forget(made.hash);
    else {
      const depth = chain.tip.number - block.number + 1;
      const within = Math.min(blocksIn(REPLACED_WITHIN_SECONDS), deepestFork());
      if (depth > within || !miners.chance(current.forks * 3)) return null;
      fork(depth, { lost: made.hash });
    }
    return made;
  }

  const placeOf = (version: Version | undefined) => {
    const made = sent.get(version?.txid ?? '');
    return made && chain.placeOf(made.hash);
  };
  const timesOf = ({ versions }: Payment): number[] =>
    versions.flatMap(({ txid }) =>
      chain.placesOf(sent.get(txid)?.hash ?? '').map(({ block }) => block.timestamp * 1000),
    );

  return {
    blockchain: id,
    space: spaceOf(id),
    chains: gateways.map((gateway) => gateway.chain),
    hosts,
    settings: {
      [`blockchains.${id}.urls`]: [...hosts.keys()].map((host) => `http://${host}/jsonrpc`).join(','),
    },
    newWallet(): Wallet {
      const key = `0x${payers.hex(20)}`;
      if (network.coins.testnet.found_by === 'balances' && payers.chance(FORWARDERS)) forwarders.add(key);
      return { address: id === 'tron' ? showAddress(key) : withChecksum(key), key };
    },
    pay: (order, manner) => send([order], manner)[0] as Version,
    payMany: (orders) =>
      network.coins.testnet.found_by !== 'log' && contractOf(orders[0]?.chain ?? '') === null
        ? null
        : send(orders),
    bump({ versions, chain: gateway, wallet }, amount) {
      const before = withdraw(versions.at(-1)?.txid ?? '');
      if (!before) return null;
      const { from, nonce } = before;
      const made = chain.send({ ...paying(from, [{ chain: gateway, wallet, amount }]), nonce });
      const txid = readable(made.hash);
      sent.set(txid, made);
      return { txid, amount };
    },
    takeBack({ versions }) {
      const before = withdraw(versions.at(-1)?.txid ?? '');
      if (!before) return false;
      const { from, nonce } = before;
      chain.send({ from, nonce });
      return true;
    },
    madeAt: (payment) =>
      payment.versions.some((version) => placeOf(version))
        ? Math.max(...timesOf(payment))
        : Number.POSITIVE_INFINITY,
    firstAt: (payment) => Math.min(...timesOf(payment)),
    standing({ versions }) {
      const isPaid = (version: Version) => placeOf(version)?.made.failed === false;
      return versions.find(isPaid) ?? null;
    },
    isSettled({ versions }) {
      chain.catchUp();
      const isDeep = (version: Version) => {
        const place = placeOf(version);
        return place && chain.tip.timestamp - place.block.timestamp > deepest_seconds + SETTLED_SECONDS;
      };
      return versions.some(isDeep);
    },
    passesOn: ({ kind, chain: gateway, wallet }) =>
      network.coins.testnet.found_by === 'balances' &&
      contractOf(gateway) === null &&
      (kind === 'forwarded' || forwarders.has(wallet.key)),
    traps: () => [],
    dust(wallet) {
      const order = {
        chain: payers.pick(gateways).chain,
        wallet,
        amount: BigInt(payers.int(1, 1000)),
        memo: null,
        reference: null,
      };
      return { chain: order.chain, version: send([order])[0] as Version };
    },
    flood: FLOOD,
    shownAt(payment) {
      const places = payment.versions.flatMap(({ txid }) => chain.placesOf(sent.get(txid)?.hash ?? ''));
      const [first] = places;
      return isPlain && first && places.length === 1 ? first.block.counts_from * 1000 : null;
    },
    lie({ chain: gateway, wallet, amount }, duration_ms) {
      chain.catchUp();
      const contract = contractOf(gateway);
      if (contract === null) return;
      const block = chain.tip;
      const log = {
        ...tokenLog(contract, chain.address(), wallet.key, amount),
        blockHash: block.hash,
        blockNumber: `0x${block.number.toString(16)}`,
        transactionHash: chain.hash(),
        logIndex: '0x3e8',
        removed: false,
      };
      lies.push({ until_ms: world.now_ms + Math.min(LIE_MOST_MS, duration_ms), block, log });
      world.note(`${id} lie`, () => `${id} lies of ${log.transactionHash} in ${block.hash}`);
    },
    invent({ chain: gateway, wallet, amount }, duration_ms) {
      chain.catchUp();
      const contract = contractOf(gateway);
      const depth = blocksIn(final_seconds / 2 + deepest_seconds);
      const block = chain.blocks[chain.tip.number - depth];
      if (contract === null || block === undefined || id === 'tron') return null;
      const [hash, block_hash] = [chain.hash(), chain.hash()];
      const number = `0x${block.number.toString(16)}`;
      const placed = { blockHash: block_hash, blockNumber: number, transactionHash: hash };
      const from = chain.address();
      const log = { ...tokenLog(contract, from, wallet.key, amount), ...placed, logIndex: '0x0' };
      const call = { from, to: contract, value: '0x0', nonce: '0x0', input: '0x', type: '0x2' };
      branches.push({
        until_ms: world.now_ms + Math.min(LIE_MOST_MS, duration_ms),
        receipt: { name: hash, answer: { ...placed, status: '0x1', logs: [{ ...log, removed: false }] } },
        transaction: {
          name: hash,
          answer: { ...call, hash, blockHash: block_hash, blockNumber: number, transactionIndex: '0x0' },
        },
        header: {
          name: number,
          answer: {
            number,
            hash: block_hash,
            parentHash: block.parent,
            timestamp: `0x${block.timestamp.toString(16)}`,
            transactions: [hash],
          },
        },
      });
      world.note(`${id} invents`, () => `${id} invents ${hash} in ${block_hash}`);
      return readable(hash);
    },
    start() {
      schedule();
      if (faults.pace > 0)
        world.after(PACE_CHANGES_MS.least + miners.unit() * PACE_CHANGES_MS.more, () => {
          if (current.pace > 0) chain.setPace(block_seconds / faults.pace);
          world.note(`${id} pace`, () => `${id} makes a block in ${chain.block_seconds} s`);
        });
    },
    calm() {
      // A day is soon read; how small pieces are read, the time before has shown.
      current = NO_EVM_FAULTS;
      chain.setPace(block_seconds);
      lies.length = 0;
      branches.length = 0;
    },
  };
}
