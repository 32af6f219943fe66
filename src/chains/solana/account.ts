// Reads the new transactions of one Solana account, oldest first, page by page.
import type { Page, ReadContext, Tip, WatchedAddress } from '../chain.ts';
import { refuseFuture } from '../future.ts';
import { type AccountCursor, advance, newCursor, settle } from './cursor.ts';
import {
  badAnswer,
  readSignatures,
  readTransaction,
  type SignatureInfo,
  type SolanaTransaction,
} from './rpc.ts';
import { type Asset, transfersOf } from './transfers.ts';

export interface SolanaLimits {
  /** What the protocol allows in one answer: 1000. */
  signatures_per_page: number;
  /** Pages of signatures read of one account before anything is stored. */
  signature_pages: number;
  /** Transactions stored together, after which the account's cursor moves. */
  transactions_per_page: number;
  /** Transactions asked for at a time. */
  transactions_at_once: number;
  /** Ticks after which an account is listed although its balance did not change. */
  sweep_ticks: number;
  /** Accounts listed so in one tick. */
  sweeps_per_tick: number;
}

/** A wallet, or its token account of one mint. */
export interface WatchedAccount {
  key: string;
  owner: WatchedAddress;
  /** Null for the wallet itself. */
  mint: string | null;
}

/** What one pass over all accounts shares. */
export interface Pass {
  context: ReadContext;
  limits: SolanaLimits;
  tip: Tip;
  assets: readonly Asset[];
  /** A payment that makes the token account touches the wallet too: read once. */
  transactions: Map<string, SolanaTransaction>;
}

/** The chain's clock may be this far before ours. */
const SINCE_MARGIN_SECONDS = 60;
/** Slots until the network calls a block final. */
const FINAL_SLOTS = 32;
/** How far a listing made later than the balances may be ahead of them; a slot from nowhere would end all listing. */
const AHEAD_SLOTS = 1500;
/** Transactions kept for the accounts after this one. */
const CACHED_TRANSACTIONS = 1000;

/**
 * Returns the moment up to which the account is known to be read: earlier than the tip while a change of its
 * balance has no transaction. Throws ProviderError where something listed cannot be had; the pages before it stand.
 */
export async function* readAccount(
  pass: Pass,
  account: WatchedAccount,
  stored: AccountCursor | undefined,
  observed: { amount: string; slot: number },
): AsyncGenerator<Page, number> {
  const { limits, tip } = pass;
  let cursor = stored ?? newCursor;
  const range = {
    scope: account.key,
    from: cursor.time ?? account.owner.since,
    to: Math.max(tip.time, cursor.time ?? account.owner.since),
  };
  const entries = await listNew(pass, account, cursor);
  refuseUntold(entries, observed.slot, pass.context.now());
  let held: string | undefined;
  for (let start = 0; ; start += limits.transactions_per_page) {
    const chunk = entries.slice(start, start + limits.transactions_per_page);
    const isLast = start + chunk.length >= entries.length;
    const read = await readAll(pass, chunk);
    const transfers = read.flatMap(({ entry, transaction }) => {
      held = balanceAfter(transaction, account) ?? held;
      const isFinal = entry.confirmationStatus === 'finalized';
      const depth = Math.max(1, Math.min(FINAL_SLOTS - 1, observed.slot - entry.slot));
      const seen = {
        signature: entry.signature,
        made: pass.context.local(entry.blockTime ?? tip.time),
        confirmations: isFinal ? FINAL_SLOTS : depth,
        final: isFinal,
      };
      return transfersOf(transaction, seen, account.owner.key, pass.assets);
    });
    if (chunk.length > 0) cursor = advance(cursor, chunk);
    if (isLast) {
      const listed = entries.length > 0;
      const now = Math.min(tip.time, pass.context.now());
      const settled = settle(cursor, { held, observed: observed.amount, listed }, now);
      const isRead = settled.asked === 0;
      yield { transfers, accounts: [[account.key, settled]], ranges: isRead ? [range] : [] };
      // What an account held before it was first read is nobody's late payment.
      return isRead || cursor.time === null ? tip.time : range.from;
    }
    // Without an amount the rest is listed again, should this be the last page that is stored.
    yield { transfers, accounts: [[account.key, { ...cursor, amount: null }]] };
  }
}

/** Throws ProviderError on a place in the chain that is not there yet: the cursor rests on it. */
function refuseUntold(entries: readonly SignatureInfo[], slot: number, now: number): void {
  for (const entry of entries) {
    if (entry.slot > slot + AHEAD_SLOTS)
      throw badAnswer(
        `transaction ${entry.signature} is listed in slot ${entry.slot}, the node is at ${slot}`,
      );
    refuseFuture(`transaction ${entry.signature}`, entry.blockTime ?? 0, now);
  }
}

/** What was not read yet, oldest first; failed transactions included, they only mark the place. */
async function listNew(pass: Pass, account: WatchedAccount, cursor: AccountCursor): Promise<SignatureInfo[]> {
  const { context, limits, tip } = pass;
  const known = new Set(cursor.recent.map(([signature]) => signature));
  const since = account.owner.since - SINCE_MARGIN_SECONDS;
  const isOld = (entry: SignatureInfo) =>
    entry.slot < cursor.floor || (entry.blockTime ?? Number.POSITIVE_INFINITY) < since;
  const found = new Map<string, SignatureInfo>();
  let before: string | undefined;
  for (let page = 0; page < limits.signature_pages; page++) {
    const { entries, last } = await readSignatures(context.rpc, account.key, {
      limit: limits.signatures_per_page,
      minSlot: tip.height,
      ...(before ? { before } : {}),
      ...(cursor.anchor ? { until: cursor.anchor } : {}),
    });
    for (const entry of entries) {
      if (!isOld(entry) && !known.has(entry.signature)) found.set(entry.signature, entry);
    }
    const oldest = entries.at(-1);
    if (!last || (oldest && isOld(oldest))) return [...found.values()].reverse();
    if (last === before) throw badAnswer(`${account.key}: the node gives the same page again`);
    before = last;
  }
  throw badAnswer(`${account.key} has more new transactions than can be listed at once`);
}

/** The transactions of these entries that succeeded, in their order. */
async function readAll({ context, limits, transactions }: Pass, entries: readonly SignatureInfo[]) {
  const succeeded = entries.filter((entry) => entry.err === null);
  const read: { entry: SignatureInfo; transaction: SolanaTransaction }[] = [];
  for (let start = 0; start < succeeded.length; start += limits.transactions_at_once) {
    const asked = succeeded.slice(start, start + limits.transactions_at_once).map(async (entry) => {
      const transaction =
        transactions.get(entry.signature) ?? (await readTransaction(context.rpc, entry.signature));
      if (transaction.slot !== entry.slot || transaction.meta.err !== null)
        throw badAnswer(`transaction ${entry.signature} is not as it is listed`);
      return { entry, transaction };
    });
    read.push(...(await Promise.all(asked)));
  }
  if (transactions.size > CACHED_TRANSACTIONS) transactions.clear();
  for (const { entry, transaction } of read) transactions.set(entry.signature, transaction);
  return read;
}

/** What the account held after a transaction, as the change detector writes it. */
function balanceAfter(transaction: SolanaTransaction, { key, mint }: WatchedAccount): string | undefined {
  const { meta, transaction: body } = transaction;
  const position = body.message.accountKeys.findIndex((each) => each.pubkey === key);
  if (position < 0) return undefined;
  if (mint === null) return String(meta.postBalances[position] ?? 0);
  const balance = meta.postTokenBalances?.find((each) => each.accountIndex === position);
  return balance?.uiTokenAmount.amount ?? '0';
}
