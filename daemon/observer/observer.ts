// Watches every blockchain at its own pace, and the clock; one chain's trouble stays its own.
import { setMaxListeners } from 'node:events';
import { allCursors, dropLease, dropLeases, getCursor, holdLease } from '../../data/cursors.ts';
import { isBusy } from '../../data/db/failures.ts';
import { newestEventAt } from '../../data/events.ts';
import {
  DUE_BEGIN,
  type DueInvoice,
  type DuePosition,
  dueInvoices,
  OPEN_BEGIN,
  overdueInvoices,
} from '../../data/invoices.ts';
import { unreadableAssets } from '../../data/proofs.ts';
import { releaseAmounts } from '../../data/reservations.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import {
  type AccountRef,
  type Composed,
  type Gateway,
  type NamedTransaction,
  type PayerOrder,
  ProviderError,
  type Rpc,
  type Transfer,
  type UnreadableAsset,
} from '../../src/chains/family.ts';
import { isOfQuestion, orFailed } from '../../src/chains/or-failed.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { type Clock, type SteadyClock, seconds } from '../clock.ts';
import { coalesce, repeat, settledWithin } from '../loop.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Causes, createCauses } from '../process/causes.ts';
import type { DatabaseWatch } from '../process/database-watch.ts';
import { type Runtime, systemRuntime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';
import { reevaluateInvoices } from '../settle/settle.ts';
import { type BlindnessKeeper, REFRESH_MS } from './blindness.ts';
import { type FailedRoute, openDeadRoutes } from './dead-routes.ts';
import { type ReadGateways, readGateways } from './gateways.ts';
import { createForward, type Forward } from './hints/forward.ts';
import type { HintStatus } from './hints/hints.ts';
import { type HintSource, hintSourceOf } from './hints/source.ts';
import type { Watched } from './hints/watched.ts';
import { readingAnswers } from './providers/guard.ts';
import { type Learnt, openLearnt } from './providers/learnt.ts';
import { openRpc, type ProviderStatus, type RpcSource } from './providers/rpc.ts';
import { switched } from './providers/switch.ts';
import { loneOperator, providersOf } from './quorum.ts';
import { createReader, type Reader, type ReaderDeps, type ReadOutcome, storedReading } from './reader.ts';
import { createRoute, type Route, type RouteState } from './route.ts';
import { observeLease, openShares, SHARE_MS, type Shares } from './share.ts';
import { askForSeconds } from './untimed.ts';

/** How often invoices are ended whose time is up. */
const CLOCK_MS = 1_000;
/** How often amounts are given back and invoices past the grace are ended. */
const HOUSEKEEPING_MS = 60_000;
/** Invoices that are due taken at a time. */
const DUE_BATCH = 200;
/** Batches in one tick; the next tick continues after them. */
const DUE_BATCHES = 50;
/** A daemon that reads a blockchain keeps others from reading it twice; after its death they wait for this … */
const LEASE_MS = 15_000;
/** … or for so many pauses between its reads, whichever is longer. */
const LEASE_READS = 3;
/** A daemon whose clock is wrong leaves the reading to others for so long, and on while one of them reads. */
const GIVE_WAY_MS = 2 * LEASE_MS;
/** Of the requests that a provider takes in one pause, the share that single accounts may take; and at least so many. */
const SPARE_SHARE = 0.5;
const SPARE_REQUESTS_LEAST = 4;
/** What is due at such a time was asked for at once, whatever its blockchain was read through. */
const WOKEN = 1;
const AFTER_WOKEN: DuePosition = { due_at: WOKEN, id: '\u{10FFFF}' };
/** Providers that one question of a person is asked of. */
const PROVIDERS_PER_QUESTION = 3;
/** So long a person waits for a reading: then what is known is the answer. */
const POLL_IN_TIME_MS = 10_000;
/** Of the 10 s that a daemon has to end: so long requests in flight may wait for a provider. */
const LAST_ANSWERS_MS = 5_000;
/** Time that passes between two counts is counted up to this: while the process stood still, no provider could answer. */
const COUNTED_MS = 5_000;
/** Longest wait after failures of ours (those of providers have waits of their own). */
const RETRY_MS = 10_000;

export interface Observer {
  /** Continues the time by which the chains were read last, should our clock have been set back since; before anything is dated by it. */
  resume(): Promise<void>;
  start(): void;
  /**
   * Reads a blockchain now, the accounts in `focus` first; calls made meanwhile share one read that begins after them.
   * Throws ProviderError.
   */
  poll(blockchain: string, focus?: readonly AccountRef[]): Promise<void>;
  /**
   * The same for someone who waits for an answer: after a while it is enough that the chain is read at all. Throws
   * ProviderError only where it is not: a provider that takes no more for now, or gave one odd answer, is not down, and
   * another daemon may have read meanwhile.
   */
  pollInTime(blockchain: string, focus?: readonly AccountRef[]): Promise<void>;
  /** The credits that a transaction made to an address, as the provider that answers now has them. Throws ProviderError. */
  lookUp(blockchain: string, named: NamedTransaction): Promise<Transfer[]>;
  /**
   * The payment for its payer's wallet to sign; null where wallets take none. Throws AddressError, PayerError and
   * ProviderError.
   */
  compose(blockchain: string, order: PayerOrder): Promise<Composed | null>;
  /** Why an address cannot be a wallet, by the chain's word; null where it can. Throws ProviderError. */
  inspectAddress(blockchain: string, address_key: string): Promise<string | null>;
  /** What the owner of an address should know before it is a wallet; null where there is nothing. Throws ProviderError. */
  warnOfAddress(blockchain: string, address_key: string): Promise<string | null>;
  /** Assets of a blockchain that the last reading could not read; nothing is asked of a database. */
  unreadable(blockchain: string): readonly UnreadableAsset[];
  /** Evaluates now everything whose time is up. */
  tick(): Promise<void>;
  /** Works out which blockchains are not read. */
  watchReading(): Promise<void>;
  status(): {
    blockchain: string;
    providers: ProviderStatus[];
    gateways: readonly Gateway[];
    /** How these providers answer this daemon. */
    route: RouteState;
    /** Null where no hints are to be had. */
    hints: HintStatus | null;
  }[];
  /** Takes over what the settings say of the providers of these blockchains: the next reading asks those. */
  renew(blockchains: readonly string[]): void;
  /** Blockchains that this daemon reads on its own, by their ids. */
  reads(): string[];
  /** Gives back what it reads, for others to read. */
  rest(): Promise<void>;
  /** Reads no more on its own; requests that still need a provider have theirs until they are `answered`, for 5 s. */
  stop(answered?: Promise<unknown>): Promise<void>;
}

/** `gateways`: the enabled ones of the configured network. */
export interface ObserverDeps extends ReaderDeps {
  clock: SteadyClock;
  config: Config;
  gateways: readonly Gateway[];
  blindness: BlindnessKeeper;
  database_watch: Pick<DatabaseWatch, 'note'>;
  watched: Pick<Watched, 'has'>;
  metrics: ReaderDeps['metrics'] & Pick<Metrics, 'hints'>;
  /** As operators know this daemon. */
  daemon_id: string;
  /** Whether the operator took this daemon out of work: it reads only what a request asks for. */
  resting?: () => boolean;
}

export interface ObserverOptions {
  app: ObserverDeps;
  /** For tests: where a blockchain is read from instead of the configured providers. */
  source?: (blockchain: string) => RpcSource | undefined;
  runtime?: Runtime;
}

export function openObserver({ app: deps, source, runtime = systemRuntime }: ObserverOptions): Observer {
  const stopping = new AbortController();
  // One for each loop; there may be more than ten blockchains.
  setMaxListeners(0, stopping.signal);
  const app = { ...deps, stopping: stopping.signal };
  const { blockchains } = deps.config.chains;
  const instance = runtime.uuid();
  const onRecovered = () => {
    // What waited for this reading is given back with the next tick.
    lastHousekeeping = 0;
  };
  const shares = openShares({
    ...app,
    instance,
    blockchains: blockchains.map(({ id }) => id),
    routes: () => routesOf(pollers),
  });
  const dead_routes = openDeadRoutes(app);
  const pollers: Poller[] = blockchains.map(({ id }) =>
    createPoller(app, { instance, runtime, shares, onRecovered }, id, source?.(id)),
  );
  const causes = createCauses(app.log, runtime);
  const running: Promise<void>[] = [];
  const due = openDue(app, blockchains);
  let lastHousekeeping = 0;
  let unreadable: Awaited<ReturnType<typeof unreadableAssets>> = [];

  async function tick(): Promise<void> {
    const now = seconds(app.clock);
    app.clock_check.report(app.log);
    unreadable = await unreadableAssets(app.db.query);
    if (app.resting?.()) return;
    await due.woken();
    const trusted = app.clock_check.trouble() === null;
    if (trusted) for (const { id } of blockchains) await due.settle(id, now);
    const since = app.clock.monotonic_ms() - lastHousekeeping;
    if (lastHousekeeping > 0 && since < HOUSEKEEPING_MS) return;
    lastHousekeeping = app.clock.monotonic_ms();
    await app.pace.refresh();
    if (!trusted) return;
    await due.overdue(now);
    await releaseAmounts(app.db, now);
  }

  const pollerOf = async (blockchain: string): Promise<Poller> => {
    const poller = pollers.find(({ reader }) => reader.blockchain.id === blockchain);
    if (!poller || (await poller.gateways.current()).length === 0)
      throw new ProviderError('unreachable', `${blockchain} is not enabled`);
    return poller;
  };

  /**
   * Whether a blockchain is read though a reading of it, begun then (Unix seconds), was late or failed: one whose provider is
   * away where another daemon has read it since.
   */
  async function isReadAtAll(
    blockchain: string,
    outcome: 'late' | ProviderError,
    began_at: number,
  ): Promise<boolean> {
    if (stopping.signal.aborted || app.blindness.of(blockchain) !== null) return false;
    const { last_ok_at = null } = (await getCursor(app.db.query, blockchain)) ?? {};
    if (last_ok_at === null) return false;
    const is_away =
      outcome !== 'late' && (outcome.kind === 'unreachable' || outcome.kind === 'wrong_network');
    return !is_away || last_ok_at > began_at;
  }

  /** A failure of ours is logged, and tried again. */
  function onError(error: unknown): number {
    app.database_watch.note(error);
    if (!stopping.signal.aborted)
      causes.failed(String(error), 'error', { err: error }, 'the observer failed; continuing');
    return RETRY_MS;
  }

  const dropOwn = async () => {
    await shares.settled();
    // Where the database is away they run out.
    await dropLeases(app.db.query, instance).catch((error: unknown) =>
      app.log.warn({ err: error }, 'leases of blockchains could not be given back'),
    );
  };

  const used = () => pollers.filter(({ gateways }) => gateways.known().length > 0);
  let counted_ms: number | null = null;

  async function watchReading(): Promise<void> {
    await app.blindness.refresh(
      used().map(({ reader, interval_ms, leads }) => ({
        blockchain: reader.blockchain.id,
        interval_ms,
        leads: leads(),
      })),
    );
    // What waits for a database that is away waits for no provider: then this is not reached.
    const now_ms = app.clock.monotonic_ms();
    const passed_ms = Math.min(COUNTED_MS, Math.max(0, now_ms - (counted_ms ?? now_ms)));
    counted_ms = now_ms;
    for (const { route } of pollers) route.count(passed_ms);
    // Where there is no other daemon, what cannot be read is blind.
    if (app.db.dialect !== 'sqlite')
      await dead_routes.note(used().flatMap((poller) => poller.failure() ?? []));
  }

  /** What this daemon cannot read it gives back as soon as another may, also in the middle of a reading that does not end. */
  async function refreshShares(): Promise<void> {
    await shares.refresh();
    for (const poller of pollers) await poller.giveBack();
  }

  async function resume(): Promise<void> {
    await app.blindness.resume();
    const dead = app.db.dialect === 'sqlite' ? [] : await dead_routes.load();
    for (const { reader, route } of pollers) if (dead.includes(reader.blockchain.id)) route.resume();
    await app.pace.refresh();
    await askForSeconds(app);
    const written_at = await newestEventAt(app.db.query);
    const rows = (await allCursors(app.db.query)).filter(({ blockchain }) =>
      keepsTime(app.config, blockchain),
    );
    const readings = rows.flatMap((row) => storedReading(row) ?? []);
    if (readings.length === 0 && written_at !== undefined) app.clock_check.continueSlowly(written_at);
    for (const reading of readings) app.clock_check.resume(reading, written_at);
  }

  return {
    resume,
    tick,
    watchReading,
    reads: () => pollers.filter((poller) => poller.leads()).map(({ reader }) => reader.blockchain.id),
    renew: (ids) => renewAll(pollers.filter(({ reader }) => ids.includes(reader.blockchain.id))),
    rest: dropOwn,
    unreadable: (blockchain) => unreadable.filter((asset) => asset.blockchain === blockchain),
    start() {
      // The clock first: it may watch addresses again, and a reader that continues without them never comes back for them.
      const ticked = tick().catch((error: unknown) =>
        app.log.error({ err: error }, 'the clock failed; continuing'),
      );
      const { signal } = stopping;
      const afterwards = (work: () => Promise<number>, waits: Pick<Runtime, 'sleep'> = runtime) =>
        running.push(repeat(() => ticked.then(work), { runtime: waits, signal, onError }));
      // An SQLite file has one daemon, which reads everything.
      const is_alone = app.db.dialect === 'sqlite';
      const shared: Promise<unknown> = is_alone ? Promise.resolve() : refreshShares().catch(onError);
      for (const { scheduled, forward } of pollers) afterwards(() => shared.then(scheduled), forward);
      if (!is_alone)
        afterwards(async () => {
          if (!app.resting?.()) await refreshShares();
          return SHARE_MS;
        });
      afterwards(async () => {
        await tick();
        return CLOCK_MS;
      });
      afterwards(async () => {
        await watchReading();
        return REFRESH_MS;
      });
    },
    async poll(blockchain, focus) {
      await (await pollerOf(blockchain)).forced(focus);
    },
    async pollInTime(blockchain, focus) {
      const poller = await pollerOf(blockchain);
      const began_at = seconds(app.clock);
      let outcome: 'read' | 'late' | ProviderError = 'late';
      const reading = poller.forced(focus).then(
        () => {
          outcome = 'read';
        },
        (error: unknown) => {
          if (error instanceof ProviderError) outcome = error;
          // What others write at this moment may keep a reading from being stored.
          else if (!isBusy(error)) throw error;
        },
      );
      await Promise.race([reading, settledWithin(POLL_IN_TIME_MS, reading, runtime)]);
      if ((outcome as string) === 'read' || (await isReadAtAll(blockchain, outcome, began_at))) return;
      throw outcome === 'late'
        ? new ProviderError('unreachable', `${blockchain} cannot be read now`)
        : outcome;
    },
    async lookUp(blockchain, named) {
      const { reader, gateways } = await pollerOf(blockchain);
      const current = await gateways.current();
      return askOnce(app, reader.source, (rpc, label) =>
        reader.chainReader().lookUp(reader.contextFor(rpc, label, current), named),
      );
    },
    async compose(blockchain, order) {
      const { reader } = await pollerOf(blockchain);
      const { family } = reader.blockchain;
      if (!family.compose) return null;
      return askOnce(app, reader.source, (rpc, label) =>
        readingAnswers(app.log, label, async () => (await family.compose?.(rpc, order)) ?? null),
      );
    },
    async inspectAddress(blockchain, address_key) {
      const { reader } = await pollerOf(blockchain);
      const { family } = reader.blockchain;
      if (!family.inspectAddress) return null;
      return askOnce(app, reader.source, (rpc, label) =>
        readingAnswers(app.log, label, async () => (await family.inspectAddress?.(rpc, address_key)) ?? null),
      );
    },
    async warnOfAddress(blockchain, address_key) {
      const { reader } = await pollerOf(blockchain);
      const { family } = reader.blockchain;
      const { network } = app.config;
      if (!family.warnOfAddress) return null;
      return askOnce(
        app,
        reader.source,
        async (rpc) => (await family.warnOfAddress?.(rpc, address_key, network)) ?? null,
      );
    },
    status: () =>
      used().map(({ reader, gateways, route, forward }) => ({
        blockchain: reader.blockchain.id,
        providers: reader.source.status(),
        gateways: gateways.known(),
        route: route.state(),
        hints: forward.status(),
      })),
    async stop(answered = Promise.resolve()) {
      stopping.abort();
      const closeSources = async () => {
        await settledWithin(LAST_ANSWERS_MS, answered, runtime);
        await Promise.all(pollers.map(({ reader }) => reader.source.close()));
      };
      // Others may read as soon as this one does not.
      const giveBack = async () => {
        await Promise.all(running);
        for (const { forward } of pollers) forward.close();
        await dropOwn();
      };
      await Promise.all([closeSources(), giveBack()]);
    },
  };
}

/**
 * One question of one person: where a provider is away, or has no useful answer, the next one is asked. Such an answer is no
 * outage, or anyone who asks for something odd would have the provider backed off for all.
 */
async function askOnce<T>(
  { clock }: { clock: Clock },
  source: RpcSource,
  work: (rpc: Rpc, label: string) => Promise<T>,
): Promise<T> {
  const ask = (rpc: Rpc, label: string) =>
    work(rpc, label).then(
      (value) => ({ value, label }),
      (error: unknown) => {
        if (isOfQuestion(error)) return { error, label };
        throw error;
      },
    );
  for (let asked = 1; ; asked++) {
    try {
      const answer = await source.use(ask);
      if (!('error' in answer)) return answer.value;
      const other = await orFailed(source.askOther(answer.label, ask));
      if (other && !('error' in other)) return other.value;
      throw answer.error;
    } catch (error) {
      const is_away =
        error instanceof ProviderError && !isOfQuestion(error) && source.retryAt() <= clock.ms();
      if (!is_away || asked === PROVIDERS_PER_QUESTION) throw error;
    }
  }
}

const keepsTime = ({ chains }: Pick<Config, 'chains'>, blockchain: string): boolean =>
  chains.find(blockchain)?.family.keeps_time ?? false;

interface Poller {
  reader: Reader;
  gateways: ReadGateways;
  forward: Forward;
  /** The pause between two readings. */
  interval_ms: number;
  /** Whether it had the lease when it last asked for it. */
  leads(): boolean;
  /** Whether its blockchain is switched on here, and no other should read it because our clock is wrong. */
  canRead(): boolean;
  route: Route;
  /** Why its route is dead or slow; null where it is not. */
  failure(): FailedRoute | null;
  /** Gives its share back where another is to read what cannot be read here. */
  giveBack(): Promise<void>;
  /** Reads from the providers that the settings name now. */
  renew(): void;
  /** One read by the schedule; returns the wait until the next, in milliseconds. */
  scheduled(): Promise<number>;
  forced(focus?: readonly AccountRef[]): Promise<void>;
}

/** Invoices whose time is up, evaluated in batches. */
function openDue(app: ObserverDeps & { stopping: AbortSignal }, blockchains: readonly Blockchain[]) {
  /** Where each blockchain's next tick continues among the invoices that are due. */
  const positions = new Map<string, DuePosition>();

  /** What was asked for at once, of all blockchains in one order: what waited for the limit is booked oldest first, wherever it was paid. */
  async function evaluateWoken(): Promise<void> {
    let after = DUE_BEGIN;
    for (let batch = 0; batch < DUE_BATCHES; batch++) {
      const due: DueInvoice[] = [];
      for (const { id } of blockchains)
        due.push(...(await dueInvoices(app.db.query, id, { horizon: WOKEN, after, limit: DUE_BATCH })));
      due.sort((one, other) => one.due_at - other.due_at || (one.id < other.id ? -1 : 1));
      const taken = due.slice(0, DUE_BATCH);
      await reevaluateInvoices(
        app,
        taken.map(({ id }) => id),
        'clock',
      );
      const last = taken.at(-1);
      if (!last || due.length < DUE_BATCH) return;
      after = last;
    }
  }

  /** Those whose time is over and whose account is proved read past it; one that cannot be settled stops no other. */
  async function evaluateDue(blockchain: string, now: number): Promise<void> {
    for (let batch = 0; batch < DUE_BATCHES; batch++) {
      const after = positions.get(blockchain) ?? AFTER_WOKEN;
      const due = await dueInvoices(app.db.query, blockchain, { horizon: now, after, limit: DUE_BATCH });
      const ready = due.filter(({ proved }) => proved).map(({ id }) => id);
      await reevaluateInvoices(app, ready, 'clock');
      const last = due.at(-1);
      if (last && due.length === DUE_BATCH) positions.set(blockchain, last);
      else return void positions.delete(blockchain);
    }
  }

  async function evaluateOverdue(now: number): Promise<void> {
    let after = OPEN_BEGIN;
    for (let batch = 0; batch < DUE_BATCHES; batch++) {
      const before = now - GRACE_SECONDS;
      const overdue = await overdueInvoices(app.db.query, { before, after, limit: DUE_BATCH });
      const ids = overdue.map(({ id }) => id);
      await reevaluateInvoices(app, ids, 'clock');
      const last = overdue.at(-1);
      if (!last || overdue.length < DUE_BATCH) return;
      after = last;
    }
  }
  return { woken: evaluateWoken, settle: evaluateDue, overdue: evaluateOverdue };
}

const renewAll = (pollers: readonly Poller[]): void => {
  for (const { renew } of pollers) renew();
};

/** Of those that may read. */
const routesOf = (pollers: readonly Poller[]) =>
  pollers
    .filter((poller) => poller.canRead())
    .map(({ reader, route }) => ({ blockchain: reader.blockchain.id, state: route.state() }));

function reportLone({ config, log }: ObserverDeps, blockchain: Blockchain): void {
  const { id } = blockchain;
  const says = loneOperator(blockchain, config.network, config.blockchains?.[id]);
  if (says) log.info({ blockchain: id }, `${says}: set blockchains.${id}.urls`);
}

/** Where a blockchain is read from by a test, no hints are to be had but those of the settings. */
function hintsNow({ config }: ObserverDeps, blockchain: Blockchain, is_given: boolean): HintSource | null {
  const configured = config.blockchains?.[blockchain.id];
  const providers = is_given ? [] : providersOf(blockchain, config.network, configured);
  return hintSourceOf(blockchain.family, configured?.hints_url, providers);
}

const rateNow = ({ config }: ObserverDeps, { id, requests_per_second }: Blockchain): number =>
  config.blockchains?.[id]?.requests_per_second ?? requests_per_second;

/** The providers that the settings name now. */
function sourceNow(
  app: ObserverDeps,
  blockchain: Blockchain,
  { runtime, learnt, causes }: { runtime: Runtime; learnt: Learnt; causes: Causes },
): RpcSource {
  const { id, family } = blockchain;
  const { network } = app.config;
  return openRpc({
    blockchain: id,
    family,
    network,
    providers: providersOf(blockchain, network, app.config.blockchains?.[id]),
    requests_per_second: rateNow(app, blockchain),
    clock: app.clock,
    runtime,
    learnt: learnt.of,
    onEvent(event) {
      if (event.type === 'provider_back') causes.over(event.provider, event, event.message);
      else causes.failed(event.provider, 'warn', event, event.message);
    },
  });
}

interface PollerOptions {
  /** Under which it holds its lease. */
  instance: string;
  runtime: Runtime;
  shares: Shares;
  /** Its provider is back. */
  onRecovered(): void;
}

/** What of a poller depends on the settings alone. */
function openParts(app: ObserverDeps, id: string, given: RpcSource | undefined, runtime: Runtime) {
  const { network, chains } = app.config;
  const blockchain = chains.find(id) as Blockchain;
  const enabled = app.gateways.filter((gateway) => gateway.blockchain === id);
  const disabled = chains
    .disabled(network, app.config.gateways, app.config.blockchains)
    .filter((gateway) => gateway.blockchain === id);
  const gateways = readGateways(app, id, enabled, disabled);
  const causes = createCauses(app.log, runtime);
  const learnt = openLearnt(app, id);
  const openSource = () => sourceNow(app, blockchain, { runtime, learnt, causes });
  const source = switched(given ?? openSource(), runtime);
  if (!given && enabled.length > 0) reportLone(app, blockchain);
  const paces = (enabled.length > 0 ? enabled : disabled).map((gateway) => gateway.poll_interval_seconds);
  const interval = Math.min(...paces) * 1000;
  const is_given = given !== undefined;
  const forward = createForward({
    app,
    blockchain,
    source,
    runtime,
    hint_source: hintsNow(app, blockchain, is_given),
    requests_per_second: rateNow(app, blockchain),
    interval_ms: interval,
  });
  return {
    network,
    blockchain,
    gateways,
    learnt,
    source,
    interval,
    forward,
    renew() {
      if (!is_given) source.replace(openSource());
      forward.renew(hintsNow(app, blockchain, is_given), rateNow(app, blockchain));
    },
  };
}

function createPoller(
  app: ObserverDeps,
  { instance, runtime, shares, onRecovered }: PollerOptions,
  id: string,
  given: RpcSource | undefined,
): Poller {
  const parts = openParts(app, id, given, runtime);
  const { network, blockchain, gateways, learnt, source, interval, forward } = parts;
  const spareRequests = (label: string) => {
    const status = source.status().find(({ provider }) => provider === label);
    const rate = status?.requests_per_second ?? rateNow(app, blockchain);
    return Math.max(SPARE_REQUESTS_LEAST, Math.floor((rate * interval * SPARE_SHARE) / 1000));
  };
  const route = createRoute({
    clock: app.clock,
    blind_after_seconds: app.config.blind_after_seconds,
    requestsPerSecond: () => source.status().find(({ state }) => state === 'ok')?.requests_per_second,
    mostPerSecond: () => rateNow(app, blockchain),
  });
  const reader = createReader({
    app,
    network,
    blockchain,
    source,
    spareRequests,
    gateways: gateways.current,
    answered() {
      route.answered();
      app.blindness.answered(id);
    },
  });
  let outcome: ReadOutcome | null = null;
  let last_error: string | null = null;
  let is_news = false;
  const failedAt = () => Math.max(...source.status().map(({ last_error_at }) => last_error_at ?? 0));
  /** Its route fails here though another daemon has read it since: it is not the provider that is away for all. */
  const noteNews = () => {
    const since = route.failingSince();
    const heard_ms = app.blindness.heardAt(id);
    is_news ||= since !== null && heard_ms !== null && heard_ms > since;
  };
  /** What is asked of its providers tells of the route to them. */
  const onRoute = async (work: () => Promise<{ is_unfinished: boolean } | null>) => {
    route.begins();
    const failed_before = failedAt();
    try {
      const done = await work();
      route.ended(!done?.is_unfinished);
      if (route.state() === 'slow') noteNews();
    } catch (error) {
      if (error instanceof ProviderError) {
        last_error = error.message;
        route.failed();
        // Where it is too soon to ask again, nothing more is known.
        if (failedAt() !== failed_before) noteNews();
      } else route.broken();
      throw error;
    }
  };
  const read = coalesce(async (focus: readonly AccountRef[]) => {
    await learnt.load();
    await onRoute(async () => {
      outcome = await reader.read(focus);
      return outcome;
    });
    if (outcome && leads) forward.follow(outcome);
  });
  /** While another reads, whether it could be read here: where it could not, or where that one cannot. */
  const probe = () =>
    onRoute(async () => {
      await reader.ask();
      route.answered();
      return null;
    }).catch((error: unknown) => {
      if (!(error instanceof ProviderError)) throw error;
    });
  /** When another daemon read it last, by that one's time; and when that was heard, by the monotonic timer. */
  let heard: { read_at: number; monotonic_ms: number } | null = null;
  /** What another daemon reads tells of our clock; what it had read before the start may be of any age. */
  const hear = async () => {
    const reading = storedReading(await getCursor(app.db.query, id));
    if (!reading || reading.read_at === heard?.read_at) return;
    if (heard) app.clock_check.hear(id, reading);
    heard = { read_at: reading.read_at, monotonic_ms: app.clock.monotonic_ms() };
  };
  let wrong_since: number | null = null;
  /** Invoices are dated by the others' clocks: one that is wrong does not date their payments where another may. */
  const givesWay = () => {
    if (app.clock_check.trouble() === null) wrong_since = null;
    else wrong_since ??= app.clock.monotonic_ms();
    if (wrong_since === null) return false;
    const since = Math.max(wrong_since, heard?.monotonic_ms ?? 0);
    return app.clock.monotonic_ms() - since < GIVE_WAY_MS;
  };
  // An SQLite file has one daemon: a lease that a killed one left would only keep the next from reading.
  let leads = false;
  let is_away = false;
  const lease_ms = Math.max(LEASE_MS, LEASE_READS * interval);
  const mayRead = async () => {
    if (app.resting?.()) return false;
    if (app.db.dialect === 'sqlite') return true;
    if (shares.includes(id) && !givesWay())
      return holdLease(app.db.query, observeLease(id), instance, app.clock.ms(), lease_ms);
    // Between two readings: the one whose share it is begins where this one ended.
    if (leads) await dropLease(app.db.query, observeLease(id), instance);
    return false;
  };
  return {
    reader,
    gateways,
    forward,
    interval_ms: interval,
    leads: () => leads && !app.resting?.(),
    canRead: () => gateways.known().length > 0 && !givesWay(),
    route,
    failure() {
      const state = route.state();
      if (state === 'ok') {
        is_news = false;
        return null;
      }
      const providers = source.status().map(({ provider }) => provider);
      const error = state === 'slow' ? 'its answers take too long' : (last_error ?? 'no answer in time');
      return { blockchain: id, providers: providers.join(', '), error, is_news };
    },
    async giveBack() {
      if (!leads || route.state() === 'ok' || shares.includes(id)) return;
      leads = false;
      await dropLease(app.db.query, observeLease(id), instance);
    },
    forced: (focus = []) => read(focus),
    renew: parts.renew,
    async scheduled() {
      leads = (await gateways.current()).length > 0 && (await mayRead());
      if (!leads) {
        forward.close();
        if (blockchain.family.keeps_time) await hear();
        if (!app.resting?.() && gateways.known().length > 0 && route.isProbeDue(shares.isTroubled(id)))
          await probe();
        return Math.min(interval, SHARE_MS);
      }
      forward.begins();
      try {
        await read([]);
        if (is_away) onRecovered();
        is_away = false;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        is_away = true;
        forward.failed();
        const retry = source.retryAt() - app.clock.ms();
        return Math.max(interval, Number.isFinite(retry) ? retry : 60_000);
      }
      return forward.ended(outcome);
    },
  };
}
