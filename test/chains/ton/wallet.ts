// Ordinary TON wallets with keys, sending signed external messages.
import { type Address, beginCell, type Cell, comment as commentCell, internal, SendMode } from '@ton/core';
import { type KeyPair, keyPairFromSeed, sha256 } from '@ton/crypto';
import { WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { keyOf } from '../../../src/chains/ton/address.ts';
import type { TonLedger, TonRecord } from './ledger.ts';

const FUNDING = 1_000_000_000_000n;
const VALID_SECONDS = 60;
const TESTNET_GLOBAL_ID = -3;

export interface TonWallet {
  /** As its owner would paste it: non-bounceable, test-only. */
  address: string;
  /** Raw form with upper-case hex. */
  key: string;
  at: Address;
}

export interface CreateWalletOptions {
  /** False leaves it as an address that was never deployed. */
  deployed?: boolean;
  /** v5 sends up to 255 messages at once, v4 four. */
  version?: 'v4' | 'v5';
  balance?: bigint;
}

/** One message out of a wallet. */
export interface TonMessage {
  to: Address;
  value: bigint;
  body?: Cell;
  bounce?: boolean;
}

interface Owned extends TonWallet {
  contract: WalletContractV4 | WalletContractV5R1;
  keys: KeyPair;
  seqno: number;
}

/** A text comment; longer ones continue in references. */
export const textComment = (text: string): Cell => commentCell(text);

/** A comment whose text is wholly in a reference, as some wallets write it. */
export const commentInReference = (text: string): Cell =>
  beginCell().storeUint(0, 32).storeRef(beginCell().storeStringTail(text).endCell()).endCell();

/** Makes wallets and sends from them; keys are derived from a counter, so that runs are alike. */
export function createWallets(ledger: TonLedger) {
  const owned = new Map<string, Owned>();
  let made = 0;

  async function createWallet(options: CreateWalletOptions = {}): Promise<TonWallet> {
    const { deployed = true, version = 'v4', balance = FUNDING } = options;
    const keys = keyPairFromSeed(await sha256(`test wallet ${made++}`));
    const contract = createContract(version, keys.publicKey);
    const at = contract.address;
    const wallet: Owned = {
      address: at.toString({ bounceable: false, testOnly: true }),
      key: keyOf(at),
      at,
      contract,
      keys,
      seqno: 0,
    };
    owned.set(wallet.key, wallet);
    if (deployed) {
      const faucet = await ledger.blockchain.treasury('faucet');
      await ledger.exclusive(() => ledger.executeFunding(faucet.address, at, balance));
      await sendMessages(wallet, []);
    }
    return wallet;
  }

  /** One signed external message that sends all of these. */
  async function sendMessages(from: TonWallet, messages: readonly TonMessage[]): Promise<TonRecord[]> {
    const wallet = owned.get(from.key);
    if (!wallet) throw new Error('a wallet of another chain');
    return await ledger.exclusive(async () => {
      const init = wallet.seqno === 0 ? wallet.contract.init : undefined;
      const body = sign(wallet, messages, ledger.now() + VALID_SECONDS);
      wallet.seqno++;
      return await ledger.executeExternal(wallet.at, body, init);
    });
  }

  return { createWallet, sendMessages };
}

function createContract(version: 'v4' | 'v5', publicKey: Buffer): WalletContractV4 | WalletContractV5R1 {
  if (version === 'v4') return WalletContractV4.create({ workchain: 0, publicKey });
  return WalletContractV5R1.create({ publicKey, walletId: { networkGlobalId: TESTNET_GLOBAL_ID } });
}

function sign({ contract, keys, seqno }: Owned, messages: readonly TonMessage[], timeout: number): Cell {
  const transfer = {
    seqno,
    secretKey: keys.secretKey,
    timeout,
    sendMode: SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS,
    messages: messages.map(({ to, value, body, bounce = false }) => internal({ to, value, body, bounce })),
  };
  return contract instanceof WalletContractV4
    ? contract.createTransfer(transfer)
    : contract.createTransfer(transfer);
}
