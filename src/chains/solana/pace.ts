// How fast slots pass, measured from the tips that were read, and how old such a tip is at least.
import type { Pace, Tip } from '../family.ts';
import { measurePace, type PaceSample } from '../pace.ts';

/** What is measured of one blockchain; times are Unix seconds of the chain's clock. */
export interface SlotPace {
  /** Tips, oldest first: with slots for heights. */
  tips: readonly PaceSample[];
  measured: Pace | null;
  /** By how many slots the newest one was ahead of a tip when that was read. */
  lags: readonly { slots: number; time: number }[];
  /** Seconds for one slot by a node's own count, until the tips tell; null where it gave none. */
  counted: number | null;
}

export const newSlotPace = (): SlotPace => ({ tips: [], measured: null, lags: [], counted: null });

/** What a slot takes since Alpenglow by the plans of the network. */
export const SLOT_SECONDS = 0.2;
/** Two tips must be so far apart to count: chains date by whole seconds. */
const APART_SECONDS = 15;
const HOUR_SECONDS = 3600;
/** How often it is asked how old a tip is. */
const LAG_EVERY_SECONDS = 600;
/** The freshest tip of an hour is not older than this by any measure: a node may name any slot. */
const LAG_MOST_SECONDS = 20;
/** What a slot takes at least and at most; without a measure it counts as the least, by which seconds are never too few slots. */
const SLOT_LEAST_SECONDS = 0.01;
const SLOT_MOST_SECONDS = 10;

/** Takes a tip; returns the pace where something new was measured. */
export function takeTip(pace: SlotPace, { height, time }: Tip): Pace | null {
  const last = pace.tips.at(-1);
  // A replica that is behind is older as well; one that is not contradicts the tips before.
  if (last && height < last.height && time > last.time) pace.tips = [];
  if (last && (time - last.time < APART_SECONDS || height <= last.height)) return null;
  pace.tips = [...pace.tips.filter((tip) => time - tip.time <= HOUR_SECONDS), { height, time }];
  const measured = measurePace(pace.tips, SLOT_SECONDS);
  pace.measured = measured ?? pace.measured;
  return measured;
}

const bounded = (seconds: number): number =>
  Math.min(SLOT_MOST_SECONDS, Math.max(SLOT_LEAST_SECONDS, seconds));

/** Rather less than it is, where nothing tells. */
const slotSeconds = ({ measured, counted }: SlotPace): number =>
  measured?.recent_seconds ?? bounded(counted ?? 0);

/** Slots that pass in so many seconds; rather more than less. */
export const slotsIn = (pace: SlotPace, seconds: number): number => Math.ceil(seconds / slotSeconds(pace));

/** Whether a node has to be asked how fast slots pass. */
export const isUncounted = ({ measured, counted }: SlotPace): boolean =>
  measured === null && counted === null;

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
