// One daemon in the virtual world: the real code on a real database, which can be killed at every boundary it has.

import type { SteadyClock } from '../../daemon/clock.ts';
import { createHttp, type Http } from '../../daemon/http/mount.ts';
import { openApp, type RunningApp, seedDeploymentWallets } from '../../daemon/process/app.ts';
import { assertSecretMatches } from '../../daemon/process/data-dir.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createLog } from '../../daemon/process/log.ts';
import type { Runtime } from '../../daemon/process/runtime.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { type Config, loadConfig } from '../../daemon/settings/config.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { Gate, Life } from './gate.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Real timers fire a little late. */
const TIMER_LATE_MS = 3;
/** A promise of its own each time, so that what waits for it can be forgotten. */
const never = (): Promise<never> => new Promise(() => {});

export const SECRET = 'a secret for the simulator only';

/** Where the daemon may die: before a statement, alongside a commit, before and after each exchange with the network. */
export type Boundary = 'statement' | 'commit' | 'committed' | 'request' | 'answer' | 'reply';

export interface DaemonOptions {
  world: World;
  network: Network;
  random: Random;
  name: string;
  database_url: string;
  /** Settings by dotted path, as flags are typed. */
  settings: Record<string, string | boolean>;
  /** Milliseconds that its clock is ahead of true time, at this moment. */
  clockError(): number;
  /** Called after each commit. */
  onCommit(): void;
  /** Asked at each boundary: whether it dies there. */
  dies(boundary: Boundary): boolean;
  onDeath(boundary: Boundary): void;
  /** A line of its log at level `error`. */
  onError(line: Record<string, unknown>): void;
  /** Stands between it and PostgreSQL. */
  gate?: Gate | undefined;
}

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape
  json: any;
}

export interface Caller {
  key?: string;
  token?: string;
  /** The address that a trusted proxy names. */
  ip?: string;
  idempotency_key?: string;
}

/** A process: it lives from `start` until it is stopped or killed; the next life is another. */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #born_ms: number;
  #alive = true;
  #db: Db | undefined;
  #http: Http | undefined;
  app: RunningApp | undefined;
  readonly config: Config;
  readonly #calls = new Set<(reply: 'lost') => void>();
  readonly #answers = new Set<Promise<Reply>>();
  #is_ending = false;
  readonly #life: Life;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#born_ms = options.world.now_ms;
    this.#life = {
      name: options.name,
      alive: () => this.#alive,
      committed: () => this.#boundary('committed'),
    };
    this.config = loadConfig({
      flags: {
        data_dir: '/nonexistent',
        secret: SECRET,
        database_url: options.database_url,
        ...options.settings,
      },
      env: {},
      cwd: '/',
    }).config;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get clock(): SteadyClock {
    const { world, clockError } = this.#options;
    return {
      ms: () => Math.floor(world.now_ms + clockError()),
      monotonic_ms: () => world.now_ms - this.#born_ms,
    };
  }

  async start(): Promise<void> {
    const { database_url, onError } = this.#options;
    const runtime = this.#runtime();
    this.#db = await openDb(database_url, { turns: runtime });
    await migrate(this.#db);
    const secrets = createSecrets(SECRET);
    await assertSecretMatches(this.#db, secrets, this.config.data_dir);
    this.app = openApp({
      config: this.config,
      db: this.#db,
      ledger: await openLedger(this.#db, secrets),
      secrets,
      log: createLog({
        level: 'error',
        sink: {
          write: (line) => {
            if (this.#alive) onError(JSON.parse(line) as Record<string, unknown>);
          },
        },
      }),
      clock: this.clock,
      runtime,
    });
    await this.app.observer.resume();
    await seedDeploymentWallets(this.app);
    this.#http = createHttp(this.app, routes);
    this.app.start();
  }

  /** Ends as on SIGTERM. */
  async stop(): Promise<void> {
    this.#http?.stop();
    // A file answers at once; of a server, what has begun is answered first.
    if (this.#options.gate) {
      this.#is_ending = true;
      await Promise.allSettled(this.#answers);
    }
    await this.app?.stop();
    await this.#db?.close();
    this.#alive = false;
  }

  /** Ends as on SIGKILL: whatever it awaits never comes, and what it had not committed is undone. */
  kill(): void {
    this.#alive = false;
    for (const lose of this.#calls) lose('lost');
    this.#calls.clear();
    // The operating system closes the files and connections of the dead.
    const { gate } = this.#options;
    if (gate) gate.kill(this.#life);
    else this.#db?.close().catch(() => undefined);
  }

  /** One call over HTTP; `lost` where the daemon dies meanwhile or is not there. */
  async fetch(method: string, path: string, caller: Caller = {}, body?: unknown): Promise<Reply | 'lost'> {
    if (!this.#alive || this.#is_ending || !this.#http) return 'lost';
    const request = new Request(`http://gateway.example${path}`, {
      method,
      headers: {
        ...(caller.key ? { 'x-api-key': caller.key } : {}),
        ...(caller.token ? { authorization: `Bearer ${caller.token}` } : {}),
        ...(caller.ip ? { 'x-forwarded-for': caller.ip } : {}),
        ...(caller.idempotency_key ? { 'idempotency-key': caller.idempotency_key } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    let lose: (reply: 'lost') => void = () => {};
    const lost = new Promise<'lost'>((resolve) => {
      lose = resolve;
    });
    this.#calls.add(lose);
    const answered = this.#answer(request);
    this.#answers.add(answered);
    const reply = await Promise.race([answered, lost]);
    this.#calls.delete(lose);
    this.#answers.delete(answered);
    return reply;
  }

  async #answer(request: Request): Promise<Reply> {
    const response = await (this.#http as Http).h3.fetch(request);
    const text = await response.text();
    // Everything is done, and the answer is not sent yet.
    await this.#boundary('reply');
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, json: isJson ? JSON.parse(text) : text };
  }

  /** Undefined where life continues; a promise that never settles where it ends here, or has ended. */
  #boundary(boundary: Boundary): Promise<never> | undefined {
    if (!this.#alive) return never();
    if (!this.#options.dies(boundary)) return undefined;
    this.kill();
    this.#options.onDeath(boundary);
    return never();
  }

  #runtime(): Runtime {
    const { world, network, random, gate } = this.#options;
    const whileAlive = (work: () => void) => () => {
      if (this.#alive) work();
    };
    const late = (ms: number) => ms + random.unit() * TIMER_LATE_MS;
    const alive = () => this.#alive;
    return {
      elapsed_ms: () => world.now_ms - this.#born_ms,
      turn: () => new Promise((resolve) => world.turn(whileAlive(resolve))),
      before: (statement) => {
        const boundary = statement === 'commit' || statement === 'committed' ? statement : 'statement';
        if (boundary === 'committed' && this.#alive) this.#options.onCommit();
        return this.#boundary(boundary);
      },
      ...(gate && { openPool: (config) => gate.openPool(this.#life, config) }),
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          const done = whileAlive(() => {
            callOff();
            signal?.removeEventListener('abort', done);
            resolve();
          });
          const callOff = world.after(late(ms), done);
          signal?.addEventListener('abort', done, { once: true });
          if (signal?.aborted) done();
        }),
      after: (ms, work) => world.after(late(ms), whileAlive(work)),
      random: () => random.unit(),
      randomBytes: (length) => random.bytes(length),
      uuid: () => random.uuid(),
      network: network.openFor(alive, (boundary) => this.#boundary(boundary)),
    };
  }
}
