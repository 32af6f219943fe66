// The end of a daemon: what is in flight is answered, what hangs is interrupted, and all of it takes at most 10 s.
import type { Db } from '../../data/db/open.ts';
import { settledWithin, type Waits } from '../loop.ts';
import type { RunningApp } from './app.ts';
import { systemRuntime } from './runtime.ts';
import type { Serving } from './serve.ts';

/** Since the signal: statements that run for too long are cancelled from then on, … */
const INTERRUPT_MS = 5_000;
/** … so often, … */
const INTERRUPT_EACH_MS = 250;
/** … where they have run for so long. */
const STATEMENT_MS = 1_000;
/** The database has so long to close its connections. */
const CLOSE_DATABASE_MS = 500;
/** Whatever hangs, the process ends by then. */
export const STOP_DEADLINE_MS = 9_700;

/** Stops a daemon that serves; the database is closed where it answers. */
export async function stopDaemon({
  serving,
  app,
  db,
  waits,
}: {
  serving: Pick<Serving, 'stop'>;
  app: Pick<RunningApp, 'stop' | 'instance'>;
  db: Pick<Db, 'interrupt' | 'close'>;
  /** Names what has not ended yet. */
  waits: Waits;
}): Promise<void> {
  const ended = new AbortController();
  app.instance.leave();
  const answered = waits.on('requests', serving.stop());
  const interrupting = interruptUntil(db, ended.signal);
  try {
    await Promise.all([answered, app.stop(answered, waits)]);
  } finally {
    ended.abort();
    await interrupting;
    await settledWithin(CLOSE_DATABASE_MS, db.close(), systemRuntime);
  }
}

async function interruptUntil(db: Pick<Db, 'interrupt'>, signal: AbortSignal): Promise<void> {
  await systemRuntime.sleep(INTERRUPT_MS, signal);
  while (!signal.aborted) {
    await db.interrupt(STATEMENT_MS);
    await systemRuntime.sleep(INTERRUPT_EACH_MS, signal);
  }
}
