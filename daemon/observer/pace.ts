// Spaces requests to one provider: first come, first served, never faster than the rate.
import { ProviderError } from '../../src/chains/chain.ts';
import { type Runtime, systemRuntime } from '../runtime.ts';

/** Callers that may wait at once; more means that something asks without reading the answers. */
const MAX_WAITING = 10_000;

const overrun = () => new ProviderError('rate_limited', `${MAX_WAITING} requests are waiting already`);

export interface Pace {
  /** Resolves when the caller may send one request; rejects with the reason of `close`. */
  turn(): Promise<void>;
  /** Nobody gets a turn for this long (milliseconds), those who wait already included. */
  hold(wait_ms: number): void;
  /** Rejects who waits and whoever comes later. */
  close(reason: Error): void;
}

/**
 * One request each `1 / requests_per_second` and no bursts. Measured with the monotonic timer and not with the daemon's
 * clock: the provider counts real time, whatever happens to the wall clock.
 */
export function createPace(
  requests_per_second: number,
  runtime: Pick<Runtime, 'elapsed_ms' | 'after'> = systemRuntime,
): Pace {
  const interval_ms = 1000 / requests_per_second;
  const waiting: { resolve: () => void; reject: (reason: Error) => void }[] = [];
  let free_at = 0;
  let callOff: (() => void) | undefined;
  let closed: Error | undefined;

  function serve(): void {
    callOff = undefined;
    while (waiting.length > 0) {
      const wait_ms = free_at - runtime.elapsed_ms();
      if (wait_ms > 0) {
        // Timers may fire a fraction early, and a hold may have come meanwhile: always measured again.
        callOff = runtime.after(Math.ceil(wait_ms), serve);
        return;
      }
      free_at = runtime.elapsed_ms() + interval_ms;
      waiting.shift()?.resolve();
    }
  }

  return {
    turn: () =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        if (waiting.length >= MAX_WAITING) return reject(overrun());
        waiting.push({ resolve, reject });
        if (!callOff) serve();
      }),
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
