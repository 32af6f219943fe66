// Where the reading of one Solana account stands, and whether its transactions follow on from each other.
import * as z from 'zod';
import type { Json } from '../family.ts';

/**
 * How long before the newest transaction all are recorded by name: a node may list one late, and lists those of one slot in
 * no fixed order. One that is later still and changed the balance is found all the same, because nothing before a missing
 * transaction is ever dropped.
 */
export const OVERLAP_SECONDS = 200;
/** Transactions recorded by name; of a busier account the overlap is shorter. */
const RECENT_LIMIT = 500;
/** With so many times the limit behind a transaction that is missing, reading continues after it, unproved. */
const CROWDED = 2;

/**
 * A transaction by name and slot, with what the account held before and after it. Null: it failed, and moved nothing but a
 * fee, if this account paid it. With neither, nothing is known of its balances.
 */
const knownSchema = z.union([
  z.tuple([z.string(), z.int(), z.string(), z.string()]),
  z.tuple([z.string(), z.int(), z.null()]),
  z.tuple([z.string(), z.int()]),
]);

const cursorSchema = z.object({
  /** From when on the address is watched, Unix seconds. */
  since: z.int(),
  /** What the account held when reading began, and in which slot: every balance since must be explained from here. */
  base: z.tuple([z.int(), z.string()]).nullable(),
  /** What it held before the first transaction of the floor or later; null until the floor is past the base. */
  held: z.string().nullable(),
  /** Nothing before this slot is listed again. */
  floor: z.int(),
  /** The newest signature known from before the floor. */
  anchor: z.string().nullable(),
  /** What was read since the floor, by slot. */
  recent: z.array(knownSchema),
  /** Listed, and not to be read so far: signature, slot, block time. */
  unread: z.array(z.tuple([z.string(), z.int(), z.int().nullable()])),
  /** The balance when it was read last; another one makes it read again. */
  seen: z.string().nullable(),
  /** Everything before this moment is read, Unix seconds of the chain's clock; null before the first proof. */
  through: z.int().nullable(),
  /** More is listed than was read. */
  behind: z.boolean(),
  /** To be listed again at this time of the chain's clock although the balance is the same. */
  again_at: z.int().nullable(),
  /** Since when the balance is not explained, Unix seconds of the chain's clock. */
  gap_at: z.int().nullable(),
  /** Reading continued after a transaction that is missing: only reading all of it again can prove anything. */
  skipped: z.boolean(),
  /** When all of it was read again last. */
  reread_at: z.int().nullable(),
  /**
   * Null once a transaction has shown that it held so much before the first that was read; before that, when it was listed
   * first, Unix seconds of the chain's clock, 0 before.
   */
  unshown_at: z.int().nullable().default(null),
});

export type Known = z.infer<typeof knownSchema>;
export type AccountCursor = z.infer<typeof cursorSchema>;

/** What the node says that an account holds, as of a slot. */
export interface Observed {
  amount: string;
  slot: number;
}

/** Of an account never read. */
export const newCursor: AccountCursor = {
  since: 0,
  base: null,
  held: null,
  floor: 0,
  anchor: null,
  recent: [],
  unread: [],
  seen: null,
  through: null,
  behind: false,
  again_at: null,
  gap_at: null,
  skipped: false,
  reread_at: null,
  unshown_at: null,
};

/** As it was stored before balances were compared transaction by transaction. */
const formerSchema = z.object({
  amount: z.string().nullable(),
  floor: z.int(),
  anchor: z.string().nullable(),
  recent: z.array(z.tuple([z.string(), z.int()])),
});

/** The cursor as stored; one that cannot be read counts as none, which costs requests but no payment. */
export function parseCursor(stored: Json | undefined): AccountCursor | undefined {
  const current = cursorSchema.safeParse(stored);
  if (current.success) return current.data;
  const former = formerSchema.safeParse(stored);
  if (!former.success) return undefined;
  const { amount, ...place } = former.data;
  return { ...newCursor, ...place, seen: amount };
}

/** The cursor for an address watched since then: what it held while no one watched it needs no explanation. */
export function watchedSince(cursor: AccountCursor, since: number): AccountCursor {
  if (since === cursor.since) return cursor;
  const { floor, anchor, recent } = cursor;
  // What is older than the cursor was never asked for.
  if (since < cursor.since) return { ...newCursor, since };
  const named = recent.map(([signature, slot]): Known => [signature, slot]);
  return { ...newCursor, since, floor, anchor, recent: named };
}

/** The cursor with which everything is read again, up from the balance that reading began with. */
export const readAgain = (cursor: AccountCursor, time: number): AccountCursor => ({
  ...newCursor,
  since: cursor.since,
  base: cursor.base,
  seen: cursor.seen,
  through: cursor.through,
  gap_at: cursor.gap_at,
  reread_at: time,
  unshown_at: cursor.unshown_at,
});

/** The cursor with these transactions added, whatever their order. */
export const withRead = (cursor: AccountCursor, read: readonly Known[]): AccountCursor => {
  const names = new Set(read.map(([signature]) => signature));
  const others = cursor.recent.filter(([signature]) => !names.has(signature));
  return { ...cursor, recent: [...others, ...read].sort(([, one], [, other]) => one - other) };
};

interface Followed {
  /** What the account held before the first of them; null where nothing says it. */
  start: string | null;
  /** Each slot with the balance after it, oldest first, as far as they follow on from each other. */
  slots: [slot: number, held: string][];
  /** The first slot that does not follow on; null where all do. */
  broken_slot: number | null;
}

/** Goes from balance to balance through all transactions before slot `end`. */
export function follow({ base, held, recent }: AccountCursor, end = Number.POSITIVE_INFINITY): Followed {
  const groups = changesBySlot(recent, end);
  const first = groups[0];
  // What is older than the base leads up to it, from wherever it began.
  const leads_up = held === null && base !== null && first !== undefined && first[0] <= base[0];
  const start = held ?? (base && !leads_up ? base[1] : first ? startOf(first[1]) : null);
  const slots: Followed['slots'] = [];
  let balance = start;
  let broken_slot: number | null = null;
  for (const [slot, changes] of groups) {
    const after = balance === null ? undefined : afterSlot(balance, changes);
    if (after === undefined) {
      broken_slot = slot;
      break;
    }
    slots.push([slot, after]);
    balance = after;
  }
  const followed = { start, slots, broken_slot };
  if (!leads_up || end <= base[0] || broken_slot === first[0]) return followed;
  // Transactions that follow on across the base outweigh it: what it was taken from was wrong.
  const is_passed = (slots.at(-1)?.[0] ?? 0) > base[0];
  return is_passed || heldAt(followed, groups, base[0]).has(base[1])
    ? followed
    : { ...followed, broken_slot: broken_slot ?? base[0] };
}

/** What may have been observed as of a slot: the balance after the last slot before it, and all balances in it. */
function heldAt(
  { start, slots }: Followed,
  groups: readonly SlotChanges[],
  slot: number,
): Set<string | null> {
  const in_slot = groups.find(([each]) => each === slot)?.[1] ?? [];
  const before = slots.findLast(([each]) => each < slot)?.[1] ?? start;
  return new Set([before, ...in_slot.flat()]);
}

type Change = readonly [before: string, after: string];
/** No balance: where the path through them begins. */
const NOWHERE = '';
type SlotChanges = readonly [slot: number, changes: readonly Change[]];

function changesBySlot(recent: readonly Known[], end: number): SlotChanges[] {
  const changes = recent.flatMap(([, slot, before, after]): [number, Change][] =>
    slot >= end || before == null || after === undefined ? [] : [[slot, [before, after]]],
  );
  return [...grouped(changes)];
}

/** The values of each key, in their order. */
function grouped<K, V>(pairs: readonly (readonly [K, V])[]): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** How often each balance is left more often than it is reached. */
function surplus(changes: readonly Change[]): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (balance: string, by: number) => counts.set(balance, (counts.get(balance) ?? 0) + by);
  for (const [before, after] of changes) {
    add(before, 1);
    add(after, -1);
  }
  return counts;
}

/** What was held before the transactions of one slot; where they lead back to it, before the one listed as the oldest. */
function startOf(changes: readonly Change[]): string | null {
  const left = [...surplus(changes)].find(([, count]) => count > 0);
  return left?.[0] ?? changes[0]?.[0] ?? null;
}

/**
 * What is held after the transactions of one slot, in whatever order they ran; undefined where in no order each begins with
 * what the one before it left. That is a path through all of them: every balance is left as often as it is reached, but
 * for the two ends, and all of them are reached.
 */
function afterSlot(start: string, changes: readonly Change[]): string | undefined {
  const ends = [...surplus([...changes, [NOWHERE, start]])].filter(
    ([balance, count]) => count !== 0 && balance !== NOWHERE,
  );
  const [[end, count] = ['', 0]] = ends;
  if (ends.length !== 1 || count !== -1) return undefined;
  const from = grouped(changes);
  const reached = new Set([start]);
  for (const balance of reached) for (const after of from.get(balance) ?? []) reached.add(after);
  return changes.every(([before]) => reached.has(before)) ? end : undefined;
}

/** Slots that stand for seconds at the pace of now. */
export interface Spans {
  /** So many before the newest transaction are recorded by name. */
  overlap: number;
  /** What is missing before this slot is not just late. */
  settled: number;
}

/**
 * Drops what is older than the overlap, up to where a transaction is missing or unread, or to slot `end`. Where too much
 * is recorded because of one missing before slot `settled`, that one is skipped: nothing is proved any more.
 */
export function fold(cursor: AccountCursor, end: number, { overlap, settled }: Spans): AccountCursor {
  const { recent } = cursor;
  const followed = follow(cursor, end);
  const unread = Math.min(...cursor.unread.map(([, slot]) => slot));
  // What is missing may belong into the last slot that still follows on.
  const last = followed.broken_slot === null ? end : (followed.slots.at(-1)?.[0] ?? cursor.floor);
  const bound = Math.min(end, last, unread);
  const newest = recent.at(-1)?.[1] ?? 0;
  const crowded = recent.at(-RECENT_LIMIT)?.[1] ?? 0;
  const floor = Math.min(bound, Math.max(newest - overlap, crowded));
  const folded = cutAt({ ...cursor, held: heldBefore(cursor, followed, floor) }, floor);
  if (folded.recent.length <= CROWDED * RECENT_LIMIT || bound >= Math.min(end, settled)) return folded;
  const skipped = cutAt(cursor, Math.min(end, crowded));
  const first = changesBySlot(skipped.recent, Number.POSITIVE_INFINITY)[0]?.[1] ?? [];
  return { ...skipped, held: startOf(first), skipped: true };
}

function heldBefore({ base, held }: AccountCursor, { slots }: Followed, floor: number): string | null {
  const passed = slots.findLast(([slot]) => slot < floor);
  return passed?.[1] ?? held ?? (base && base[0] < floor ? base[1] : null);
}

function cutAt(cursor: AccountCursor, floor: number): AccountCursor {
  const left = cursor.recent.filter(([, slot]) => slot < floor);
  return {
    ...cursor,
    floor: Math.max(cursor.floor, floor),
    anchor: left.at(-1)?.[0] ?? cursor.anchor,
    recent: cursor.recent.slice(left.length),
  };
}

/**
 * What all that was read amounts to as of the slot in which the balance was observed, and whether that is the balance:
 * then nothing is missing. What was read of later slots has its turn with the next balance.
 */
export function explain(
  cursor: AccountCursor,
  { amount, slot }: Observed,
): { held: string | null; is_explained: boolean } {
  const followed = follow(cursor);
  const groups = changesBySlot(cursor.recent, Number.POSITIVE_INFINITY);
  const { slots, broken_slot } = followed;
  const is_broken = broken_slot !== null && broken_slot <= slot;
  const held = slots.findLast(([each]) => each <= slot)?.[1] ?? followed.start;
  return { held, is_explained: !is_broken && heldAt(followed, groups, slot).has(amount) };
}
