// When a blockchain is read next: after its pause, or sooner where a hint came, at most so often.
import type { Hint } from '../../../src/chains/family.ts';
import type { Runtime } from '../../process/runtime.ts';

/** Readings that hints bring forward: so many at once, then one each second … */
export const HINTED_AT_ONCE = 3;
export const HINTED_EACH_MS = 1_000;
/** … or fewer, so that they take at most this share of what the provider takes. */
export const HINTED_SHARE = 0.5;
/** A provider may say that something moved before it shows what: it is read again after these. */
const FOLLOW_UPS_MS = [700, 1_500];

export interface Schedule {
  /** A provider says that something happened. */
  hint(hint: Hint): void;
  /** Waits until the next reading: so long, or less where it is brought forward. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A reading has ended; `due_ms`: so long after it, what it found may be deep enough for an invoice. */
  read(found: boolean, due_ms: number | null): void;
}

export interface ScheduleOptions {
  runtime: Pick<Runtime, 'elapsed_ms' | 'sleep'>;
  /** What a reading takes, and what the provider takes a second: requests. */
  cost(): { requests: number; requests_per_second: number };
  /** A reading begins that was brought forward. */
  onForward(): void;
}

export function createSchedule({ runtime, cost, onForward }: ScheduleOptions): Schedule {
  const { elapsed_ms } = runtime;
  /** Readings left, as of a moment. */
  let left = HINTED_AT_ONCE;
  let counted_ms = elapsed_ms();
  let wanted_ms = Number.POSITIVE_INFINITY;
  let follow_ups: readonly number[] = [];
  let woken = new AbortController();

  const eachMs = () => {
    const { requests, requests_per_second } = cost();
    return Math.max(HINTED_EACH_MS, (requests * 1000) / (requests_per_second * HINTED_SHARE));
  };

  /** The earliest moment of the next reading that a hint may bring forward. */
  function allowed(): number {
    const now = elapsed_ms();
    const each_ms = eachMs();
    left = Math.min(HINTED_AT_ONCE, left + (now - counted_ms) / each_ms);
    counted_ms = now;
    return left >= 1 ? now : now + (1 - left) * each_ms;
  }

  function want(at_ms: number): void {
    const at = Math.max(at_ms, allowed());
    if (at >= wanted_ms) return;
    wanted_ms = at;
    woken.abort();
  }

  return {
    hint(hint) {
      if (hint === 'moved') follow_ups = FOLLOW_UPS_MS;
      want(elapsed_ms());
    },
    async sleep(ms, signal) {
      const until_ms = elapsed_ms() + ms;
      for (;;) {
        const now = elapsed_ms();
        const next_ms = Math.min(until_ms, wanted_ms);
        if (signal?.aborted || now >= next_ms) break;
        woken = new AbortController();
        const end = () => woken.abort();
        signal?.addEventListener('abort', end, { once: true });
        await runtime.sleep(Math.ceil(next_ms - now), woken.signal);
        signal?.removeEventListener('abort', end);
      }
      // What was hinted at until now, the reading that begins now sees.
      if (wanted_ms === Number.POSITIVE_INFINITY || signal?.aborted) return;
      if (wanted_ms <= elapsed_ms()) {
        left--;
        onForward();
      }
      wanted_ms = Number.POSITIVE_INFINITY;
    },
    read(found, due_ms) {
      const [next_ms, ...later] = follow_ups;
      follow_ups = found ? [] : later;
      if (!found && next_ms !== undefined) want(elapsed_ms() + next_ms);
      if (due_ms !== null) want(elapsed_ms() + due_ms);
    },
  };
}
