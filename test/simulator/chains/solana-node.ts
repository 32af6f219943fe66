// The JSON-RPC of a Solana node in front of the model.
import { base58 } from '@scure/base';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/chains/solana/address.ts';
import { type Front, jsonRpc, RpcFault } from './front.ts';
import {
  BLOCKHASH_SLOTS,
  type SolanaChain,
  type SolanaTransaction,
  TOKEN_ACCOUNT_LAMPORTS,
  versionOf,
} from './solana.ts';

const GENESIS = base58.encode(new Uint8Array(32).fill(3));
const BEHIND = -32016;
const INVALID_PARAMS = -32602;
const UNSUPPORTED_VERSION = -32015;
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
  /** Answers `confirmed` as `finalized`, as nodes of today do. */
  takes_confirmed?: boolean;
}

interface Asked {
  commitment?: string;
  minContextSlot?: number;
  limit?: number;
  before?: string;
  until?: string;
  searchTransactionHistory?: boolean;
  maxSupportedTransactionVersion?: number;
}

export function solanaNode({ chain, view, takes_confirmed = false }: SolanaNodeOptions): Front {
  let seen: SolanaView = view();

  /** No commitment is known but `finalized`, as on nodes to come. */
  const slotFor = ({ commitment = 'finalized', minContextSlot = 0 }: Asked): number => {
    if (commitment !== 'finalized' && !(takes_confirmed && commitment === 'confirmed'))
      throw new RpcFault(INVALID_PARAMS, `unknown commitment ${commitment}`);
    const slot = seen.slot - chain.final_slots;
    if (slot < minContextSlot) throw new RpcFault(BEHIND, 'Minimum context slot has not been reached');
    return slot;
  };
  const statusAt = ({ slot }: SolanaTransaction) =>
    seen.slot - slot >= chain.final_slots ? 'finalized' : 'confirmed';
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
    if (asked.length > MOST_ACCOUNTS) throw new RpcFault(INVALID_PARAMS, 'Too many inputs provided');
    const slot = slotFor(options as Asked);
    return { context: { slot }, value: asked.map((key) => accountJson(key, slot)) };
  }

  function getSignaturesForAddress([key, options = {}]: readonly unknown[]) {
    const { limit = MOST_LISTED, before, until, ...rest } = options as Asked;
    slotFor(rest);
    const listed = chain
      .naming(String(key))
      .filter((each) => knows(each) && seen.lists(each) && statusAt(each) === 'finalized')
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
        confirmations: depth >= chain.final_slots ? null : depth,
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
      getTransaction: ([signature, options = {}]) => {
        const each = chain.transaction(String(signature));
        slotFor(options as Asked);
        if (!knows(each) || !seen.gives(each) || statusAt(each) !== 'finalized') return null;
        const { maxSupportedTransactionVersion: most = -1 } = options as Asked;
        if (versionOf(each) > most)
          throw new RpcFault(
            UNSUPPORTED_VERSION,
            `Transaction version (1) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 1`,
          );
        return chain.toJson(each);
      },
      getRecentPerformanceSamples: () => [
        { slot: seen.slot, numSlots: Math.round(60_000 / chain.slot_ms), samplePeriodSecs: 60 },
      ],
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
