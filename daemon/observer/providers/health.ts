// Whether one provider may be asked now: exponential back-off with jitter after failures, reset by a success.
import type { ProviderError } from '../../../src/chains/family.ts';
import type { Clock } from '../../clock.ts';
import { RateLimited } from './http.ts';

const BACKOFF_BASE_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;

export interface Health {
  /** Unix milliseconds; null where it may be asked now. */
  backoffUntil(): number | null;
  /** The failure that it is backed off for; null where it may be asked now. */
  error(): ProviderError | null;
  /** Whether the last use failed. */
  down(): boolean;
  /** True where this begins a back-off; failures during one belong to the same outage. */
  failed(error: ProviderError): boolean;
  /** True where it was down before. */
  succeeded(): boolean;
}

/** `random` gives 0 to 1: half of the wait is jitter, so that many daemons do not return together. */
export function createHealth(clock: Clock, random: () => number): Health {
  let failures_in_a_row = 0;
  // `from` because a wall clock that was set back must not prolong it.
  let backoff: { from: number; until: number; error: ProviderError } | undefined;

  const current = () => {
    const now = clock.ms();
    return backoff && now >= backoff.from && now < backoff.until ? backoff : undefined;
  };

  return {
    backoffUntil: () => current()?.until ?? null,
    error: () => current()?.error ?? null,
    down: () => failures_in_a_row > 0,
    failed(error) {
      const before = current();
      if (!before) failures_in_a_row++;
      const from = clock.ms();
      const grown_ms = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (failures_in_a_row - 1));
      const asked_ms = error instanceof RateLimited ? (error.retry_after_ms ?? 0) : 0;
      const until = Math.round(from + Math.max(asked_ms, grown_ms * (0.5 + random() / 2)));
      if (!before || (asked_ms > 0 && until > before.until)) backoff = { from, until, error };
      return !before;
    },
    succeeded() {
      const was_down = failures_in_a_row > 0;
      failures_in_a_row = 0;
      backoff = undefined;
      return was_down;
    },
  };
}
