// The cursor of an EVM chain: hashes of blocks that were read, dense near the head and sparse below it.
import type { Json, Pace } from '../family.ts';
import { measurePace, type PaceSample } from '../pace.ts';

/** Newest of the blocks that were read whose hashes are all held: a size, for below them there are others at any pace. */
const DENSE = 64;
/** Of older ones, one in each power of two of seconds, up to this. */
const DEEPEST_SECONDS = 2 ** 18;
/** Heads that were the newest are stored for so long, of older ones so many that no block seems older by more than this share. */
const SEEN_SECONDS = 2 ** 13;
const SEEN_SHARE = 0.1;
/**
 * Blocks that paid, held on top of that: where they leave the chain, their payments lose their place. A size as well: what is
 * not final yet is compared on its own.
 */
const PAID = 128;

/** The time is that of the chain's own clock, Unix seconds; cursors of earlier versions have none. */
export type Held = [height: number, hash: string, time?: number];

/** A head, and when it was the newest block last, Unix seconds of our clock. */
export type Sighting = [height: number, at: number];

/** How far coins were read, where they are not read with the logs. */
export type CoinPosition = {
  height: number;
  hash: string;
  /** What is known of balances from this height on is of this branch, without a gap. */
  since: number;
  /** The block at which all balances were read last. */
  looked: Held;
};

/** How far balances were held against what final blocks show, where those are the only balances that there are. */
export type SolidPosition = {
  height: number;
  hash: string;
  /** What is known of balances from this height on is without a gap. */
  since: number;
};

export type EvmCursor = {
  /** Blocks that were read, oldest first; the last one is the head. Never empty. */
  held: Held[];
  /** Blocks with payments to watched addresses, oldest first. */
  paid: Held[];
  /** Up to this height everything was read a second time. */
  proved: number;
  /** Up to this height the network calls its blocks final … */
  final: number;
  /** … and the hash of that block; absent where the position was cut back below it, and in cursors of earlier versions. */
  final_hash?: string;
  /** What a block took when that was measured last: after a chain stood still it cannot be for a while. */
  block_seconds?: number;
  /** Heads that were read, oldest first; stored where times of blocks may be older than the blocks. */
  seen?: Sighting[];
  /** Absent where coins are not read on their own. */
  coin?: CoinPosition;
  solid?: SolidPosition;
};

const isHeld = (value: unknown): value is Held =>
  Array.isArray(value) &&
  Number.isInteger(value[0]) &&
  typeof value[1] === 'string' &&
  (value[2] === undefined || Number.isInteger(value[2]));

const isSighting = (value: unknown): value is Sighting =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);

const isPosition = ({ height, hash, since, looked }: Partial<CoinPosition>): boolean =>
  isHeld([height, hash]) && Number.isInteger(since) && isHeld(looked);

export const heldOf = ({
  height,
  hash,
  time,
}: {
  height: number;
  hash: string;
  time?: number | undefined;
}): Held => (time === undefined ? [height, hash] : [height, hash, time]);

/** The stored cursor; null before the first read. */
export function cursorOf(cursor: Json | null): EvmCursor | null {
  const whole = wholeOf(cursor);
  if (cursor !== null && !whole) throw new Error('the stored block cursor is damaged');
  return whole;
}

/** Null too where it is damaged. */
export function wholeOf(cursor: Json | null): EvmCursor | null {
  const { held, paid, proved, final, final_hash, block_seconds, seen, coin, solid } = (cursor ??
    {}) as Partial<EvmCursor>;
  const isWhole =
    Array.isArray(held) &&
    held.length > 0 &&
    Array.isArray(paid) &&
    [...held, ...paid].every(isHeld) &&
    Number.isInteger(proved) &&
    Number.isInteger(final) &&
    (final_hash === undefined || typeof final_hash === 'string') &&
    (block_seconds === undefined || block_seconds > 0) &&
    (seen === undefined || (Array.isArray(seen) && seen.every(isSighting))) &&
    (coin === undefined || isPosition(coin)) &&
    (solid === undefined || (isHeld([solid.height, solid.hash]) && Number.isInteger(solid.since)));
  return isWhole ? (cursor as EvmCursor) : null;
}

/** The height of the last block read, as stored; null where the cursor has none. */
export function cursorHeight(cursor: Json | null): number | null {
  const { held } = (cursor ?? {}) as { held?: Json };
  const head: unknown = Array.isArray(held) ? held.at(-1) : undefined;
  return isHeld(head) ? head[0] : null;
}

export const beginAt = (height: number, hash: string, time?: number): EvmCursor => ({
  held: [heldOf({ height, hash, time })],
  paid: [],
  proved: height,
  final: 0,
});

export const headOf = ({ held }: EvmCursor): Held => held.at(-1) as Held;
export const lowestOf = ({ held }: EvmCursor): number => (held[0] as Held)[0];

/** The hash held of this height; undefined where none is. */
export const hashAt = ({ held, paid }: EvmCursor, height: number): string | undefined =>
  [...held, ...paid].find(([each]) => each === height)?.[1];

/** The lowest held block above this height, which is below the head. */
export const heldAbove = ({ held }: EvmCursor, height: number): Held =>
  held.find(([each]) => each > height) as Held;

/** After reading further, up to the last of `blocks`. */
export const extended = (cursor: EvmCursor, blocks: readonly Held[], paid: readonly Held[]): EvmCursor => ({
  ...cursor,
  held: thinned([...cursor.held, ...blocks]),
  paid: withPaid(cursor.paid, paid),
});

/** With more blocks that paid, which were read before. */
export function withPaid(known: readonly Held[], more: readonly Held[]): Held[] {
  const paid = new Map([...more, ...known].map((each) => [each[0], each]));
  return [...paid.values()].sort(([one], [other]) => one - other).slice(-PAID);
}

/** After the blocks above `fork`, which is known to be on the chain, have left it. */
export function cutAt(cursor: EvmCursor, at: Held): EvmCursor {
  const { held, paid, proved, final, final_hash, block_seconds, seen, coin, solid } = cursor;
  const [fork, hash] = at;
  const below = held.filter(([height]) => height <= fork);
  const isHeld = below.at(-1)?.[0] === fork;
  const cut = coin && coin.height > fork ? fallen(coin, [fork, hash]) : coin;
  return {
    held: isHeld ? below : [...below, at],
    paid: paid.filter(([height]) => height <= fork),
    proved: Math.min(proved, fork),
    final: Math.min(final, fork),
    ...(final_hash !== undefined && final <= fork && { final_hash }),
    ...(block_seconds && { block_seconds }),
    ...(seen && { seen: sightingsBelow(seen, fork) }),
    ...(cut && { coin: cut }),
    ...(solid && { solid: solid.height > fork ? { height: fork, hash, since: fork } : solid }),
  };
}

/**
 * Further back, where blocks above `fork` count no more: to where all balances were read, if that is below, for what was
 * gained since is not known yet.
 */
export function fallen({ since, looked }: CoinPosition, fork: Held): CoinPosition {
  const [height, hash] = looked[0] < fork[0] ? looked : fork;
  return { height, hash, since: Math.min(since, height), looked: [height, hash] };
}

/**
 * With a position of coins where they begin to be read on their own, and without one where they are not. It begins where
 * logs are proved to: another daemon, whose settings do not have the coin yet, may just have read what is above.
 */
export function withCoin({ coin, solid, ...cursor }: EvmCursor, is_read: boolean): EvmCursor {
  if (!is_read) return cursor;
  const [height, hash] = cursor.held.findLast(([each]) => each <= cursor.proved) ?? headOf(cursor);
  return {
    ...cursor,
    ...(solid && { solid }),
    coin: coin ?? { height, hash, since: height, looked: [height, hash] },
  };
}

function thinned(held: readonly Held[]): Held[] {
  const [head, , now] = held.at(-1) as Held;
  const older = held.slice(0, -DENSE);
  let last_power = Number.POSITIVE_INFINITY;
  const sparse = older.filter(([height, , time]) => {
    const distance = time === undefined || now === undefined ? head - height : now - time;
    const power = Math.floor(Math.log2(Math.max(1, distance)));
    if (power === last_power || distance > DEEPEST_SECONDS) return false;
    last_power = power;
    return true;
  });
  return [...sparse, ...held.slice(-DENSE)];
}

/** Blocks that were read and whose times are known, in the order of their heights. */
const samplesOf = ({ held }: EvmCursor): PaceSample[] =>
  held.flatMap(([height, , time]) => (time === undefined ? [] : [{ height, time }]));

/** How fast blocks were made as far as the cursor goes back; null until enough was read. */
export const paceOf = (cursor: EvmCursor, usual_seconds: number): Pace | null =>
  measurePace(samplesOf(cursor), usual_seconds);

/** With the head as it is now: what was seen by a clock that was ahead counts as now. */
export function withSighting(cursor: EvmCursor, at: number): EvmCursor {
  const [head] = headOf(cursor);
  const older = (cursor.seen ?? [])
    .map(([height, time]): Sighting => [height, Math.min(time, at)])
    .filter(([height, time]) => height < head && at - time <= SEEN_SECONDS)
    .reverse();
  const seen: Sighting[] = [[head, at]];
  for (const [index, sighting] of older.entries()) {
    const [, time] = sighting;
    const [, after] = seen.at(-1) as Sighting;
    const [, before] = older[index + 1] ?? [0, Number.NEGATIVE_INFINITY];
    // Those on both sides are close to each other, so that its blocks become hardly older without it.
    if (time === after || after - before <= SEEN_SHARE * (at - time)) continue;
    seen.push(sighting);
  }
  return { ...cursor, seen: seen.reverse() };
}

/** Seconds by the time of the last head since a look that did not show a block of this height; infinite where none is known. */
export function sinceUnseen({ seen = [] }: EvmCursor, height: number): number {
  const below = seen.findLast(([each]) => each < height);
  return below ? Math.max(0, (seen.at(-1) as Sighting)[1] - below[1]) : Number.POSITIVE_INFINITY;
}

/** What was seen above a fork did not show the blocks that stand there now. */
function sightingsBelow(seen: readonly Sighting[], fork: number): Sighting[] {
  const last = seen.at(-1);
  const below = seen.filter(([height]) => height < fork);
  return last && last[0] >= fork ? [...below, [fork, last[1]]] : below;
}

/** A moment that a block was not made after: its own, or that of the next one above it whose time is known. */
export function latestTime({ held, paid }: EvmCursor, height: number): number | undefined {
  let found: Held | undefined;
  for (const each of [...held, ...paid])
    if (each[2] !== undefined && each[0] >= height && (!found || each[0] < found[0])) found = each;
  return found?.[2];
}
