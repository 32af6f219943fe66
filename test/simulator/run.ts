// Runs one seed from its first moment to its last: a town, its chains, its daemon, and the judge of all that happens.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeIdsFrom } from '../../data/db/ids.ts';
import { type Books, openBooks } from './books.ts';
import { Daemon } from './daemon.ts';
import { hmacInPlace } from './hmac.ts';
import { type Broken, brokenLaws, CHEAP_LAWS } from './laws.ts';
import type { Model } from './model.ts';
import { Network, NO_FAULTS, type Provider } from './network.ts';
import { Oracle } from './oracle.ts';
import { type Plan, planOf } from './plan.ts';
import { Random } from './random.ts';
import { solanaModel } from './solana-model.ts';
import { tonModel } from './ton-model.ts';
import { Town } from './town.ts';
import { type UtxoCoin, utxoModel } from './utxo-model.ts';
import { type Note, World } from './world.ts';

const START_MS = 1_800_000_000_000;
/** Memory behind a file system, where there is one: every commit asks the disk. */
const SHARED_MEMORY = '/dev/shm';
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
}

/** Plays a seed; the same seed plays the same. Ends at the first law that is broken. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const directory = mkdtempSync(join(options.directory ?? memory(), 'gatewayd-simulator-'));
  const undo = hmacInPlace();
  try {
    return await new Run(seed, join(directory, 'gatewayd.db'), options).play();
  } finally {
    undo();
    rmSync(directory, { recursive: true, force: true });
  }
}

function memory(): string {
  try {
    rmSync(mkdtempSync(join(SHARED_MEMORY, 'gatewayd-simulator-')), { recursive: true });
    return SHARED_MEMORY;
  } catch {
    return tmpdir();
  }
}

class Run {
  readonly #plan: Plan;
  readonly #world = new World(START_MS);
  readonly #random: Random;
  readonly #network: Network;
  readonly #models: readonly Model[];
  readonly #providers = new Map<string, Provider[]>();
  readonly #town: Town;
  readonly #file: string;
  readonly #last_event: number;
  readonly #calms: boolean;
  #daemon: Daemon | undefined;
  #books: Books | undefined;
  #oracle: Oracle | undefined;
  #failure: Failure | null = null;
  #lives = 0;
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

  constructor(seed: number, file: string, { events, off, blockchains, calms = true, onNote }: RunOptions) {
    const plan = planOf(seed, { off, blockchains });
    const random = new Random(`run ${seed}`);
    const world = this.#world;
    world.onNote = onNote;
    this.#plan = plan;
    this.#random = random;
    this.#file = file;
    this.#calms = calms;
    this.#last_event = events ?? plan.events;
    this.#clock_error_ms = plan.daemon.clock_error_ms;
    this.#network = new Network(world, random.fork('network'));
    this.#models = plan.blockchains.map((id) => this.#openModel(id));
    this.#town = new Town({
      world,
      random: random.fork('town'),
      plan,
      models: this.#models,
      daemon: () => this.#daemon,
      madeAt: (id) => this.#oracle?.madeAt(id),
      fail: (law, text) => this.#fail(law, text),
      outage: (blockchain, ms) => this.#outage(blockchain, ms),
    });
    const ids = random.fork('ids');
    takeIdsFrom({ ms: () => Math.floor(world.now_ms), uuid: () => ids.uuid() });
  }

  #openModel(id: string): Model {
    const { ton, solana, utxo, utxo_providers } = this.#plan;
    const knows = (txid: string) =>
      this.#books?.rows('select 1 from transfers where txid = ?', txid).length !== 0;
    const common = { world: this.#world, random: this.#random.fork(id), knows };
    const coin = id as UtxoCoin;
    const model =
      id === 'ton'
        ? tonModel({ ...common, faults: ton })
        : id === 'solana'
          ? solanaModel({ ...common, faults: solana })
          : utxoModel({ ...common, coin, provider: utxo_providers[coin], faults: utxo });
    const providers = [...model.hosts].map(([host, front]) => this.#network.addProvider(host, front));
    this.#providers.set(id, providers);
    return model;
  }

  async play(): Promise<RunResult> {
    try {
      await this.#play();
    } catch (error) {
      this.#fail('no-bug', (error as Error).stack ?? String(error));
    }
    this.#daemon?.kill();
    await this.#world.rest();
    return {
      seed: this.#plan.seed,
      plan: this.#plan,
      events: this.#world.events,
      requests: this.#network.requests,
      virtual_ms: this.#world.now_ms - START_MS,
      invoices: this.#town.bills.size,
      payments: this.#town.payments.length,
      deaths: this.#deaths,
      digest: this.#world.digest,
      failure: this.#failure,
    };
  }

  async #play(): Promise<void> {
    await this.#inWorld(this.#begin());
    if (this.#daemon) await this.#inWorld(this.#town.found(this.#daemon));
    const books = openBooks(this.#file);
    this.#books = books;
    try {
      const oracle = new Oracle({
        world: this.#world,
        town: this.#town,
        models: this.#models,
        books,
        clockWasWrong: () => this.#worst_clock_ms > BEARABLE_MS,
        clockMovedSince: (ms) => this.#clockMovedSince(ms),
        broken: (which) => this.#broken(which),
        fail: (law, text) => this.#fail(law, text),
      });
      this.#oracle = oracle;
      this.#openReceivers(oracle);
      await this.#inWorld(this.#town.furnish());
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

  async #judge(oracle: Oracle): Promise<void> {
    this.#noteClock(false);
    oracle.step();
    if (this.#storm && this.#world.events % LAWS_EVERY_EVENTS === 0) await oracle.laws('cheap');
  }

  async #broken(which: 'all' | 'cheap'): Promise<Broken[]> {
    const { config, clock } = this.#daemon ?? {};
    if (!config || !clock) return [];
    return brokenLaws({
      config,
      now: Math.floor(clock.ms() / 1000),
      started_at: this.#started_at,
      // What the daemon measures has the age of the tips in it.
      clock_trusted: this.#worst_clock_ms <= BEARABLE_MS - TIP_AGE_MS,
      laws: which === 'all' ? undefined : CHEAP_LAWS,
      // A fork undoes what was confirmed; a merchant gives as his wallet what the chain does not know yet.
      isCaused: ({ kind, account }) => kind === 'booked_gone' || this.#town.traps.has(String(account)),
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

  /** Lets time pass until a promise of the outside is kept. */
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

  /** What the daemon believes: every clock at its start, later one that agrees with the chains. */
  #noteClock(starts: boolean): void {
    const error_ms = this.#clockError();
    const last = this.#lived_by.at(-1);
    if (last && Math.abs(last.error_ms - error_ms) < CLOCK_STEP_MS) return;
    if (starts || Math.abs(error_ms) <= BEARABLE_MS + TIP_AGE_MS)
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

  /** Starts the process, on the database as the one before it left it. */
  async #begin(): Promise<void> {
    const { plan, settings } = { plan: this.#plan, settings: this.#settings() };
    const boundaries = this.#random.fork(`boundaries ${this.#lives}`);
    const daemon = new Daemon({
      world: this.#world,
      network: this.#network,
      random: this.#random.fork(`daemon ${this.#lives++}`),
      name: 'daemon',
      database_url: `sqlite:${this.#file}`,
      settings,
      clockError: () => this.#clockError(),
      dies: () => this.#storm && boundaries.chance(plan.daemon.killed),
      onDeath: (boundary) => {
        this.#deaths++;
        this.#world.note(`killed ${boundary}`);
        this.#beginSoon();
      },
      onError: (line) => this.#hear(line),
    });
    this.#daemon = daemon;
    this.#noteClock(true);
    this.#started_at = Math.floor(daemon.clock.ms() / 1000);
    await daemon.start();
    this.#world.note('started');
  }

  #beginSoon(): void {
    const away_ms = 200 + this.#random.unit() ** 2 * this.#plan.daemon.away_seconds * 1000;
    this.#world.after(away_ms, () => {
      this.#begin().catch((error: unknown) => this.#fail('no-bug', (error as Error).stack ?? String(error)));
    });
  }

  /** An error in the log is a bug, but where it is an alert: then a person is to look at it. */
  #hear(line: Record<string, unknown>): void {
    this.#world.note('error', () => JSON.stringify(line));
    if (line.alert === undefined) this.#fail('no-bug', `the log says: ${JSON.stringify(line)}`);
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
      'limits.checkout_per_address': '0',
      ...this.#town.settings,
    };
    const all = ['ton', 'ton-usdt', 'solana', 'solana-usdc', 'solana-usdt', 'bitcoin', 'litecoin'];
    const enabled = this.#models.flatMap(({ chains }) => chains);
    for (const chain of all) {
      settings[`gateways.${chain}.enabled`] = enabled.includes(chain);
      const isSlow = chain === 'bitcoin' || chain === 'litecoin';
      settings[`gateways.${chain}.payment_ttl_seconds`] = String(
        isSlow ? ttl_seconds.slow : ttl_seconds.fast,
      );
    }
    for (const model of this.#models) Object.assign(settings, model.settings);
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
    const daemon = this.#daemon;
    if (!daemon?.alive) return;
    this.#world.note('restart');
    await daemon.stop();
    this.#beginSoon();
  }

  #outage(blockchain: string, ms: number): void {
    this.#world.note(`outage ${blockchain}`, () => `${blockchain} is not reached for ${ms} ms`);
    for (const provider of this.#providers.get(blockchain) ?? [])
      provider.down_until_ms = this.#world.now_ms + ms;
  }

  /** Everything is mended and time passes: then nothing is left undone. */
  async #calm(oracle: Oracle): Promise<void> {
    const world = this.#world;
    world.note('calm');
    this.#is_calm = true;
    this.#storm = false;
    this.#town.calm();
    for (const model of this.#models) model.calm();
    for (const provider of this.#network.providers.values())
      Object.assign(provider, { faults: NO_FAULTS, down_until_ms: 0 });
    const isClockSet = this.#clock_error_ms !== 0 || this.#plan.daemon.clock_drift !== 0;
    this.#clock_error_ms = 0;
    const { fast, slow } = this.#plan.ttl_seconds;
    const hasBlocks = this.#plan.blockchains.some((id) => id === 'bitcoin' || id === 'litecoin');
    const time_ms = (hasBlocks ? Math.max(slow, QUIET_BLOCKS * 60) : fast) * 1000;
    // Who sets a clock by so much starts the daemon again.
    if (isClockSet) await this.#startAgain(0);
    const until_ms = world.now_ms + Math.max(300, hasBlocks ? slow : fast) * 1000 + time_ms + QUIET_MS;
    await this.#pass(oracle, BURY_MS);
    while (!this.#failure && world.now_ms < until_ms && !oracle.isDone()) await this.#pass(oracle, CHUNK_MS);
    if (!this.#failure && (!oracle.isDone() || this.#random.chance(DAY_SHARE))) {
      await this.#startAgain(DAY_MS);
      await this.#pass(oracle, AFTER_DAY_MS);
    }
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

  /** The daemon is stopped for a while. */
  async #startAgain(away_ms: number): Promise<void> {
    const daemon = this.#daemon;
    if (daemon?.alive) {
      const stopping = daemon.stop();
      await this.#inWorld(Promise.race([stopping, this.#world.sleep(STOP_LIMIT_MS)]));
    }
    this.#world.jump(away_ms);
    await this.#inWorld(this.#begin());
  }
}
