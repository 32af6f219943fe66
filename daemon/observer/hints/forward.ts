// What brings the next reading of a blockchain forward: hints, somebody who waits, and payments that become deep enough.
import type { Logger } from 'pino';
import type { Blockchain } from '../../../src/chains/catalogue.ts';
import type { SteadyClock } from '../../clock.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Runtime } from '../../process/runtime.ts';
import type { Config } from '../../settings/config.ts';
import type { RpcSource } from '../providers/rpc.ts';
import type { ReadOutcome } from '../reader.ts';
import { type HintStatus, type Hints, openHints } from './hints.ts';
import { createSchedule, type Schedule } from './schedule.ts';
import type { HintSource } from './source.ts';
import type { Watched } from './watched.ts';

/** While somebody waits for a payment and no provider says when it comes, its blockchain is read this often, as far as … */
export const WATCHED_MS = 2_000;
/** … its readings then take this share of what the provider takes. */
const WATCHED_SHARE = 0.5;
/** What a reading leaves to the next one, because it has come far enough, continues so soon. */
export const UNFINISHED_MS = 1_000;
/** What is due by the time of the chain, in whole seconds, is there so much later. */
const DUE_AFTER_MS = 200;

export interface Forward {
  sleep: Schedule['sleep'];
  /** A reading by the schedule begins. */
  begins(): void;
  /** It went well; returns how long to wait for the next, milliseconds. */
  ended(outcome: ReadOutcome | null): number;
  /** Asks to hear of what may be paid by now. */
  follow(outcome: ReadOutcome): void;
  /** The provider failed: until a reading goes well, hints bring none forward. */
  failed(): void;
  /** Its providers were exchanged: it is read at once, and hints come from elsewhere, or from nowhere. */
  renew(hint_source: HintSource | null, requests_per_second: number): void;
  /** Another daemon reads: no hints are asked for. */
  close(): void;
  /** Null where no hints are to be had. */
  status(): HintStatus | null;
}

export interface ForwardOptions {
  app: {
    config: Pick<Config, 'network'>;
    log: Logger;
    clock: SteadyClock;
    metrics: Pick<Metrics, 'hints'>;
    watched: Pick<Watched, 'has'>;
  };
  blockchain: Blockchain;
  runtime: Runtime;
  source: RpcSource;
  hint_source: HintSource | null;
  /** What its providers take where none of them tells. */
  requests_per_second: number;
  interval_ms: number;
}

export function createForward({
  app,
  blockchain: { id, family },
  runtime,
  source,
  hint_source,
  interval_ms,
  ...options
}: ForwardOptions): Forward {
  let { requests_per_second } = options;
  const asked = () => source.status().reduce((sum, { requests }) => sum + requests, 0);
  const rate = () =>
    source.status().find(({ state }) => state === 'ok')?.requests_per_second ?? requests_per_second;
  let asked_before = 0;
  let reading_requests = 1;
  let is_away = false;
  const schedule = createSchedule({
    runtime,
    cost: () => ({ requests: reading_requests, requests_per_second: rate() }),
    onForward: () => app.metrics.hints.add([id, 'reading']),
  });
  const hintsOf = (from: HintSource | null): Hints | undefined =>
    family.hints && from
      ? openHints({
          ...app,
          network: app.config.network,
          blockchain: id,
          feed: family.hints,
          source: from,
          runtime,
          onHint(hint) {
            if (!is_away) schedule.hint(hint);
          },
        })
      : undefined;
  let hints = hintsOf(hint_source);

  /** The pause while somebody waits, unless hints come. */
  function pause(): number {
    if (hints?.isConnected() || !app.watched.has(id)) return interval_ms;
    const affordable_ms = (reading_requests * 1000) / (rate() * WATCHED_SHARE);
    return Math.min(interval_ms, Math.max(WATCHED_MS, affordable_ms));
  }

  return {
    sleep: schedule.sleep,
    begins() {
      asked_before = asked();
    },
    ended(outcome) {
      is_away = false;
      reading_requests = Math.max(1, asked() - asked_before);
      if (outcome) {
        const { found, due_seconds } = outcome;
        schedule.read(found, due_seconds === null ? null : due_seconds * 1000 + DUE_AFTER_MS);
      }
      return outcome?.is_unfinished ? Math.min(UNFINISHED_MS, interval_ms) : pause();
    },
    follow: ({ open, gateways }) => hints?.follow(open, gateways),
    failed() {
      is_away = true;
    },
    renew(from, rate) {
      requests_per_second = rate;
      hints?.close();
      hints = hintsOf(from);
      is_away = false;
      // Also where it waits for a provider that was away.
      schedule.hint('block');
    },
    close: () => hints?.close(),
    status: () => hints?.status() ?? null,
  };
}
