// Spaces requests to one provider: first come, first served, never faster than the rate, which adapts to refusals.
import { ProviderError } from '../../../src/chains/family.ts';
import { type Runtime, systemRuntime } from '../../process/runtime.ts';

/** Callers that may wait at once; more means that something asks without reading the answers. */
const MAX_WAITING = 10_000;

const overrun = () => new ProviderError('rate_limited', `${MAX_WAITING} requests are already waiting`);

/** A rate that was halved grows again by a quarter after each minute without a refusal … */
const RECOVERY_MS = 60_000;
const RECOVERY_FACTOR = 1.25;
/** … and is never halved below this. */
const LEAST_PER_SECOND = 0.5;

export interface PaceOptions {
  /** What it starts with, and never exceeds. */
  requests_per_second: number;
  /** Whether refusals (429) halve the rate for a while. */
  adapts?: boolean;
}

export interface Pace {
  /**
   * Resolves when the caller may send one request, with the moment (monotonic, ms); rejects with the reason of `close`. It may
   * count as several: those who come later wait so much longer.
   */
  turn(counts_as?: number): Promise<number>;
  /** The provider refused what was sent at that moment as too much. Refusals of one rate count once. */
  refused(sent_at_ms: number): void;
  /** The rate now. */
  requestsPerSecond(): number;
  /** No one gets a turn for this long (milliseconds), those who wait already included. */
  hold(wait_ms: number): void;
  /** Rejects callers that wait and callers that come later. */
  close(reason: Error): void;
}

/**
 * One request each `1 / requests_per_second` and no bursts. Measured with the monotonic timer and not with the daemon's
 * clock: the provider counts real time, whatever happens to the wall clock.
 */
export function createPace(
  { requests_per_second: most, adapts = false }: PaceOptions,
  runtime: Pick<Runtime, 'elapsed_ms' | 'after'> = systemRuntime,
): Pace {
  let rate = most;
  /** When the rate changed last. */
  let changed_at = Number.NEGATIVE_INFINITY;
  const waiting: {
    counts_as: number;
    resolve: (sent_at_ms: number) => void;
    reject: (reason: Error) => void;
  }[] = [];
  let free_at = 0;
  let callOff: (() => void) | undefined;
  let closed: Error | undefined;

  function current(): number {
    const steps = rate < most ? Math.floor((runtime.elapsed_ms() - changed_at) / RECOVERY_MS) : 0;
    if (steps > 0) {
      rate = Math.min(most, rate * RECOVERY_FACTOR ** steps);
      changed_at += steps * RECOVERY_MS;
    }
    return rate;
  }

  function serve(): void {
    callOff = undefined;
    while (waiting.length > 0) {
      const wait_ms = free_at - runtime.elapsed_ms();
      if (wait_ms > 0) {
        // Timers may fire a fraction early, and a hold may have come meanwhile: always measured again.
        callOff = runtime.after(Math.ceil(wait_ms), serve);
        return;
      }
      const now_ms = runtime.elapsed_ms();
      const next = waiting.shift();
      free_at = now_ms + (1000 * (next?.counts_as ?? 1)) / current();
      next?.resolve(now_ms);
    }
  }

  return {
    turn: (counts_as = 1) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        if (waiting.length >= MAX_WAITING) return reject(overrun());
        waiting.push({ counts_as, resolve, reject });
        if (!callOff) serve();
      }),
    refused(sent_at_ms) {
      const is_of_now = sent_at_ms > changed_at;
      if (!adapts || !is_of_now || current() <= LEAST_PER_SECOND) return;
      rate = Math.max(LEAST_PER_SECOND, rate / 2);
      changed_at = runtime.elapsed_ms();
    },
    requestsPerSecond: current,
    hold(wait_ms) {
      free_at = Math.max(free_at, runtime.elapsed_ms() + wait_ms);
    },
    close(reason) {
      closed = reason;
      callOff?.();
      for (const { reject } of waiting.splice(0)) reject(reason);
    },
  };
}
