// Runs one seed from its first moment to its last: a town, its chains, its daemon, and the judge of all that happens.
import { takeIdsFrom } from '../../data/db/ids.ts';
import type { Books } from './books.ts';
import { Daemon } from './daemon.ts';
import { breaksFinality, evmModel, isEvm } from './evm-model.ts';
import { Feed } from './feed.ts';
import { gateFaultsOf, LOCK_TIMEOUT, NO_GATE_FAULTS } from './gate.ts';
import { HintHosts } from './hints.ts';
import { hmacInPlace } from './hmac.ts';
import { type Broken, brokenLaws, CHEAP_LAWS } from './laws.ts';
import type { Model } from './model.ts';
import { Network, NO_FAULTS, type Provider } from './network.ts';
import { KEEP_TIME, Oracle } from './oracle.ts';
import { type Plan, planOf } from './plan.ts';
import type { SimulatorServer } from './postgres.ts';
import { Random } from './random.ts';
import { solanaModel } from './solana-model.ts';
import { openFileStore, openServerStore, type Store } from './store.ts';
import { tonModel } from './ton-model.ts';
import { Town } from './town.ts';
import { type UtxoCoin, utxoModel } from './utxo-model.ts';
import { type Note, World } from './world.ts';

const START_MS = 1_800_000_000_000;
/** How often the cheap laws are checked on all rows. */
const LAWS_EVERY_EVENTS = 5_000;
const NOTES_SHOWN = 20_000;
/** A clock this far from true time is within what the daemon is to bear. */
const BEARABLE_MS = 30_000;
/** A tip that shows the clocks' difference may be so old. */
const TIP_AGE_MS = 15_000;
/** A drift is noted in steps of this size. */
const CLOCK_STEP_MS = 500;
/** What happens before the end of the quiet is read within it. */
const QUIET_MS = 15 * 60_000;
const LOSS_MS = 4_000_000;
/** Of the requests that a provider answers a second, those for one transaction of an account, at least. */
const SHARE_OF_TRANSACTIONS = 0.25;
/** Everything that was sent is in a block and in every index after this, the slower chains aside. */
const BURY_MS = 60_000;
/** Blocks that bury the last payments of the slower chains. */
const QUIET_BLOCKS = 14;
const STOP_LIMIT_MS = 60_000;
const DAY_MS = 25 * 3_600_000;
/** Of the runs in which all is done without it. */
const DAY_SHARE = 0.1;
const CHUNK_MS = 60_000;
/** After it the grace may end what could not be read. */
const AFTER_DAY_MS = 15 * 60_000;
const CLOSED = 'settled';
/** On a server everyone acts so much sooner, and fewer share the rows, for more to happen to them at a time … */
const HASTE = 15;
const SERVER_MERCHANTS = 3;
const SERVER_HOSTILE_MERCHANTS = 1;
/** What reads, books and ends alongside the daemons' own loops is done so much oftener. */
const SERVER_PRESS = 3;
/** … and the runs are shorter, because each statement is asked of a server. */
const SERVER_EVENTS_SHARE = 0.05;
/** Where blocks take minutes, all would be quiet only after hours of the daemons' idle statements. */
const SERVER_BLOCKCHAINS = ['ton', 'solana'];
const SERVER_TTL_SECONDS = 60;
const DAEMONS_MOST = 3;

export interface Failure {
  law: string;
  text: string;
  step: number;
  /** True Unix milliseconds. */
  at_ms: number;
  notes: readonly Note[];
  /** Whether everything had calmed down by then. */
  was_calm: boolean;
  /** Rows of the database that it names. */
  rows: readonly string[];
}

export interface RunResult {
  seed: number;
  plan: Plan;
  events: number;
  requests: number;
  virtual_ms: number;
  invoices: number;
  payments: number;
  deaths: number;
  /** Daemons that share the database. */
  daemons: number;
  /** Of a server: statements that were let through, and how many of them waited for the lock of another. */
  statements: number;
  waits: number;
  /** Equal for equal histories. */
  digest: number;
  failure: Failure | null;
}

export interface RunOptions {
  /** Ends after so many events in place of those of the plan. */
  events?: number;
  /** Features of the plan that are turned off. */
  off?: readonly string[];
  /** In place of those that the seed chooses. */
  blockchains?: readonly string[];
  /** False ends it when everything would calm down. */
  calms?: boolean;
  /** Called with everything that happens. */
  onNote?: ((note: Note) => void) | undefined;
  /** Where the database is put; in memory if there is such a place. */
  directory?: string;
  /** A server in place of a file. */
  server?: SimulatorServer;
  /** Daemons that share the database of a server; those that the seed chooses by default. */
  daemons?: number | undefined;
}

/** Plays a seed; the same seed plays the same. Ends at the first law that is broken. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const undo = hmacInPlace();
  try {
    return await new Run(seed, options).play();
  } finally {
    undo();
  }
}

/** One of the daemons, through all its lives. */
interface DaemonPlace {
  name: string;
  daemon: Daemon | undefined;
  /** Whether that daemon has begun its work. */
  is_started: boolean;
  /** Calls off the next start. */
  callOff(): void;
}

/** Whether neither the network, nor the providers, nor the daemon are ever at fault. */
const isHealthy = ({ network, actions, off, solana, daemon }: Plan): boolean =>
  Object.values(network).every((probability) => probability === 0) &&
  (actions.outage === 0 || off.has('actions.outage')) &&
  [solana.far_behind, solana.omits_entry, solana.never_given].every((probability) => probability === 0) &&
  [
    daemon.killed,
    daemon.restart_seconds,
    daemon.clock_error_ms,
    daemon.clock_drift,
    daemon.clock_step_seconds,
  ].every((fault) => fault === 0);

class Run {
  readonly #plan: Plan;
  readonly #world = new World(START_MS);
  readonly #random: Random;
  readonly #network: Network;
  readonly #hints: HintHosts;
  readonly #models: readonly Model[];
  readonly #providers = new Map<string, Provider[]>();
  readonly #town: Town;
  readonly #options: RunOptions;
  readonly #places: DaemonPlace[];
  readonly #daemons: number;
  readonly #last_event: number;
  readonly #calms: boolean;
  #store: Store | undefined;
  #feed: Feed | undefined;
  #books: Books | undefined;
  #oracle: Oracle | undefined;
  #failure: Failure | null = null;
  #lives = 0;
  /** The event after which the laws were checked last. */
  #judged_at = 0;
  /** By the daemon's clock, Unix seconds. */
  #started_at = 0;
  #deaths = 0;
  /** Whether anything may still go wrong. */
  #storm = false;
  #is_calm = false;
  #clock_error_ms: number;
  #clock_since_ms = START_MS;
  #worst_clock_ms = 0;
  /** By how much the clock that the daemon lives by was ahead, and since when. */
  readonly #lived_by: { at_ms: number; error_ms: number }[] = [];
  /** Whether a chain tells the daemon what time it is. */
  readonly #keeps_time: boolean;

  constructor(seed: number, options: RunOptions) {
    const { events, off, blockchains, calms = true, onNote, server } = options;
    const drawn = planOf(seed, { off, blockchains });
    const plan = server ? hastened(drawn, blockchains ?? SERVER_BLOCKCHAINS) : drawn;
    const random = new Random(`run ${seed}`);
    const world = this.#world;
    world.onNote = onNote;
    this.#plan = plan;
    this.#random = random;
    this.#options = options;
    const count = server ? (options.daemons ?? new Random(`daemons ${seed}`).int(2, DAEMONS_MOST)) : 1;
    this.#daemons = count;
    this.#places = Array.from({ length: count }, (_, index) => ({
      name: `daemon ${index}`,
      daemon: undefined,
      is_started: false,
      callOff: () => {},
    }));
    this.#calms = calms;
    this.#last_event = events ?? plan.events;
    this.#clock_error_ms = plan.daemon.clock_error_ms;
    this.#keeps_time = plan.blockchains.some((id) => KEEP_TIME.includes(id));
    this.#network = new Network(world, random.fork('network'));
    this.#hints = new HintHosts(world, new Random(`hints ${seed}`), plan.hints);
    if (plan.hints.sent > 0) this.#network.hints = (alive) => this.#hints.openFor(alive);
    this.#models = plan.blockchains.map((id) => this.#openModel(id));
    this.#town = new Town({
      world,
      random: random.fork('town'),
      plan,
      models: this.#models,
      daemon: () => this.#anyDaemon(),
      madeAt: (id) => this.#oracle?.madeAt(id),
      fail: (law, text) => this.#fail(law, text),
      paid: (blockchain) => this.#hints.paid(blockchain),
      outage: (blockchain, ms) => this.#outage(blockchain, ms),
    });
    const ids = random.fork('ids');
    takeIdsFrom({ ms: () => Math.floor(world.now_ms), uuid: () => ids.uuid() });
  }

  #openModel(id: string): Model {
    const { ton, solana, utxo, evm, utxo_providers } = this.#plan;
    const knows = (txid: string) =>
      this.#books?.rows('select 1 from transfers where txid = ?', txid).length !== 0;
    const common = { world: this.#world, random: this.#random.fork(id), knows };
    const coin = id as UtxoCoin;
    const model = isEvm(id)
      ? evmModel({ ...common, network: id, faults: evm })
      : id === 'ton'
        ? tonModel({ ...common, faults: ton })
        : id === 'solana'
          ? solanaModel({ ...common, faults: solana })
          : utxoModel({ ...common, coin, provider: utxo_providers[coin], faults: utxo });
    const providers = [...model.hosts].map(([host, front]) => this.#network.addProvider(host, front));
    this.#providers.set(id, providers);
    return model;
  }

  /** One that is there, as a balancer of load finds it. */
  #anyDaemon(): Daemon | undefined {
    const [first] = this.#places;
    if (this.#places.length === 1) return first?.daemon;
    const there = this.#places.flatMap(({ daemon }) => (daemon?.alive ? [daemon] : []));
    return there.length > 0 ? this.#random.pick(there) : undefined;
  }

  async play(): Promise<RunResult> {
    const { server, directory } = this.#options;
    const store = server
      ? await openServerStore(server, {
          world: this.#world,
          random: this.#random.fork('gate'),
          onCircle: (texts) => this.#fail('one-lock-order', texts.join(' | ')),
        })
      : openFileStore(directory);
    this.#store = store;
    try {
      return await this.#playOn(store);
    } finally {
      await store.close();
    }
  }

  async #playOn(store: Store): Promise<RunResult> {
    try {
      await this.#play(store);
    } catch (error) {
      this.#fail('no-bug', (error as Error).stack ?? String(error));
    }
    for (const { daemon } of this.#places) if (daemon?.alive) daemon.kill();
    await this.#world.rest();
    const { gate } = store;
    return {
      seed: this.#plan.seed,
      plan: this.#plan,
      events: this.#world.events,
      requests: this.#network.requests,
      virtual_ms: this.#world.now_ms - START_MS,
      invoices: this.#town.bills.size,
      payments: this.#town.payments.length,
      deaths: this.#deaths,
      daemons: this.#daemons,
      statements: gate?.statements ?? 0,
      waits: gate?.waits ?? 0,
      digest: (this.#world.digest ^ (gate?.digest ?? 0) ^ (await store.digest())) >>> 0,
      failure: this.#failure,
    };
  }

  async #play(store: Store): Promise<void> {
    await this.#inWorld(this.#beginAll());
    const [first] = this.#places;
    if (first?.daemon) await this.#inWorld(this.#town.found(first.daemon));
    const books = store.openBooks();
    this.#books = books;
    try {
      const oracle = new Oracle({
        world: this.#world,
        town: this.#town,
        models: this.#models,
        books,
        isHealthy: () => this.#storm && isHealthy(this.#plan),
        clockWasWrong: () => this.#worst_clock_ms > BEARABLE_MS,
        clockMovedSince: (ms) => this.#clockMovedSince(ms),
        broken: (which) => this.#broken(which),
        fail: (law, text) => this.#fail(law, text),
      });
      this.#oracle = oracle;
      this.#openReceivers(oracle);
      await this.#inWorld(this.#town.furnish());
      if (store.gate) this.#followFeeds(books);
      this.#brew();
      this.#town.live();
      while (!this.#failure && this.#world.events < this.#last_event && (await this.#world.step()))
        await this.#judge(oracle);
      if (!this.#failure && this.#calms) await this.#calm(oracle);
      if (this.#failure) this.#failure.rows = oracle.rowsOf(this.#failure.text);
    } finally {
      books.close();
    }
  }

  #followFeeds(books: Books): void {
    this.#feed = new Feed({
      world: this.#world,
      random: this.#random.fork('feed'),
      town: this.#town,
      books,
      fail: (law, text) => this.#fail(law, text),
    });
    this.#feed.follow();
  }

  async #judge(oracle: Oracle): Promise<void> {
    this.#noteClock(false);
    oracle.step();
    const { events } = this.#world;
    if (!this.#storm || events === this.#judged_at || events % LAWS_EVERY_EVENTS !== 0) return;
    this.#judged_at = events;
    await oracle.laws('cheap');
  }

  async #broken(which: 'all' | 'cheap'): Promise<Broken[]> {
    const { config, clock } = this.#places[0]?.daemon ?? {};
    if (!config || !clock) return [];
    return brokenLaws({
      config,
      now: Math.floor(clock.ms() / 1000),
      started_at: this.#started_at,
      // What the daemon measures has the age of the tips in it.
      clock_trusted: this.#worst_clock_ms <= BEARABLE_MS - TIP_AGE_MS,
      laws: which === 'all' ? undefined : CHEAP_LAWS,
      // A fork undoes what was confirmed or final; a merchant gives as his wallet what the chain does not know yet.
      isCaused: ({ kind, blockchain, account }) =>
        kind === 'booked_gone' ||
        kind === 'booked_left' ||
        (kind === 'final_left' && breaksFinality(String(blockchain))) ||
        this.#town.traps.has(String(account)),
    });
  }

  #fail(law: string, text: string): void {
    this.#failure ??= {
      law,
      text,
      step: this.#world.events,
      at_ms: this.#world.now_ms,
      notes: this.#world.lastNotes(NOTES_SHOWN),
      was_calm: this.#is_calm,
      rows: [],
    };
  }

  /** Lets time pass until a promise of the outside is settled. */
  async #inWorld<T>(promise: Promise<T>): Promise<void> {
    let pending = true;
    const done = promise.then(
      () => {
        pending = false;
      },
      (error: unknown) => {
        pending = false;
        this.#fail('no-bug', (error as Error).stack ?? String(error));
      },
    );
    await this.#world.rest();
    while (pending && !this.#failure) await this.#world.step();
    if (!pending) await done;
  }

  /**
   * What the daemon believes: every clock at its start, later one that agrees with the chains. Where no chain tells the
   * time and the clock was wrong, the time that it lives by may come nearer to the true one, but never leave it.
   */
  #noteClock(starts: boolean): void {
    const clock_error_ms = this.#clockError();
    const isKnown = this.#keeps_time || this.#worst_clock_ms <= BEARABLE_MS;
    const lived = isKnown ? undefined : this.#anyDaemon()?.app?.clock;
    const error_ms = lived ? lived.ms() - this.#world.now_ms : clock_error_ms;
    const last_ms = this.#lived_by.at(-1)?.error_ms ?? 0;
    if (this.#lived_by.length > 0 && Math.abs(last_ms - error_ms) < CLOCK_STEP_MS) return;
    const bearable_ms = BEARABLE_MS + TIP_AGE_MS;
    const believed_ms = lived ? Math.max(bearable_ms, Math.abs(last_ms)) : bearable_ms;
    if (starts || Math.abs(error_ms) <= believed_ms)
      this.#lived_by.push({ at_ms: this.#world.now_ms, error_ms });
  }

  /** By how much the daemon's time has moved against true time since then, at most. */
  #clockMovedSince(ms: number): number {
    const at = this.#lived_by.findLastIndex(({ at_ms }) => at_ms <= ms);
    const errors = this.#lived_by.slice(Math.max(0, at)).map(({ error_ms }) => error_ms);
    return errors.length === 0 ? 0 : Math.max(...errors) - Math.min(...errors);
  }

  #clockError(): number {
    const { clock_drift } = this.#plan.daemon;
    const drifted = this.#storm ? (this.#world.now_ms - this.#clock_since_ms) * clock_drift : 0;
    const error = this.#clock_error_ms + drifted;
    this.#worst_clock_ms = Math.max(this.#worst_clock_ms, Math.abs(error));
    return error;
  }

  async #beginAll(): Promise<void> {
    await Promise.all(this.#places.map((place) => this.#begin(place)));
  }

  /** Starts the process, on the database as those before it left it. */
  async #begin(place: DaemonPlace): Promise<void> {
    const { plan, settings } = { plan: this.#plan, settings: this.#settings() };
    const { url = '', gate } = this.#store ?? {};
    const boundaries = this.#random.fork(`boundaries ${this.#lives}`);
    const daemon = new Daemon({
      world: this.#world,
      network: this.#network,
      random: this.#random.fork(`daemon ${this.#lives++}`),
      name: place.name,
      database_url: url,
      gate,
      settings,
      clockError: () => this.#clockError(),
      onCommit: () => this.#oracle?.committed(),
      dies: () => this.#storm && boundaries.chance(plan.daemon.killed),
      onDeath: (boundary) => {
        this.#deaths++;
        this.#world.note(`killed ${boundary}`, () => `${place.name} killed: ${boundary}`);
        this.#beginSoon(place);
      },
      onError: (line) => this.#hear(line),
    });
    place.daemon = daemon;
    place.is_started = false;
    this.#noteClock(true);
    this.#started_at = Math.floor(daemon.clock.ms() / 1000);
    await daemon.start();
    place.is_started = true;
    this.#noteClock(true);
    this.#world.note('started', () => `${place.name} started`);
  }

  #beginSoon(place: DaemonPlace): void {
    const away_ms = 200 + this.#random.unit() ** 2 * this.#plan.daemon.away_seconds * 1000;
    place.callOff = this.#world.after(away_ms, () => {
      this.#begin(place).catch((error: unknown) =>
        this.#fail('no-bug', (error as Error).stack ?? String(error)),
      );
    });
  }

  /** An error in the log is a bug, but where it is an alert: then a person has to act. */
  #hear(line: Record<string, unknown>): void {
    this.#world.note('error', () => JSON.stringify(line));
    if (line.alert === undefined && !isOfDatabase(line))
      this.#fail('no-bug', `the log says: ${JSON.stringify(line)}`);
  }

  #settings(): Record<string, string | boolean> {
    const { ttl_seconds, requests_per_second, blockchains } = this.#plan;
    const settings: Record<string, string | boolean> = {
      network: 'testnet',
      demo: false,
      trust_proxy: true,
      webhook_allow_private: true,
      'rates.source': 'fixed',
      'rates.usd.TON': '4',
      'rates.usd.SOL': '200',
      'rates.usd.BTC': '100000',
      'rates.usd.LTC': '100',
      'rates.usd.POL': '0.5',
      'rates.usd.ETH': '2500',
      'rates.usd.BNB': '600',
      'rates.usd.TRX': '0.3',
      'limits.checkout_per_address': '0',
      ...this.#town.settings,
    };
    const all = ['ton', 'ton-usdt', 'solana', 'solana-usdc', 'solana-usdt', 'bitcoin', 'litecoin'];
    const enabled = this.#models.flatMap(({ chains }) => chains);
    for (const chain of new Set([...all, ...enabled])) {
      settings[`gateways.${chain}.enabled`] = enabled.includes(chain);
      const isSlow = chain === 'bitcoin' || chain === 'litecoin';
      settings[`gateways.${chain}.payment_ttl_seconds`] = String(
        isSlow ? ttl_seconds.slow : ttl_seconds.fast,
      );
    }
    for (const model of this.#models) Object.assign(settings, model.settings);
    Object.assign(settings, this.#hints.settingsOf(blockchains));
    if (requests_per_second !== null)
      for (const id of blockchains)
        settings[`blockchains.${id}.requests_per_second`] = String(requests_per_second);
    return settings;
  }

  #openReceivers(oracle: Oracle): void {
    const random = this.#random.fork('receivers');
    this.#network.receive = ({ headers }) => {
      const fails = this.#storm && random.chance(this.#plan.webhook_failures);
      const how = fails ? random.pick(['refuse', 'hang', 500, 404, 301] as const) : 200;
      if (how !== 'refuse') oracle.received(headers['webhook-id'] ?? '');
      return how;
    };
  }

  /** From now on everything may go wrong that the plan has. */
  #brew(): void {
    const { network, daemon } = this.#plan;
    this.#storm = true;
    this.#clock_since_ms = this.#world.now_ms;
    if (this.#store?.gate) this.#store.gate.faults = gateFaultsOf(this.#plan.seed, this.#plan.off);
    for (const provider of this.#network.providers.values()) provider.faults = network;
    for (const model of this.#models) model.start();
    if (daemon.restart_seconds > 0) this.#repeat(daemon.restart_seconds, () => void this.#restart());
    if (daemon.clock_step_seconds > 0)
      this.#repeat(daemon.clock_step_seconds, () => {
        const step_ms = (2 * this.#random.unit() - 1) * daemon.clock_step_most_ms;
        // Back to the right time as often as away from it.
        this.#clock_error_ms = this.#random.chance(0.5) ? 0 : step_ms;
        this.#world.note('clock', () => `the clock is set to ${this.#clock_error_ms} ms`);
      });
  }

  #repeat(mean_seconds: number, work: () => void): void {
    this.#world.after(this.#random.exponential(mean_seconds) * 1000, () => {
      if (!this.#storm) return;
      work();
      this.#repeat(mean_seconds, work);
    });
  }

  async #restart(): Promise<void> {
    const place = this.#places.length === 1 ? this.#places[0] : this.#random.pick(this.#places);
    if (!place?.daemon?.alive || !place.is_started) return;
    this.#world.note('restart');
    // Not twice at once, however long it takes; and not after its death, or everybody's stop, which begin it again.
    place.is_started = false;
    let is_wanted = true;
    const callOff = () => {
      is_wanted = false;
    };
    place.callOff = callOff;
    await place.daemon.stop();
    if (is_wanted && place.callOff === callOff) this.#beginSoon(place);
  }

  #outage(blockchain: string, ms: number): void {
    this.#world.note(`outage ${blockchain}`, () => `${blockchain} is not reached for ${ms} ms`);
    for (const provider of this.#providers.get(blockchain) ?? [])
      provider.down_until_ms = this.#world.now_ms + ms;
  }

  /** Everything is repaired and time passes: then nothing is left undone. */
  async #calm(oracle: Oracle): Promise<void> {
    const world = this.#world;
    world.note('calm');
    this.#is_calm = true;
    this.#storm = false;
    this.#town.calm();
    this.#feed?.calm();
    if (this.#store?.gate) this.#store.gate.faults = NO_GATE_FAULTS;
    await this.#leaveOne();
    for (const model of this.#models) model.calm();
    this.#hints.calm();
    for (const provider of this.#network.providers.values())
      Object.assign(provider, { faults: NO_FAULTS, down_until_ms: 0 });
    const isClockSet = this.#clock_error_ms !== 0 || this.#plan.daemon.clock_drift !== 0;
    this.#clock_error_ms = 0;
    const { fast, slow } = this.#plan.ttl_seconds;
    const hasBlocks = this.#plan.blockchains.some((id) => id === 'bitcoin' || id === 'litecoin');
    const time_ms = (hasBlocks ? Math.max(slow, QUIET_BLOCKS * 60) : fast) * 1000;
    // Who sets a clock by so much starts the daemon again.
    if (isClockSet) await this.#startAgain(0);
    const quiet_ms = QUIET_MS + catchUpMs(this.#plan, this.#town.payments.length);
    const until_ms = world.now_ms + Math.max(300, hasBlocks ? slow : fast) * 1000 + time_ms + quiet_ms;
    await this.#pass(oracle, BURY_MS);
    while (!this.#failure && world.now_ms < until_ms && !oracle.isDone()) await this.#pass(oracle, CHUNK_MS);
    const lost_ms = until_ms + lossMs(this.#plan);
    while (!this.#failure && world.now_ms < lost_ms && oracle.hasLost()) await this.#pass(oracle, CHUNK_MS);
    const day_share = this.#store?.gate ? 0 : DAY_SHARE;
    if (!this.#failure && (!oracle.isDone() || this.#random.chance(day_share))) {
      await this.#startAgain(Math.max(DAY_MS, oracle.lastEnd() + DAY_MS - world.now_ms));
      await this.#pass(oracle, AFTER_DAY_MS);
    }
    const daemon = this.#anyDaemon();
    if (!this.#failure && this.#feed && daemon) await this.#inWorld(this.#feed.finish(daemon));
    if (!this.#failure) await oracle.finish();
    world.note(CLOSED);
  }

  async #pass(oracle: Oracle, ms: number): Promise<void> {
    const until_ms = this.#world.now_ms + ms;
    while (!this.#failure && (this.#world.nextAt() ?? Number.POSITIVE_INFINITY) <= until_ms) {
      await this.#world.step();
      await this.#judge(oracle);
    }
    this.#world.jump(Math.max(0, until_ms - this.#world.now_ms));
  }

  /** One daemon ends what is open; what the others ask while nothing happens would take most of the time. */
  async #leaveOne(): Promise<void> {
    const others = this.#places.splice(1);
    await this.#stop(others);
    for (const { daemon } of others) if (daemon?.alive) daemon.kill();
  }

  async #stop(places: readonly DaemonPlace[]): Promise<void> {
    for (const { callOff, daemon, is_started } of places) {
      callOff();
      // One that is only beginning has nothing to end in order.
      if (!is_started && daemon?.alive) daemon.kill();
    }
    const alive = places.flatMap(({ daemon }) => (daemon?.alive ? [daemon] : []));
    if (alive.length === 0) return;
    const stopping = Promise.all(alive.map((daemon) => daemon.stop()));
    await this.#inWorld(Promise.race([stopping, this.#world.sleep(STOP_LIMIT_MS)]));
  }

  /** Every daemon is stopped for a while. */
  async #startAgain(away_ms: number): Promise<void> {
    await this.#stop(this.#places);
    this.#world.jump(away_ms);
    await this.#inWorld(this.#beginAll());
  }
}

/** That a transaction is lost because another has its number is believed of a single provider after an hour. */
const lossMs = ({ blockchains, evm }: Plan): number =>
  blockchains.some(isEvm) && evm.providers === 1 ? LOSS_MS : 0;

/** An account's transactions are asked for one by one, and not with every request that a slow provider answers. */
const catchUpMs = ({ requests_per_second }: Plan, payments: number): number =>
  requests_per_second === null ? 0 : (payments * 1000) / (requests_per_second * SHARE_OF_TRANSACTIONS);

/** A connection that breaks and a lock that is held for too long are faults of the world; what was tried is tried again. */
function isOfDatabase({ err }: Record<string, unknown>): boolean {
  const { type, code } = (err ?? {}) as { type?: string; code?: string };
  return type === 'ConnectionLost' || code === LOCK_TIMEOUT;
}

/** More happens at a time, and for less long. */
const hastened = (plan: Plan, blockchains: readonly string[]): Plan => {
  const drawn = plan.blockchains.filter((id) => blockchains.includes(id));
  const { fast, slow } = plan.ttl_seconds;
  return {
    ...plan,
    blockchains: drawn.length > 0 ? drawn : blockchains,
    merchants: Math.min(plan.merchants, SERVER_MERCHANTS),
    hostile_merchants: Math.min(plan.hostile_merchants, SERVER_HOSTILE_MERCHANTS),
    action_seconds: plan.action_seconds / HASTE,
    actions: {
      ...plan.actions,
      check: plan.actions.check * SERVER_PRESS,
      credit: plan.actions.credit * SERVER_PRESS,
      cancel: plan.actions.cancel * SERVER_PRESS,
    },
    ttl_seconds: { fast: Math.min(fast, SERVER_TTL_SECONDS), slow },
    events: Math.ceil(plan.events * SERVER_EVENTS_SHARE),
  };
};
