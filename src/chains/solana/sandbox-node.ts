// The JSON-RPC of a Solana node in front of the sandbox's chain: what the daemon asks to read payments.
import { base58 } from '@scure/base';
import { CLOCK_SYSVAR, MEMO_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from './address.ts';
import { type Chain, FINAL_SLOTS, type Payment, type Point } from './sandbox-chain.ts';

const GENESIS = base58.encode(new Uint8Array(32).fill(3));
const SYSVAR_PROGRAM = 'Sysvar1111111111111111111111111111111111111';
const NO_METHOD = -32601;
const BEHIND = -32016;
const MOST_LISTED = 1000;
/** What the accounts hold that are of no interest here. */
const OTHERS_LAMPORTS = 5_000_000_000;
const RENT_LAMPORTS = 2_039_280;
const TOKEN_DECIMALS = 6;
const SECOND_MS = 1000;

interface Asked {
  minContextSlot?: number;
  limit?: number;
  before?: string;
  until?: string;
}

class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** As nodes write lamports. */
const jsonNumber = (value: bigint): number => Number(value);
const seconds = (ms: number): number => Math.floor(ms / SECOND_MS);
const sum = (payments: readonly Payment[]): bigint => payments.reduce((all, { amount }) => all + amount, 0n);

/** Answers one JSON-RPC request. `mints`: the tokens that exist. */
export function openNode(chain: Chain, mints: ReadonlySet<string>): (request: unknown) => object {
  // A sandbox shows payments that may still vanish, which no main network does any more: by their status they are not final.
  const pointFor = ({ minContextSlot = 0 }: Asked): Point => {
    const point = chain.confirmed();
    if (point.slot < minContextSlot) throw new RpcError(BEHIND, 'Minimum context slot has not been reached');
    return point;
  };
  const statusOf = ({ slot }: Payment) => (slot <= chain.final().slot ? 'finalized' : 'confirmed');

  const accountsOf = ([keys, asked = {}]: readonly unknown[]) => {
    const point = pointFor(asked as Asked);
    return {
      context: { slot: point.slot },
      value: (keys as string[]).map((key) => accountOf(key, point, chain, mints)),
    };
  };

  const methods: Record<string, (params: readonly unknown[]) => unknown> = {
    getGenesisHash: () => GENESIS,
    getFirstAvailableBlock: () => 0,
    getMultipleAccounts: accountsOf,
    getSignaturesForAddress([key, asked = {}]) {
      const { limit = MOST_LISTED, before, until, ...rest } = asked as Asked;
      const listed = chain.payments(pointFor(rest).slot, String(key)).toReversed();
      const at = (signature: string | undefined) => listed.findIndex((each) => each.signature === signature);
      if (before !== undefined && at(before) < 0) return [];
      const end = at(until);
      return listed
        .slice(at(before) + 1, end < 0 ? undefined : end)
        .slice(0, limit)
        .map((each) => ({
          signature: each.signature,
          slot: each.slot,
          err: null,
          memo: each.memo,
          blockTime: seconds(each.made_at_ms),
          confirmationStatus: statusOf(each),
        }));
    },
    getTransaction([signature]) {
      const found = chain.find(String(signature));
      return found && found.slot <= chain.confirmed().slot ? transactionOf(found, chain) : null;
    },
    getSignatureStatuses([signatures]) {
      const { slot } = chain.confirmed();
      const value = (signatures as string[]).map((signature) => {
        const found = chain.find(signature);
        if (!found || found.slot > slot) return null;
        const status = statusOf(found);
        const confirmations = status === 'finalized' ? null : Math.min(FINAL_SLOTS - 1, slot - found.slot);
        return { slot: found.slot, confirmations, err: null, confirmationStatus: status };
      });
      return { context: { slot }, value };
    },
    isBlockhashValid([blockhash, asked = {}]) {
      const { slot } = pointFor(asked as Asked);
      return { context: { slot }, value: chain.isFresh(String(blockhash), slot) };
    },
  };
  return (request) => {
    const {
      id = null,
      method,
      params = [],
    } = request as { id?: unknown; method: string; params?: unknown[] };
    try {
      const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!answer) throw new RpcError(NO_METHOD, `Method not found: ${method}`);
      return { jsonrpc: '2.0', id, result: answer(params) ?? null };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  };
}

/** What an account holds as of a slot; null where it does not exist. */
function accountOf(key: string, point: Point, chain: Chain, mints: ReadonlySet<string>): unknown {
  const account = (owner: string, lamports: number, data: unknown) => ({
    owner,
    lamports,
    executable: false,
    data,
  });
  if (key === CLOCK_SYSVAR) {
    const info = { slot: point.slot, unixTimestamp: seconds(point.at_ms) };
    return account(SYSVAR_PROGRAM, RENT_LAMPORTS, { program: 'sysvar', parsed: { type: 'clock', info } });
  }
  const token = (type: string, info: object) =>
    account(TOKEN_PROGRAM, RENT_LAMPORTS, { program: 'spl-token', parsed: { type, info } });
  if (mints.has(key)) return token('mint', { decimals: TOKEN_DECIMALS });
  const payments = chain.payments(point.slot, key);
  const first = payments[0];
  if (!first) return null;
  if (first.mint === null) return account(SYSTEM_PROGRAM, jsonNumber(sum(payments)), ['', 'base64']);
  const tokenAmount = { amount: String(sum(payments)), decimals: TOKEN_DECIMALS };
  return token('account', { mint: first.mint, owner: first.owner, tokenAmount });
}

/** A payment in the JSON of nodes (`jsonParsed`). */
function transactionOf(payment: Payment, chain: Chain): unknown {
  const { account, owner, mint, amount, memo, payer, slot } = payment;
  const all = chain.payments(slot, account);
  const before = sum(all.slice(0, all.indexOf(payment)));
  const after = before + amount;
  const programs = [
    SYSTEM_PROGRAM,
    ...(mint === null ? [] : [TOKEN_PROGRAM]),
    ...(memo === null ? [] : [MEMO_PROGRAM]),
  ];
  const keys = [payer, account, ...programs];
  const lamports = (held: bigint) =>
    keys.map((key) => (key !== account ? OTHERS_LAMPORTS : mint === null ? jsonNumber(held) : RENT_LAMPORTS));
  const tokens = (held: bigint) =>
    mint === null
      ? []
      : [
          {
            accountIndex: 1,
            mint,
            owner,
            programId: TOKEN_PROGRAM,
            uiTokenAmount: { amount: String(held), decimals: TOKEN_DECIMALS },
          },
        ];
  const transfer =
    mint === null
      ? {
          programId: SYSTEM_PROGRAM,
          parsed: {
            type: 'transfer',
            info: { source: payer, destination: account, lamports: jsonNumber(amount) },
          },
        }
      : {
          programId: TOKEN_PROGRAM,
          parsed: {
            type: 'transferChecked',
            info: {
              source: payer,
              destination: account,
              mint,
              authority: payer,
              tokenAmount: { amount: String(amount), decimals: TOKEN_DECIMALS },
            },
          },
        };
  return {
    slot,
    blockTime: seconds(payment.made_at_ms),
    version: 0,
    meta: {
      err: null,
      fee: 5000,
      preBalances: lamports(before),
      postBalances: lamports(after),
      preTokenBalances: tokens(before),
      postTokenBalances: tokens(after),
      innerInstructions: [],
    },
    transaction: {
      signatures: [payment.signature],
      message: {
        recentBlockhash: payment.blockhash,
        accountKeys: keys.map((pubkey, at) => ({ pubkey, signer: at === 0, writable: at < 2 })),
        instructions: [...(memo === null ? [] : [{ programId: MEMO_PROGRAM, parsed: memo }]), transfer],
      },
    },
  };
}
