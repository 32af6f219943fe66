// Whether this daemon can read a blockchain through its providers: by what they answer it, so that another may read where it cannot.
import type { SteadyClock } from '../clock.ts';

/** `slow`: it answers, and too slowly to keep up. */
export type RouteState = 'ok' | 'slow' | 'dead';

/** A route is dead after this share of the time after which a blockchain is blind, and after so long at most: another still has time. */
const DEAD_SHARE = 1 / 3;
const DEAD_MOST_MS = 20_000;
/** It is slow where a reading is not done after so long, and its providers answer fewer requests a second, one after the other. */
const SLOW_READING_MS = 30_000;
const SLOW_PER_SECOND = 0.5;
/** How often its providers are asked where this daemon does not read: after something failed here, and where only others have trouble. */
const PROBE_MS = 10_000;
const CHECK_MS = 60_000;
/** It is good again after so many answers, as far apart as probes; after twice as many where it fails soon after that, up to … */
const GOOD_LEAST = 3;
const GOOD_MOST = 24;
const RELAPSE_MS = 10 * 60_000;

export interface Route {
  state(): RouteState;
  /** Since when it is not ok, monotonic milliseconds; null where it is, and where its providers answer again. */
  failingSince(): number | null;
  /** Continues what was known before a start: what was dead then is until its providers answer. */
  resume(): void;
  /** A reading begins, or a probe. */
  begins(): void;
  /** A provider gave what a reading needs. */
  answered(): void;
  /** It went well. `is_whole`: whether it left nothing to the next one. */
  ended(is_whole: boolean): void;
  /** A provider failed it. */
  failed(): void;
  /** Something else ended it: of the providers nothing is known. */
  broken(): void;
  /** Time passed while this process and its database could work, milliseconds. */
  count(passed_ms: number): void;
  /** Whether the providers should be asked now. `is_wanted`: whether someone wants to know although nothing failed here. */
  isProbeDue(is_wanted: boolean): boolean;
}

export interface RouteOptions {
  clock: Pick<SteadyClock, 'monotonic_ms'>;
  blind_after_seconds: number;
  /** How many requests the provider in use answers a second, one after the other; undefined where none does. */
  requestsPerSecond(): number | undefined;
  /** How many the settings let it be asked: who is asked rarely is not slow. */
  mostPerSecond(): number;
}

export function createRoute({
  clock,
  blind_after_seconds,
  requestsPerSecond,
  mostPerSecond,
}: RouteOptions): Route {
  const patience_ms = Math.min(DEAD_MOST_MS, blind_after_seconds * 1000 * DEAD_SHARE);
  let state: RouteState = 'ok';
  let failed_ms = 0;
  /** Whether something is to be read and was not yet; for how long nothing came; and for how long it is not done. */
  let is_open = false;
  let unanswered_ms = 0;
  let undone_ms = 0;
  /** Of the reading under way: whether anything came, and whether it began the waiting. */
  let is_answered = false;
  let is_first = false;
  let good = 0;
  let needed = GOOD_LEAST;
  let good_at = Number.NEGATIVE_INFINITY;
  let back_at = Number.NEGATIVE_INFINITY;
  let probed_at = Number.NEGATIVE_INFINITY;
  const isSlow = () =>
    (requestsPerSecond() ?? Number.POSITIVE_INFINITY) < Math.min(SLOW_PER_SECOND, mostPerSecond());

  function fail(found: 'slow' | 'dead'): void {
    if (state === 'ok') {
      const is_relapse = clock.monotonic_ms() - back_at < RELAPSE_MS;
      failed_ms = clock.monotonic_ms();
      needed = is_relapse ? Math.min(GOOD_MOST, needed * 2) : GOOD_LEAST;
    }
    state = found;
    good = 0;
  }

  /** Answers that come together are one. */
  function countGood(): void {
    const now_ms = clock.monotonic_ms();
    if (now_ms - good_at < PROBE_MS) return;
    good_at = now_ms;
    if (isSlow()) {
      fail('slow');
      return;
    }
    good++;
    if (good < needed) return;
    state = 'ok';
    undone_ms = 0;
    back_at = now_ms;
  }

  return {
    state: () => state,
    failingSince: () => (state === 'ok' || good > 0 ? null : failed_ms),
    resume: () => fail('dead'),
    begins() {
      probed_at = clock.monotonic_ms();
      is_answered = false;
      is_first = !is_open;
      if (is_open) return;
      is_open = true;
      unanswered_ms = 0;
      undone_ms = 0;
    },
    answered() {
      is_answered = true;
      unanswered_ms = 0;
      if (state !== 'ok') countGood();
    },
    ended(is_whole) {
      // Where nothing had to be asked, nothing is known of what failed before.
      if (!is_answered && !is_first) return;
      is_open = !is_whole;
      unanswered_ms = 0;
    },
    failed() {
      good = 0;
      is_first = false;
    },
    broken() {
      is_open = false;
    },
    count(passed_ms) {
      if (!is_open) return;
      unanswered_ms += passed_ms;
      undone_ms += passed_ms;
      if (unanswered_ms >= patience_ms) fail('dead');
      else if (state === 'ok' && undone_ms >= SLOW_READING_MS && isSlow()) fail('slow');
    },
    isProbeDue(is_wanted) {
      const asked_ms = clock.monotonic_ms() - probed_at;
      return is_open || state !== 'ok' ? asked_ms >= PROBE_MS : is_wanted && asked_ms >= CHECK_MS;
    },
  };
}
