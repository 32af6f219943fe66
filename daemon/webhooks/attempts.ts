// The attempts under way in this daemon: each is sent once, and how it ended is recorded.
import type { Logger } from 'pino';
import { isBusy, isUnusable } from '../../data/db/failures.ts';
import type { Db } from '../../data/db/open.ts';
import { type DeliveryStatus, finishDelivery, type PendingDelivery } from '../../data/deliveries.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Runtime } from '../process/runtime.ts';
import type { HttpOut } from './egress.ts';
import { type AttemptResult, sendWebhook } from './send.ts';

/** Some five minutes in all: a database that is restarted, or moved to another machine, is back by then. */
const RECORD_TRIES = 64;
/** Doubles after each try … */
const RECORD_WAIT_MS = 200;
/** … up to this. */
const RECORD_LONGEST_WAIT_MS = 5_000;
/** Once the daemon is ending: 1 s in all. */
const LAST_RECORD_TRIES = 3;

/** How one attempt ended; `error` is null when it arrived. */
export interface DeliveryOutcome {
  id: string;
  event_id: string;
  status: DeliveryStatus;
  http_status: number | null;
  error: string | null;
  duration_ms: number;
}

/** What a merchant's webhooks are signed with: nothing where it set none, and `unreadable` where it cannot be opened. */
export type Secret = { text: string | null } | 'unreadable';

export interface Attempts {
  /** To be read before an attempt is claimed: rejects where the database is away, and then nothing may be given up. */
  secretOf(merchant_id: string | null): Promise<Secret>;
  /** Sends what this daemon has claimed. Rejects only where the outcome could not be recorded. */
  start(delivery: PendingDelivery, secret: Secret): Promise<DeliveryOutcome>;
  /** Ids of the deliveries under way. */
  alive(): string[];
  /** Waits for all that are under way, then interrupts those that are left: they end as `unknown`. */
  finish(patience_ms: number): Promise<void>;
}

export interface AttemptsOptions {
  db: Db;
  log: Logger;
  clock: Clock;
  http: HttpOut;
  instance_id: string;
  user_agent: string;
  secretOf(merchant_id: string): Promise<string | null>;
  runtime: Runtime;
}

export function openAttempts(options: AttemptsOptions): Attempts {
  const { db, log, clock, instance_id, runtime } = options;
  const active = new Map<string, Promise<DeliveryOutcome>>();
  const interrupts = new Set<AbortController>();
  const ending = new AbortController();

  const secretOf = async (merchant_id: string | null): Promise<Secret> => {
    try {
      return { text: merchant_id === null ? null : await options.secretOf(merchant_id) };
    } catch (error) {
      if (isBusy(error) || isUnusable(error)) throw error;
      log.error({ err: error, merchant_id }, 'webhook secret cannot be read');
      return 'unreadable';
    }
  };

  const send = async (
    delivery: PendingDelivery,
    secret: Secret,
    signal: AbortSignal,
  ): Promise<AttemptResult> => {
    // Unsigned it would be taken for a forgery, so nothing is sent.
    if (secret === 'unreadable')
      return { status: 'failed', http_status: null, error: 'the webhook secret cannot be read' };
    const timestamp = seconds(clock);
    return sendWebhook(options.http, {
      ...delivery,
      secret: secret.text,
      timestamp,
      user_agent: options.user_agent,
      signal,
    });
  };

  /** A database that is away for a moment must not turn a known answer into an unknown one. */
  const record = async (id: string, result: AttemptResult & { duration_ms: number }): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        const finished = { id, instance_id, ...result, finished_at: seconds(clock) };
        return await db.transaction((tx) => finishDelivery(tx, finished));
      } catch (error) {
        if (tries >= (ending.signal.aborted ? LAST_RECORD_TRIES : RECORD_TRIES)) throw error;
        const pause = Math.min(RECORD_WAIT_MS * 2 ** (tries - 1), RECORD_LONGEST_WAIT_MS);
        const { signal } = ending;
        // The end of the daemon cuts a pause short, and the last tries have theirs whole.
        await (signal.aborted ? runtime.sleep(pause) : runtime.sleep(pause, signal));
      }
    }
  };

  const run = async (delivery: PendingDelivery, secret: Secret): Promise<DeliveryOutcome> => {
    const { id, event_id } = delivery;
    const interrupt = new AbortController();
    if (ending.signal.aborted) interrupt.abort();
    interrupts.add(interrupt);
    try {
      const began = runtime.elapsed_ms();
      const verdict = await send(delivery, secret, interrupt.signal);
      const result = { ...verdict, duration_ms: Math.round(runtime.elapsed_ms() - began) };
      await record(id, result);
      log.info({ event_id, delivery_id: id, ...result }, 'webhook sent');
      return { id, event_id, ...result };
    } finally {
      interrupts.delete(interrupt);
    }
  };

  return {
    secretOf,
    start(delivery, secret) {
      const done = run(delivery, secret).finally(() => active.delete(delivery.id));
      active.set(delivery.id, done);
      return done;
    },
    alive: () => [...active.keys()],
    async finish(patience_ms) {
      const all = Promise.allSettled(active.values());
      const patience = new AbortController();
      const timer = runtime.sleep(patience_ms, patience.signal);
      await Promise.race([all, timer]);
      patience.abort();
      ending.abort();
      for (const interrupt of interrupts) interrupt.abort();
      await all;
    },
  };
}
