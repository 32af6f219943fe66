// What the lists of unconfirmed payments prove: that everything made before a moment to a script is stored.
import type { AccountProof, AccountRef, Page } from '../family.ts';
import { hashIn, lowestHeight, type Ring } from './cursor.ts';
import { type ListTimes, trim } from './memory.ts';
import type { Reading } from './reading.ts';
import type { Listing, PaidBlock } from './source.ts';

/** How long a payment may take to reach the provider: a list proves nothing younger. */
export const PROPAGATION_SECONDS = 30;
/** A list that lacks a payment listed before may be of a host that lags; after so long the payment was dropped. */
const DROPPED_SECONDS = 600;

const before = (listed_at: number): number => (listed_at === 0 ? 0 : listed_at - PROPAGATION_SECONDS);

/** Everything that was paid to the script before this moment had been stored when the reading began, Unix seconds. */
export function provedThrough(reading: Reading, script: string): number {
  const { memory, watched, behind, proved_through, context } = reading;
  const own = behind.get(script);
  const proofs = [
    watched.get(script)?.since ?? 0,
    before(memory.list_times.get(script)?.before ?? 0),
    // What was proved of the others does not hold for a script that is behind.
    own ? (own.read_through ?? 0) : Math.max(proved_through, before(memory.all_listed_at)),
  ];
  // A time to come was noted by a clock that was ahead.
  const now = context.now();
  return Math.max(0, ...proofs.filter((proved) => proved <= now));
}

/** Why a script's list proves nothing. */
type Short = Pick<Listing, 'trouble' | 'failed'>;

/**
 * What a reading proves that has read all blocks up to a tip younger than its lists; `commit` once the page is stored.
 * Of everything, where it was listed at once; else of the script whose list is oldest, with proofs of their own for those
 * whose list proves nothing, and for the urgent ones.
 */
export function concludeReading(reading: Reading): { page: Page; commit(): void } {
  const { memory, watched, behind, lists } = reading;
  noteAbsent(reading);
  const all = lists.find(({ script }) => script === null);
  const forgetKnown = () => {
    if (all) for (const txid of memory.known.keys()) if (!all.txids.has(txid)) memory.known.delete(txid);
  };
  if (all && !isOfReadBlocks(reading, all)) return { page: { transfers: [] }, commit: () => {} };
  if (all?.complete === false) return { page: { transfers: [] }, commit: forgetKnown };
  const short = shortLists(reading);
  const times = timesAfter(reading, short);
  const through = (script: string): number => {
    const proved = provedThrough(reading, script);
    const listed = Math.max(before(times.get(script)?.before ?? 0), before(wholeAt(all)));
    return short.has(script) ? proved : Math.max(proved, listed);
  };
  const common = [...watched.values()].reduce(
    (least, { key, open }) =>
      open && !short.has(key) && !behind.has(key) ? Math.min(least, through(key)) : least,
    reading.started_at - PROPAGATION_SECONDS,
  );
  const stated = Math.max(common, reading.proved_through);
  const isListed = (script: string) => all !== undefined || times.has(script);
  const { ahead, ...accounts } = accountsAfter(reading, { stated, short, isListed, through });
  return {
    page: { transfers: [], read_through: common, ...accounts },
    commit() {
      forgetKnown();
      for (const [script, listed] of times) memory.list_times.set(script, listed);
      memory.all_listed_at = all ? wholeAt(all) : memory.all_listed_at;
      memory.last_list_at = all?.at ?? memory.last_list_at;
      memory.ahead = ahead;
    },
  };
}

const wholeAt = (list: Listing | undefined): number => list?.whole_at ?? list?.at ?? 0;

/**
 * Whether the host that gave a list has no block that is still to be read: it may be another host than the one that was
 * asked for the tip, and what its newest block holds is in neither.
 */
const isOfReadBlocks = ({ memory }: Reading, { tip_hash = null }: Listing): boolean =>
  tip_hash === null || memory.ring?.hashes.includes(tip_hash) === true;

/** Since when pending payments are missing from the lists that should show them. */
function noteAbsent({ memory, unconfirmed, lists, gone }: Reading): void {
  for (const [script, txids] of unconfirmed) {
    const shown = lists.filter((list) => !list.failed && (list.script === null || list.script === script));
    const first = shown[0];
    if (!first) continue;
    for (const txid of txids) {
      const isThere = memory.mined.has(txid) || gone.has(txid) || shown.some((list) => list.txids.has(txid));
      if (isThere) memory.absent.delete(txid);
      else if (!memory.absent.has(txid)) memory.absent.set(txid, first.at);
    }
  }
  trim(memory.absent);
}

/** Where the host that listed is on another branch, what it has in a block may be in none that was read. */
const isRead = (ring: Ring, { height, hash }: PaidBlock): boolean =>
  height <= ring.height && (hash === null || height < lowestHeight(ring) || hashIn(ring, height) === hash);

/** Scripts that were listed in this reading with nothing proved by it. */
function shortLists({ memory, unconfirmed, lists, started_at }: Reading): Map<string, Short> {
  const short = new Map<string, Short>();
  for (const { script, paid_in = [] } of lists) {
    const unread = paid_in.find((block) => memory.ring && !isRead(memory.ring, block));
    if (script === null || !unread) continue;
    const trouble = `it is paid in block ${unread.height}, which is still to be read, or on another branch`;
    short.set(script, { trouble, failed: false });
  }
  for (const [script, txids] of unconfirmed) {
    if (!lists.some((list) => list.script === null || list.script === script)) continue;
    const isMissing = [...txids].some(
      (txid) => started_at - (memory.absent.get(txid) ?? 0) < DROPPED_SECONDS,
    );
    if (isMissing)
      short.set(script, { trouble: 'a payment that was listed is missing from its list', failed: false });
  }
  for (const list of lists) if (list.script !== null && !list.complete) short.set(list.script, list);
  return short;
}

/** When the last two complete lists of each script were asked for, this reading's included. */
function timesAfter({ memory, lists }: Reading, short: ReadonlyMap<string, Short>): Map<string, ListTimes> {
  const times = new Map<string, ListTimes>();
  for (const { script, at } of lists) {
    if (script === null || short.has(script)) continue;
    const listed = times.get(script) ?? memory.list_times.get(script);
    times.set(script, { before: listed?.last ?? 0, last: at });
  }
  return times;
}

interface Proved {
  /** What is proved of all that have no proof of their own. */
  stated: number;
  short: ReadonlyMap<string, Short>;
  isListed(script: string): boolean;
  through(script: string): number;
}

/** The scripts that are proved less far or further than the rest, and those that no longer are. */
function accountsAfter(
  { memory, watched, behind, urgent, chain }: Reading,
  { stated, short, isListed, through }: Proved,
): { proofs: AccountProof[]; caught_up: AccountRef[]; ahead: Set<string> } {
  const proofs: AccountProof[] = [];
  const caught_up: AccountRef[] = [];
  const ahead = new Set<string>();
  const cannotWait = new Set(urgent);
  const prove = (script: string, { trouble, failed }: Short) =>
    proofs.push({
      address_key: script,
      chain,
      account: script,
      read_through: through(script),
      trouble,
      failed,
    });
  const drop = (script: string) => caught_up.push({ address_key: script, chain });
  for (const { key: script, open } of watched.values()) {
    const trouble = short.get(script);
    if (!open) continue;
    if (trouble) prove(script, trouble);
    else if (cannotWait.has(script) && through(script) > stated && isListed(script)) {
      prove(script, { trouble: null, failed: false });
      ahead.add(script);
    } else if (behind.has(script) && isListed(script)) {
      if (through(script) >= stated) drop(script);
      else prove(script, { trouble: 'its payments were not listed for a while', failed: false });
    } else if (cannotWait.has(script) && isListed(script) && !memory.ahead.has(script)) {
      // A proof that another process stored ahead of the rest would hold the account back from now on.
      if (through(script) >= stated) drop(script);
    }
  }
  for (const script of behind.keys()) if (!watched.get(script)?.open) drop(script);
  for (const script of memory.ahead) {
    if (ahead.has(script) || behind.has(script) || short.has(script)) continue;
    if (cannotWait.has(script) && !isListed(script)) ahead.add(script);
    else drop(script);
  }
  return { proofs, caught_up, ahead };
}
