// The attempts under way in this daemon: each is sent once, and how it ended is recorded.
import type { Logger } from 'pino';
import { isBusy, isUnusable } from '../../data/db/failures.ts';
import type { Db } from '../../data/db/open.ts';
import {
  type DeliveryStatus,
  finishDelivery,
  type PendingDelivery,
  unclaimDeliveries,
} from '../../data/deliveries.ts';
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

/** As it is recorded. */
type Recorded = Omit<DeliveryOutcome, 'id' | 'event_id'>;

/** What webhooks are signed with: nothing where a merchant set none, and `unreadable` where it cannot be opened. */
export type Secret = { texts: readonly string[] } | 'unreadable';

export interface Attempts {
  /** To be read before an attempt is claimed: rejects where the database is away, and then nothing may be given up. */
  secretOf(merchant_id: string | null): Promise<Secret>;
  /**
   * Sends what this daemon has claimed; null where it was interrupted before anything was sent, and given back to the
   * queue. Rejects only where the outcome could not be recorded.
   */
  start(delivery: PendingDelivery, secret: Secret): Promise<DeliveryOutcome | null>;
  /** The same for an attempt that a person waits for: no one else would send it in time. */
  startNow(delivery: PendingDelivery, secret: Secret): Promise<DeliveryOutcome>;
  /** Ids of the deliveries under way. */
  alive(): string[];
  /** Waits for all that are under way, then interrupts those that are left: they end as `unknown`, or are given back. */
  finish(patience_ms: number): Promise<void>;
}

export interface AttemptsOptions {
  db: Db;
  log: Logger;
  clock: Clock;
  http: HttpOut;
  instance_id: string;
  user_agent: string;
  secretsOf(merchant_id: string | null): Promise<readonly string[]>;
  runtime: Runtime;
}

export function openAttempts(options: AttemptsOptions): Attempts {
  const { db, log, clock, instance_id, runtime } = options;
  const active = new Map<string, Promise<unknown>>();
  const interrupts = new Set<AbortController>();
  const ending = new AbortController();

  const secretOf = async (merchant_id: string | null): Promise<Secret> => {
    try {
      return { texts: await options.secretsOf(merchant_id) };
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
      secrets: secret.texts,
      timestamp,
      user_agent: options.user_agent,
      signal,
    });
  };

  /** A database that is away for a moment must not turn a known answer into an unknown one. */
  const record = async (write: () => Promise<void>): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (tries >= (ending.signal.aborted ? LAST_RECORD_TRIES : RECORD_TRIES)) throw error;
        const pause = Math.min(RECORD_WAIT_MS * 2 ** (tries - 1), RECORD_LONGEST_WAIT_MS);
        const { signal } = ending;
        // The end of the daemon cuts a pause short, and the last tries have theirs whole.
        await (signal.aborted ? runtime.sleep(pause) : runtime.sleep(pause, signal));
      }
    }
  };

  const finish = (id: string, result: Recorded) =>
    record(() => {
      const finished = { id, instance_id, ...result, finished_at: seconds(clock) };
      return db.transaction((tx) => finishDelivery(tx, finished));
    });

  const attempt = async (
    delivery: PendingDelivery,
    secret: Secret,
  ): Promise<AttemptResult & { duration_ms: number }> => {
    const interrupt = new AbortController();
    if (ending.signal.aborted) interrupt.abort();
    interrupts.add(interrupt);
    try {
      const began = runtime.elapsed_ms();
      const verdict = await send(delivery, secret, interrupt.signal);
      return { ...verdict, duration_ms: Math.round(runtime.elapsed_ms() - began) };
    } finally {
      interrupts.delete(interrupt);
    }
  };

  const conclude = async (
    { id, event_id, invoice_id, request_id }: PendingDelivery,
    { status, ...rest }: AttemptResult & { duration_ms: number },
  ): Promise<DeliveryOutcome> => {
    const result = { ...rest, status: status === 'unsent' ? ('unknown' as const) : status };
    await finish(id, result);
    log.info({ request_id, invoice_id, event_id, delivery_id: id, ...result }, 'webhook sent');
    return { id, event_id, ...result };
  };

  const whileActive = <T>(id: string, work: Promise<T>): Promise<T> => {
    const done = work.finally(() => active.delete(id));
    active.set(id, done);
    return done;
  };

  return {
    secretOf,
    start(delivery, secret) {
      const run = async () => {
        const result = await attempt(delivery, secret);
        if (result.status !== 'unsent') return conclude(delivery, result);
        await record(() => unclaimDeliveries(db.query, [delivery.id], instance_id));
        return null;
      };
      return whileActive(delivery.id, run());
    },
    startNow(delivery, secret) {
      const run = async () => conclude(delivery, await attempt(delivery, secret));
      return whileActive(delivery.id, run());
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
