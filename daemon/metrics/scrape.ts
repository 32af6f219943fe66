// What Prometheus is given: what was counted, and what is read when it asks, of which the database is asked seldom.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { countContradictions } from '../../data/contradictions.ts';
import { countOpenDeliveries, countUndelivered } from '../../data/deliveries.ts';
import { findMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { rollups } from '../../data/views/rollups.ts';
import { observerStates, unappliedRollups } from '../admin/observers.ts';
import { mostBackupAge } from '../backup/overdue.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { settledWithin } from '../loop.ts';
import { type Undelivered, undeliveredNotices } from '../notify/undelivered.ts';
import { VERSION } from '../process/version.ts';
import { createDisks, type DiskSpace } from './disks.ts';
import { type Described, type Sample, summary, written } from './registry.ts';

/** How old sums of the database may be: however often they are scraped, they cost the same. */
const SUMS_MS = 10_000;
/** A database that says nothing holds up no scrape for longer: that it does not answer is to be read. */
const DATABASE_MS = 3_000;
/** Deliveries that wait are counted up to this. */
const QUEUE_COUNTED = 10_000;
/** Webhooks that failed longer ago are the shop's to ask for. */
const DAY_SECONDS = 86_400;
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
  | 'runtime'
  | 'metrics'
  | 'instance'
  | 'schema'
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
  webhooks_undelivered: number;
  notices: readonly Undelivered[];
  /** Infinite where none was ever made. */
  backup_age_seconds: number;
  most_backup_age_seconds: number;
}

/** Returns how to write everything as text; one reading of the database serves all that ask within 10 s. Never rejects, and never hangs. */
export function createScrape(app: Scraped): () => Promise<string> {
  const { metrics } = app.config;
  const delays = eventLoopDelays(metrics.port !== undefined || metrics.token !== undefined);
  const disks = createDisks(app);
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
    let read: Sums | null = null;
    const reading = currentSums().then((sums_read) => {
      read = sums_read;
    });
    await settledWithin(DATABASE_MS, reading, app.runtime);
    return [
      app.metrics.text(),
      ofDeployment(read),
      ofBlockchains(app),
      ofProviders(app),
      ofDaemon(app),
      ofDisks(await disks()),
      delays(),
      ofProcess(),
    ].join('');
  };
}

/** Returns how to write how late the event loop was since it was written last. */
function eventLoopDelays(is_on: boolean): () => string {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  if (is_on) loop.enable();
  const total = { sum: 0, count: 0 };
  return () => {
    const { count, mean, max } = loop;
    const quantiles = [
      ...QUANTILES.map((quantile) =>
        sample([String(quantile)], loop.percentile(quantile * 100) / NANOSECONDS),
      ),
      sample(['1'], max / NANOSECONDS),
    ];
    loop.reset();
    if (count > 0) {
      total.count += count;
      total.sum += (mean * count) / NANOSECONDS;
    }
    const help =
      'How late the event loop was: quantiles since the last scrape, sum and count since the start.';
    return summary(
      { name: 'gatewayd_event_loop_delay_seconds', help },
      { quantiles: quantiles.filter(({ value }) => count > 0 && value >= 0), ...total },
    );
  };
}

async function readSums(app: Scraped): Promise<Sums> {
  const { query } = app.db;
  const now = seconds(app.clock);
  const states = await observerStates(app);
  const kinds = Object.entries(unappliedRollups);
  const rows = await rollups(query, ['invoices', ...kinds.map(([, name]) => name)]);
  const contradictions = await countContradictions(
    query,
    states.map(({ blockchain }) => blockchain),
  );
  return {
    lags: states.flatMap(({ blockchain, lag_seconds, watched }) => {
      // One that was never read is behind for as long as it is known not to be read.
      const blind_since = watched === 0 ? null : app.blindness.of(blockchain);
      const lag = lag_seconds ?? (blind_since === null ? null : Math.max(0, now - blind_since));
      return lag === null ? [] : sample([blockchain], lag);
    }),
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
    webhooks_undelivered: await countUndelivered(query, { since: now - DAY_SECONDS, most: QUEUE_COUNTED }),
    notices: await undeliveredNotices(query, app.config.notify),
    backup_age_seconds: Math.max(0, now - Number((await findMeta(query, LAST_BACKUP_AT)) ?? -Infinity)),
    most_backup_age_seconds: mostBackupAge(app.config),
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
    gauge(
      'gatewayd_webhooks_undelivered',
      `Webhooks of the last 24 hours that failed and did not arrive since, counted up to ${QUEUE_COUNTED}.`,
      [sample([], sums.webhooks_undelivered)],
    ),
    gauge(
      'gatewayd_notices_undelivered',
      'Notices to operators that an address took nothing of when it was tried last, by kind of address.',
      sums.notices.map(({ scheme, count }) => sample([scheme], count)),
      ['scheme'],
    ),
    gauge('gatewayd_backup_age_seconds', 'Age of the last backup; +Inf where none is known.', [
      sample([], sums.backup_age_seconds),
    ]),
    gauge('gatewayd_backup_max_age_seconds', 'How old the last backup may be by the settings.', [
      sample([], sums.most_backup_age_seconds),
    ]),
  ].join('');
}

/** As this daemon knows them, whether or not the database answers. */
function ofBlockchains({ observer, blindness }: Scraped): string {
  return gauge(
    'gatewayd_blockchain_blind',
    'Whether a blockchain cannot be read, so that its coins are not available.',
    observer
      .status()
      .map(({ blockchain }) => sample([blockchain], blindness.of(blockchain) === null ? 0 : 1)),
    ['blockchain'],
  );
}

/** What a disk is asked of and does not say in time has no sample. */
function ofDisks(disks: readonly DiskSpace[]): string {
  const each = (value: 'free_bytes' | 'size_bytes') => disks.map((disk) => sample([disk.place], disk[value]));
  return [
    gauge(
      'gatewayd_disk_free_bytes',
      'Free space for the data directory, for a SQLite database elsewhere, and for backups elsewhere.',
      each('free_bytes'),
      ['place'],
    ),
    gauge('gatewayd_disk_size_bytes', 'Size of the same disks.', each('size_bytes'), ['place']),
  ].join('');
}

/** Providers as this daemon has met them; two of one host are one. */
function ofProviders({ observer, blindness }: Scraped): string {
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
    gauge(
      'gatewayd_route_dead',
      'Blockchains that this daemon leaves to others, since its providers do not answer it, or too slowly.',
      observer.status().map(({ blockchain, route }) => {
        const is_left = route !== 'ok' && blindness.heardAt(blockchain) !== null;
        return sample([blockchain], is_left ? 1 : 0);
      }),
      ['blockchain'],
    ),
  ].join('');
}

function ofDaemon({
  config,
  clock_check,
  webhooks,
  rates,
  instance,
  schema,
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
      'gatewayd_outdated',
      'Whether this daemon does nothing until it is upgraded, for the schema is newer.',
      [sample([], schema.outdated() === null ? 0 : 1)],
    ),
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
