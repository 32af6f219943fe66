// How fast a chain makes blocks, measured over headers that were read: what is meant in seconds is counted in blocks by it.
import type { Pace } from './family.ts';

/** A block that was read, and its time: Unix seconds of the chain's own clock. */
export interface PaceSample {
  height: number;
  time: number;
}

/** Times are whole seconds and blocks may be a fraction of one: what is measured is a span, never two neighbours. */
const SPAN_SECONDS = 15;
const HOUR_SPAN_SECONDS = 150;
/** Spans that the last minutes are made of; with fewer than the least nothing is known yet. */
const RECENT_SPANS = 20;
const LEAST_SPANS = 5;
const HOUR_SECONDS = 3_600;
/** Of an hour, what must have been read before it is one. */
const LEAST_HOUR_SECONDS = 1_800;
/** Whatever headers say, no chain is so many times faster or slower than is known of it. */
const MOST_TIMES = 32;

/**
 * Null until so much was read. A median: neither a chain that stood still once nor one header with a wrong time moves it.
 * `samples`: in the order of their heights. `usual_seconds`: what a block takes by the configuration.
 */
export function measurePace(samples: readonly PaceSample[], usual_seconds: number): Pace | null {
  const recent = spansOf(samples, SPAN_SECONDS).slice(-RECENT_SPANS);
  if (recent.length < LEAST_SPANS) return null;
  const newest = samples.at(-1)?.time ?? 0;
  const within = samples.filter(({ time }) => newest - time <= HOUR_SECONDS);
  const is_hour = newest - (within[0]?.time ?? newest) >= LEAST_HOUR_SECONDS;
  const hour = is_hour ? spansOf(within, HOUR_SPAN_SECONDS) : [];
  const bounded = (seconds: number) =>
    Math.min(usual_seconds * MOST_TIMES, Math.max(usual_seconds / MOST_TIMES, seconds));
  return {
    recent_seconds: bounded(median(recent)),
    hour_seconds: hour.length < LEAST_SPANS ? null : bounded(median(hour)),
  };
}

/** Seconds for one block in each of the spans that are at least so long, oldest first. */
function spansOf(samples: readonly PaceSample[], least_seconds: number): number[] {
  const spans: number[] = [];
  let end = samples.at(-1);
  for (const sample of samples.toReversed()) {
    if (!end || end.time - sample.time < least_seconds) continue;
    if (end.height > sample.height) spans.push((end.time - sample.time) / (end.height - sample.height));
    end = sample;
  }
  return spans.reverse();
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
