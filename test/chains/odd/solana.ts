// Solana as a node tells it over JSON-RPC: SOL and a token.
import { base58 } from '@scure/base';
import {
  associatedTokenAccount,
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/chains/solana/address.ts';
import { addTo, type OddChain } from './chain.ts';
import { createOddRpc } from './rpc.ts';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const PAYER = base58.encode(new Uint8Array(32).fill(9));
const BLOCKHASH = base58.encode(new Uint8Array(32).fill(5));
const FINAL_SLOTS = 1;
const SLOT_SECONDS = 0.2;
const LAMPORTS = 1_000_000;
/** The rent of a token account. */
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280;

interface Listed {
  accounts: string[];
  signature: string;
  slot: number;
  time: number;
  transaction: Record<string, unknown>;
}

/** `mints`: the token of each gateway. */
export function solanaChain(start: number, mints: Record<string, string>): OddChain {
  const all: Listed[] = [];
  const balances = new Map<string, bigint>();
  let serial = 0;
  const slotAt = (time: number) => Math.floor((time - start) / SLOT_SECONDS) + 5_000;
  const current = () => slotAt(chain.now);
  const isFinal = ({ slot }: Listed) => slot <= current() - FINAL_SLOTS;
  const statusOf = (each: Listed) => (isFinal(each) ? 'finalized' : 'confirmed');
  const answers: Record<string, (...params: never[]) => unknown> = {
    getGenesisHash: () => base58.encode(new Uint8Array(32).fill(3)),
    getFirstAvailableBlock: () => 0,
    isBlockhashValid: () => ({ context: { slot: current() - FINAL_SLOTS }, value: true }),
    getMultipleAccounts: (keys: string[]) => {
      const slot = current() - FINAL_SLOTS;
      return { context: { slot }, value: keys.map((key) => accountOf(key, slot)) };
    },
    getSignaturesForAddress: (
      key: string,
      { limit, before, until }: { limit: number; before?: string; until?: string },
    ) => {
      const listed = all.filter((each) => each.accounts.includes(key) && isFinal(each)).toReversed();
      const from = before ? listed.findIndex(({ signature }) => signature === before) + 1 : 0;
      const to = until ? listed.findIndex(({ signature }) => signature === until) : -1;
      return listed
        .slice(from, to < 0 ? undefined : to)
        .slice(0, limit)
        .map((each) => ({
          signature: each.signature,
          slot: each.slot,
          err: null,
          memo: null,
          blockTime: each.time,
          confirmationStatus: statusOf(each),
        }));
    },
    getTransaction: (signature: string) =>
      all.find((each) => each.signature === signature && isFinal(each))?.transaction ?? null,
    getSignatureStatuses: (signatures: string[]) => ({
      context: { slot: current() },
      value: signatures.map((signature) => {
        const each = all.find((one) => one.signature === signature);
        return each
          ? {
              slot: each.slot,
              confirmations: isFinal(each) ? null : current() - each.slot,
              err: null,
              confirmationStatus: statusOf(each),
            }
          : null;
      }),
    }),
  };

  function accountOf(key: string, slot: number): unknown {
    if (key === CLOCK_SYSVAR) {
      const unixTimestamp = Math.floor(start + (slot - 5_000) * SLOT_SECONDS);
      return {
        owner: 'Sysvar1111111111111111111111111111111111111',
        lamports: 1,
        data: { parsed: { type: 'clock', info: { slot, unixTimestamp } } },
      };
    }
    if (Object.values(mints).includes(key))
      return { owner: TOKEN_PROGRAM, lamports: 1, data: { parsed: { type: 'mint', info: { decimals: 6 } } } };
    const held = balances.get(key);
    if (held === undefined) return null;
    const isToken = tokenAccounts.has(key);
    return isToken
      ? {
          owner: TOKEN_PROGRAM,
          lamports: TOKEN_ACCOUNT_LAMPORTS,
          data: { parsed: { type: 'account', info: { tokenAmount: { amount: String(held) } } } },
        }
      : { owner: SYSTEM_PROGRAM, lamports: Number(held), data: ['', 'base64'] };
  }

  const tokenAccounts = new Set<string>();
  const chain: OddChain = {
    blockchain: 'solana',
    now: start,
    received: new Map(),
    rpc: createOddRpc('solana', (method, params) => answers[method]?.(...(params as never[]))),
    pay(invoice) {
      const { chain: gateway, address_key: owner, memo } = invoice;
      const mint = mints[gateway];
      const amount = BigInt(invoice.amount_atomic);
      const account = mint ? associatedTokenAccount(owner, TOKEN_PROGRAM, mint) : owner;
      if (mint) tokenAccounts.add(account);
      const before = balances.get(account) ?? 0n;
      balances.set(account, before + amount);
      const bytes = new Uint8Array(64).fill(1);
      new DataView(bytes.buffer).setUint32(0, ++serial);
      const signature = base58.encode(bytes);
      const keys = [PAYER, account, ...(mint ? [owner] : []), SYSTEM_PROGRAM, MEMO];
      const tokens = (value: bigint) =>
        mint
          ? [
              {
                accountIndex: 1,
                mint,
                owner,
                programId: TOKEN_PROGRAM,
                uiTokenAmount: { amount: String(value) },
              },
            ]
          : [];
      const lamports = (value: bigint) => keys.map((_, at) => (at === 1 && !mint ? Number(value) : LAMPORTS));
      const info = mint
        ? { destination: account, source: PAYER, tokenAmount: { amount: String(amount) } }
        : { destination: account, source: PAYER, lamports: Number(amount) };
      all.push({
        accounts: keys.slice(0, 2),
        signature,
        slot: current(),
        time: chain.now,
        transaction: {
          slot: current(),
          meta: {
            err: null,
            preBalances: lamports(before),
            postBalances: lamports(before + amount),
            preTokenBalances: tokens(before),
            postTokenBalances: tokens(before + amount),
            innerInstructions: [],
          },
          transaction: {
            message: {
              accountKeys: keys.map((pubkey, at) => ({ pubkey, signer: at === 0, writable: at < 2 })),
              recentBlockhash: BLOCKHASH,
              instructions: [
                { programId: MEMO, parsed: memo },
                {
                  programId: mint ? TOKEN_PROGRAM : SYSTEM_PROGRAM,
                  parsed: { type: mint ? 'transferChecked' : 'transfer', info },
                },
              ],
            },
          },
        },
      });
      addTo(chain.received, invoice);
      return signature;
    },
  };
  return chain;
}
