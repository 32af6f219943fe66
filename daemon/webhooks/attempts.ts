// The attempts under way in this daemon: each is sent once, and how it ended is recorded.
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type DeliveryStatus, finishDelivery, type PendingDelivery } from '../../data/deliveries.ts';
import type { Db } from '../../data/open.ts';
import { type Clock, seconds } from '../context.ts';
import type { HttpOut } from '../http-out.ts';
import { sendWebhook, type Verdict } from './send.ts';

const RECORD_TRIES = 6;
/** Doubles after each try: 6 s in all. */
const RECORD_WAIT_MS = 200;

/** How one attempt ended; `error` is null when it arrived. */
export interface DeliveryOutcome {
  id: string;
  event_id: string;
  status: DeliveryStatus;
  http_status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface Attempts {
  /** Sends what this daemon has claimed. Rejects only where the outcome could not be recorded. */
  start(delivery: PendingDelivery): Promise<DeliveryOutcome>;
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
}

export function openAttempts(options: AttemptsOptions): Attempts {
  const { db, log, clock, instance_id } = options;
  const active = new Map<string, Promise<DeliveryOutcome>>();
  const interrupts = new Set<AbortController>();
  let finishing = false;

  const send = async (delivery: PendingDelivery, signal: AbortSignal): Promise<Verdict> => {
    let secret: string | null;
    try {
      secret = delivery.merchant_id === null ? null : await options.secretOf(delivery.merchant_id);
    } catch (error) {
      // Unsigned it would be taken for a forgery, so nothing is sent.
      log.error({ err: error, merchant_id: delivery.merchant_id }, 'webhook secret cannot be read');
      return { status: 'failed', http_status: null, error: 'the webhook secret cannot be read' };
    }
    const timestamp = seconds(clock);
    return sendWebhook(options.http, {
      ...delivery,
      secret,
      timestamp,
      user_agent: options.user_agent,
      signal,
    });
  };

  /** A database that is away for a moment must not turn a known answer into an unknown one. */
  const record = async (id: string, result: Verdict & { duration_ms: number }): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        const finished = { id, instance_id, ...result, finished_at: seconds(clock) };
        return await db.transaction((tx) => finishDelivery(tx, finished));
      } catch (error) {
        if (tries === RECORD_TRIES) throw error;
        await wait(RECORD_WAIT_MS * 2 ** (tries - 1));
      }
    }
  };

  const run = async (delivery: PendingDelivery): Promise<DeliveryOutcome> => {
    const { id, event_id } = delivery;
    const interrupt = new AbortController();
    if (finishing) interrupt.abort();
    interrupts.add(interrupt);
    try {
      const began = performance.now();
      const verdict = await send(delivery, interrupt.signal);
      const result = { ...verdict, duration_ms: Math.round(performance.now() - began) };
      await record(id, result);
      log.info({ event_id, delivery_id: id, ...result }, 'webhook sent');
      return { id, event_id, ...result };
    } finally {
      interrupts.delete(interrupt);
    }
  };

  return {
    start(delivery) {
      const done = run(delivery).finally(() => active.delete(delivery.id));
      active.set(delivery.id, done);
      return done;
    },
    alive: () => [...active.keys()],
    async finish(patience_ms) {
      const all = Promise.allSettled(active.values());
      const patience = new AbortController();
      const timer = wait(patience_ms, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([all, timer]);
      patience.abort();
      finishing = true;
      for (const interrupt of interrupts) interrupt.abort();
      await all;
    },
  };
}
