// A model of Solana behind its JSON-RPC: accounts, slots, and a node whose answers lag, are late, cut or repeated on request.
import { base58 } from '@scure/base';
import { ProviderError } from '../../src/chains/family.ts';
import {
  associatedTokenAccount,
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/address.ts';
import type { TestRpc } from './rpc.ts';

const FIRST_SLOT = 5_000;
const FEE_LAMPORTS = 5_000n;
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const PAYER_LAMPORTS = 1_000_000;
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
const UNSUPPORTED_VERSION = -32015;
const INVALID_PARAMS = -32602;

/** An address of its own for each number. */
export const keyOf = (serial: number, kind = 1): string => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(4, serial);
  return base58.encode(bytes);
};

export interface Payment {
  to: string;
  amount: bigint;
  memo?: string;
  /** The wallet that pays and signs; one that no one watches by default. */
  from?: string;
  /** Of a token; SOL unless given. */
  mint?: string;
  /** Seconds after which a node lists it, and after which it delivers it. */
  listed_after?: number;
  delivered_after?: number;
  /** Fails, and takes only its fee from who signed it. */
  fails?: boolean;
}

interface Transaction {
  signature: string;
  slot: number;
  time: number;
  err: unknown;
  keys: string[];
  answer: object;
  listed_at: number;
  delivered_at: number;
  credit: [target: string, amount: bigint];
  /** Whether it is taken off the chain. */
  dropped: boolean;
}

/** What one request meets. */
export interface Fault {
  /** Slots that the answering node is behind, never more than to the finalized one. */
  lag_slots?: number;
  /** Signatures given of a page at most. */
  cut_at?: number;
  /** Gives the page before the one asked for. */
  repeats?: boolean;
  /** Lists nothing, as a node without an index does. */
  lists_nothing?: boolean;
  /** Answers as of its newest slot, final or not, whatever commitment is asked for. */
  answers_early?: boolean;
}

interface Asked {
  commitment?: string;
  minContextSlot?: number;
  maxSupportedTransactionVersion?: number;
}

const refusal = (code: number, message: string) => new ProviderError('rpc', message, code);

export type SolanaModel = ReturnType<typeof createModel>;

export interface ModelPace {
  slot_seconds: number;
  /** Slots until one is final. */
  final_slots: number;
}

/** As the network is since Alpenglow. */
export const usualPace: ModelPace = { slot_seconds: 0.2, final_slots: 1 };

/**
 * `start`: Unix seconds. `fault`: says what a request meets, in the order of requests. Of two transactions one is of version 1.
 * Like nodes to come, it knows no commitment but `finalized`.
 */
export function createModel(
  start: number,
  fault: (method: string, key: string) => Fault = () => ({}),
  { slot_seconds, final_slots }: ModelPace = usualPace,
) {
  const transactions = new Map<string, Transaction>();
  const by_key = new Map<string, Transaction[]>();
  const balances = new Map<string, [slot: number, amount: bigint][]>();
  const token_owners = new Map<string, { owner: string; mint: string }>();
  const mints = new Set<string>();
  const programs = new Map<string, string>();
  const failing = new Map<string, ProviderError>();
  const requests: string[] = [];
  let serial = 0;

  const model = {
    now: start,
    requests,
    slot: () => FIRST_SLOT + Math.floor((model.now - start) / slot_seconds),
    finalized: () => model.slot() - final_slots,
    timeOf: (slot: number) => Math.floor(start + (slot - FIRST_SLOT) * slot_seconds),

    addMint(mint: string): void {
      mints.add(mint);
    },
    /** Makes an account belong to another program, or a token account of its own. */
    own(key: string, program: string): void {
      programs.set(key, program);
    },
    /** What a wallet has from the beginning. */
    grant(key: string, amount: bigint): void {
      put(key, amount, 0);
    },
    /** Every request that names this account or transaction fails so; undefined: no more. */
    fail(name: string, error: ProviderError | undefined): void {
      if (error) failing.set(name, error);
      else failing.delete(name);
    },
    accountOf: (owner: string, mint?: string) =>
      mint ? associatedTokenAccount(owner, TOKEN_PROGRAM, mint) : owner,
    held: (owner: string, mint?: string) => balanceOf(model.accountOf(owner, mint)),
    signaturesOf: (key: string) => (by_key.get(key) ?? []).map(({ signature }) => signature),

    /** Puts a transaction into the slot after the one of now, so that no balance of now is of it. */
    pay(payment: Payment): string {
      const { to, amount, mint, from, fails = false, listed_after = 0, delivered_after = 0 } = payment;
      const signature = signatureOf(++serial);
      const slot = model.slot() + 1;
      const sender = from ?? PAYER;
      const [source, target] = [model.accountOf(sender, mint), model.accountOf(to, mint)];
      const keys = [...new Set([sender, source, target, to, SYSTEM_PROGRAM, MEMO])];
      if (mint)
        for (const owner of [sender, to]) token_owners.set(model.accountOf(owner, mint), { owner, mint });
      const before = keys.map((key) => balanceOf(key));
      if (!fails) {
        if (sender !== PAYER) put(source, balanceOf(source) - amount, slot);
        put(target, balanceOf(target) + amount, slot);
      } else if (sender !== PAYER) put(sender, balanceOf(sender) - FEE_LAMPORTS, slot);
      const after = keys.map((key) => balanceOf(key));
      const transaction: Transaction = {
        signature,
        slot,
        time: model.timeOf(slot),
        err: fails ? { InstructionError: [0, 'Custom'] } : null,
        keys,
        answer: answerOf({ slot, keys, before, after, payment, sender, source, target }),
        listed_at: model.now + listed_after,
        delivered_at: model.now + delivered_after,
        credit: [target, amount],
        dropped: false,
      };
      transactions.set(signature, transaction);
      // The fee's payer and the accounts that are written are what it is listed under.
      for (const key of new Set([sender, source, target])) {
        if (key === PAYER) continue;
        const listed = by_key.get(key) ?? [];
        listed.push(transaction);
        by_key.set(key, listed);
      }
      return signature;
    },
    /** Makes one that somebody else paid as if it had never been: its branch lost. */
    drop(signature: string): void {
      const dropped = transactions.get(signature);
      if (!dropped) return;
      dropped.dropped = true;
      const [target, amount] = dropped.credit;
      const known = balances.get(target) ?? [];
      balances.set(
        target,
        known.map(([slot, held]) => [slot, slot >= dropped.slot ? held - amount : held]),
      );
    },
    rpc(): TestRpc {
      return {
        provider: 'solana',
        requests,
        call: async (method, params) => {
          requests.push(method);
          return structuredClone(answer(method, params as unknown[]));
        },
        json: unused,
        text: unused,
        bytes: unused,
        batch: unused,
      };
    },
  };

  const balanceOf = (key: string, slot = Number.POSITIVE_INFINITY): bigint => {
    const known = balances.get(key) ?? [];
    for (let at = known.length - 1; at >= 0; at--) {
      const [from, amount] = known[at] as [number, bigint];
      if (from <= slot) return amount;
    }
    return 0n;
  };

  function put(key: string, amount: bigint, slot = model.slot() + 1): void {
    const known = balances.get(key) ?? [];
    known.push([slot, amount]);
    balances.set(key, known);
  }

  function answerOf({
    slot,
    keys,
    before,
    after,
    payment: { mint, amount, memo },
    sender,
    source,
    target,
  }: {
    slot: number;
    keys: string[];
    before: bigint[];
    after: bigint[];
    payment: Payment;
    sender: string;
    source: string;
    target: string;
  }): object {
    const isToken = (key: string) => token_owners.has(key);
    const lamports = (amounts: bigint[]) =>
      amounts.map((each, at) => (isToken(keys[at] ?? '') ? PAYER_LAMPORTS : Number(each)));
    const tokens = (amounts: bigint[]) =>
      keys.flatMap((key, accountIndex) => {
        const found = token_owners.get(key);
        return found
          ? [
              {
                accountIndex,
                ...found,
                programId: TOKEN_PROGRAM,
                uiTokenAmount: { amount: `${amounts[accountIndex]}` },
              },
            ]
          : [];
      });
    const info = mint
      ? { source, destination: target, tokenAmount: { amount: `${amount}` } }
      : { source, destination: target, lamports: Number(amount) };
    const is_new = serial % 2 === 0;
    return {
      slot,
      blockTime: model.timeOf(slot),
      version: is_new ? 1 : 0,
      transactionIndex: serial,
      meta: {
        costUnits: 1_481,
        preBalances: lamports(before),
        postBalances: lamports(after),
        preTokenBalances: tokens(before),
        postTokenBalances: tokens(after),
        innerInstructions: [],
      },
      transaction: {
        message: {
          accountKeys: keys.map((pubkey) => ({
            pubkey,
            signer: pubkey === sender,
            writable: [sender, source, target].includes(pubkey),
          })),
          recentBlockhash: keyOf(slot, 7),
          ...(is_new ? { transactionConfig: CONFIG } : {}),
          instructions: [
            ...(memo ? [{ programId: MEMO, parsed: memo }] : []),
            { programId: mint ? TOKEN_PROGRAM : SYSTEM_PROGRAM, parsed: { type: 'transfer', info } },
          ],
        },
      },
    };
  }

  const statusOf = ({ slot }: Transaction) => (slot <= model.finalized() ? 'finalized' : 'confirmed');

  function accountAt(key: string, slot: number): unknown {
    if (key === CLOCK_SYSVAR) return clockAt(slot, model.timeOf(slot));
    if (mints.has(key)) return tokenState('mint', { decimals: 6 });
    const token = token_owners.get(key);
    const known = (balances.get(key) ?? []).some(([from]) => from <= slot);
    if (token)
      return known ? tokenState('account', { tokenAmount: { amount: `${balanceOf(key, slot)}` } }) : null;
    const owner = programs.get(key) ?? SYSTEM_PROGRAM;
    const lamports = Number(balanceOf(key, slot));
    // An emptied wallet is no account any more.
    return lamports === 0 && owner === SYSTEM_PROGRAM ? null : { owner, lamports, data: ['', 'base64'] };
  }

  /** The newest slot as of which a node answers. */
  const newestOf = ({ answers_early }: Fault) => (answers_early ? model.slot() : model.finalized());

  interface PageOptions {
    limit: number;
    before?: string;
    until?: string;
    minContextSlot: number;
  }

  function signaturesFor(key: string, { limit, before, until, minContextSlot }: PageOptions, met: Fault) {
    const slot = Math.max(minContextSlot, newestOf(met) - (met.lag_slots ?? 0));
    const all = by_key.get(key) ?? [];
    const isListed = (each: Transaction | undefined) =>
      each !== undefined && !each.dropped && each.slot <= slot && each.listed_at <= model.now;
    const begin = met.repeats ? undefined : transactions.get(before ?? '');
    const stop = transactions.get(until ?? '');
    const page: object[] = [];
    if (met.lists_nothing) return page;
    // In the order of slots, as they were made.
    for (let at = begin && isListed(begin) ? all.indexOf(begin) - 1 : all.length - 1; at >= 0; at--) {
      const each = all[at];
      if (each === stop && isListed(stop)) break;
      if (page.length >= Math.min(limit, met.cut_at ?? limit)) break;
      if (!each || !isListed(each)) continue;
      page.push({
        signature: each.signature,
        slot: each.slot,
        err: each.err,
        memo: null,
        blockTime: each.time,
        confirmationStatus: statusOf(each),
      });
    }
    return page;
  }

  function answer(method: string, [first, options]: unknown[]): unknown {
    const names = Array.isArray(first) ? (first as string[]) : [String(first)];
    for (const name of names) {
      const error = failing.get(name);
      if (error && method !== 'getMultipleAccounts') throw error;
    }
    const met = fault(method, names[0] ?? '');
    const {
      commitment = 'finalized',
      minContextSlot = 0,
      maxSupportedTransactionVersion,
    } = (options ?? {}) as Asked;
    if (commitment !== 'finalized') throw refusal(INVALID_PARAMS, `unknown commitment ${commitment}`);
    switch (method) {
      case 'getMultipleAccounts': {
        // What it has shown once, any node behind the load balancer has that is asked for it.
        const slot = Math.max(newestOf(met) - (met.lag_slots ?? 0), minContextSlot);
        if (slot > newestOf(met))
          throw refusal(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached');
        return { context: { slot }, value: names.map((key) => accountAt(key, slot)) };
      }
      case 'getSignaturesForAddress':
        return signaturesFor(names[0] ?? '', options as PageOptions, met);
      case 'getTransaction': {
        const found = transactions.get(names[0] ?? '');
        if (!found || found.dropped || found.delivered_at > model.now) return null;
        if (found.slot > newestOf(met)) return null;
        const { version } = found.answer as { version: number };
        if (version > (maxSupportedTransactionVersion ?? -1))
          throw refusal(
            UNSUPPORTED_VERSION,
            `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
          );
        return withErr(found);
      }
      case 'getSignatureStatuses':
        return {
          context: { slot: model.slot() },
          value: names.map((name) => {
            const found = transactions.get(name);
            if (!found || found.dropped) return null;
            const confirmationStatus = statusOf(found);
            const depth = confirmationStatus === 'finalized' ? null : model.slot() - found.slot;
            return { slot: found.slot, confirmations: depth, err: found.err, confirmationStatus };
          }),
        };
      case 'isBlockhashValid':
        return { context: { slot: model.finalized() }, value: false };
      case 'getFirstAvailableBlock':
        return 0;
      case 'getRecentPerformanceSamples':
        return [{ slot: model.slot(), numSlots: Math.round(60 / slot_seconds), samplePeriodSecs: 60 }];
      case 'getGenesisHash':
        return keyOf(0, 3);
      default:
        throw new Error(`the model does not answer ${method}`);
    }
  }

  const withErr = ({ answer, err }: Transaction) => {
    const { meta, ...rest } = answer as { meta: object };
    return { ...rest, meta: { ...meta, err } };
  };

  return model;
}

const PAYER = keyOf(0, 9);
/** What takes the place of instructions about the budget since version 1; the fee is of all of it, in lamports. */
const CONFIG = {
  computeUnitLimit: 200_000,
  heapSize: null,
  loadedAccountsDataSizeLimit: null,
  priorityFee: 1_000,
};

const signatureOf = (serial: number): string => {
  const bytes = new Uint8Array(64).fill(1);
  new DataView(bytes.buffer).setUint32(0, serial);
  return base58.encode(bytes);
};

const clockAt = (slot: number, unixTimestamp: number) => ({
  owner: 'Sysvar1111111111111111111111111111111111111',
  lamports: 1,
  data: { parsed: { type: 'clock', info: { slot, unixTimestamp } } },
});

const tokenState = (type: string, info: object) => ({
  owner: TOKEN_PROGRAM,
  lamports: 2_039_280,
  data: { parsed: { type, info } },
});

const unused = (): never => {
  throw new Error('not asked by this family');
};
