// Removes what is older than the settings say: one daemon of those that share a database, in small batches with pauses.
import type { Logger } from 'pino';
import { dropLease, holdLease } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { FIRST_DUST, foldDust } from '../../data/dust.ts';
import {
  forgetAnswers,
  forgetCallers,
  merchantsWithEventsBefore,
  ROWS_AT_ONCE,
  removeClaims,
  removeEvents,
  removeLogs,
  type Stretch,
} from '../../data/retention.ts';
import { dayOf } from '../../src/dust.ts';
import { type Clock, seconds } from '../clock.ts';
import { repeat } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

const DAY_SECONDS = 86_400;
/** After a start, what is asked for first goes first. */
const FIRST_MS = 60_000;
/** From the end of one sweep to the next. */
const EVERY_MS = 6 * 3600 * 1000;
const RETRY_MS = 600_000;
/** Between two batches, for everyone else. */
const PAUSE_MS = 50;
const LEASE = 'retention';
/** Renewed with each batch; another daemon may begin so long after the one that does it has vanished. */
const LEASE_MS = 60_000;

/** What a sweep has removed. */
export interface Removed {
  events: number;
  logs: number;
  callers: number;
  claims: number;
  /** Transfers whose days were added up. */
  dust: number;
}

export interface Retention {
  /** Returns at once; without settings of `retention` nothing happens. */
  start(): void;
  /** Removes now what is old; for tests. */
  sweep(): Promise<Removed>;
  /** The batch that is under way is finished. */
  stop(): Promise<void>;
}

export interface RetentionOptions {
  config: Pick<Config, 'retention'>;
  db: Db;
  clock: Clock;
  log: Logger;
  runtime: Pick<Runtime, 'sleep' | 'uuid'>;
  /** Before the first sweep. */
  first_ms?: number;
}

export function openRetention({
  config,
  db,
  clock,
  log,
  runtime,
  first_ms = FIRST_MS,
}: RetentionOptions): Retention {
  const { events, logs, callers } = config.retention;
  const ended = new AbortController();
  const holder = runtime.uuid();
  let running: Promise<void> = Promise.resolve();
  const before = (days: number) => seconds(clock) - days * DAY_SECONDS;

  /** Between batches; false where it is over, or another daemon has the turn. */
  async function mayContinue(): Promise<boolean> {
    await runtime.sleep(PAUSE_MS, ended.signal);
    return !ended.signal.aborted && holdLease(db.query, LEASE, holder, clock.ms(), LEASE_MS);
  }

  /** Calls `batch` until it takes less than a whole one; how much it took in all. */
  async function drain(batch: () => Promise<number>): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await batch();
      removed += count;
      if (count < ROWS_AT_ONCE || !(await mayContinue())) return removed;
    }
  }

  async function sweepEvents(): Promise<number> {
    const until = before(events);
    let removed = 0;
    let after: string | null = null;
    for (;;) {
      const merchants = await merchantsWithEventsBefore(db, after, until);
      for (const id of merchants) {
        removed += await drain(() => removeEvents(db, id, until));
        if (!(await mayContinue())) return removed;
      }
      if (merchants.length < ROWS_AT_ONCE) return removed;
      after = merchants.at(-1) ?? '';
    }
  }

  /** Walks a table from its beginning, one stretch after the other; how much went in all. */
  async function walk<Place>(
    from: Place,
    stretch: (after: Place) => Promise<Stretch<Place>>,
  ): Promise<number> {
    let removed = 0;
    for (let after = from; ; ) {
      const done = await stretch(after);
      removed += done.removed;
      if (done.next === null || !(await mayContinue())) return removed;
      after = done.next;
    }
  }

  /** Days of dust before then are one sum; one that is wrong stops no other. */
  const foldAll = (): Promise<number> =>
    walk(FIRST_DUST, async (after) => {
      const folded = await foldDust(db, after, dayOf(before(logs)), seconds(clock));
      if (folded.wrong)
        log.error(
          { alert: 'dust_wrong', ...folded.wrong },
          'a day of dust is not the sum of its transfers: it stays as it is, and `gatewayd verify` names it',
        );
      return folded;
    });

  async function sweepCallers(): Promise<number> {
    const until = before(callers);
    const answers = await drain(() => forgetAnswers(db, until));
    return answers + (await walk('', (after) => forgetCallers(db, after, until)));
  }

  async function sweep(): Promise<Removed> {
    const removed: Removed = { events: 0, logs: 0, callers: 0, claims: 0, dust: 0 };
    if (!(await mayContinue())) return removed;
    try {
      if (events > 0) removed.events = await sweepEvents();
      if (logs > 0) removed.logs = await walk(0, (after) => removeLogs(db, after, before(logs)));
      if (logs > 0) removed.claims = await drain(() => removeClaims(db, before(logs)));
      if (logs > 0) removed.dust = await foldAll();
      if (callers > 0) removed.callers = await sweepCallers();
    } finally {
      await dropLease(db.query, LEASE, holder).catch(() => undefined);
    }
    if (Object.values(removed).some((count) => count > 0)) log.info(removed, 'old records removed');
    return removed;
  }

  async function run(): Promise<void> {
    await runtime.sleep(first_ms, ended.signal);
    await repeat(
      async () => {
        await sweep();
        return EVERY_MS;
      },
      {
        runtime,
        signal: ended.signal,
        onError(error) {
          log.warn({ err: error }, 'old records could not be removed; trying again');
          return RETRY_MS;
        },
      },
    );
  }

  return {
    sweep,
    start() {
      if (events + logs + callers > 0) running = run();
    },
    async stop() {
      ended.abort();
      await running;
    },
  };
}
