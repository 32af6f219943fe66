// The test jetton: compiled once from the FunC alongside this file, deployed as often as a test likes.
import { readFileSync } from 'node:fs';
import { Address, beginCell, Cell, contractAddress } from '@ton/core';
import { compileFunc } from '@ton-community/func-js';
import { keyOf } from '../../../src/chains/ton/address.ts';
import type { TonLedger, TonRecord } from './ledger.ts';
import type { TonMessage, TonWallet } from './wallet.ts';

const OP_TRANSFER = 0xf8a7ea5;
const OP_INTERNAL_TRANSFER = 0x178d4519;
const OP_MINT = 21;
const MASTER_BALANCE = 1_000_000_000n;
const GAS = 100_000_000n;

export interface TestJetton {
  /** Bounceable, test-only. */
  master: string;
  at: Address;
  admin: TonWallet;
}

/** How the forward payload is written: after the Either bit, in a reference, or without even the bit. */
export type PayloadForm = 'inline' | 'reference' | 'absent';

export interface JettonTransfer {
  jetton: TestJetton;
  from: TonWallet;
  to: TonWallet;
  amount: bigint;
  /** Nano that travel on with the notification; 0 sends none. */
  forward_amount?: bigint;
  payload?: Cell;
  form?: PayloadForm;
}

const FATAL = ['uncaughtException', 'unhandledRejection'] as const;

let compiled: Promise<{ wallet: Cell; minter: Cell }> | undefined;

async function compile(target: string): Promise<Cell> {
  const sources = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const before = new Set(FATAL.flatMap((event) => process.rawListeners(event)));
  const result = await compileFunc({ targets: [target], sources });
  // The compiler would have the process end at what no one catches, before the test runner could name it.
  for (const event of FATAL)
    for (const listener of process.rawListeners(event))
      if (!before.has(listener)) process.removeListener(event, listener as () => void);
  if (result.status === 'error') throw new Error(result.message);
  return Cell.fromBase64(result.codeBoc);
}

/** A jetton wallet as anybody can deploy it: with an owner and a master of his choice. */
export async function jettonWalletContract(
  owner: Address,
  master: Address,
): Promise<{ code: Cell; data: Cell }> {
  compiled ??= compileBoth();
  const { wallet: code } = await compiled;
  const data = beginCell().storeCoins(0).storeAddress(owner).storeAddress(master).storeRef(code).endCell();
  return { code, data };
}

async function compileBoth() {
  const [wallet, minter] = [await compile('jetton-wallet.fc'), await compile('jetton-minter.fc')];
  return { wallet, minter };
}

/** Puts a jetton master at the address, or at the one its code and data give. */
export async function deployJetton(
  ledger: TonLedger,
  admin: TonWallet,
  address?: string,
): Promise<TestJetton> {
  compiled ??= compileBoth();
  const { wallet, minter } = await compiled;
  const data = beginCell().storeCoins(0).storeAddress(admin.at).storeRef(wallet).endCell();
  const at = address ? Address.parse(address) : contractAddress(0, { code: minter, data });
  await ledger.plant(at, minter, data, MASTER_BALANCE);
  return { master: at.toString({ bounceable: true, testOnly: true }), at, admin };
}

/** The owner's wallet of the jetton, by the master's word. */
export async function jettonWalletOf(
  ledger: TonLedger,
  jetton: TestJetton,
  owner: Address,
): Promise<Address> {
  const slice = beginCell().storeAddress(owner).endCell();
  const { stackReader } = await ledger.runGetMethod(jetton.at, 'get_wallet_address', [
    { type: 'slice', cell: slice },
  ]);
  return stackReader.readAddress();
}

/** A message of the admin that mints; written without an Either bit, as minters do. */
export function mintMessage(jetton: TestJetton, to: Address, amount: bigint): TonMessage {
  const inner = beginCell()
    .storeUint(OP_INTERNAL_TRANSFER, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(null)
    .storeAddress(null)
    .storeCoins(0)
    .endCell();
  const body = beginCell().storeUint(OP_MINT, 32).storeAddress(to).storeCoins(GAS).storeRef(inner).endCell();
  return { to: jetton.at, value: 2n * GAS, body, bounce: true };
}

/** The message to the sender's own jetton wallet that makes the transfer. */
export async function transferMessage(ledger: TonLedger, transfer: JettonTransfer): Promise<TonMessage> {
  const { jetton, from, to, amount, forward_amount = 1n, payload, form = 'reference' } = transfer;
  const body = beginCell()
    .storeUint(OP_TRANSFER, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(to.at)
    .storeAddress(from.at)
    .storeMaybeRef(null)
    .storeCoins(forward_amount);
  if (form === 'reference' && payload) body.storeBit(1).storeRef(payload);
  else if (form === 'inline' && payload) body.storeBit(0).storeSlice(payload.beginParse());
  else if (form !== 'absent') body.storeBit(0);
  const at = await jettonWalletOf(ledger, jetton, from.at);
  return { to: at, value: GAS + forward_amount, body: body.endCell(), bounce: true };
}

/** What a forger would send to somebody's jetton wallet. */
export const internalTransferBody = (amount: bigint, from: Address, payload: Cell): Cell =>
  beginCell()
    .storeUint(OP_INTERNAL_TRANSFER, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(from)
    .storeAddress(from)
    .storeCoins(1)
    .storeBit(1)
    .storeRef(payload)
    .endCell();

/** What a forger would send to the owner, claiming to be a jetton wallet. */
export const notificationBody = (amount: bigint, from: Address, payload: Cell): Cell =>
  beginCell()
    .storeUint(0x7362d09c, 32)
    .storeUint(0, 64)
    .storeCoins(amount)
    .storeAddress(from)
    .storeBit(1)
    .storeRef(payload)
    .endCell();

/** The transaction of these that ran on the account. */
export function recordOn(records: readonly TonRecord[], at: Address): TonRecord {
  const found = records.find(({ account }) => account === keyOf(at));
  if (!found) throw new Error(`no transaction on ${keyOf(at)}`);
  return found;
}
