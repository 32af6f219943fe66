// How fast masterchain blocks come, by the tips of earlier readings.
import type { Pace, Tip } from '../family.ts';
import { measurePace, type PaceSample } from '../pace.ts';

/** Between two blocks, since 2026-04-09; before, it was four to five. */
export const MASTERCHAIN_SECONDS = 0.4;
/** Seconds between two tips that are cached, and for how long: times are whole seconds, and blocks a fraction of one. */
const APART_SECONDS = 15;
const CACHED_SECONDS = 3_600;

/** Takes a tip of a reading. What was measured; null where it tells nothing new, and until so much was read. */
export function notePace(tips: PaceSample[], { height, time }: Tip, usual_seconds: number): Pace | null {
  const last = tips.at(-1);
  if (last && height <= last.height) {
    // A replica that is behind is older as well; one that is not contradicts what was known before, and nothing is known.
    if (height < last.height && time > last.time) tips.length = 0;
    return null;
  }
  if (last && time - last.time < APART_SECONDS) return null;
  tips.push({ height, time });
  while ((tips[0]?.time ?? time) < time - CACHED_SECONDS) tips.shift();
  return measurePace(tips, usual_seconds);
}
