// A model of TON: accounts as chains of transactions, a masterchain that takes them in, one wallet per jetton and owner.
import { createHash } from 'node:crypto';
import { Address, beginCell, type Cell } from '@ton/core';
import type { Random } from '../random.ts';

export const OP = {
  comment: 0,
  internal_transfer: 0x178d4519,
  transfer_notification: 0x7362d09c,
  bounced: 0xffffffff,
} as const;

/** Logical time that one masterchain block spans. */
export const LT_PER_BLOCK = 1_000_000n;
const FIRST_SEQNO = 20_000_000;
/** Transactions run this long before their shard's block is in the masterchain, at the least and as a rule at most. */
const SHARD_MS = { least: 300, most: 4_000 };
const NO_HASH = Buffer.alloc(32).toString('base64');
export const ELECTOR = `-1:${'3'.repeat(64)}`;

export interface TonOptions {
  random: Random;
  /** True time, Unix milliseconds. */
  now(): number;
  block_ms: number;
}

export interface TonMessage {
  source: string;
  value: bigint;
  /** Base64. */
  body: string;
  bounced: boolean;
}

export interface TonTransaction {
  account: string;
  /** Base64. */
  hash: string;
  lt: bigint;
  previous_lt: bigint;
  previous_hash: string;
  /** Unix seconds. */
  utime: number;
  /** The masterchain block that takes it in. */
  mc_seqno: number;
  message: TonMessage;
  /** A jetton wallet's code refused it. */
  aborted: boolean;
  exit_code: number;
  /** The value was sent back. */
  returned: boolean;
  /** True time at which the index of a provider has it, Unix milliseconds. */
  indexed_at_ms: number;
}

export interface Run {
  account: string;
  source: string;
  value: bigint;
  body: Cell;
  bounced?: boolean;
  aborted?: boolean;
  exit_code?: number;
  returned?: boolean;
  /** How much later than its block the index of a provider has it. */
  index_delay_ms?: number;
}

export class TonChain {
  readonly #options: TonOptions;
  readonly #start_ms: number;
  readonly #accounts = new Map<string, TonTransaction[]>();
  /** Jetton wallet → whose it is, of those that exist. */
  readonly #wallets = new Map<string, { master: string; owner: string }>();
  readonly #masters = new Set<string>();
  #lt = 0n;

  constructor(options: TonOptions) {
    this.#options = options;
    this.#start_ms = options.now();
  }

  /** The last masterchain block at a moment of true time. */
  seqnoAt(at_ms: number): number {
    return FIRST_SEQNO + Math.floor((at_ms - this.#start_ms) / this.#options.block_ms);
  }

  /** When a masterchain block was made, Unix milliseconds. */
  timeOf(seqno: number): number {
    return this.#start_ms + (seqno - FIRST_SEQNO) * this.#options.block_ms;
  }

  get firstSeqno(): number {
    return FIRST_SEQNO;
  }

  addJetton(master: string): void {
    this.#masters.add(keyOf(master));
  }

  isMaster(account: string): boolean {
    return this.#masters.has(account);
  }

  /** The address of an owner's jetton wallet; it exists from its first credit on. */
  walletOf(master: string, owner: string): string {
    const hash = createHash('sha256')
      .update(`${keyOf(master)} ${owner}`)
      .digest('hex')
      .toUpperCase();
    return `0:${hash}`;
  }

  /** Whose jetton wallet an account is; undefined where it is none. */
  jettonWallet(account: string): { master: string; owner: string } | undefined {
    return this.#wallets.get(account);
  }

  /** Runs a message on an account now. */
  run(run: Run): TonTransaction {
    const { random, now, block_ms } = this.#options;
    const { account, source, value, body } = run;
    const all = this.#accounts.get(account) ?? [];
    this.#accounts.set(account, all);
    const last = all.at(-1);
    const at_ms = now();
    const shard_ms = random.int(SHARD_MS.least, SHARD_MS.most);
    // Blocks of a shard come in order, and so do the transactions of an account.
    const mc_seqno = Math.max(last?.mc_seqno ?? 0, this.seqnoAt(at_ms + shard_ms) + 1);
    const least_lt = BigInt(this.seqnoAt(at_ms)) * LT_PER_BLOCK;
    this.#lt = this.#lt >= least_lt ? this.#lt + 2n : least_lt + 10n;
    const made: TonTransaction = {
      account,
      hash: Buffer.from(random.bytes(32)).toString('base64'),
      lt: this.#lt,
      previous_lt: last?.lt ?? 0n,
      previous_hash: last?.hash ?? NO_HASH,
      utime: Math.floor(at_ms / 1000),
      mc_seqno,
      message: { source, value, body: body.toBoc().toString('base64'), bounced: run.bounced ?? false },
      aborted: run.aborted ?? false,
      exit_code: run.exit_code ?? 0,
      returned: run.returned ?? false,
      indexed_at_ms: this.#start_ms + (mc_seqno - FIRST_SEQNO) * block_ms + (run.index_delay_ms ?? 0),
    };
    all.push(made);
    return made;
  }

  /** Sends jettons: a credit on the receiver's jetton wallet, and a notification to the receiver where one is asked for. */
  sendJetton(send: {
    master: string;
    to: string;
    from: string;
    amount: bigint;
    comment: string | null;
    notifies: boolean;
    index_delay_ms?: number;
  }): TonTransaction {
    const { master, to, from, amount, comment } = send;
    const wallet = this.walletOf(master, to);
    this.#wallets.set(wallet, { master: keyOf(master), owner: to });
    const body = internalTransfer({ amount, from, comment });
    const made = this.run({
      account: wallet,
      source: this.walletOf(master, from),
      value: 45_000_000n,
      body,
      index_delay_ms: send.index_delay_ms,
    });
    if (send.notifies)
      this.run({ account: to, source: wallet, value: 1n, body: notification({ amount, from, comment }) });
    return made;
  }

  /** Oldest first. */
  transactionsOf(account: string): readonly TonTransaction[] {
    return this.#accounts.get(account) ?? [];
  }

  get accounts(): ReadonlyMap<string, readonly TonTransaction[]> {
    return this.#accounts;
  }
}

/** The indexer's spelling of an address in any form: raw, with upper-case hex. */
export function keyOf(text: string): string {
  const address = Address.parse(text);
  return `${address.workChain}:${address.hash.toString('hex').toUpperCase()}`;
}

export const comment = (text: string | null): Cell =>
  text === null
    ? beginCell().endCell()
    : beginCell().storeUint(OP.comment, 32).storeStringTail(text).endCell();

interface JettonBody {
  amount: bigint;
  from: string;
  comment: string | null;
}

export function internalTransfer({ amount, from, comment: text }: JettonBody): Cell {
  const sender = Address.parse(from);
  const body = beginCell()
    .storeUint(OP.internal_transfer, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(sender)
    .storeAddress(sender)
    .storeCoins(1n);
  return text === null ? body.storeBit(0).endCell() : body.storeBit(1).storeRef(comment(text)).endCell();
}

export function notification({ amount, from, comment: text }: JettonBody): Cell {
  const body = beginCell()
    .storeUint(OP.transfer_notification, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(Address.parse(from));
  return text === null ? body.storeBit(0).endCell() : body.storeBit(1).storeRef(comment(text)).endCell();
}
