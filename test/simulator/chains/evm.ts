// A model of an EVM chain: blocks at a steady pace, tokens and coins that log, transactions that leave with their block.
import type { Random } from '../random.ts';

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';

export interface ChainLog {
  address: string;
  topics: string[];
  data: string;
}

export interface ChainTransaction {
  hash: string;
  from: string;
  nonce: number;
  to: string;
  value: bigint;
  logs: ChainLog[];
}

export interface ChainBlock {
  hash: string;
  parent: string;
  number: number;
  /** Unix seconds. */
  timestamp: number;
  transactions: ChainTransaction[];
}

export interface EvmOptions {
  random: Random;
  /** True time, Unix milliseconds. */
  now(): number;
  block_seconds: number;
  /** Blocks that are there already. */
  history: number;
  /** Whether a block's hash begins with its height, as on TRON. */
  height_hashes?: boolean;
}

export const wordOf = (value: string | bigint): string =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
export const topicAmount = (...amounts: bigint[]): string =>
  `0x${amounts.map((each) => wordOf(each).slice(2)).join('')}`;

export class EvmChain {
  readonly #options: EvmOptions;
  /** The branch that counts, oldest first; the index is the height. */
  #blocks: ChainBlock[] = [];
  #waiting: ChainTransaction[] = [];
  readonly #nonces = new Map<string, number>();

  constructor(options: EvmOptions) {
    this.#options = options;
    const { history, block_seconds } = options;
    const start = this.#now() - history * block_seconds;
    for (let block = 0; block <= history; block++) this.#mine(start + block * block_seconds);
  }

  #now(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  get blocks(): readonly ChainBlock[] {
    return this.#blocks;
  }

  hash(): string {
    return `0x${this.#options.random.hex(32)}`;
  }

  address(): string {
    return `0x${this.#options.random.hex(20)}`;
  }

  /** Blocks that are due by now. */
  catchUp(): void {
    const { block_seconds } = this.#options;
    for (;;) {
      const next = (this.#blocks.at(-1) as ChainBlock).timestamp + block_seconds;
      if (next > this.#now()) return;
      this.#mine(next);
    }
  }

  /** One block, now or a moment after the last one. */
  mine(): ChainBlock {
    return this.#mine(Math.max((this.#blocks.at(-1) as ChainBlock).timestamp, this.#now()));
  }

  #mine(timestamp: number): ChainBlock {
    const height = this.#blocks.length.toString(16).padStart(16, '0');
    const block: ChainBlock = {
      hash: this.#options.height_hashes ? `0x${height}${this.#options.random.hex(24)}` : this.hash(),
      parent: this.#blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`,
      number: this.#blocks.length,
      timestamp,
      transactions: this.#waiting,
    };
    this.#waiting = [];
    this.#blocks.push(block);
    return block;
  }

  send({
    from = this.address(),
    to = this.address(),
    value = 0n,
    logs = [],
    nonce = this.#nonces.get(from) ?? 0,
  }: Partial<Omit<ChainTransaction, 'hash'>>): ChainTransaction {
    const made = { hash: this.hash(), from, nonce, to, value, logs };
    this.#nonces.set(from, nonce + 1);
    this.#waiting.push(made);
    return made;
  }

  payToken(token: string, to: string, amount: bigint, from = this.address()): ChainTransaction {
    const topics = [TRANSFER, wordOf(from), wordOf(to)];
    return this.send({ from, to: token, logs: [{ address: token, topics, data: topicAmount(amount) }] });
  }

  /**
   * The last blocks leave, and as many others come with what of their transactions `stays`; the rest waits again where it
   * `returns`.
   */
  fork(
    depth: number,
    { stays, returns }: { stays(made: ChainTransaction): boolean; returns(made: ChainTransaction): boolean },
  ): void {
    const left = this.#blocks.splice(this.#blocks.length - depth);
    const waiting = this.#waiting;
    const back: ChainTransaction[] = [];
    for (const { timestamp, transactions } of left) {
      this.#waiting = [];
      for (const made of transactions)
        if (stays(made)) this.#waiting.push(made);
        else if (returns(made)) back.push(made);
      this.#mine(timestamp);
    }
    this.#waiting = [...back, ...waiting];
  }

  blockOf(txid: string): ChainBlock | undefined {
    return this.#blocks.find(({ transactions }) => transactions.some(({ hash }) => hash === txid));
  }
}
