// What Prometheus is given: what was counted, and what is read when it asks, of which the database is asked seldom.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { countContradictions } from '../../data/contradictions.ts';
import { countOpenDeliveries } from '../../data/deliveries.ts';
import { rollups } from '../../data/views/rollups.ts';
import { observerStates, unappliedRollups } from '../admin/observers.ts';
import type { App } from '../context.ts';
import { VERSION } from '../process/version.ts';
import { type Described, type Sample, written } from './registry.ts';

/** How old sums of the database may be: however often they are scraped, they cost the same. */
const SUMS_MS = 10_000;
/** Deliveries that wait are counted up to this. */
const QUEUE_COUNTED = 10_000;
/** How often the event loop is asked whether it is late. */
const LOOP_RESOLUTION_MS = 20;
const QUANTILES = [0.5, 0.99];
const NANOSECONDS = 1e9;

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What is read: without `scrape` itself, and nothing that writes. */
export type Scraped = Pick<
  App,
  | 'config'
  | 'db'
  | 'database_watch'
  | 'clock'
  | 'clock_check'
  | 'log'
  | 'metrics'
  | 'instance'
  | 'blindness'
  | 'rates'
  | 'observer'
  | 'webhooks'
>;

interface Sums {
  lags: Sample[];
  invoices_open: number;
  payments: Sample[];
  contradictions: number;
  queued: { pending: number; sending: number };
}

/** Returns how to write everything as text; one reading of the database serves all that ask within 10 s. Never rejects. */
export function createScrape(app: Scraped): () => Promise<string> {
  const { metrics } = app.config;
  const is_on = metrics.port !== undefined || metrics.token !== undefined;
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  if (is_on) loop.enable();
  let sums: { at_ms: number; value: Promise<Sums | null> } | undefined;
  const currentSums = () => {
    const now_ms = app.clock.monotonic_ms();
    if (!sums || now_ms - sums.at_ms >= SUMS_MS)
      sums = {
        at_ms: now_ms,
        value: readSums(app).catch((error: unknown) => {
          app.log.warn({ reason: (error as Error).message }, 'metrics are without sums of the database');
          return null;
        }),
      };
    return sums.value;
  };
  return async () => {
    const read = await currentSums();
    const parts = [app.metrics.text(), ofDeployment(read), ofProviders(app), ofDaemon(app), ofProcess()];
    parts.push(
      gauge(
        'gatewayd_event_loop_delay_seconds',
        'How late the event loop was since the last scrape.',
        [
          ...QUANTILES.map((quantile) =>
            sample([String(quantile)], loop.percentile(quantile * 100) / NANOSECONDS),
          ),
          sample(['1'], loop.max / NANOSECONDS),
        ].filter(({ value }) => loop.count > 0 && value >= 0),
        ['quantile'],
      ),
    );
    loop.reset();
    return parts.join('');
  };
}

async function readSums(app: Scraped): Promise<Sums> {
  const { query } = app.db;
  const states = await observerStates(app);
  const kinds = Object.entries(unappliedRollups);
  const rows = await rollups(query, ['invoices', ...kinds.map(([, name]) => name)]);
  const contradictions = await countContradictions(
    query,
    states.map(({ blockchain }) => blockchain),
  );
  return {
    lags: states.flatMap(({ blockchain, lag_seconds }) =>
      lag_seconds === null ? [] : sample([blockchain], lag_seconds),
    ),
    invoices_open: rows.find(({ name, key }) => name === 'invoices' && key === 'created')?.count ?? 0,
    payments: kinds.flatMap(([status, name]) =>
      states.map(({ blockchain }) =>
        sample(
          [blockchain, status],
          rows.find((row) => row.name === name && row.key === blockchain)?.count ?? 0,
        ),
      ),
    ),
    contradictions: [...contradictions.values()].reduce((sum, count) => sum + count, 0),
    queued: await countOpenDeliveries(query, QUEUE_COUNTED),
  };
}

/** The same in each daemon of a database. */
function ofDeployment(sums: Sums | null): string {
  const up = gauge('gatewayd_database_up', 'Whether the database answered.', [sample([], sums ? 1 : 0)]);
  if (!sums) return up;
  return [
    up,
    gauge(
      'gatewayd_blockchain_lag_seconds',
      'Age of the last complete reading of a blockchain on which something is watched.',
      sums.lags,
      ['blockchain'],
    ),
    gauge('gatewayd_invoices_open', 'Invoices that wait for their payment.', [
      sample([], sums.invoices_open),
    ]),
    gauge(
      'gatewayd_payments_waiting',
      'Payments that wait for a person: held by the limit, late, unmatched, or orphaned.',
      sums.payments,
      ['blockchain', 'status'],
    ),
    gauge('gatewayd_contradictions_open', 'Contradictions between sources that no one has closed.', [
      sample([], sums.contradictions),
    ]),
    gauge(
      'gatewayd_webhooks_queued',
      `Webhooks that wait, or are being sent by any daemon, counted up to ${QUEUE_COUNTED}.`,
      [sample(['pending'], sums.queued.pending), sample(['sending'], sums.queued.sending)],
      ['status'],
    ),
  ].join('');
}

/** Providers as this daemon has met them; two of one host are one. */
function ofProviders({ observer }: Scraped): string {
  const all = observer
    .status()
    .flatMap(({ blockchain, providers }) => providers.map((provider) => ({ blockchain, ...provider })));
  const labels = ['blockchain', 'provider'];
  const sums = (value: (provider: (typeof all)[number]) => number): Sample[] => {
    const series = new Map<string, Sample>();
    for (const one of all) {
      const key = `${one.blockchain} ${one.provider}`;
      const before = series.get(key)?.value ?? 0;
      series.set(key, sample([one.blockchain, one.provider], before + value(one)));
    }
    return [...series.values()];
  };
  const counter = (name: string, help: string, value: 'requests' | 'failures') =>
    written(
      'counter',
      { name, help, labels },
      sums((one) => one[value]),
    );
  return [
    counter('gatewayd_provider_requests_total', 'Requests sent to a provider, retries included.', 'requests'),
    counter('gatewayd_provider_failures_total', 'Requests that a provider failed.', 'failures'),
    gauge(
      'gatewayd_provider_down',
      'Providers that failed last or serve another network.',
      sums(({ state }) => (state === 'down' || state === 'wrong_network' ? 1 : 0)),
      labels,
    ),
  ].join('');
}

function ofDaemon({
  config,
  clock_check,
  webhooks,
  rates,
  instance,
  metrics,
  database_watch,
}: Scraped): string {
  const offset = clock_check.offset();
  const without_rate = Object.values(rates.status().currencies).filter(({ stale }) => stale).length;
  return [
    gauge('gatewayd_info', 'This daemon.', [sample([VERSION, config.network], 1)], ['version', 'network']),
    gauge('gatewayd_database_writable', 'Whether the database takes writes, as tried every few seconds.', [
      sample([], database_watch.trouble() === null ? 1 : 0),
    ]),
    gauge('gatewayd_draining', 'Whether others should be asked.', [sample([], instance.draining() ? 1 : 0)]),
    gauge(
      'gatewayd_clock_offset_seconds',
      'How far the clock is ahead of the chains.',
      offset === null ? [] : [sample([], offset)],
    ),
    gauge('gatewayd_rates_missing', 'Currencies without a rate: invoices in them are refused.', [
      sample([], without_rate),
    ]),
    gauge('gatewayd_webhooks_sending', 'Webhooks that this daemon is sending.', [
      sample([], webhooks.underWay()),
    ]),
    gauge(
      'gatewayd_idempotency_in_progress',
      'Requests with an Idempotency-Key that are being worked on here.',
      [sample([], metrics.keyed.count)],
    ),
  ].join('');
}

/** Under the names that dashboards of all programs know. */
function ofProcess(): string {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return [
    written('counter', { name: 'process_cpu_seconds_total', help: 'Processor time.' }, [
      sample([], (user + system) / 1e6),
    ]),
    gauge('process_start_time_seconds', 'When it was started, Unix seconds.', [
      sample([], Math.floor(performance.timeOrigin / 1000)),
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory.', [sample([], rss)]),
    gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript uses.', [sample([], heapUsed)]),
  ].join('');
}

const sample = (labels: readonly string[], value: number): Sample => ({ labels, value });

function gauge(name: string, help: string, samples: readonly Sample[], labels?: Described['labels']): string {
  return written('gauge', { name, help, ...(labels ? { labels } : {}) }, samples);
}
