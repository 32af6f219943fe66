// Reads the new transactions of one Solana account, oldest first, and proves how far: page by page.
import type { AccountProof, Interval, Page, ReadContext, Tip, Transfer } from '../family.ts';
import {
  type AccountCursor,
  explain,
  fold,
  follow,
  type Known,
  newCursor,
  OVERLAP_SECONDS,
  readAgain,
  type Spans,
  watchedSince,
  withRead,
} from './cursor.ts';
import { INDEX_MARGIN_SECONDS, isBeforeWatch, listNewest, listOlder, provableThrough } from './listing.ts';
import type { Listing } from './memory.ts';
import { slotsIn } from './pace.ts';
import type { Pass, Visit, WatchedAccount } from './pass.ts';
import {
  badAnswer,
  isOfOneAccount,
  readTransaction,
  type SignatureInfo,
  type SolanaTransaction,
} from './providers/rpc.ts';
import { FINAL_CONFIRMATIONS, transfersOf } from './transfers.ts';

/** How long a balance may go unexplained before that is called trouble: until then it is listed again at every reading. */
const PATIENCE_SECONDS = 60;
/** After so long without an explanation, all since the watch began is read again … */
const REREAD_AFTER_SECONDS = 120;
/** … and then not again before so long. */
const REREAD_PAUSE_SECONDS = 3600;
/** After so long, a transaction that is missing is not just late. */
const LATE_SECONDS = 60;
/** Transactions cached for the accounts after this one. */
const CACHED_TRANSACTIONS = 1000;
/** Transactions of one account that are listed, cannot be read and are tried again; older ones wait until all is read again. */
const UNREAD_LIMIT = 100;
/** Failed transactions read at a time, where only a fee can explain a balance … */
const FEES_AT_A_TIME = 25;
/** … and how often in one visit. */
const FEES_TRIES = 4;

/**
 * Lists an account and reads what is new, where that takes at most so many requests; where it takes more, the account is
 * deferred. Throws ProviderError where it cannot be listed.
 */
export async function* readAccount(pass: Pass, visit: Visit, requests: number): AsyncGenerator<Page> {
  const cursor = beginAt(pass, visit);
  const listing = await listNewest(pass, visit, cursor);
  const entries = unreadOf(cursor, listing);
  if (listing.is_complete && !listing.is_cut && readable(entries) <= requests) {
    const read = yield* readEntries(pass, visit, cursor, entries);
    yield await prove(pass, visit, listing, read);
    return;
  }
  pass.memory.cacheList(visit.account.key, listing);
  pass.deferred.push({ ...visit, cursor });
  yield behindPage(visit, cursor, listing, []);
}

/**
 * Reads a slice of what was deferred, with about so many requests: some of the newest, which may be what somebody waits
 * for, and then the oldest, from where the cursor stands.
 */
export async function* readBacklog(pass: Pass, visit: Visit, requests: number): AsyncGenerator<Page> {
  const { memory } = pass;
  const { key } = visit.account;
  const last = pass.spent() + requests;
  const left = () => Math.max(0, last - pass.spent());
  const cursor = beginAt(pass, visit);
  const cached = memory.listOf(key);
  const has_news = !cached?.is_new && visit.observed.amount !== cursor.seen;
  const top = cached && !has_news ? cached.listing : await listNewest(pass, visit, cursor);
  let listing = cached?.listing ?? top;
  while (!listing.is_complete && left() > requests / 2)
    listing = await listOlder(pass, visit, cursor, listing);
  const entries = unreadOf(cursor, listing);
  // Only a list of now says that there is nothing else.
  const is_new = cached?.is_new ?? true;
  if (is_new && listing.is_complete && !listing.is_cut && readable(entries) <= left()) {
    memory.dropList(key);
    const read = yield* readEntries(pass, visit, cursor, entries);
    yield await prove(pass, visit, listing, read);
    return;
  }
  const transfers = await readNewest(pass, visit, top.newest, Math.ceil(left() / 2));
  yield behindPage(visit, cursor, listing, transfers);
  while (!listing.is_complete && left() > 0) listing = await listOlder(pass, visit, cursor, listing);
  if (listing.is_complete) listing = yield* readSlice(pass, visit, cursor, listing, left());
  if (listing.is_complete && listing.entries.length === 0) memory.dropList(key);
  else memory.cacheList(key, { ...listing, newest: [] });
}

const readable = (entries: readonly SignatureInfo[]) => entries.filter(({ err }) => err === null).length;

/**
 * Where reading continues: from the stored cursor, from the beginning where there is none, with the balance as it is now as
 * its base, or once more from the beginning where no transaction explains a balance.
 */
export function beginAt({ context, tip }: Pass, { account, cursor: stored, observed }: Visit): AccountCursor {
  const { since } = account.owner;
  const { amount, slot } = observed;
  const begun = watchedSince(stored ?? { ...newCursor, since }, since);
  const base: [number, string] = [slot, amount];
  // What was paid before a first look that is late is in what the account holds then.
  const unshown_at = tip.time - since < PATIENCE_SECONDS ? null : 0;
  const cursor = begun.base ? begun : { ...begun, base, seen: amount, unshown_at };
  const unexplained = cursor.gap_at === null ? 0 : tip.time - cursor.gap_at;
  const is_rested = cursor.reread_at === null || tip.time - cursor.reread_at >= REREAD_PAUSE_SECONDS;
  if (unexplained >= REREAD_AFTER_SECONDS && is_rested && !cursor.behind) return readAgain(cursor, tip.time);
  return { ...cursor, unread: cursor.unread.filter(([, , time]) => !isBeforeWatch(context, account, time)) };
}

/** What is to be read, oldest first: what could not be read before is tried again. */
function unreadOf({ unread }: AccountCursor, { entries }: Listing): SignatureInfo[] {
  const again = unread.map(
    ([signature, slot, blockTime]): SignatureInfo => ({ signature, slot, err: null, blockTime }),
  );
  const listed = new Set(entries.map(({ signature }) => signature));
  const others = again.filter(({ signature }) => !listed.has(signature));
  return [...others, ...entries.toReversed()].sort((one, other) => one.slot - other.slot);
}

/** A transaction that is listed no more was on a branch that lost. */
function dropMissing(cursor: AccountCursor, { entries }: Listing): AccountCursor {
  const listed = new Set(entries.map(({ signature }) => signature));
  const isThere = ([signature, slot]: AccountCursor['unread'][number]) =>
    slot < cursor.floor || listed.has(signature);
  return { ...cursor, unread: cursor.unread.filter(isThere) };
}

/** What was read last of an account, and the cursor behind it. */
interface ReadThrough {
  cursor: AccountCursor;
  transfers: Transfer[];
}

/** Reads all of these, oldest first, and stores them page by page, but for the last page, with which the account is settled. */
async function* readEntries(
  pass: Pass,
  visit: Visit,
  cursor: AccountCursor,
  entries: readonly SignatureInfo[],
): AsyncGenerator<Page, ReadThrough> {
  const size = pass.limits.transactions_per_page;
  let read: ReadThrough = { cursor, transfers: [] };
  for (let start = 0; start < entries.length; start += size) {
    read = await readChunk(pass, visit, read.cursor, entries.slice(start, start + size));
    const next = entries[start + size];
    if (!next) break;
    read = await foldRead(pass, visit, read, next.slot);
    yield pageOf(visit, read);
  }
  return read;
}

/** Reads as many of the oldest as there are requests for; returns the listing without them. */
async function* readSlice(
  pass: Pass,
  visit: Visit,
  cursor: AccountCursor,
  listing: Listing,
  requests: number,
): AsyncGenerator<Page, Listing> {
  let count = 0;
  const oldest = listing.entries.toReversed();
  const stop = oldest.findIndex(({ err }) => err === null && ++count > requests);
  const slice = stop < 0 ? oldest : oldest.slice(0, stop);
  if (slice.length === 0) return listing;
  const rest = { ...listing, entries: listing.entries.slice(0, listing.entries.length - slice.length) };
  const begun = { ...cursor, seen: visit.observed.amount };
  const last = yield* readEntries(pass, visit, begun, slice);
  // Of the last slot read there may be more, and what comes after the last one that follows on may be missing.
  const end = (rest.entries.at(-1) ?? slice.at(-1))?.slot ?? 0;
  const read = await foldRead(pass, visit, last, end);
  const { slots, broken_slot } = follow(read.cursor, end);
  const made_at = slice.find(({ slot }) => slot === slots.at(-1)?.[0])?.blockTime;
  const is_proved = broken_slot === null && read.cursor.unread.length === 0 && !read.cursor.skipped;
  const read_through = is_proved && made_at ? provedAt(pass, made_at) : null;
  yield { ...pageOf(visit, read), proofs: [proofOf(visit, { read_through, trouble: behindText(rest) })] };
  return rest;
}

async function readChunk(
  pass: Pass,
  visit: Visit,
  cursor: AccountCursor,
  chunk: readonly SignatureInfo[],
): Promise<ReadThrough> {
  const { known, unread, transfers } = await readAll(pass, visit, cursor, chunk);
  const tried = new Set(chunk.map(({ signature }) => signature));
  const others = cursor.unread.filter(([signature]) => !tried.has(signature));
  const missing = [...others, ...unread];
  const next = { ...withRead(cursor, known), unread: missing.slice(-UNREAD_LIMIT) };
  const skipped = next.skipped || missing.length > UNREAD_LIMIT;
  return { cursor: { ...next, skipped }, transfers };
}

/** Drops what need not be recorded any longer of what was read up to this slot, which may hold more. */
async function foldRead(pass: Pass, visit: Visit, read: ReadThrough, end: number): Promise<ReadThrough> {
  const cursor = await withFees(pass, visit, read.cursor, end);
  return { ...read, cursor: fold(cursor, end, spansOf(pass)) };
}

const spansOf = ({ tip, memory: { pace } }: Pass): Spans => ({
  overlap: slotsIn(pace, OVERLAP_SECONDS),
  settled: tip.height - slotsIn(pace, LATE_SECONDS),
});

/** A page after which more is to be read. */
const pageOf = ({ account }: Visit, { cursor, transfers }: ReadThrough): Page => ({
  transfers,
  accounts: [[account.key, { ...cursor, behind: true }]],
});

/** The credits of some of the newest transactions, ahead of their turn. */
async function readNewest(
  pass: Pass,
  visit: Visit,
  newest: readonly SignatureInfo[],
  requests: number,
): Promise<Transfer[]> {
  const { key } = visit.account;
  const { newest_read } = pass.memory;
  const before = newest_read.get(key) ?? -1;
  const fresh = newest
    .filter(({ err, slot }) => err === null && slot > before)
    .slice(0, Math.max(1, requests));
  newest_read.set(key, Math.max(before, ...fresh.map(({ slot }) => slot)));
  const cursor = visit.cursor ?? newCursor;
  return (await readAll(pass, visit, cursor, fresh.toReversed())).transfers;
}

interface Read {
  known: Known[];
  unread: AccountCursor['unread'];
  transfers: Transfer[];
}

/** Reads these transactions, but for those that failed. One that cannot be had leaves the others alone. */
async function readAll(
  pass: Pass,
  visit: Visit,
  cursor: AccountCursor,
  entries: readonly SignatureInfo[],
): Promise<Read> {
  const read: Read = { known: [], unread: [], transfers: [] };
  const size = pass.limits.transactions_at_once;
  const wanted = entries.filter(({ err }) => err === null);
  const found = new Map<string, SolanaTransaction | undefined>();
  for (let start = 0; start < wanted.length; start += size) {
    const requests = wanted
      .slice(start, start + size)
      .map(async (entry) => found.set(entry.signature, await tryTransaction(pass, entry)));
    await Promise.all(requests);
  }
  for (const entry of entries) {
    const { signature, slot, err, blockTime = null } = entry;
    const transaction = found.get(signature);
    if (err !== null) read.known.push([signature, slot, null]);
    else if (!transaction) read.unread.push([signature, slot, blockTime]);
    else {
      const balances = balancesOf(transaction, visit.account);
      read.known.push(balances ? [signature, slot, ...balances] : [signature, slot]);
      read.transfers.push(...creditsOf(pass, visit, cursor, { entry, transaction }));
    }
  }
  return read;
}

/** A transaction that is listed; undefined where this provider cannot deliver it, or not as it is listed. */
async function tryTransaction(
  { rpc, transactions, failures }: Pass,
  { signature, slot, err }: SignatureInfo,
): Promise<SolanaTransaction | undefined> {
  try {
    const transaction = transactions.get(signature) ?? (await readTransaction(rpc, signature));
    if (transaction.slot !== slot || (transaction.meta.err === null) !== (err === null))
      throw badAnswer(`transaction ${signature} is not as it is listed`);
    if (transactions.size >= CACHED_TRANSACTIONS) transactions.clear();
    transactions.set(signature, transaction);
    return transaction;
  } catch (error) {
    if (!isOfOneAccount(error)) throw error;
    failures.set(signature, error.message);
    return undefined;
  }
}

function creditsOf(
  { context, tip, assets }: Pass,
  { account, observed }: Visit,
  cursor: AccountCursor,
  { entry, transaction }: { entry: SignatureInfo; transaction: SolanaTransaction },
): Transfer[] {
  const made_at = entry.blockTime ?? transaction.blockTime;
  const isFinal = entry.confirmationStatus === 'finalized';
  const depth = Math.max(1, Math.min(FINAL_CONFIRMATIONS - 1, observed.slot - entry.slot));
  const seen = {
    signature: entry.signature,
    made: made_at ? context.local(made_at) : untimed(context, tip, account, cursor),
    confirmations: isFinal ? FINAL_CONFIRMATIONS : depth,
    final: isFinal,
  };
  return transfersOf(transaction, seen, account.owner.key, assets);
}

/** When a transaction without a time was made: since the account was proved last, and before now. */
function untimed(
  { local, now }: ReadContext,
  tip: Tip,
  { owner }: WatchedAccount,
  { through }: AccountCursor,
): Interval {
  const latest_at = Math.max(local(tip.time).latest_at, now());
  const earliest_at = through === null ? owner.since : local(through).earliest_at;
  return { earliest_at: Math.min(earliest_at, latest_at), latest_at };
}

/** What the account held before and after a transaction; undefined where it is no part of it. */
function balancesOf(
  { meta, transaction }: SolanaTransaction,
  { key, mint }: WatchedAccount,
): [before: string, after: string] | undefined {
  const position = transaction.message.accountKeys.findIndex(({ pubkey }) => pubkey === key);
  if (position < 0) return undefined;
  if (mint === null)
    return [String(meta.preBalances[position] ?? 0), String(meta.postBalances[position] ?? 0)];
  const amountIn = (balances: typeof meta.preTokenBalances) =>
    balances?.find(({ accountIndex }) => accountIndex === position)?.uiTokenAmount.amount ?? '0';
  return [amountIn(meta.preTokenBalances), amountIn(meta.postTokenBalances)];
}

/**
 * A wallet that paid the fee of a transaction that failed holds less after it: where balances do not follow on from each
 * other, those that failed in between are read too.
 */
async function withFees(
  pass: Pass,
  { account, observed }: Visit,
  cursor: AccountCursor,
  end: number,
): Promise<AccountCursor> {
  let at = cursor;
  if (account.mint !== null) return at;
  for (let tries = 0; tries < FEES_TRIES; tries++) {
    const { slots, broken_slot } = follow(at, end);
    const is_all = end === Number.POSITIVE_INFINITY;
    if (broken_slot === null && !(is_all && !explain(at, observed).is_explained)) return at;
    const to = broken_slot ?? observed.slot;
    const from = slots.findLast(([slot]) => slot < to)?.[0] ?? 0;
    const failed = at.recent.filter((each) => each.length === 3 && each[1] >= from && each[1] <= to);
    if (failed.length === 0) return at;
    const entries = failed
      .slice(0, FEES_AT_A_TIME)
      .map(([signature, slot]): SignatureInfo => ({ signature, slot, err: 'Failed' }));
    const read = await Promise.all(
      entries.map(async (entry): Promise<Known> => {
        const transaction = await tryTransaction(pass, entry);
        const balances = transaction && balancesOf(transaction, account);
        return balances ? [entry.signature, entry.slot, ...balances] : [entry.signature, entry.slot];
      }),
    );
    at = withRead(at, read);
  }
  return at;
}

/** The end of a reading: proves the account where its transactions explain what it holds. */
async function prove(pass: Pass, visit: Visit, listing: Listing, read: ReadThrough): Promise<Page> {
  const { context, tip, memory } = pass;
  const { account, observed } = visit;
  const found = dropMissing(read.cursor, listing);
  const explained = await withFees(pass, visit, found, Number.POSITIVE_INFINITY);
  const { held, is_explained } = explain(explained, observed);
  const cursor: AccountCursor = {
    ...fold(explained, Number.POSITIVE_INFINITY, spansOf(pass)),
    seen: observed.amount,
    behind: false,
    again_at: null,
  };
  const { transfers } = read;
  memory.newest_read.delete(account.key);
  const { unread, skipped, gap_at } = cursor;
  if (is_explained && listing.missing.size === 0 && unread.length === 0 && !skipped) {
    const unshown_at = (await isStartShown(pass, account, cursor, listing))
      ? null
      : cursor.unshown_at || tip.time;
    if (unshown_at !== null && tip.time - unshown_at < PATIENCE_SECONDS)
      return { transfers, accounts: [[account.key, { ...cursor, unshown_at, again_at: tip.time }]] };
    const from = cursor.through ?? account.owner.since;
    const through = Math.max(from, Math.min(tip.time, context.now()) - INDEX_MARGIN_SECONDS);
    // What is older than the base may still be left out of the list, and no balance would show it.
    const [base_slot, base_amount] = cursor.base ?? [0, '0'];
    const is_begun =
      base_amount !== '0' && observed.slot - base_slot < slotsIn(memory.pace, INDEX_MARGIN_SECONDS);
    const again_at = is_begun ? tip.time + INDEX_MARGIN_SECONDS : null;
    return {
      transfers,
      accounts: [[account.key, { ...cursor, through, gap_at: null, again_at, unshown_at: null }]],
      proofs: [proofOf(visit, { read_through: provedAt(pass, tip.time - INDEX_MARGIN_SECONDS) })],
      ranges: through > from ? [{ scope: account.key, from, to: through }] : [],
    };
  }
  const since = gap_at ?? tip.time;
  const is_late = unread.length === 0 && tip.time - since < PATIENCE_SECONDS;
  const trouble =
    whyUnread(pass, unread) ??
    (is_explained
      ? 'the node does not list what it listed before, or a transaction of before is missing'
      : `it holds ${observed.amount}, its transactions explain ${held ?? 'nothing'}: one of them is not listed`);
  return {
    transfers,
    accounts: [[account.key, { ...cursor, gap_at: since, again_at: is_late ? tip.time : null }]],
    proofs: is_late ? [] : [proofOf(visit, { trouble, failed: true })],
  };
}

/**
 * Whether the newest transaction of before the watch left what the account held before the first that was read: then the
 * list leaves out none in between. A node that has forgotten what is so old is believed after a while.
 */
async function isStartShown(
  pass: Pass,
  account: WatchedAccount,
  cursor: AccountCursor,
  { newest_old }: Listing,
): Promise<boolean> {
  if (cursor.unshown_at === null) return true;
  const { start } = follow(cursor);
  if (start === null || start === '0') return true;
  const transaction = newest_old && (await tryTransaction(pass, newest_old));
  return transaction !== undefined && balancesOf(transaction, account)?.[1] === start;
}

const whyUnread = ({ failures }: Pass, [first]: AccountCursor['unread']): string | null =>
  first ? (failures.get(first[0]) ?? `transaction ${first[0]} is listed, but cannot be read`) : null;

/** A moment of the chain's clock as one of ours before which everything is read: no later than a list of now can show. */
const provedAt = ({ context, tip }: Pass, time: number): number =>
  Math.min(context.local(time).earliest_at, provableThrough(context, tip));

const proofOf = ({ account }: Pick<Visit, 'account'>, parts: Partial<AccountProof>): AccountProof => ({
  address_key: account.owner.key,
  chain: account.chain,
  account: account.key,
  read_through: null,
  trouble: null,
  failed: false,
  ...parts,
});

/** An account that cannot be read now; it is left alone for a growing while. */
export const troublePage = (account: WatchedAccount, trouble: string): Page => ({
  transfers: [],
  proofs: [proofOf({ account }, { trouble, failed: true })],
});

const behindText = ({ entries, is_complete, is_cut }: Listing): string =>
  `${entries.length}${is_complete && !is_cut ? '' : ' or more'} transactions are still to be read`;

const behindPage = (visit: Visit, cursor: AccountCursor, listing: Listing, transfers: Transfer[]): Page => ({
  transfers,
  accounts: [[visit.account.key, { ...cursor, seen: visit.observed.amount, behind: true }]],
  proofs: [proofOf(visit, { trouble: behindText(listing) })],
});
