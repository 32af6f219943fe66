// One line in the log for each cause in place of one for each try: when it begins, now and then with a count, and when it is over.
import type { Logger } from 'pino';
import type { Runtime } from './runtime.ts';

/** How often a failure that lasts is logged again. */
const AGAIN_MS = 5 * 60_000;
/** What did not fail for so long begins again with its next failure. */
const FORGOTTEN_MS = 2 * AGAIN_MS;

export interface Causes {
  /** A try failed: logged where its cause is new, and each five minutes with how often it failed since the last line. */
  failed(cause: string, level: 'warn' | 'error', fields: object, message: string): void;
  /** It works again; logged where it had failed, with how often and for how long. */
  over(cause: string, fields: object, message: string): void;
}

interface Failing {
  since_ms: number;
  logged_ms: number;
  last_ms: number;
  failures: number;
  unlogged: number;
}

/** `cause` is a name of ours, of which there are few: a provider, a loop. */
export function createCauses(log: Logger, { elapsed_ms }: Pick<Runtime, 'elapsed_ms'>): Causes {
  const failing = new Map<string, Failing>();
  const seconds = (ms: number) => Math.round(ms / 1000);
  return {
    failed(cause, level, fields, message) {
      const now_ms = elapsed_ms();
      const known = failing.get(cause);
      if (!known || now_ms - known.last_ms >= FORGOTTEN_MS) {
        const begun = { since_ms: now_ms, logged_ms: now_ms, last_ms: now_ms, failures: 1, unlogged: 0 };
        failing.set(cause, begun);
        log[level](fields, message);
        return;
      }
      known.failures++;
      known.unlogged++;
      known.last_ms = now_ms;
      if (now_ms - known.logged_ms < AGAIN_MS) return;
      const counted = { failures: known.unlogged, failing_seconds: seconds(now_ms - known.since_ms) };
      log[level]({ ...fields, ...counted }, message);
      known.logged_ms = now_ms;
      known.unlogged = 0;
    },
    over(cause, fields, message) {
      const known = failing.get(cause);
      if (!known) return;
      failing.delete(cause);
      const { failures, since_ms } = known;
      log.info({ ...fields, failures, failing_seconds: seconds(elapsed_ms() - since_ms) }, message);
    },
  };
}
