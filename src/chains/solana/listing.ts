// The signatures of one Solana account that were not read yet, page by page from the newest.

import { rejectClockSkew } from '../clock-skew.ts';
import type { ReadContext, Tip } from '../family.ts';
import type { AccountCursor } from './cursor.ts';
import type { Listing } from './memory.ts';
import { slotsIn } from './pace.ts';
import type { Pass, Visit, WatchedAccount } from './pass.ts';
import { badAnswer, readSignatures, type SignatureInfo } from './providers/rpc.ts';

/** The chain's clock may be this far before ours beyond what was measured. */
const SINCE_MARGIN_SECONDS = 60;
/** How far a listing made later than the balances may be ahead of them; a slot from nowhere would end all listing. */
const AHEAD_SECONDS = 600;
/**
 * What is assumed of every node: a listing made now has all transactions that were made so long before the newest
 * finalized block, whatever the balances of the same node show already. What is younger may still be left out, so that a
 * listing proves nothing about it. Where a transaction that changed a balance is listed later than that, the balances do
 * not follow on from each other, and nothing is proved until it is there; only two that cancel each other out could be
 * missed, and both are still read where they are listed within the overlap. A node that leaves out what is older and was
 * read before proves nothing either.
 */
export const INDEX_MARGIN_SECONDS = 20;

/** Up to when a list that is made now can prove an account; Unix seconds of our clock. */
export const provableThrough = ({ local, now }: Pick<ReadContext, 'local' | 'now'>, tip: Tip): number =>
  Math.min(local(tip.time - INDEX_MARGIN_SECONDS).earliest_at, now() - INDEX_MARGIN_SECONDS);

/** Signatures cached of a list that continues beyond them: the oldest, which are read first. */
const CACHED_SIGNATURES = 1000;

/** The first page, and the next where that one is short: only an empty page is the last one for certain. */
export async function listNewest(pass: Pass, visit: Visit, cursor: AccountCursor): Promise<Listing> {
  const page = await readPage(pass, visit, cursor, undefined);
  const { tip, memory } = pass;
  const margin = slotsIn(memory.pace, INDEX_MARGIN_SECONDS);
  const old = cursor.recent.filter(([, slot]) => slot < tip.height - margin);
  const missing = without(new Set(old.map(([signature]) => signature)), page.listed);
  const listing = { ...page, newest: page.entries, is_cut: false, missing };
  return page.is_complete || page.is_full ? listing : listOlder(pass, visit, cursor, listing);
}

/** The listing with one more page. */
export async function listOlder(
  pass: Pass,
  visit: Visit,
  cursor: AccountCursor,
  listing: Listing,
): Promise<Listing> {
  const page = await readPage(pass, visit, cursor, listing.last);
  const entries = [...listing.entries, ...page.entries];
  return {
    ...listing,
    entries: entries.slice(-CACHED_SIGNATURES),
    last: page.last ?? listing.last,
    is_complete: page.is_complete,
    is_cut: listing.is_cut || entries.length > CACHED_SIGNATURES,
    missing: without(listing.missing, page.listed),
    newest_old: listing.newest_old ?? page.newest_old,
  };
}

const without = (names: ReadonlySet<string>, listed: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...names].filter((name) => !listed.has(name)));

/**
 * A page is the last one where it reaches what was read before: the oldest transactions that are recorded, a slot or a
 * time before them, or nothing at all. That it is shorter than asked, or ends at the anchor, says nothing.
 */
async function readPage(
  { context, rpc, limits, tip, memory }: Pass,
  { account, observed }: Visit,
  cursor: AccountCursor,
  before: SignatureInfo | undefined,
) {
  const { entries, last, is_full } = await readSignatures(rpc, account.key, {
    limit: limits.signatures_per_page,
    minSlot: tip.height,
    before: before?.signature,
    until: cursor.anchor ?? undefined,
  });
  const most = observed.slot + slotsIn(memory.pace, AHEAD_SECONDS);
  for (const entry of entries) {
    if (entry.slot > most)
      throw badAnswer(
        `transaction ${entry.signature} is listed in slot ${entry.slot}, the node is at ${observed.slot}`,
      );
    rejectClockSkew(`transaction ${entry.signature}`, entry.blockTime ?? 0, context.now());
    if (before && (entry.slot > before.slot || entry.signature === before.signature))
      throw badAnswer(`${account.key}: the node gives the same page again`);
  }
  const isOld = ({ slot, blockTime }: SignatureInfo) =>
    slot < cursor.floor || isBeforeWatch(context, account, blockTime ?? null);
  const listed = new Set(entries.map(({ signature }) => signature));
  const known = new Set(cursor.recent.map(([signature]) => signature));
  const oldest = cursor.recent.filter(([, each]) => each === cursor.recent[0]?.[1]);
  const reaches_known = oldest.length > 0 && oldest.every(([signature]) => listed.has(signature));
  return {
    entries: entries.filter((entry) => !isOld(entry) && !known.has(entry.signature)),
    listed,
    newest_old: entries.find(isOld),
    last,
    is_full,
    is_complete: last === undefined || reaches_known || entries.some(isOld),
  };
}

/** Whether a transaction of this block time is older than the watch, which began by our clock, and no payment of ours. */
export const isBeforeWatch = (
  { local }: Pick<ReadContext, 'local'>,
  account: WatchedAccount,
  time: number | null,
): boolean => time !== null && local(time).latest_at < account.owner.since - SINCE_MARGIN_SECONDS;
