// Bitcoin and Litecoin in the virtual world: the model chain behind Esplora or a node, with forks, evictions and lies.
import { bech32 } from '@scure/base';
import { core } from './chains/core.ts';
import { esplora } from './chains/esplora.ts';
import type { Front, ModelRequest } from './chains/front.ts';
import { type Sent, UtxoChain, type UtxoNode } from './chains/utxo.ts';
import { type Block, headerOf, makeTransaction } from './chains/utxo-bytes.ts';
import type { Model, ModelOptions, Order, Payment, Version, Wallet } from './model.ts';

export interface UtxoFaults {
  /** Mean time between blocks. */
  block_seconds: number;
  /** Of a transaction, at each node: it is dropped from the mempool and announced again later. */
  evicted: number;
  /** Of a block: a fork leaves it out, and up to two before it. */
  forks: number;
  /** Of a block, at each node: it comes so much later than to the others. */
  late_block: number;
  late_ms: number;
  /** Replicas behind one provider. */
  replicas: number;
  /** Of a transaction, at each block: the miner leaves it for a later one. */
  left: number;
}

export const NO_UTXO_FAULTS: Omit<UtxoFaults, 'block_seconds' | 'replicas'> = {
  evicted: 0,
  forks: 0,
  late_block: 0,
  late_ms: 0,
  left: 0,
};

/**
 * How long a transaction is on its way to a node. Never as long as the 30 s that the daemon takes off the early end
 * of a payment's time: a payment that was longer on its way could not be distinguished from one made later.
 */
const PROPAGATION_MEAN_MS = 1_500;
const PROPAGATION_MOST_MS = 20_000;
const BLOCK_MEAN_MS = 800;
const HISTORY_BLOCKS = 30;
const DEEPEST_FORK = 3;
const FEE = 1_000;
/** A payment this deep stays. */
const SETTLED_BLOCKS = 8;
const RESENT_MS = { least: 20_000, most: 900_000 };
const CHANGE = 12_345n;
/** Once everything calms down, what was paid is buried soon. */
const CALM_BLOCK_SECONDS = 45;

export type UtxoCoin = 'bitcoin' | 'litecoin';
export type UtxoProvider = 'esplora' | 'core';

export interface UtxoModelOptions extends ModelOptions {
  coin: UtxoCoin;
  provider: UtxoProvider;
  faults: UtxoFaults;
}

export function utxoModel({ world, random, knows, coin, provider, faults }: UtxoModelOptions): Model {
  let current = faults;
  const chain = new UtxoChain({
    work: coin === 'bitcoin' ? 'sha256d' : 'scrypt',
    random: random.fork('chain'),
    now: () => world.now_ms,
    history_blocks: HISTORY_BLOCKS,
    history_interval_seconds: faults.block_seconds,
  });
  const nodes_random = random.fork('nodes');
  const miners = random.fork('miners');
  const payers = random.fork('payers');
  const delay = (what: 'block' | 'transaction'): number => {
    if (what === 'transaction')
      return Math.min(PROPAGATION_MOST_MS, nodes_random.exponential(PROPAGATION_MEAN_MS));
    if (nodes_random.chance(current.late_block)) return nodes_random.unit() * current.late_ms;
    return nodes_random.exponential(BLOCK_MEAN_MS);
  };
  const nodes = Array.from({ length: faults.replicas }, () => chain.addNode(delay));
  const sent = new Map<string, Sent>();
  const lies: { until_ms: number; block: Block }[] = [];
  const host = `${provider}.${coin}.example`;

  const send = (inputs: readonly string[], outputs: Sent['outputs'], fee: number): Sent => {
    const made = chain.send(inputs, outputs, fee);
    sent.set(made.txid, made);
    for (const node of nodes) if (nodes_random.chance(current.evicted)) evict(node, made);
    return made;
  };

  function evict(node: UtxoNode, made: Sent): void {
    world.after(PROPAGATION_MOST_MS + nodes_random.unit() * 300_000, () => {
      // What was dropped before anyone had listed it could not be distinguished from what was made later.
      if (!knows(made.txid)) return;
      node.evict(made.txid);
      world.note(`evicted ${made.txid}`);
    });
    world.after(nodes_random.int(RESENT_MS.least, RESENT_MS.most) + 320_000, () => chain.resend(made));
  }

  function schedule(): void {
    world.after(miners.exponential(current.block_seconds) * 1000, () => {
      const block = chain.mine(() => !miners.chance(current.left));
      world.note(`${coin} block ${block.height}`, () => `${coin} block ${block.height} ${block.hash}`);
      if (miners.chance(current.forks)) {
        const depth = miners.int(1, DEEPEST_FORK);
        world.after(miners.unit() * 60_000, () => {
          chain.fork(depth, () => !miners.chance(0.3));
          world.note(`${coin} fork ${depth}`);
        });
      }
      schedule();
    });
  }

  const fronts = nodes.map((node) => (provider === 'core' ? core({ node }) : esplora({ node })));

  function answer(request: ModelRequest): ReturnType<Front> {
    const asked = { ...request, path: request.path.replace(/^\/api/, '') };
    const honest = fronts[nodes_random.int(0, fronts.length - 1)] as Front;
    const lie = lies.find(({ until_ms }) => until_ms > world.now_ms);
    return (lie && provider === 'esplora' && lied(lie.block, request)) || honest(asked);
  }

  function versionOf(payment: Payment): Sent | undefined {
    return sent.get(payment.versions.at(-1)?.txid ?? '');
  }

  function pay({ wallet, amount }: Order): Version {
    const outputs = [{ script: wallet.key, amount }];
    if (payers.chance(0.5))
      outputs.splice(payers.int(0, 1), 0, { script: `0014${payers.hex(20)}`, amount: CHANGE });
    const made = send([chain.freshInput()], outputs, FEE);
    return { txid: made.txid, amount };
  }

  return {
    blockchain: coin,
    chains: [coin],
    hosts: new Map([[host, answer]]),
    settings: {
      [`blockchains.${coin}.url`]:
        provider === 'core' ? `http://user:password@${host}/` : `http://${host}/api`,
      [`blockchains.${coin}.provider`]: provider,
    },
    newWallet(): Wallet {
      const program = payers.bytes(20);
      const prefix = coin === 'bitcoin' ? 'tb' : 'tltc';
      const address = bech32.encode(prefix, [0, ...bech32.toWords(program)]);
      return { address, key: `0014${Buffer.from(program).toString('hex')}` };
    },
    pay,
    bump(payment, amount) {
      const before = versionOf(payment);
      if (!before || chain.miner.blockOf(before.txid)) return null;
      const outputs = before.outputs.map((output) =>
        output.script === payment.wallet.key ? { ...output, amount } : output,
      );
      const made = send(before.inputs, outputs, before.fee * 2);
      return { txid: made.txid, amount };
    },
    takeBack(payment) {
      const before = versionOf(payment);
      if (!before || chain.miner.blockOf(before.txid)) return false;
      send(before.inputs, [{ script: `0014${payers.hex(20)}`, amount: CHANGE }], before.fee * 2);
      return true;
    },
    madeAt: ({ sent_ms }) => sent_ms,
    standing: ({ versions }) => versions.find(({ txid }) => chain.miner.blockOf(txid)) ?? null,
    isSettled: ({ versions }) =>
      versions.some(({ txid }) => {
        const block = chain.miner.blockOf(txid);
        return block !== undefined && chain.miner.tip().height - block.height >= SETTLED_BLOCKS;
      }),
    traps: () => [],
    dust(wallet) {
      const order = {
        chain: coin,
        wallet,
        amount: BigInt(payers.int(600, 5_000)),
        memo: null,
        reference: null,
      };
      return { chain: coin, version: pay(order) };
    },
    flood: 0,
    shownAt: () => null,
    lie({ wallet, amount }, duration_ms) {
      const tip = chain.miner.tip();
      const paid = makeTransaction([chain.freshInput()], [{ script: wallet.key, amount }]);
      const block = chain.forge(tip, [paid], Math.floor(world.now_ms / 1000));
      lies.push({ until_ms: world.now_ms + duration_ms, block });
      world.note(`${coin} lie`, () => `${coin} lies of ${paid.txid} in ${block.hash}, on ${tip.height}`);
    },
    start: schedule,
    calm() {
      current = {
        ...faults,
        ...NO_UTXO_FAULTS,
        block_seconds: Math.min(faults.block_seconds, CALM_BLOCK_SECONDS),
      };
      lies.length = 0;
    },
  };
}

/** Esplora's answers about a block that no work stands behind. */
function lied(block: Block, { path }: ModelRequest): ReturnType<Front> | null {
  const { hash, height, time, previous } = block;
  const is = (suffix: string): boolean => path.endsWith(suffix);
  if (is('/blocks/tip/hash')) return { status: 200, body: hash };
  if (is('/blocks/tip/height')) return { status: 200, body: String(height) };
  if (is(`/block-height/${height}`)) return { status: 200, body: hash };
  if (is(`/block/${hash}`))
    return {
      status: 200,
      body: JSON.stringify({ id: hash, height, timestamp: time, previousblockhash: previous, tx_count: 2 }),
    };
  if (is(`/block/${hash}/header`)) return { status: 200, body: headerOf(block).toString('hex') };
  if (is(`/block/${hash}/raw`)) return { status: 200, body: block.bytes };
  return null;
}
