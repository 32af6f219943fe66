// A masterchain around the real TON executor: clock, blocks, and which block each transaction is in.
import {
  Address,
  type Cell,
  external,
  internal,
  type Message,
  type Transaction,
  type TupleItem,
} from '@ton/core';
import { Blockchain, createShardAccount, type SendMessageResult } from '@ton/sandbox';
import { keyOf } from '../../../src/chains/ton/address.ts';

const FIRST_SEQNO = 30_000_000;
const MANUAL_EPOCH = 1_780_000_000;

export interface TonBlock {
  seqno: number;
  gen_utime: number;
  /** Transactions of this block are later, those of the blocks before are not. */
  start_lt: bigint;
}

/** A transaction as the chain keeps it; `mc_seqno` is null while its shard is held back. */
export interface TonRecord {
  /** Raw form with upper-case hex. */
  account: string;
  /** Hex. */
  txid: string;
  transaction: Transaction;
  mc_seqno: number | null;
}

export type TonClock = 'real' | 'manual';

export class TonLedger {
  readonly blocks: TonBlock[] = [];
  readonly records: TonRecord[] = [];
  readonly blockchain: Blockchain;
  private readonly clock: TonClock;
  private readonly held = new Set<string>();
  private offset_seconds = 0;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(blockchain: Blockchain, clock: TonClock) {
    this.blockchain = blockchain;
    this.clock = clock;
    this.blocks.push({ seqno: FIRST_SEQNO, gen_utime: this.now(), start_lt: 0n });
  }

  /** Chain time in Unix seconds. */
  now(): number {
    const base = this.clock === 'real' ? Math.floor(Date.now() / 1000) : MANUAL_EPOCH;
    return base + this.offset_seconds;
  }

  get last(): TonBlock {
    return this.blocks[this.blocks.length - 1] as TonBlock;
  }

  /** Makes empty blocks at the present time. */
  mine(count = 1): void {
    for (let made = 0; made < count; made++) this.makeBlock(this.blockchain.lt);
  }

  /** A block of what was executed after `lt`. The executor's times are far apart: between them each block has its own. */
  private makeBlock(lt: bigint): void {
    const start_lt = lt + BigInt(this.blocks.length);
    this.blocks.push({ seqno: this.last.seqno + 1, gen_utime: this.now(), start_lt });
  }

  /** With the real clock the masterchain grows on its own. */
  catchUp(): void {
    if (this.clock === 'real' && this.now() > this.last.gen_utime) this.mine();
  }

  advance(seconds: number): void {
    this.offset_seconds += seconds;
    this.mine();
  }

  /** Work on the chain happens one after the other, so that two senders never use one sequence number. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }

  /** Executes what one message sets off and puts all of it into one new block. */
  async execute(message: Message): Promise<TonRecord[]> {
    this.blockchain.now = this.now();
    const { lt } = this.blockchain;
    return this.record(await this.blockchain.sendMessage(message), lt);
  }

  executeExternal(to: Address, body: Cell, init?: { code: Cell; data: Cell }): Promise<TonRecord[]> {
    return this.execute(external({ to, body, init }));
  }

  /** An internal message out of nowhere, for funding. */
  executeFunding(from: Address, to: Address, value: bigint): Promise<TonRecord[]> {
    const message = internal({ to, value, bounce: false });
    if (message.info.type !== 'internal') throw new Error('not an internal message');
    return this.execute({
      ...message,
      info: {
        ...message.info,
        src: from,
        forwardFee: 0n,
        createdAt: this.now(),
        createdLt: this.blockchain.lt,
      },
    } as Message);
  }

  private record({ transactions }: SendMessageResult, lt: bigint): TonRecord[] {
    this.makeBlock(lt);
    const records = transactions.map((transaction): TonRecord => {
      const destination = transaction.inMessage?.info.dest;
      const account = destination && 'workChain' in destination ? keyOf(destination) : '';
      const mc_seqno = this.held.has(account) ? null : this.last.seqno;
      return { account, txid: transaction.hash().toString('hex'), transaction, mc_seqno };
    });
    this.records.push(...records);
    return records;
  }

  /** Keeps the account's transactions out of the masterchain until its shard is released. */
  holdShard(account: string): void {
    this.held.add(account);
  }

  releaseShard(account: string): void {
    this.held.delete(account);
    this.mine();
    for (const record of this.records) {
      if (record.account === account && record.mc_seqno === null) record.mc_seqno = this.last.seqno;
    }
  }

  /** Base64; null for an account without code. */
  async codeHash(account: string): Promise<string | null> {
    const { accountState } = await this.blockchain.getContract(Address.parseRaw(account));
    const code = accountState?.type === 'active' ? accountState.state.code : null;
    return code ? code.hash().toString('base64') : null;
  }

  async plant(address: Address, code: Cell, data: Cell, balance: bigint): Promise<void> {
    await this.blockchain.setShardAccount(address, createShardAccount({ address, code, data, balance }));
  }

  async runGetMethod(address: Address, method: string, stack: TupleItem[]) {
    this.blockchain.now = this.now();
    return await this.blockchain.runGetMethod(address, method, stack);
  }
}

export const createLedger = async (clock: TonClock): Promise<TonLedger> =>
  new TonLedger(await Blockchain.create(), clock);
