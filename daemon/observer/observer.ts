// Watches every blockchain at its own pace, and the clock; one chain's trouble stays its own.
import { randomUUID } from 'node:crypto';
import { dropLeases, getCursor, holdLease } from '../../data/cursors.ts';
import { dueInvoices, overdueInvoices, releaseAmounts } from '../../data/invoices.ts';
import { type Gateway, type Network, ProviderError } from '../../src/chains/chain.ts';
import { type Blockchain, blockchains, disabledGatewaysOf } from '../../src/chains/gateways.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import type { App } from '../context.ts';
import { seconds } from '../context.ts';
import type { SettleApp } from '../settle.ts';
import { type ReadGateways, readGateways } from './gateways.ts';
import type { ProviderConfig } from './provider.ts';
import { createReader, lookAtAll, type Reader } from './reader.ts';
import { openRpc, type ProviderStatus, type RpcSource } from './rpc.ts';

/** How often the clock looks at invoices whose time is up. */
const CLOCK_MS = 1_000;
/** How often amounts are given back and invoices past the grace are ended. */
const HOUSEKEEPING_MS = 60_000;
/** Invoices that one tick of the clock looks at. */
const DUE_BATCH = 200;
/** Batches in one tick; what is left comes with the next. */
const DUE_BATCHES = 50;
/** A daemon that reads a blockchain keeps others from reading it twice; after its death they wait for this … */
const LEASE_MS = 15_000;
/** … or for so many pauses between its reads, whichever is longer. */
const LEASE_READS = 3;
/** Longest wait after failures of ours (those of providers wait by themselves). */
const RETRY_MS = 10_000;

export interface Observer {
  start(): void;
  /** Reads a blockchain now; calls made meanwhile share one read that begins after them. Throws ProviderError. */
  poll(blockchain: string): Promise<void>;
  /** Looks now at everything whose time is up. */
  tick(): Promise<void>;
  status(): { blockchain: string; providers: ProviderStatus[]; gateways: readonly Gateway[] }[];
  stop(): Promise<void>;
}

type ObserverApp = SettleApp & Pick<App, 'gateways'>;

export interface ObserverOptions {
  app: ObserverApp;
  /** For tests: where a blockchain is read from instead of the configured providers. */
  source?: (blockchain: string) => RpcSource | undefined;
}

export function openObserver({ app, source }: ObserverOptions): Observer {
  const instance = randomUUID();
  const readers = blockchains.map(({ id }) => createLane(app, instance, id, source?.(id)));
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  let lastHousekeeping = 0;

  /** Of all blockchains in one order: what waited for the limit is booked oldest first, wherever it was paid. */
  async function nextDue(now: number): Promise<string[]> {
    const due: Awaited<ReturnType<typeof dueInvoices>> = [];
    for (const { reader } of readers) {
      const id = reader.blockchain.id;
      const cursor = await getCursor(app.db.query, id);
      const horizon = Math.min(now, cursor?.last_ok_at ?? 0);
      due.push(...(await dueInvoices(app.db.query, id, horizon, DUE_BATCH)));
    }
    return due.sort((one, other) => (one.due_at ?? 0) - (other.due_at ?? 0)).map(({ id }) => id);
  }

  async function tick(): Promise<void> {
    const now = seconds(app.clock);
    await lookAtBatches(app, () => nextDue(now));
    if (app.clock.ms() - lastHousekeeping < HOUSEKEEPING_MS) return;
    lastHousekeeping = app.clock.ms();
    await lookAtBatches(app, () => overdueInvoices(app.db.query, now, GRACE_SECONDS, DUE_BATCH));
    await releaseAmounts(app.db.query, now);
  }

  return {
    tick,
    start() {
      // The clock first: it may watch addresses again, and whoever reads on without them never comes back for them.
      const ticked = tick().catch((error: unknown) =>
        app.log.error({ err: error }, 'the clock failed; it goes on'),
      );
      const afterwards = (work: () => Promise<number>) =>
        running.push(repeat(stopping.signal, () => ticked.then(work)));
      for (const lane of readers) afterwards(() => lane.scheduled());
      afterwards(async () => {
        await tick();
        return CLOCK_MS;
      });
    },
    async poll(blockchain) {
      const lane = readers.find(({ reader }) => reader.blockchain.id === blockchain);
      if (!lane || (await lane.gateways.current()).length === 0)
        throw new ProviderError('unreachable', `${blockchain} is not enabled`);
      await lane.forced();
    },
    status: () =>
      readers
        .map(({ reader, gateways }) => ({
          blockchain: reader.blockchain.id,
          providers: reader.source.status(),
          gateways: gateways.known(),
        }))
        .filter(({ gateways }) => gateways.length > 0),
    async stop() {
      stopping.abort();
      await Promise.all(readers.map(({ reader }) => reader.source.close()));
      await Promise.all(running);
      await dropLeases(app.db.query, instance);
    },
  };

  /** Runs `work` again and again, as long after each other as it says; a failure of ours is logged and tried again. */
  async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
    while (!signal.aborted) {
      let wait = RETRY_MS;
      try {
        wait = await work();
      } catch (error) {
        if (!signal.aborted) app.log.error({ err: error }, 'the observer failed; it goes on');
      }
      await sleep(wait, signal);
    }
  }
}

/** Looks batch by batch while full ones come, each of other invoices than the one before. */
async function lookAtBatches(app: SettleApp, next: () => Promise<string[]>): Promise<void> {
  const seen = new Set<string>();
  for (let batch = 0; batch < DUE_BATCHES; batch++) {
    const ids = (await next()).filter((id) => !seen.has(id));
    await lookAtAll(app, ids, 'clock');
    for (const id of ids) seen.add(id);
    if (ids.length < DUE_BATCH) return;
  }
}

/** The configured provider alone, or the public ones; a key without a URL is the first one's, and goes to no other. */
export function providersOf(
  { id, providers }: Pick<Blockchain, 'id' | 'providers'>,
  network: Network,
  { provider, url, api_key }: Partial<ProviderConfig> = {},
): ProviderConfig[] {
  const [first, ...others] = providers[network];
  if (url) return [{ provider: provider ?? first?.provider ?? id, url, api_key }];
  return first ? [{ ...first, api_key }, ...others] : [];
}

interface Lane {
  reader: Reader;
  gateways: ReadGateways;
  /** One read by the schedule; returns the wait until the next, in milliseconds. */
  scheduled(): Promise<number>;
  forced(): Promise<void>;
}

function createLane(app: ObserverApp, instance: string, id: string, given: RpcSource | undefined): Lane {
  const blockchain = blockchains.find((one) => one.id === id) as (typeof blockchains)[number];
  const { network } = app.config;
  const enabled = app.gateways.filter((gateway) => gateway.blockchain === id);
  const disabled = disabledGatewaysOf(network, app.config.gateways).filter(
    (gateway) => gateway.blockchain === id,
  );
  const gateways = readGateways(app, id, enabled, disabled);
  const configured = app.config.blockchains?.[id];
  const source =
    given ??
    openRpc({
      blockchain: id,
      family: blockchain.family,
      network,
      providers: providersOf(blockchain, network, configured),
      requests_per_second: configured?.requests_per_second ?? blockchain.requests_per_second,
      clock: app.clock,
      onEvent: (event) => app.log[event.type === 'provider_back' ? 'info' : 'warn'](event, event.message),
    });
  const reader = createReader({ app, network, blockchain, source, gateways: gateways.current });
  const paces = (enabled.length > 0 ? enabled : disabled).map((gateway) => gateway.poll_interval_seconds);
  const interval = Math.min(...paces) * 1000;
  const read = coalesce(() => reader.read());
  // An SQLite file has one daemon: a lease that a killed one left would only keep the next from reading.
  const mayRead = async () =>
    app.db.dialect === 'sqlite' ||
    holdLease(
      app.db.query,
      `observe:${id}`,
      instance,
      app.clock.ms(),
      Math.max(LEASE_MS, LEASE_READS * interval),
    );
  return {
    reader,
    gateways,
    forced: read,
    async scheduled() {
      if (!(await mayRead())) return interval;
      try {
        await read();
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        const retry = source.retryAt() - app.clock.ms();
        return Math.max(interval, Number.isFinite(retry) ? retry : 60_000);
      }
      return interval;
    },
  };
}

/** Calls during a run share one further run that begins after it. */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    current = work().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (!current) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
