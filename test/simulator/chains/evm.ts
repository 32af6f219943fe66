// A model of an EVM chain: blocks at a pace that may change, tokens and coins that log, transactions that leave with their block.
import type { Random } from '../random.ts';

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';

export interface ChainLog {
  address: string;
  topics: string[];
  data: string;
}

/** Coins that a contract moves within a transaction: no block shows them, and a log only where the network writes one. */
export interface InnerTransfer {
  from: string;
  to: string;
  amount: bigint;
}

export interface ChainTransaction {
  hash: string;
  from: string;
  nonce: number;
  to: string;
  value: bigint;
  logs: ChainLog[];
  inner: InnerTransfer[];
  /** It stands in its block and has moved nothing. */
  failed: boolean;
  /** Of TRON, where it is neither a transfer of coins nor a call: how its own API names it. */
  contract_type?: string;
}

export interface ChainBlock {
  hash: string;
  parent: string;
  number: number;
  /** Unix seconds. */
  timestamp: number;
  transactions: ChainTransaction[];
  /** Unix seconds since when it counts, and when it was replaced; Infinity while it counts. */
  counts_from: number;
  counts_until: number;
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

/** Where a transaction stands: the same one may be mined again, and fail then. */
export interface Place {
  block: ChainBlock;
  made: ChainTransaction;
}

export const wordOf = (value: string | bigint): string =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
export const topicAmount = (...amounts: bigint[]): string =>
  `0x${amounts.map((each) => wordOf(each).slice(2)).join('')}`;

/** The log of a token for one transfer. */
export const tokenLog = (token: string, from: string, to: string, amount: bigint): ChainLog => ({
  address: token,
  topics: [TRANSFER, wordOf(from), wordOf(to)],
  data: topicAmount(amount),
});

interface Waiting {
  made: ChainTransaction;
  /** It is in no block before, Unix milliseconds. */
  from_ms: number;
}

export class EvmChain {
  readonly #options: EvmOptions;
  /** The branch that counts, oldest first; the index is the height. */
  readonly #blocks: ChainBlock[] = [];
  /** By height: blocks that were replaced, oldest first. */
  readonly #replaced = new Map<number, ChainBlock[]>();
  readonly #by_hash = new Map<string, ChainBlock>();
  readonly #places = new Map<string, Place[]>();
  readonly #sent_by = new Map<string, string[]>();
  /** Ids of what moves coins to an address or from it. */
  readonly #moving = new Map<string, string[]>();
  #waiting: Waiting[] = [];
  #block_seconds: number;
  /** When the newest block was due, Unix seconds and fractions: its timestamp has none. */
  #due = 0;
  readonly #nonces = new Map<string, number>();

  constructor(options: EvmOptions) {
    this.#options = options;
    const { history, block_seconds } = options;
    this.#block_seconds = block_seconds;
    const start = this.#now() - history * block_seconds;
    for (let block = 0; block <= history; block++) this.#mine(start + block * block_seconds, 0);
  }

  get block_seconds(): number {
    return this.#block_seconds;
  }

  /** From now on blocks come at this pace, as after an upgrade. */
  setPace(block_seconds: number): void {
    this.catchUp();
    this.#block_seconds = block_seconds;
  }

  #now(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  get blocks(): readonly ChainBlock[] {
    return this.#blocks;
  }

  get tip(): ChainBlock {
    return this.#blocks.at(-1) as ChainBlock;
  }

  hash(): string {
    return `0x${this.#options.random.hex(32)}`;
  }

  address(): string {
    return `0x${this.#options.random.hex(20)}`;
  }

  /** Blocks that are due by now. */
  catchUp(): void {
    for (;;) {
      const next = this.#due + this.#block_seconds;
      if (next * 1000 > this.#options.now()) return;
      this.#mine(next, next * 1000);
    }
  }

  /** One block, now or a moment after the last one. */
  mine(): ChainBlock {
    return this.#mine(Math.max(this.#due, this.#options.now() / 1000), this.#options.now());
  }

  /** With all that waits since `due_ms`, Unix milliseconds. `due`: seconds and fractions. */
  #mine(due: number, due_ms: number): ChainBlock {
    this.#due = due;
    const timestamp = Math.floor(due);
    const isDue = ({ from_ms }: Waiting) => from_ms <= due_ms;
    const made = this.#waiting.filter(isDue).map((each) => each.made);
    if (made.length > 0) this.#waiting = this.#waiting.filter((each) => !isDue(each));
    return this.#add(timestamp, Math.min(due, this.#options.now() / 1000), made);
  }

  #add(timestamp: number, counts_from: number, transactions: ChainTransaction[]): ChainBlock {
    const height = this.#blocks.length.toString(16).padStart(16, '0');
    const block: ChainBlock = {
      hash: this.#options.height_hashes ? `0x${height}${this.#options.random.hex(24)}` : this.hash(),
      parent: this.#blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`,
      number: this.#blocks.length,
      timestamp,
      transactions,
      counts_from,
      counts_until: Number.POSITIVE_INFINITY,
    };
    this.#blocks.push(block);
    this.#by_hash.set(block.hash, block);
    for (const made of transactions)
      this.#places.set(made.hash, [...(this.#places.get(made.hash) ?? []), { block, made }]);
    return block;
  }

  send({
    from = this.address(),
    to = this.address(),
    value = 0n,
    logs = [],
    inner = [],
    failed = false,
    nonce = this.#nonces.get(from) ?? 0,
    contract_type,
    from_ms = this.#options.now(),
  }: Partial<Omit<ChainTransaction, 'hash'>> & { from_ms?: number }): ChainTransaction {
    const made: ChainTransaction = { hash: this.hash(), from, nonce, to, value, logs, inner, failed };
    if (contract_type !== undefined) made.contract_type = contract_type;
    this.#nonces.set(from, Math.max(nonce + 1, this.#nonces.get(from) ?? 0));
    this.#sent_by.set(from, [...(this.#sent_by.get(from) ?? []), made.hash]);
    const parties = new Set([
      ...(value > 0n ? [from, to] : []),
      ...inner.flatMap((each) => [each.from, each.to]),
    ]);
    for (const each of parties) this.#moving.set(each, [...(this.#moving.get(each) ?? []), made.hash]);
    this.#waiting.push({ made, from_ms });
    return made;
  }

  payToken(token: string, to: string, amount: bigint, from = this.address()): ChainTransaction {
    return this.send({ from, to: token, logs: [tokenLog(token, from, to, amount)] });
  }

  /** A contract pays coins: the transaction's own value and receiver show nothing of it. */
  payInner(to: string, amount: bigint, logs: ChainLog[] = [], contract = this.address()): ChainTransaction {
    return this.send({ to: contract, logs, inner: [{ from: contract, to, amount }] });
  }

  isWaiting(txid: string): boolean {
    return this.#waiting.some(({ made }) => made.hash === txid);
  }

  /** What waits is forgotten: another transaction takes its place. */
  forget(txid: string): void {
    this.#waiting = this.#waiting.filter(({ made }) => made.hash !== txid);
  }

  /**
   * The last blocks leave, and as many others come with what of their transactions `stays`; the rest waits again where it
   * `returns`, as what `again` says.
   */
  fork(
    depth: number,
    {
      stays,
      returns,
      again = (made) => made,
    }: {
      stays(made: ChainTransaction): boolean;
      returns(made: ChainTransaction): boolean;
      again?(made: ChainTransaction): ChainTransaction;
    },
  ): void {
    const left = this.#blocks.splice(this.#blocks.length - depth);
    const now = this.#now();
    const back: Waiting[] = [];
    for (const block of left) {
      block.counts_until = now;
      const replaced = this.#replaced.get(block.number) ?? [];
      this.#replaced.set(block.number, [...replaced, block]);
      const { timestamp, transactions } = block;
      const staying: ChainTransaction[] = [];
      for (const made of transactions)
        if (stays(made)) staying.push(made);
        else if (returns(made)) back.push({ made: again(made), from_ms: now * 1000 });
      this.#add(timestamp, now, staying);
    }
    this.#waiting = [...this.#waiting, ...back];
  }

  /** Where a transaction stands now. */
  placeOf(txid: string): Place | undefined {
    return this.#places.get(txid)?.findLast(({ block }) => block.counts_until === Number.POSITIVE_INFINITY);
  }

  blockOf(txid: string): ChainBlock | undefined {
    return this.placeOf(txid)?.block;
  }

  /** All blocks that it ever stood in, oldest first. */
  placesOf(txid: string): readonly Place[] {
    return this.#places.get(txid) ?? [];
  }

  /** The chain as it was, Unix seconds: a node that lags has what counted then. */
  asOf(seconds: number): EvmView {
    const counted = ({ counts_from, counts_until }: ChainBlock) =>
      counts_from <= seconds && seconds < counts_until;
    const at = (height: number): ChainBlock | undefined => {
      const block = this.#blocks[height];
      if (!block || counted(block)) return block;
      return this.#replaced.get(height)?.find(counted);
    };
    let tip = this.#blocks.length - 1;
    while (tip > 0 && !at(tip)) tip--;
    return {
      tip,
      at: (height) => (height <= tip ? at(height) : undefined),
      byHash: (hash) => {
        const block = this.#by_hash.get(hash);
        return block && block.counts_from <= seconds ? block : undefined;
      },
      placeOf: (txid) => this.#places.get(txid)?.findLast(({ block }) => counted(block)),
      sentBy: (sender) => this.#sent_by.get(sender) ?? [],
      movingAt: (address) => this.#moving.get(address) ?? [],
    };
  }
}

export interface EvmView {
  /** Height of the newest block. */
  tip: number;
  at(height: number): ChainBlock | undefined;
  /** Also one that was replaced. */
  byHash(hash: string): ChainBlock | undefined;
  placeOf(txid: string): Place | undefined;
  /** Ids of all that was ever sent from an address. */
  sentBy(sender: string): readonly string[];
  /** Ids of all that was ever sent and moves coins to an address or from it. */
  movingAt(address: string): readonly string[];
}
