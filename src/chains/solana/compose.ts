// The transaction that pays an invoice, for the payer's wallet to sign: memo and transfer with its reference, nothing else.
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { type Composed, PayerError, type PayerOrder, type Rpc } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import {
  ATA_PROGRAM,
  associatedTokenAccount,
  MEMO_PROGRAM,
  normalizeSolanaAddress,
  SYSTEM_PROGRAM,
} from './address.ts';
import { readAssets, tokenAmount } from './assets.ts';
import { whyNoWallet } from './inspect.ts';
import { type AccountUse, encodeTransaction, littleEndian, type NewInstruction } from './message.ts';
import { SLOT_SECONDS } from './pace.ts';
import {
  badAnswer,
  readAccounts,
  readLatestBlockhash,
  readSlotSeconds,
  type SolanaAccount,
} from './providers/rpc.ts';

/** What the network takes of a payer for one signature, lamports. */
const FEE = 5_000n;
/** What a token account keeps for its storage, lamports. */
const TOKEN_ACCOUNT_RENT = 2_039_280n;

const SYSTEM_TRANSFER = 2n;
const CREATE_UNLESS_THERE = 1;
const TRANSFER_CHECKED = 12;

/** The protocol takes a transaction for so many blocks after the one that its blockhash is of, whatever they take. */
const BLOCKHASH_BLOCKS = 150;
/** A longer block is not believed. */
const BLOCK_MOST_SECONDS = 0.6;

/** Four requests, three for SOL. Throws AddressError, PayerError and ProviderError. */
export async function composeSolana(rpc: Rpc, order: PayerOrder): Promise<Composed> {
  const { key: payer } = normalizeSolanaAddress(order.payer);
  if (payer === order.address) throw new PayerError('This is the wallet that is to be paid');
  const plan = order.gateway.token_contract === null ? planCoins : planTokens;
  const instructions = await plan(rpc, { ...order, payer });
  const block_seconds = (await orFailed(readSlotSeconds(rpc))) ?? SLOT_SECONDS;
  // Last, so that it is as fresh as can be.
  const blockhash = await readLatestBlockhash(rpc);
  const transaction = base64.encode(encodeTransaction(payer, blockhash, instructions));
  const valid_seconds = Math.floor(BLOCKHASH_BLOCKS * Math.min(block_seconds, BLOCK_MOST_SECONDS));
  return { kind: 'transaction', transaction, valid_seconds };
}

async function planCoins(rpc: Rpc, order: PayerOrder): Promise<NewInstruction[]> {
  const { payer, address, amount_atomic } = order;
  const { found } = await readAccounts(rpc, [payer], 0);
  requireCoins(found[0] ?? null, amount_atomic + FEE);
  return [
    ...memoOf(order),
    {
      program: SYSTEM_PROGRAM,
      accounts: [{ key: payer, writable: true }, { key: address, writable: true }, ...referenceOf(order)],
      data: Buffer.concat([littleEndian(SYSTEM_TRANSFER, 4), littleEndian(amount_atomic, 8)]),
    },
  ];
}

/**
 * Between the associated accounts, as with a transfer request. The merchant's is made by its first payer, where it is not
 * there: no payment can come otherwise.
 */
async function planTokens(rpc: Rpc, order: PayerOrder): Promise<NewInstruction[]> {
  const { payer, address, amount_atomic, gateway } = order;
  const { assets, unreadable } = await readAssets(rpc, [gateway]);
  const [asset] = assets;
  if (!asset?.mint) throw badAnswer(unreadable[0]?.reason ?? 'the mint is not listed');
  const { mint, program } = asset;
  const [from, to] = [payer, address].map((owner) => associatedTokenAccount(owner, program, mint)) as [
    string,
    string,
  ];
  const { found } = await readAccounts(rpc, [payer, from, to], 0);
  const [wallet = null, source = null, target = null] = found;
  requireCoins(wallet, FEE + (target ? 0n : TOKEN_ACCOUNT_RENT));
  if (BigInt(tokenAmount(source, from)) < amount_atomic)
    throw new PayerError(`This account has less ${gateway.currency} than is asked for`);
  return [
    ...(target ? [] : [createAccount(order, { to, mint, program })]),
    ...memoOf(order),
    {
      program,
      accounts: [
        { key: from, writable: true },
        { key: mint },
        { key: to, writable: true },
        { key: payer },
        ...referenceOf(order),
      ],
      data: Buffer.concat([
        Uint8Array.of(TRANSFER_CHECKED),
        littleEndian(amount_atomic, 8),
        Uint8Array.of(gateway.decimals),
      ]),
    },
  ];
}

function createAccount(
  { payer, address }: PayerOrder,
  { to, mint, program }: { to: string; mint: string; program: string },
): NewInstruction {
  return {
    program: ATA_PROGRAM,
    accounts: [
      { key: payer, writable: true },
      { key: to, writable: true },
      { key: address },
      { key: mint },
      { key: SYSTEM_PROGRAM },
      { key: program },
    ],
    data: Uint8Array.of(CREATE_UNLESS_THERE),
  };
}

/** Right before the transfer, which it names. */
const memoOf = ({ memo }: PayerOrder): NewInstruction[] =>
  memo === null ? [] : [{ program: MEMO_PROGRAM, accounts: [], data: utf8ToBytes(memo) }];

/** Neither signed nor written, so that nodes index the transaction by it. */
const referenceOf = ({ reference }: PayerOrder): AccountUse[] =>
  reference === null ? [] : [{ key: reference }];

/** Refuses accounts that no key pair controls, and what cannot pay this. */
function requireCoins(account: SolanaAccount, lamports: bigint): void {
  const reason = whyNoWallet(account);
  if (reason !== null) throw new PayerError(reason);
  const held = account?.lamports ?? 0;
  if (!Number.isInteger(held)) throw badAnswer('the lamports of an account are not a whole number');
  if (BigInt(held) < lamports)
    throw new PayerError('This account has too little SOL for the payment and the network fee');
}
