// How fast slots pass, measured from the tips that were read, and how old such a tip is at least.
import type { Pace, Tip } from '../family.ts';

/** What is measured of one blockchain; times are Unix seconds of the chain's clock. */
export interface SlotPace {
  /** Tips, oldest first. */
  tips: { slot: number; time: number }[];
  /** By how many slots the newest one was ahead of a tip when that was read. */
  lags: { slots: number; time: number }[];
  /** Seconds for one slot by a node's own count, until the tips tell; null where it gave none. */
  counted: number | null;
}

export const newSlotPace = (): SlotPace => ({ tips: [], lags: [], counted: null });

/** Two tips must be so far apart to count: chains date by whole seconds. */
const APART_SECONDS = 20;
/** The recent pace is of so long, the other one of an hour. */
const RECENT_SECONDS = 300;
const HOUR_SECONDS = 3600;
/** Stretches from which a recent pace is taken. */
const RECENT_LEAST = 2;
/** How often it is asked how old a tip is. */
const LAG_EVERY_SECONDS = 600;
/** The freshest tip of an hour is not older than this by any measure: a node may name any slot. */
const LAG_MOST_SECONDS = 20;
/**
 * What a slot may take at least and at most; without a measure it counts as the least, by which seconds are never too few
 * slots. Plans of the network end at 0.2 seconds.
 */
const SLOT_LEAST_SECONDS = 0.01;
const SLOT_MOST_SECONDS = 10;

/** Takes a tip; returns the pace where something new was measured. */
export function takeTip(pace: SlotPace, { height: slot, time }: Tip): Pace | undefined {
  const last = pace.tips.at(-1);
  // Of two replicas one may be behind.
  if (last && (time - last.time < APART_SECONDS || slot <= last.slot)) return undefined;
  pace.tips = [...pace.tips.filter((tip) => time - tip.time <= HOUR_SECONDS), { slot, time }];
  const recent_seconds = recentPace(pace);
  if (recent_seconds === null) return undefined;
  const [first] = pace.tips;
  const is_hour = first !== undefined && time - first.time > HOUR_SECONDS - RECENT_SECONDS;
  return { recent_seconds, hour_seconds: is_hour ? medianOf(pace.tips) : null };
}

/** Seconds for one slot over the last minutes; null before they were measured. */
function recentPace({ tips }: SlotPace): number | null {
  const newest = tips.at(-1)?.time ?? 0;
  const recent = tips.filter(({ time }) => newest - time <= RECENT_SECONDS);
  return recent.length > RECENT_LEAST ? medianOf(recent) : null;
}

function medianOf(tips: SlotPace['tips']): number {
  const paces = tips
    .slice(1)
    .map(({ slot, time }, at) => (time - (tips[at]?.time ?? time)) / (slot - (tips[at]?.slot ?? 0)));
  return bounded(paces.sort((one, other) => one - other)[Math.floor(paces.length / 2)] ?? 0);
}

const bounded = (seconds: number): number =>
  Math.min(SLOT_MOST_SECONDS, Math.max(SLOT_LEAST_SECONDS, seconds));

/** Rather less than it is, where nothing tells. */
const slotSeconds = (pace: SlotPace): number => recentPace(pace) ?? bounded(pace.counted ?? 0);

/** Slots that pass in so many seconds; rather more than less. */
export const slotsIn = (pace: SlotPace, seconds: number): number => Math.ceil(seconds / slotSeconds(pace));

/** Whether a node has to be asked how fast slots pass. */
export const isUncounted = (pace: SlotPace): boolean => pace.counted === null && recentPace(pace) === null;

/** Whether it is time to ask again how old tips are. */
export const isLagDue = ({ lags }: SlotPace, time: number): boolean => {
  const last = lags.at(-1);
  return !last || Math.abs(time - last.time) >= LAG_EVERY_SECONDS;
};

/** Takes the newest slot that the provider had right after a tip. */
export function takeLag(pace: SlotPace, { height, time }: Tip, newest: number): void {
  const slots = Math.max(0, newest - height);
  pace.lags = [...pace.lags.filter((lag) => time - lag.time <= HOUR_SECONDS), { slots, time }];
}

/** How old the freshest tip of the last hour was when it was read: in whole seconds, and rather less than more. */
export function tipAge(pace: SlotPace): number {
  if (pace.lags.length === 0) return 0;
  const slots = Math.min(...pace.lags.map((lag) => lag.slots));
  return Math.min(LAG_MOST_SECONDS, Math.floor(slots * slotSeconds(pace)));
}
