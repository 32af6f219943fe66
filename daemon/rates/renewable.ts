// Rates that are read from elsewhere when the settings say so, without a moment in which there are none.
import { repeat } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Rates } from './rates.ts';

/** So long those of before are used, unless the new ones come sooner. */
const PATIENCE_MS = 15_000;
const ASK_MS = 200;

/** `open` reads the settings as they are. */
export function renewableRates(
  open: () => Rates,
  runtime: Pick<Runtime, 'sleep' | 'elapsed_ms'>,
): Rates & { renew(): Promise<void> } {
  let now = open();
  let next: Rates | undefined;
  const stopping = new AbortController();
  return {
    start: () => now.start(),
    rate: (currency) => now.rate(currency),
    status: () => now.status(),
    async stop() {
      stopping.abort();
      await Promise.all([now.stop(), next?.stop()]);
    },
    async renew() {
      if (stopping.signal.aborted) return;
      const ready = new AbortController();
      const until_ms = runtime.elapsed_ms() + PATIENCE_MS;
      const coming = open();
      next = coming;
      coming.start();
      await repeat(
        async () => {
          const is_there = !coming.status().stale || runtime.elapsed_ms() >= until_ms;
          if (is_there || stopping.signal.aborted) ready.abort();
          return ASK_MS;
        },
        { runtime, signal: ready.signal },
      );
      const before = now;
      now = coming;
      next = undefined;
      await before.stop();
      if (stopping.signal.aborted) await coming.stop();
    },
  };
}
