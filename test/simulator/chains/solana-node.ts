// The JSON-RPC of a Solana node in front of the model.
import { base58 } from '@scure/base';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/chains/solana/address.ts';
import { type Front, jsonRpc, RpcFault } from './front.ts';
import {
  BLOCKHASH_SLOTS,
  FINAL_SLOTS,
  type SolanaChain,
  type SolanaTransaction,
  TOKEN_ACCOUNT_LAMPORTS,
} from './solana.ts';

const GENESIS = base58.encode(new Uint8Array(32).fill(3));
const BEHIND = -32016;
const MOST_LISTED = 1000;
const MOST_ACCOUNTS = 100;

/** What the node that gets a request knows at this moment. */
export interface SolanaView {
  /** The newest slot that it calls confirmed. */
  slot: number;
  /** Whether its index lists a transaction, and whether it gives it. */
  lists(transaction: SolanaTransaction): boolean;
  gives(transaction: SolanaTransaction): boolean;
  /** The most entries of one listing, whatever is asked. */
  page_cap: number;
}

export interface SolanaNodeOptions {
  chain: SolanaChain;
  /** Asked once for each request. */
  view(): SolanaView;
}

interface Asked {
  commitment?: string;
  minContextSlot?: number;
  limit?: number;
  before?: string;
  until?: string;
  searchTransactionHistory?: boolean;
}

export function solanaNode({ chain, view }: SolanaNodeOptions): Front {
  let seen: SolanaView = view();

  const slotFor = ({ commitment, minContextSlot = 0 }: Asked): number => {
    const slot = commitment === 'finalized' ? seen.slot - FINAL_SLOTS : seen.slot;
    if (slot < minContextSlot) throw new RpcFault(BEHIND, 'Minimum context slot has not been reached');
    return slot;
  };
  const statusAt = ({ slot }: SolanaTransaction) =>
    seen.slot - slot >= FINAL_SLOTS ? 'finalized' : 'confirmed';
  const knows = (each: SolanaTransaction | undefined): each is SolanaTransaction =>
    each !== undefined && each.slot <= seen.slot;

  function accountJson(key: string, slot: number): unknown {
    if (key === CLOCK_SYSVAR) {
      const unixTimestamp = Math.floor(chain.timeOf(slot) / 1000);
      return {
        owner: 'Sysvar1111111111111111111111111111111111111',
        lamports: 1_169_280,
        executable: false,
        data: { program: 'sysvar', parsed: { type: 'clock', info: { slot, unixTimestamp } } },
      };
    }
    if (chain.isMint(key))
      return {
        owner: TOKEN_PROGRAM,
        lamports: 1_461_600,
        executable: false,
        data: { program: 'spl-token', parsed: { type: 'mint', info: { decimals: 6 } } },
      };
    const held = chain.heldAt(key, slot);
    const account = chain.account(key);
    if (held === null || !account) return null;
    if (account.mint === null)
      return { owner: SYSTEM_PROGRAM, lamports: Number(held), executable: false, data: ['', 'base64'] };
    const info = {
      mint: account.mint,
      owner: account.owner,
      tokenAmount: { amount: String(held), decimals: 6 },
    };
    return {
      owner: TOKEN_PROGRAM,
      lamports: TOKEN_ACCOUNT_LAMPORTS,
      executable: false,
      data: { program: 'spl-token', parsed: { type: 'account', info } },
    };
  }

  function getMultipleAccounts([keys, options = {}]: readonly unknown[]) {
    const asked = keys as string[];
    if (asked.length > MOST_ACCOUNTS) throw new RpcFault(-32602, 'Too many inputs provided');
    const slot = slotFor(options as Asked);
    return { context: { slot }, value: asked.map((key) => accountJson(key, slot)) };
  }

  function getSignaturesForAddress([key, options = {}]: readonly unknown[]) {
    const { limit = MOST_LISTED, before, until, ...rest } = options as Asked;
    slotFor(rest);
    const finalized = rest.commitment === 'finalized';
    const listed = chain
      .naming(String(key))
      .filter((each) => knows(each) && seen.lists(each) && (!finalized || statusAt(each) === 'finalized'))
      .toReversed();
    const from = before === undefined ? 0 : listed.findIndex(({ signature }) => signature === before) + 1;
    if (before !== undefined && from === 0) return [];
    const to = until === undefined ? -1 : listed.findIndex(({ signature }) => signature === until);
    return listed
      .slice(from, to < 0 ? undefined : to)
      .slice(0, Math.min(limit, seen.page_cap))
      .map((each) => ({
        signature: each.signature,
        slot: each.slot,
        err: each.failed ? { InstructionError: [0, 'Custom'] } : null,
        memo: each.memo,
        blockTime: Math.floor(chain.timeOf(each.slot) / 1000),
        confirmationStatus: statusAt(each),
      }));
  }

  function getSignatureStatuses([signatures]: readonly unknown[]) {
    const value = (signatures as string[]).map((signature) => {
      const each = chain.transaction(signature);
      if (!knows(each) || !seen.gives(each)) return null;
      const depth = seen.slot - each.slot;
      return {
        slot: each.slot,
        confirmations: depth >= FINAL_SLOTS ? null : depth,
        err: each.failed ? { InstructionError: [0, 'Custom'] } : null,
        confirmationStatus: statusAt(each),
      };
    });
    return { context: { slot: seen.slot }, value };
  }

  const front = jsonRpc(
    {
      getGenesisHash: () => GENESIS,
      getFirstAvailableBlock: () => 0,
      getSlot: ([options = {}]) => slotFor(options as Asked),
      getBlockHeight: ([options = {}]) => slotFor(options as Asked),
      getBlockTime: ([slot]) => Math.floor(chain.timeOf(Number(slot)) / 1000),
      getMultipleAccounts,
      getAccountInfo: ([key, options = {}]) => {
        const slot = slotFor(options as Asked);
        return { context: { slot }, value: accountJson(String(key), slot) };
      },
      getSignaturesForAddress,
      getTransaction: ([signature]) => {
        const each = chain.transaction(String(signature));
        return knows(each) && seen.gives(each) ? chain.toJson(each) : null;
      },
      getSignatureStatuses,
      isBlockhashValid: ([blockhash, options = {}]) => {
        const slot = slotFor(options as Asked);
        const made = chain.slotOfBlockhash(String(blockhash));
        // A node that is behind does not know a blockhash yet, and says of it the same as of an expired one.
        const value = made !== undefined && made <= slot && slot <= made + BLOCKHASH_SLOTS;
        return { context: { slot }, value };
      },
    },
    false,
  );
  return (request) => {
    seen = view();
    return front(request);
  };
}
