// The gate before a PostgreSQL server: the seed decides which statement of which connection is next, and one runs at a time.
import pg from 'pg';
import type { ConnectionPool, PoolConfig } from '../../data/db/database.ts';
import { LIMITS, types } from '../../data/db/postgres.ts';
import { oneOf } from './circle.ts';
import { SEARCH_PATH } from './postgres.ts';
import { Random } from './random.ts';
import type { World } from './world.ts';

/** How the way to the server may be. */
export interface GateFaults {
  /** Mean time that a statement waits for its turn. */
  wait_ms: number;
  /** Share of transactions that are much slower than the others. */
  slow: number;
  /** Of statements: those that wait for long, and how long at most. */
  stalled: number;
  stall_ms: number;
  /** Of statements: those with which the connection breaks. */
  lost: number;
  /** Of connections that break: those of which the server hears late. */
  lingers: number;
}

export const NO_GATE_FAULTS: GateFaults = {
  wait_ms: 2,
  slow: 0,
  stalled: 0,
  stall_ms: 0,
  lost: 0,
  lingers: 0,
};

/** What a seed decides beforehand; `off` names what is turned off. */
export function gateFaultsOf(seed: number, off: ReadonlySet<string>): GateFaults {
  const random = new Random(`gate ${seed}`);
  const sometimes = (least: number, most: number, share = 0.5): number =>
    random.chance(share) ? least * (most / least) ** random.unit() : 0;
  const faults: GateFaults = {
    wait_ms: random.pick([1, 10, 40, 150]),
    slow: sometimes(0.02, 0.2),
    stalled: sometimes(0.0005, 0.01),
    stall_ms: random.pick([300, 3_000, 8_000]),
    lost: sometimes(0.00005, 0.002, 0.3),
    lingers: random.pick([0, 0, 0.3]),
  };
  for (const name of ['slow', 'stalled', 'lost', 'lingers'] as const)
    if (off.has(`gate.${name}`)) faults[name] = 0;
  return faults;
}

export interface GateOptions {
  world: World;
  random: Random;
  /** Of the database. */
  url: string;
  /** Of another database of the server: what asks there holds back nothing here. */
  monitor_url: string;
  /** Statements that wait for each other in a circle: the first waits for the second, the last for the first. */
  onCircle(texts: string[]): void;
}

/** One process: its connections die with it. */
export interface Life {
  name: string;
  alive(): boolean;
  /** Called when something is committed, before the process hears of it. */
  committed(): Promise<never> | undefined;
}

const SLOW_FACTOR = 15;
/** A server hears at last of a client that is gone. */
const LINGER_MS = LIMITS.idle_transaction_ms;
/** How soon a statement without an answer is asked about, milliseconds of the machine; what is found does not depend on it. */
const ASKED_AFTER_MS = { first: 10, longest: 100 };
/** Of a statement, in the report of a failure. */
const SHOWN_CHARS = 160;
/** A promise of its own each time, so that what waits for it can be forgotten. */
const never = (): Promise<never> => new Promise(() => {});

/** A process of the server. */
interface Backend {
  index: number;
  client: pg.Client;
  pid: number;
}

type State = 'waiting' | 'running' | 'blocked' | 'woken' | 'done';

interface Statement {
  connection: Connection;
  text: string;
  values: unknown[];
  state: State;
  callOff(): void;
  succeed(result: pg.QueryResult): void;
  fail(error: unknown): void;
  /** The code that stands for that of a cancelled statement. */
  code: string | null;
  /** How it ended; undefined while the server works on it. */
  ended: (() => void) | undefined;
  done: Promise<void>;
}

/** A connection of a pool; it has a process of the server from its first statement on. */
interface Connection {
  index: number;
  life: Life;
  backend: Backend | undefined;
  in_transaction: boolean;
  /** Of the transaction that is open. */
  slowness: number;
  statement: Statement | undefined;
  /** Whether no one listens any more. */
  is_orphan: boolean;
}

/** Lets statements through, one at a time; only those that wait for a lock of another stay under way. */
export class Gate {
  readonly #options: GateOptions;
  readonly #random: Random;
  readonly #monitor: pg.Client;
  readonly #free: Backend[] = [];
  readonly #connections = new Set<Connection>();
  #blocked: Statement[] = [];
  /** Stopped in the middle of a statement. */
  readonly #stopped = new Set<number>();
  #running: { statement: Statement; begin(): Promise<void> } | undefined;
  readonly #chores: (() => Promise<void>)[] = [];
  #backends = 0;
  #made = 0;
  #has_written = true;
  faults: GateFaults = NO_GATE_FAULTS;
  /** Statements that were let through. */
  statements = 0;
  /** Statements that had to wait for a lock. */
  waits = 0;
  /** Folds statements, in order, and what came of them. */
  digest = 0;

  private constructor(options: GateOptions, monitor: pg.Client) {
    this.#options = options;
    this.#random = options.random;
    this.#monitor = monitor;
    options.world.outside = () => this.#settle();
  }

  static async open(options: GateOptions): Promise<Gate> {
    const monitor = new pg.Client({ connectionString: options.monitor_url });
    await monitor.connect();
    return new Gate(options, monitor);
  }

  /** Whether anything may have been committed since the last time of asking. */
  changed(): boolean {
    const has = this.#has_written;
    this.#has_written = false;
    return has;
  }

  /** The connections of a pool of a daemon. */
  openPool(life: Life, config: PoolConfig): ConnectionPool {
    return new Pool(this, this.#options.world, life, config) as unknown as ConnectionPool;
  }

  connect(life: Life): Connection {
    const connection: Connection = {
      index: this.#made++,
      life,
      backend: undefined,
      in_transaction: false,
      slowness: 1,
      statement: undefined,
      is_orphan: false,
    };
    this.#connections.add(connection);
    return connection;
  }

  /** Runs a statement when it is its turn. */
  async ask(connection: Connection, text: string, values: unknown[]): Promise<pg.QueryResult> {
    const { life } = connection;
    if (!connection.in_transaction)
      connection.slowness = this.#random.chance(this.faults.slow) ? SLOW_FACTOR : 1;
    const breaks = this.#random.chance(this.faults.lost);
    const isSent = this.#random.chance(0.5);
    if (breaks && !isSent) {
      await this.#options.world.sleep(this.#wait(connection));
      if (!life.alive()) await never();
      this.discard(connection);
      throw lostConnection();
    }
    const result = await this.#pass(connection, text, values);
    if (!connection.in_transaction) await life.committed();
    if (!life.alive()) await never();
    if (!breaks) return result;
    this.discard(connection);
    throw lostConnection();
  }

  #wait({ slowness }: Connection): number {
    const { wait_ms, stalled, stall_ms } = this.faults;
    const stall = this.#random.chance(stalled) ? this.#random.unit() * stall_ms : 0;
    return this.#random.exponential(wait_ms * slowness) + stall;
  }

  #pass(connection: Connection, text: string, values: unknown[]): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const statement: Statement = {
        connection,
        text,
        values,
        state: 'waiting',
        callOff: () => {},
        succeed: resolve,
        fail: reject,
        code: null,
        ended: undefined,
        done: Promise.resolve(),
      };
      connection.statement = statement;
      const let_through = () => {
        this.statements++;
        this.#run(statement, async () => this.#send(statement));
      };
      statement.callOff = this.#options.world.after(this.#wait(connection), let_through, false);
    });
  }

  #run(statement: Statement, begin: () => Promise<void>): void {
    if (this.#running) throw new Error('two statements at a time');
    statement.state = 'running';
    this.#running = { statement, begin };
  }

  async #send(statement: Statement): Promise<void> {
    const { connection, text, values } = statement;
    connection.backend ??= this.#free.pop() ?? (await this.#openBackend());
    const { client } = connection.backend;
    this.#note(connection, text, () => JSON.stringify(values, plain));
    statement.done = client.query({ text, values }).then(
      (result) => {
        statement.ended = () => {
          follow(connection, text);
          if (!connection.in_transaction && WRITES.test(text)) this.#has_written = true;
          this.#note(connection, `= ${result.rowCount}`);
          statement.succeed(result);
        };
      },
      (error: pg.DatabaseError) => {
        statement.ended = () => {
          if (statement.code !== null) error.code = statement.code;
          if (/^(commit|rollback)/.test(text)) connection.in_transaction = false;
          this.#note(connection, `! ${error.code} ${error.message}`);
          if (error.code === DEADLOCK && statement.code === null) this.#options.onCircle([text]);
          statement.fail(error);
        };
      },
    );
  }

  #note({ index, life }: Connection, text: string, more = () => ''): void {
    for (const part of [String(index), text])
      for (let at = 0; at < part.length; at++)
        this.digest = Math.imul(this.digest ^ part.charCodeAt(at), 0x01000193) >>> 0;
    this.#options.world.note('', () => `${life.name} ${index}: ${shortened(text)} ${shortened(more())}`);
  }

  async #openBackend(): Promise<Backend> {
    const index = this.#backends++;
    const client = new pg.Client({ connectionString: this.#options.url, types });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query('select pg_catalog.pg_backend_pid() as pid');
    await client.query(`set search_path = ${SEARCH_PATH}; set simulator.backend = '${index}'`);
    return { index, client, pid: rows[0].pid as number };
  }

  /** Waits until the server is at rest; false where nothing was under way. */
  async #settle(): Promise<boolean> {
    const running = this.#running;
    if (!running) {
      const chore = this.#chores.shift();
      if (!chore) return false;
      await chore();
      await this.#wake();
      return true;
    }
    const { statement } = running;
    await running.begin();
    const isBlocked = await this.#watch(statement);
    this.#running = undefined;
    if (isBlocked) await this.#hold(statement);
    else {
      // Before the daemon continues with the answer: who was freed by it was freed by then.
      await this.#wake();
      this.#end(statement);
    }
    return true;
  }

  /** Until the server has answered, or has it wait for the lock of another: no one else runs who could free it. */
  async #watch(statement: Statement): Promise<boolean> {
    const pid = (statement.connection.backend as Backend).pid;
    const { first, longest } = ASKED_AFTER_MS;
    for (let wait = first; ; wait = Math.min(2 * wait, longest)) {
      const answered = await Promise.race([statement.done.then(() => true), pause(wait)]);
      if (answered) return false;
      if ((await this.#blockersOf([pid])).get(pid)?.length) return true;
    }
  }

  async #blockersOf(pids: readonly number[]): Promise<Map<number, number[]>> {
    const { rows } = await this.#monitor.query<{ pid: number; blockers: number[] }>(
      'select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid',
      [pids],
    );
    return new Map(rows.map(({ pid, blockers }) => [pid, blockers]));
  }

  #end(statement: Statement): void {
    const { connection } = statement;
    statement.state = 'done';
    connection.statement = undefined;
    const isHeard = !connection.is_orphan;
    if (!isHeard) {
      statement.succeed = () => {};
      statement.fail = () => {};
    }
    statement.ended?.();
    if (!isHeard) this.#reset(connection);
  }

  /** It waits for a lock: its process is stopped, so that it continues when the seed says so. */
  async #hold(statement: Statement): Promise<void> {
    const pid = this.#pidOf(statement);
    process.kill(pid, 'SIGSTOP');
    this.#stopped.add(pid);
    statement.state = 'blocked';
    this.waits++;
    this.#blocked.push(statement);
    this.#note(statement.connection, 'waits for a lock');
    this.#options.world.after(LIMITS.lock_ms, () => this.#cancel(statement, LOCK_TIMEOUT), false);
    await this.#findCircle();
  }

  readonly #pidOf = ({ connection }: Statement): number => (connection.backend as Backend).pid;

  async #findCircle(): Promise<void> {
    const blockers = await this.#blockersOf(this.#blocked.map(this.#pidOf));
    const circle = oneOf(blockers).flatMap(
      (pid) => this.#blocked.find((one) => this.#pidOf(one) === pid) ?? [],
    );
    // One that is about to be broken is no other.
    if (circle.length === 0 || circle.some(({ code }) => code !== null)) return;
    this.#options.onCircle(circle.map(({ connection, text }) => `${connection.life.name}: ${text}`));
    const victim = this.#random.pick(
      circle.sort((one, other) => one.connection.index - other.connection.index),
    );
    victim.code = DEADLOCK;
    this.#options.world.after(0, () => this.#cancel(victim, DEADLOCK), false);
  }

  /** Ends a statement that waits, as the server's own timers would. */
  #cancel(statement: Statement, code: string): void {
    if (statement.state !== 'blocked') return;
    this.#blocked = this.#blocked.filter((one) => one !== statement);
    statement.code = code;
    this.#run(statement, async () => {
      await this.#monitor.query('select pg_cancel_backend($1)', [this.#pidOf(statement)]);
      this.#continue(statement);
    });
  }

  #continue(statement: Statement): void {
    const pid = this.#pidOf(statement);
    this.#stopped.delete(pid);
    process.kill(pid, 'SIGCONT');
  }

  /** Who has the lock now that it waited for continues, at its own time. */
  async #wake(): Promise<void> {
    if (this.#blocked.length === 0) return;
    const blockers = await this.#blockersOf(this.#blocked.map(this.#pidOf));
    for (const statement of this.#blocked) {
      if (blockers.get(this.#pidOf(statement))?.length) continue;
      statement.state = 'woken';
      const proceed = () => this.#run(statement, async () => this.#continue(statement));
      this.#options.world.after(this.#wait(statement.connection), proceed, false);
    }
    this.#blocked = this.#blocked.filter(({ state }) => state === 'blocked');
  }

  /** A connection that no one uses any more. The server hears of that now or late. */
  discard(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    connection.is_orphan = true;
    const { statement } = connection;
    if (statement?.state === 'waiting') {
      // On its way to the server, or not.
      if (this.#random.chance(0.5)) return;
      statement.callOff();
    } else if (statement) return;
    if (connection.in_transaction && this.#random.chance(this.faults.lingers))
      this.#options.world.after(this.#random.unit() * LINGER_MS, () => this.#reset(connection), false);
    else this.#reset(connection);
  }

  /** Undoes what is open, and keeps the process of the server for another connection. */
  #reset(connection: Connection): void {
    this.#chores.push(async () => {
      const { backend } = connection;
      if (!backend) return;
      connection.backend = undefined;
      if (connection.in_transaction) await backend.client.query('rollback');
      this.#note(connection, 'is gone');
      this.#free.push(backend);
    });
  }

  /** What a process was doing ends with it. */
  kill(life: Life): void {
    for (const connection of [...this.#connections]) if (connection.life === life) this.discard(connection);
  }

  /** Lets go of the server, in whatever state that is. */
  async close(): Promise<void> {
    this.#options.world.outside = undefined;
    for (const pid of this.#stopped) process.kill(pid, 'SIGCONT');
    await this.#monitor.end();
  }
}

const DEADLOCK = '40P01';
/** Where a statement waited for a lock for too long. */
export const LOCK_TIMEOUT = '55P03';
const WRITES = /^\s*(insert|update|delete|with|commit|select place_events)/i;

const pause = (ms: number): Promise<false> => new Promise((resolve) => setTimeout(resolve, ms, false));

/** What the driver says where a connection breaks. */
const lostConnection = (): Error => new Error('Connection terminated unexpectedly');

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

const shortened = (text: string): string => text.replace(/\s+/g, ' ').slice(0, SHOWN_CHARS);

function follow(connection: Connection, text: string): void {
  if (/^(begin|start transaction)/.test(text)) connection.in_transaction = true;
  else if (/^(commit|rollback)(?! to)/.test(text)) connection.in_transaction = false;
}

interface Waiting {
  give(connection: Connection): void;
  callOff(): void;
}

/** A pool as the daemon has it, in virtual time. */
class Pool {
  readonly #gate: Gate;
  readonly #world: World;
  readonly #life: Life;
  readonly #most: number;
  readonly #patience_ms: number;
  readonly #idle: Connection[] = [];
  readonly #waiting: Waiting[] = [];
  #count = 0;
  #onEmpty: (() => void) | undefined;
  ended = false;

  constructor(gate: Gate, world: World, life: Life, { max = 10, connectionTimeoutMillis = 0 }: PoolConfig) {
    this.#gate = gate;
    this.#world = world;
    this.#life = life;
    this.#most = max;
    this.#patience_ms = connectionTimeoutMillis;
  }

  on(): this {
    return this;
  }

  async connect() {
    if (!this.#life.alive()) await never();
    if (this.ended) throw new Error('Cannot use a pool after calling end on the pool');
    const connection = this.#idle.pop() ?? (this.#count < this.#most ? this.#open() : await this.#next());
    return {
      query: ({ text, values }: pg.QueryConfig) => this.#gate.ask(connection, text, values ?? []),
      release: (broken?: Error | boolean) => this.#release(connection, Boolean(broken)),
    };
  }

  async query(text: string) {
    const client = await this.connect();
    try {
      return await client.query({ text });
    } finally {
      client.release();
    }
  }

  #open(): Connection {
    this.#count++;
    return this.#gate.connect(this.#life);
  }

  #next(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const waiting = { give: resolve, callOff: () => {} };
      const refuse = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        if (this.#life.alive()) reject(new Error('timeout exceeded when trying to connect'));
      };
      waiting.callOff = this.#world.after(this.#patience_ms, refuse, false);
      this.#waiting.push(waiting);
    });
  }

  #release(connection: Connection, is_broken: boolean): void {
    if (!this.#life.alive()) return;
    if (is_broken) {
      this.#count--;
      this.#gate.discard(connection);
    }
    const next = this.#waiting.shift();
    next?.callOff();
    if (next) next.give(is_broken ? this.#open() : connection);
    else if (!is_broken) this.#idle.push(connection);
    this.#empty();
  }

  #empty(): void {
    if (!this.ended) return;
    for (const connection of this.#idle.splice(0)) {
      this.#count--;
      this.#gate.discard(connection);
    }
    if (this.#count === 0) this.#onEmpty?.();
  }

  async end(): Promise<void> {
    if (!this.#life.alive()) return;
    if (this.ended) throw new Error('Called end on pool more than once');
    this.ended = true;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      this.#empty();
    });
  }
}
