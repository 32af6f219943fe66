// A model of a chain of blocks: a miner, nodes that hear of blocks and transactions at their own times, replacements, forks.
import type { Random } from '../random.ts';
import {
  type Block,
  makeBlock,
  makeCoinbase,
  makeTransaction,
  type Transaction,
  type Work,
} from './utxo-bytes.ts';

export interface UtxoOptions {
  work: Work;
  random: Random;
  /** True time, Unix milliseconds. */
  now(): number;
  /** Blocks that are there already, so long apart. */
  history_blocks: number;
  history_interval_seconds: number;
}

/** A transaction with what decides about it: who pays more for a place replaces who pays less. */
export interface Sent extends Transaction {
  fee: number;
  /** True time, Unix milliseconds. */
  sent_at_ms: number;
}

interface Arrival {
  at_ms: number;
  order: number;
  what: { block: Block } | { sent: Sent } | { evict: string };
}

const MINER_SCRIPT = '51';
const REWARD = 50n;
/** Transactions in one block. */
const BLOCK_TRANSACTIONS = 500;

export class UtxoChain {
  readonly #options: UtxoOptions;
  readonly #blocks = new Map<string, Block>();
  readonly #nodes: UtxoNode[] = [];
  /** The miner's own node: it hears of everything at once. */
  readonly miner: UtxoNode;
  #tag = 0;

  constructor(options: UtxoOptions) {
    this.#options = options;
    const { history_blocks, history_interval_seconds } = options;
    this.miner = this.addNode(() => 0);
    const start = Math.floor(options.now() / 1000) - history_blocks * history_interval_seconds;
    for (let height = 0; height <= history_blocks; height++)
      this.#mine(this.miner.tipOrNull(), [], start + height * history_interval_seconds);
  }

  get blocks(): ReadonlyMap<string, Block> {
    return this.#blocks;
  }

  /** A node that hears of a block or transaction so many milliseconds after it was made. */
  addNode(delay_ms: (what: 'block' | 'transaction') => number): UtxoNode {
    const node = new UtxoNode(this, delay_ms, this.#options.now);
    for (const block of this.#blocks.values()) node.hear({ block }, 0);
    this.#nodes.push(node);
    return node;
  }

  /** Outputs that no one has spent, to pay from: their origin is of no interest. */
  freshInput(): string {
    return `${this.#options.random.hex(32)}:${this.#options.random.int(0, 3)}`;
  }

  send(inputs: readonly string[], outputs: Transaction['outputs'], fee: number): Sent {
    const lock_time = this.#tag++;
    const made = makeTransaction(inputs, outputs, { lock_time });
    const sent: Sent = { ...made, fee, sent_at_ms: this.#options.now() };
    for (const node of this.#nodes) node.hear({ sent }, node.delayOf('transaction'));
    return sent;
  }

  /** Tells all nodes again, as wallets do. */
  resend(sent: Sent): void {
    for (const node of this.#nodes) node.hear({ sent }, node.delayOf('transaction'));
  }

  /** A block on top of what the miner knows, with the transactions that he takes. */
  mine(takes: (sent: Sent) => boolean = () => true, skew_seconds = 0): Block {
    const { miner } = this;
    const tip = miner.tip();
    const taken = [...miner.mempool()].filter(takes).slice(0, BLOCK_TRANSACTIONS);
    return this.#mine(
      tip,
      taken,
      Math.max(tip.time + 1, Math.floor(this.#options.now() / 1000) + skew_seconds),
    );
  }

  /**
   * Another branch that leaves out the last `depth` blocks and is one block longer. Its blocks take what `takes` lets
   * in; what was in the blocks that are left out waits again.
   */
  fork(depth: number, takes: (sent: Transaction) => boolean = () => true): Block[] {
    const { miner } = this;
    const old: Block[] = [];
    let at = miner.tip();
    for (let count = 0; count < depth && at.height > 0; count++) {
      old.unshift(at);
      at = this.#blocks.get(at.previous) as Block;
    }
    const now = Math.floor(this.#options.now() / 1000);
    const made: Block[] = [];
    for (let count = 0; count <= old.length; count++) {
      const again = (old[count]?.transactions.slice(1) ?? []).filter(takes) as Sent[];
      const time = Math.max(at.time + 1, old[count]?.time ?? now);
      at = this.#mine(at, again, time);
      made.push(at);
    }
    return made;
  }

  #mine(on: Block | null, taken: readonly Transaction[], time: number): Block {
    const height = on ? on.height + 1 : 0;
    const coinbase = makeCoinbase(height, this.#tag++, { script: MINER_SCRIPT, amount: REWARD });
    const block = makeBlock({
      previous: on?.hash ?? '0'.repeat(64),
      height,
      time,
      transactions: [coinbase, ...taken],
      work: this.#options.work,
    });
    this.#blocks.set(block.hash, block);
    for (const node of this.#nodes) node.hear({ block }, node.delayOf('block'));
    return block;
  }

  /** A block that no work stands behind, for a provider that lies. It is in no chain. */
  forge(on: Block, transactions: readonly Transaction[], time: number): Block {
    const coinbase = makeCoinbase(on.height + 1, this.#tag++, { script: MINER_SCRIPT, amount: REWARD });
    return makeBlock({
      previous: on.hash,
      height: on.height + 1,
      time,
      transactions: [coinbase, ...transactions],
      work: this.#options.work,
      passes: false,
    });
  }
}

export class UtxoNode {
  readonly #chain: UtxoChain;
  readonly #now: () => number;
  readonly delayOf: (what: 'block' | 'transaction') => number;
  readonly #coming: Arrival[] = [];
  readonly #known = new Set<string>();
  /** Hashes of its chain, by height. */
  #heights: string[] = [];
  readonly #mempool = new Map<string, Sent>();
  /** Output → what spends it, in the mempool. */
  readonly #spent = new Map<string, string>();
  /** Txid → hash of the block of its chain that holds it. */
  readonly #mined = new Map<string, string>();
  /** Output → txid that spends it in its chain. */
  readonly #spentInChain = new Map<string, string>();
  readonly #sent = new Map<string, Sent>();
  #order = 0;

  constructor(chain: UtxoChain, delay_ms: (what: 'block' | 'transaction') => number, now: () => number) {
    this.#chain = chain;
    this.delayOf = delay_ms;
    this.#now = now;
  }

  hear(what: Arrival['what'], delay_ms: number): void {
    const arrival = { at_ms: this.#now() + delay_ms, order: this.#order++, what };
    let at = this.#coming.length;
    while (at > 0 && (this.#coming[at - 1] as Arrival).at_ms > arrival.at_ms) at--;
    this.#coming.splice(at, 0, arrival);
  }

  /** The node drops it from its mempool; it may hear of it again. */
  evict(txid: string): void {
    this.hear({ evict: txid }, 0);
  }

  /** Takes in everything that has arrived by now. */
  #catchUp(): void {
    const now = this.#now();
    while (this.#coming.length > 0 && (this.#coming[0] as Arrival).at_ms <= now) {
      const { what } = this.#coming.shift() as Arrival;
      if ('block' in what) this.#takeBlock(what.block);
      else if ('sent' in what) this.#takeTransaction(what.sent);
      else this.#drop(what.evict);
    }
  }

  #takeBlock(block: Block): void {
    this.#known.add(block.hash);
    // Blocks may come in any order: those that waited for this one join now.
    for (let best: Block | undefined = block; best; best = this.#bestOnTop())
      if (best.height >= this.#heights.length && this.#isWhole(best)) this.#switchTo(best);
      else return;
  }

  /** A block that is known, higher than the tip, and whose ancestors are all known. */
  #bestOnTop(): Block | undefined {
    const height = this.#heights.length;
    for (const hash of this.#known) {
      const block = this.#chain.blocks.get(hash);
      if (block && block.height >= height && this.#isWhole(block)) return block;
    }
    return undefined;
  }

  #isWhole(block: Block): boolean {
    let at: Block | undefined = block;
    while (at && this.#heights[at.height] !== at.hash) {
      if (!this.#known.has(at.hash)) return false;
      if (at.height === 0) return true;
      at = this.#chain.blocks.get(at.previous);
    }
    return at !== undefined;
  }

  #switchTo(tip: Block): void {
    const added: Block[] = [];
    let at = tip;
    while (this.#heights[at.height] !== at.hash) {
      added.unshift(at);
      if (at.height === 0) break;
      at = this.#chain.blocks.get(at.previous) as Block;
    }
    const first = (added[0] as Block).height;
    const removed = this.#heights.slice(first).map((hash) => this.#chain.blocks.get(hash) as Block);
    this.#heights = this.#heights.slice(0, first);
    for (const block of removed)
      for (const { txid, inputs } of block.transactions) {
        this.#mined.delete(txid);
        for (const input of inputs) this.#spentInChain.delete(input);
      }
    for (const block of added) {
      this.#heights.push(block.hash);
      for (const { txid, inputs } of block.transactions) {
        this.#mined.set(txid, block.hash);
        for (const input of inputs) {
          this.#spentInChain.set(input, txid);
          const other = this.#spent.get(input);
          if (other !== undefined) this.#drop(other);
        }
      }
    }
    for (const block of removed)
      for (const { txid } of block.transactions.slice(1)) {
        const sent = this.#sent.get(txid);
        if (sent) this.#takeTransaction(sent);
      }
  }

  #takeTransaction(sent: Sent): void {
    const { txid, inputs } = sent;
    this.#sent.set(txid, sent);
    if (this.#mempool.has(txid) || inputs.some((input) => this.#spentInChain.has(input))) return;
    const rivals = new Set(inputs.flatMap((input) => this.#spent.get(input) ?? []));
    for (const rival of rivals) if ((this.#mempool.get(rival)?.fee ?? 0) >= sent.fee) return;
    for (const rival of rivals) this.#drop(rival);
    this.#mempool.set(txid, sent);
    for (const input of inputs) this.#spent.set(input, txid);
  }

  #drop(txid: string): void {
    const sent = this.#mempool.get(txid);
    if (!sent) return;
    this.#mempool.delete(txid);
    for (const input of sent.inputs) if (this.#spent.get(input) === txid) this.#spent.delete(input);
  }

  tipOrNull(): Block | null {
    this.#catchUp();
    const hash = this.#heights.at(-1);
    return hash === undefined ? null : (this.#chain.blocks.get(hash) as Block);
  }

  tip(): Block {
    return this.tipOrNull() as Block;
  }

  hashAt(height: number): string | undefined {
    this.#catchUp();
    return this.#heights[height];
  }

  /** A block that it has, of whatever branch. */
  block(hash: string): Block | undefined {
    this.#catchUp();
    return this.#known.has(hash) ? this.#chain.blocks.get(hash) : undefined;
  }

  isInChain(block: Block): boolean {
    return this.hashAt(block.height) === block.hash;
  }

  /** Oldest first. */
  mempool(): Iterable<Sent> {
    this.#catchUp();
    return this.#mempool.values();
  }

  /** Undefined where its mempool does not hold it. */
  unconfirmed(txid: string): Sent | undefined {
    this.#catchUp();
    return this.#mempool.get(txid);
  }

  /** The block of its chain that holds the transaction. */
  blockOf(txid: string): Block | undefined {
    this.#catchUp();
    const hash = this.#mined.get(txid);
    return hash === undefined ? undefined : this.#chain.blocks.get(hash);
  }

  /** A transaction of its chain or mempool. */
  transaction(txid: string): Transaction | undefined {
    this.#catchUp();
    return this.#mempool.get(txid) ?? this.blockOf(txid)?.transactions.find((each) => each.txid === txid);
  }

  /** What spends an output, in its chain or its mempool. */
  spenderOf(output: string): string | undefined {
    this.#catchUp();
    return this.#spentInChain.get(output) ?? this.#spent.get(output);
  }
}
