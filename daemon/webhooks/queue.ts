// Delivers webhooks from the queue: claims each attempt before sending it, so that none is ever made twice.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import {
  abandonDeliveries,
  claimDeliveries,
  insertManualDelivery,
  type PendingDelivery,
  pendingDeliveries,
  resendableEvent,
  unclaimDeliveries,
} from '../../data/deliveries.ts';
import { Refusal } from '../../src/errors.ts';
import { type Clock, seconds } from '../clock.ts';
import { coalesce, settledWithin } from '../loop.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createCauses } from '../process/causes.ts';
import { type Runtime, systemRuntime } from '../process/runtime.ts';
import type { Signals } from '../process/signals.ts';
import { type DeliveryOutcome, openAttempts, type Secret } from './attempts.ts';
import { LIMITS, type Limits, openLimiter, SLOW_MS } from './concurrency.ts';
import { type HttpOut, openHttpOut, TOTAL_TIMEOUT_MS } from './egress.ts';

/** A safety net: attempts left by a restart, or queued by a daemon that died before its `kick`. */
const POLL_MS = 2_000;
/** An attempt takes 15 s; a daemon that has not recorded it 10 s later is gone. Also allows for clocks that differ. */
const CLAIM_LIMIT_SECONDS = TOTAL_TIMEOUT_MS / 1000 + 10;
const MAX_ABANDONED = 500;
/** Each round starts an attempt or is the last, so this is out of reach. */
const MAX_ROUNDS = 10_000;
/** Of the 10 s that a daemon has to end: so long what requests in flight confirm is sent, … */
const LAST_CLAIMS_MS = 4_000;
/** … and so long receivers have for their answers. */
const STOP_WAIT_MS = 7_000;
const MAX_RESENDS = 16;

export interface Webhooks {
  /** Works the queue now; called after each commit that may have queued an attempt. Never throws. */
  kick(): void;
  /**
   * Sends an event again, under the same webhook-id, to today's address for it, and waits for the answer.
   * Refuses `event_not_found`, `bad_request` (no address), `rate_limited`, `shutting_down`. Whose event it is, the caller checks.
   */
  resend(event_id: string): Promise<DeliveryOutcome>;
  /** Attempts that are under way. */
  underWay(): number;
  /**
   * Claims no more, once the requests in flight are `answered`, lets what is under way finish for 7 s in all, gives back what
   * was not sent yet, and records the rest as `unknown`.
   */
  stop(answered?: Promise<unknown>): Promise<void>;
}

export interface WebhooksOptions {
  db: Db;
  log: Logger;
  clock: Clock;
  config: { webhook_allow_private: boolean; public_url: string };
  /** What the merchant's webhooks are signed with now, each as it was set; of no merchant, those of the deployment. */
  secretsOf(merchant_id: string | null): Promise<readonly string[]>;
  /** How other daemons hear of what this one cannot send now. */
  signals?: Pick<Signals, 'announce' | 'onOthers'>;
  /** Whether the operator took this daemon out of work: then it claims nothing. */
  resting?: () => boolean;
  metrics?: Pick<Metrics, 'webhooks' | 'webhook_delivered_seconds'>;
  /** For tests. */
  http?: HttpOut;
  limits?: Limits;
  poll_ms?: number;
  stop_wait_ms?: number;
  runtime?: Runtime;
}

export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { db, log, clock, config, secretsOf, runtime = systemRuntime } = options;
  const http = options.http ?? openHttpOut({ allow_private: config.webhook_allow_private, runtime });
  const instance_id = runtime.uuid();
  const user_agent = `gatewayd (+${config.public_url})`;
  const causes = createCauses(log, runtime);
  const attempts = openAttempts({ db, log, clock, http, instance_id, user_agent, secretsOf, runtime });
  const limiter = openLimiter(options.limits ?? LIMITS);
  const claim = () => ({ instance_id, claimed_at: seconds(clock) });
  let stopped = false;
  /** Attempts of a claim whose answer was lost with the connection: they may be claimed, and were not begun. */
  let doubtful: string[] = [];

  /** Claims and starts what there is room for. */
  const drain = async () => {
    if (doubtful.length > 0) await unclaimDeliveries(db.query, doubtful, instance_id);
    doubtful = [];
    if (options.resting?.()) return;
    for (let round = 0; round < MAX_ROUNDS && !stopped && limiter.free() > 0; round++) {
      const waiting = await pendingDeliveries(db.query, limiter.free(), limiter.busy());
      const chosen = waiting.filter((delivery) => limiter.take(delivery));
      if (chosen.length === 0) return;
      let claimed = new Set<string>();
      const secrets = new Map<string | null, Secret>();
      try {
        for (const { merchant_id } of chosen)
          if (!secrets.has(merchant_id)) secrets.set(merchant_id, await attempts.secretOf(merchant_id));
        const ids = chosen.map(({ id }) => id);
        doubtful = ids;
        claimed = new Set(await claimDeliveries(db.query, ids, claim()));
        doubtful = [];
      } finally {
        for (const delivery of chosen) if (!claimed.has(delivery.id)) limiter.release(delivery);
      }
      for (const delivery of chosen)
        if (claimed.has(delivery.id))
          startAutomatic(delivery, secrets.get(delivery.merchant_id) ?? 'unreadable');
    }
  };

  const startAutomatic = (delivery: PendingDelivery, secret: Secret) => {
    let is_slow = false;
    const callOffSlow = runtime.after(SLOW_MS, () => {
      is_slow = limiter.slowDown(delivery);
      if (is_slow) queue.kick();
    });
    attempts
      .start(delivery, secret)
      .then((outcome) => outcome && count(delivery, outcome))
      .catch((error) =>
        log.error({ err: error, delivery_id: delivery.id }, 'the outcome of a webhook cannot be recorded'),
      )
      .finally(() => {
        callOffSlow();
        limiter.release(delivery, is_slow);
        queue.kick();
      });
  };

  const count = ({ created_at }: PendingDelivery, { status }: DeliveryOutcome) => {
    options.metrics?.webhooks.add([status]);
    if (status === 'delivered')
      options.metrics?.webhook_delivered_seconds.observe([], seconds(clock) - created_at);
  };

  const abandon = async (claimed_before: number) => {
    const finished_at = seconds(clock);
    const stale = { claimed_before, finished_at, alive: attempts.alive(), limit: MAX_ABANDONED };
    const count = await db.transaction((tx) => abandonDeliveries(tx, stale));
    if (count > 0) log.warn({ count }, 'webhooks were interrupted; whether they arrived is unknown');
  };

  const guarded = (task: () => Promise<void>) => async () => {
    try {
      await task();
      causes.over('queue', {}, 'the webhook queue is processed again');
    } catch (error) {
      causes.failed('queue', 'warn', { err: error }, 'the webhook queue cannot be processed; trying again');
    }
  };

  /** One run at a time; a kick during a run makes one more, and none once the daemon stops. */
  const kickable = (task: () => Promise<void>) => {
    const run = coalesce(
      guarded(async () => {
        if (!stopped) await task();
      }),
    );
    let last = Promise.resolve();
    return {
      kick() {
        if (!stopped) last = run();
      },
      idle: () => last,
    };
  };

  const queue = kickable(async () => {
    await begun;
    await drain();
  });
  const sweep = kickable(() => abandon(seconds(clock) - CLAIM_LIMIT_SECONDS));
  // An SQLite file has one daemon: whatever is claimed at the start was claimed by one that is gone.
  const begin = db.dialect === 'sqlite' ? guarded(() => abandon(Number.MAX_SAFE_INTEGER)) : async () => {};
  const poll = () => {
    sweep.kick();
    queue.kick();
  };
  const begun = begin().then(() => {
    if (!stopped) poll();
  });
  const callOffOthers = options.signals?.onOthers('deliveries', () => queue.kick());
  const pollOn = () => {
    poll();
    callOff = runtime.after(options.poll_ms ?? POLL_MS, pollOn);
  };
  let callOff = runtime.after(options.poll_ms ?? POLL_MS, pollOn);

  return {
    kick() {
      // Also where its own places are taken: what is left when they are free again is found then.
      if (stopped || options.resting?.() || limiter.free() === 0) options.signals?.announce('deliveries');
      queue.kick();
    },
    resend: limitResends(async (event_id) => {
      const event = await resendableEvent(db.query, event_id);
      if (stopped) throw new Refusal('shutting_down');
      if (!event) throw new Refusal('event_not_found');
      const { merchant_id, url, ...rest } = event;
      if (url === null) throw new Refusal('bad_request', { detail: 'No webhook address is set' });
      const secret = await attempts.secretOf(merchant_id);
      const row = { event_id, merchant_id, url, created_at: seconds(clock) };
      const { id, host } = await insertManualDelivery(db.query, row, claim());
      return attempts.startNow({ id, ...row, host, ...rest }, secret);
    }),
    underWay: () => attempts.alive().length,
    async stop(answered = Promise.resolve()) {
      const began_ms = runtime.elapsed_ms();
      await settledWithin(LAST_CLAIMS_MS, answered, runtime);
      stopped = true;
      callOff();
      callOffOthers?.();
      await begun;
      await Promise.all([queue.idle(), sweep.idle()]);
      const waited_ms = runtime.elapsed_ms() - began_ms;
      options.signals?.announce('deliveries');
      await attempts.finish(Math.max(0, (options.stop_wait_ms ?? STOP_WAIT_MS) - waited_ms));
    },
  };
}

/** People wait for these: past the limit they are asked to come back instead of being queued. */
function limitResends<T>(resend: (event_id: string) => Promise<T>): (event_id: string) => Promise<T> {
  let running = 0;
  return async (event_id) => {
    if (running >= MAX_RESENDS) throw new Refusal('rate_limited', { retry_after: TOTAL_TIMEOUT_MS / 1000 });
    running++;
    try {
      return await resend(event_id);
    } finally {
      running--;
    }
  };
}
