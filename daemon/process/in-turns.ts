// Does work in steps, and lets everything else have its turn before this thread has been held for long.
import type { Steps } from '../../src/chains/steps.ts';
import type { Runtime } from './runtime.ts';

/** For so long at most, the last step aside. Several such works may go before one that waits. */
const HELD_MS = 5;

export async function inTurns<T>(steps: Steps<T>, runtime: Pick<Runtime, 'elapsed_ms' | 'turn'>): Promise<T> {
  for (let began_at = runtime.elapsed_ms(); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (runtime.elapsed_ms() - began_at < HELD_MS) continue;
    await runtime.turn();
    began_at = runtime.elapsed_ms();
  }
}
