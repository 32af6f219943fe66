// Whether the database can be used, as all of the daemon says it: it is read and written to again and again, so that who asks for the
// health of a daemon makes no writes.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/database.ts';
import { ConnectionLost, type DatabaseFault, faultOf } from '../../data/db/failures.ts';
import { ping } from '../../data/meta.ts';
import { tryWrite } from '../../data/write-probe.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import { repeat, settledWithin } from '../loop.ts';
import { createCauses } from './causes.ts';
import type { Runtime } from './runtime.ts';

/** How often it is tried while it works, and while it does not. */
const TRY_MS = 5_000;
const AGAIN_MS = 1_000;
/** How often it has to find new room on its disk while it works. */
const GROW_MS = 30_000;
/** A try is waited for as long as readiness waits. */
const ANSWER_MS = 3_000;
/** Busy for so long, it takes nothing: others wait for a lock for 5 s. */
const STUCK_MS = 30_000;
/** A single connection may break: the next one counts. */
const TRIES = 2;
/** At the end a try that has no answer is given so long. */
const STOP_MS = 1_000;

export interface DatabaseTrouble {
  fault: DatabaseFault;
  /** Unix seconds, and by the monotonic timer. */
  since: number;
  since_ms: number;
  /** In the database's own words. */
  reason: string;
  error: Error;
}

export interface DatabaseWatch {
  /** What is wrong with it; null where it takes writes. Asks nothing. */
  trouble(): DatabaseTrouble | null;
  /** Tries it now; calls made meanwhile share one try. Never rejects. */
  check(): Promise<void>;
  /** Something else failed: where that may be for the database, it is tried at once. */
  note(error: unknown): void;
  start(): void;
  stop(): Promise<void>;
}

export interface DatabaseWatchOptions {
  db: Db;
  clock: SteadyClock;
  log: Logger;
  runtime: Pick<Runtime, 'sleep' | 'elapsed_ms'>;
}

interface Outcome {
  fault: DatabaseFault | 'busy' | null;
  error: Error;
}

export function openDatabaseWatch({ db, clock, log, runtime }: DatabaseWatchOptions): DatabaseWatch {
  const stopping = new AbortController();
  const causes = createCauses(log, runtime);
  let trouble: DatabaseTrouble | null = null;
  let busy_since_ms: number | null = null;
  let grown_ms = Number.NEGATIVE_INFINITY;
  /** Where no answer comes, it outlives the check that began it, and there is no second one. */
  let attempt: Promise<Outcome | null> | undefined;
  let checking: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  let is_read = false;

  async function tryOnce(): Promise<void> {
    is_read = false;
    await ping(db);
    is_read = true;
    const now_ms = clock.monotonic_ms();
    const grows = trouble !== null || now_ms - grown_ms >= GROW_MS;
    await tryWrite(db, { now: seconds(clock), grows });
    if (grows) grown_ms = now_ms;
  }

  async function outcomeOf(): Promise<Outcome | null> {
    for (let tried = 1; ; tried++) {
      try {
        await tryOnce();
        return null;
      } catch (thrown) {
        const error = thrown as Error;
        const fault = faultOf(error);
        if (fault !== 'away' || tried === TRIES) return { fault, error };
      }
    }
  }

  async function checkOnce(): Promise<void> {
    attempt ??= outcomeOf().finally(() => {
      attempt = undefined;
    });
    let outcome: Outcome | null = {
      fault: 'busy',
      error: new ConnectionLost(`no answer within ${ANSWER_MS / 1000} s`),
    };
    const answered = attempt.then((found) => {
      outcome = found;
    });
    await settledWithin(ANSWER_MS, answered, runtime);
    if (!stopping.signal.aborted) conclude(outcome);
  }

  function conclude(outcome: Outcome | null): void {
    const now_ms = clock.monotonic_ms();
    if (outcome === null) {
      works(now_ms);
      return;
    }
    const { fault, error } = outcome;
    if (fault === null) {
      causes.failed('try', 'warn', { err: error }, 'whether the database takes writes is not known');
    } else if (fault !== 'busy') {
      busy_since_ms = null;
      fails({ fault, error }, now_ms);
    } else {
      busy_since_ms ??= now_ms;
      const stuck: DatabaseFault = is_read ? 'failing' : 'away';
      if (trouble === null && now_ms - busy_since_ms >= STUCK_MS) fails({ fault: stuck, error }, now_ms);
    }
  }

  function fails({ fault, error }: { fault: DatabaseFault; error: Error }, now_ms: number): void {
    const before = trouble;
    const { since, since_ms } = before ?? { since: seconds(clock), since_ms: now_ms };
    trouble = { fault, since, since_ms, reason: error.message, error };
    if (before?.fault !== fault)
      log.error(
        { alert: 'database', fault, since, reason: error.message },
        'the database cannot be used: see gatewayd doctor',
      );
  }

  function works(now_ms: number): void {
    busy_since_ms = null;
    if (trouble === null) return;
    const { fault, since_ms } = trouble;
    trouble = null;
    const lasted_seconds = Math.round((now_ms - since_ms) / 1000);
    log.warn({ alert: 'database', fault, lasted_seconds }, 'the database can be used again');
  }

  const check = () => {
    checking ??= checkOnce().finally(() => {
      checking = undefined;
    });
    return checking;
  };

  return {
    trouble: () => trouble,
    check,
    note(error) {
      const fault = faultOf(error);
      if (fault !== null && fault !== 'busy' && trouble === null && !stopping.signal.aborted) {
        grown_ms = Number.NEGATIVE_INFINITY;
        void check();
      }
    },
    start() {
      const again = async () => {
        await check();
        return trouble === null ? TRY_MS : AGAIN_MS;
      };
      running = repeat(again, { runtime, signal: stopping.signal });
    },
    async stop() {
      stopping.abort();
      await settledWithin(STOP_MS, running, runtime);
    },
  };
}
