// A TON test chain in one call: the real executor, real wallets and jettons, behind a toncenter v3 address.
import { Address, Cell } from '@ton/core';
import type { ComposedMessage } from '../../src/chains/family.ts';
import { type Distort, TonFront } from './ton/front.ts';
import {
  deployJetton,
  type JettonTransfer,
  jettonWalletOf,
  mintMessage,
  type PayloadForm,
  recordOn,
  type TestJetton,
  transferMessage,
} from './ton/jetton.ts';
import { createLedger, type TonClock, type TonLedger, type TonRecord } from './ton/ledger.ts';
import { createWallets, type TonMessage, type TonWallet, textComment } from './ton/wallet.ts';

export { internalTransferBody, notificationBody, type TestJetton } from './ton/jetton.ts';
export { commentInReference, type TonWallet, textComment } from './ton/wallet.ts';

const TESTNET_GLOBAL_ID = -3;
const ONE_COIN = 1_000_000_000n;

export interface TonChainOptions {
  /** `real` (default) follows the system's clock and makes blocks on its own; `manual` moves only by `advanceTime`. */
  clock?: TonClock;
  /** What the front says it serves: -239 is the main network, -3 the test network (default). */
  global_id?: number;
  /** Where set, requests without it in `X-API-Key` are refused. */
  api_key?: string;
}

export interface SendTon {
  from: TonWallet;
  to: TonWallet;
  /** Nano. */
  amount: bigint;
  comment?: string;
  /** Instead of a comment. */
  body?: Cell;
  /** False by default, as wallets do for UQ… addresses. */
  bounce?: boolean;
}

export interface SendJetton extends Omit<JettonTransfer, 'payload'> {
  comment?: string;
  payload?: Cell;
  form?: PayloadForm;
}

export interface Sent {
  /** All transactions that the message set off. */
  records: TonRecord[];
  /** Hex hash of the transaction that ran on the receiving account: what a payment's txid is. */
  txid: string;
}

export type TonChain = Awaited<ReturnType<typeof startTonChain>>;

/** Starts within half a second; `stop` ends it. Every sending function returns when the message has been executed. */
export async function startTonChain(options: TonChainOptions = {}) {
  const { clock = 'real', global_id = TESTNET_GLOBAL_ID, api_key } = options;
  const ledger = await createLedger(clock);
  const front = new TonFront(ledger, { global_id, api_key });
  const { createWallet, sendMessages } = createWallets(ledger);
  const url = await front.start();

  const toMessage = ({ to, amount, comment, body, bounce }: Omit<SendTon, 'from'>): TonMessage => ({
    to: to.at,
    value: amount,
    body: body ?? (comment === undefined ? undefined : textComment(comment)),
    bounce,
  });

  return {
    url,
    /** Every request received, in order. */
    requests: front.requests,
    /** Chain time, Unix seconds. */
    now: () => ledger.now(),
    tip: () => ledger.last,
    /** How many masterchain blocks were made within so many seconds: the lag of a replica that is late by them. */
    blocksWithin: (seconds: number): number =>
      ledger.blocks.filter(({ gen_utime }) => gen_utime > ledger.now() - seconds).length,
    /** Makes empty masterchain blocks. */
    mineBlocks: (count: number) => ledger.mine(count),
    /** Moves the chain's clock and makes a block there. */
    advanceTime: (seconds: number) => ledger.advance(seconds),
    createWallet,

    async sendTon({ from, ...transfer }: SendTon): Promise<Sent> {
      const records = await sendMessages(from, [toMessage(transfer)]);
      return { records, txid: recordOn(records, transfer.to.at).txid };
    },
    /** Many transfers in one external message: four from a v4 wallet, 255 from a v5. */
    sendMany: (from: TonWallet, transfers: Omit<SendTon, 'from'>[]) =>
      sendMessages(from, transfers.map(toMessage)),
    /** Any message to any account, whatever becomes of it. */
    sendMessages,

    /** What was made for this wallet is signed and sent, as wallets do that a page asks for it. */
    signAndSend: (from: TonWallet, messages: readonly ComposedMessage[]) =>
      sendMessages(
        from,
        messages.map(({ address, amount, payload }) => {
          const { address: to, isBounceable: bounce, isTestOnly } = Address.parseFriendly(address);
          if (!isTestOnly) throw new Error('an address of the main network');
          return { to, bounce, value: BigInt(amount), body: Cell.fromBase64(payload) };
        }),
      ),

    /** Deploys a jetton, at a given master address if one is named (e.g. the one a gateway lists). */
    async deployJetton({
      address,
      admin,
    }: {
      address?: string;
      admin?: TonWallet;
    } = {}): Promise<TestJetton> {
      return await deployJetton(ledger, admin ?? (await createWallet()), address);
    },
    /** Puts a contract at an address. */
    plant: (at: Address, code: Cell, data: Cell) => ledger.plant(at, code, data, ONE_COIN),
    jettonWallet: (jetton: TestJetton, owner: TonWallet) => jettonWalletOf(ledger, jetton, owner.at),
    async mintTo({
      jetton,
      to,
      amount,
    }: {
      jetton: TestJetton;
      to: TonWallet;
      amount: bigint;
    }): Promise<Sent> {
      const records = await sendMessages(jetton.admin, [mintMessage(jetton, to.at, amount)]);
      return { records, txid: recordOn(records, await jettonWalletOf(ledger, jetton, to.at)).txid };
    },
    async sendJetton({ comment, ...transfer }: SendJetton): Promise<Sent> {
      const payload = transfer.payload ?? (comment === undefined ? undefined : textComment(comment));
      const records = await sendMessages(transfer.from, [
        await transferMessage(ledger, { ...transfer, payload }),
      ]);
      return {
        records,
        txid: recordOn(records, await jettonWalletOf(ledger, transfer.jetton, transfer.to.at)).txid,
      };
    },

    ...disturb(ledger, front),
    stop: () => front.stop(),
  };
}

/** What can go wrong between the chain and its reader. */
function disturb(ledger: TonLedger, front: TonFront) {
  return {
    /** Makes coming requests fail. */
    fail: front.fail.bind(front),
    forgive: () => front.forgive(),
    /** Lets the indexer fall behind by blocks: its tip, its rows, its states. */
    lag({ masterchainInfo = 0, transactions = 0, accountStates = 0 }: Partial<TonFront['lag']>): void {
      front.lag = { masterchainInfo, transactions, accountStates };
    },
    /** Changes the rows of answers: left out, repeated, of another kind. */
    distort(change: Distort): void {
      front.distort = change;
    },
    /** Refuses questions for what they ask. */
    refuse(status: TonFront['refuse']): void {
      front.refuse = status;
    },
    /** Takes `accountStates` away, as with an indexer that has no such request. */
    withoutStates(): void {
      front.has_states = false;
    },
    /** Lets contracts answer, or all of them be as if they had no code. */
    answerMethods(has_methods: boolean): void {
      front.has_methods = has_methods;
    },
    /** The most rows of one answer. */
    capPages(rows: number): void {
      front.page_cap = rows;
    },
    /** What the front says it serves. */
    pretendNetwork(id: number): void {
      front.global_id = id;
    },
    /** Keeps an account's transactions out of the masterchain, as a late shard does. */
    holdShard: (account: string) => ledger.holdShard(account),
    releaseShard: (account: string) => ledger.releaseShard(account),
  };
}
