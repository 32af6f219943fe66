// SQLite: durable at every commit, one writer, and transactions that wait for each other share one commit.
import { chmodSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import {
  Kysely,
  type KyselyPlugin,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
  type UnknownRow,
} from 'kysely';
import { withNumbers } from './numbers.ts';
import type { Db, Tx } from './open.ts';
import type { Tables } from './tables.ts';

/** Reading a larger file whole would make every start slow; its schema is still read. */
const QUICK_CHECK_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
const STATEMENT_CACHE = 500;
/** Most transactions that share one commit. */
const GROUP_LIMIT = 64;
/** Turns of the event loop that a commit waits for company; a turn without a newcomer ends the wait. */
const GATHER_TURNS = 4;
/** Pages of the write-ahead log after which it is copied back: each time costs as much as many commits. */
const CHECKPOINT_PAGES = 4_000;

/** Opens a file, or `:memory:`. Throws where it is damaged or no database; then nothing stays open. */
export function openSqlite(file: string, plugins: KyselyPlugin[]): Db {
  const database = new SQLite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    prepareFile(database, file);
    return handleOf(database, file === ':memory:' ? null : openReader(file), plugins);
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareFile(database: SQLite.Database, file: string): void {
  if (file !== ':memory:') chmodSync(file, 0o600);
  database.defaultSafeIntegers(true);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.pragma('foreign_keys = ON');
  database.prepare('select count(*) from sqlite_schema').get();
  if (file !== ':memory:' && statSync(file).size <= QUICK_CHECK_BYTES) {
    const check = database.pragma('quick_check(1)', { simple: true });
    if (check !== 'ok') throw new Error(String(check));
  }
}

function handleOf(
  database: SQLite.Database,
  reader: ReturnType<typeof openReader> | null,
  plugins: KyselyPlugin[],
): Db {
  const statements = cachingStatements(database);
  const query = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: statements }),
    plugins,
  });
  return {
    dialect: 'sqlite',
    query,
    transaction: createGroups(query, {
      run: (text) => void statements.prepare(text).run([]),
      isOpen: () => database.inTransaction,
    }),
    async first(question, values) {
      if (!reader) return (await query.executeQuery<UnknownRow>({ ...question, parameters: values })).rows[0];
      return reader.first(question.sql, values);
    },
    async close() {
      // The one that writes goes last: it copies the log back and takes it away.
      reader?.close();
      await query.destroy();
      // The query builder leaves a database open that it was never asked about.
      database.close();
    },
  };
}

/** A second connection: it reads what is committed while a transaction is open on the first. */
function openReader(file: string) {
  const database = new SQLite(file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  database.defaultSafeIntegers(true);
  const questions = new Map<string, { statement: SQLite.Statement; names: string[] }>();
  const prepare = (text: string) => {
    // As a list: a row with names is made through calls that cost more than reading it.
    const statement = database.prepare(text).raw();
    const prepared = { statement, names: statement.columns().map(({ name }) => name) };
    questions.set(text, prepared);
    return prepared;
  };
  return {
    first(text: string, values: readonly string[]): UnknownRow | undefined {
      const { statement, names } = questions.get(text) ?? prepare(text);
      const list = statement.get(values) as unknown[] | undefined;
      if (!list) return undefined;
      const row: UnknownRow = {};
      for (let at = 0; at < names.length; at++) row[names[at] as string] = list[at];
      return withNumbers(row);
    },
    close: () => void database.close(),
  };
}

/** Begins and ends transactions on the one connection, past the query builder: they are most of its calls. */
interface Control {
  run(text: string): void;
  isOpen(): boolean;
}

/** One caller's transaction in a group; it hears of its end only when the group has been committed. */
interface Job {
  work(tx: Tx): Promise<unknown>;
  succeed(value: unknown): void;
  fail(error: unknown): void;
}

/**
 * Those that come while a commit is on its way share the next one: the disk is asked once for all of them. Each has
 * a savepoint of its own, so that a failure undoes its own work and nobody else's.
 */
function createGroups(query: Kysely<Tables>, control: Control): Db['transaction'] {
  const waiting: Job[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      await gather(waiting);
      const group = waiting.splice(0, GROUP_LIMIT);
      await runGroup(query, group, control).catch((error: unknown) => {
        for (const job of group) job.fail(error);
      });
    }
    running = false;
  }

  return <T>(work: (tx: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, succeed: (value) => resolve(value as T), fail: reject });
      if (!running) void run();
    });
}

/** Lets the requests that have arrived already come to their transactions, while more keep coming. */
async function gather(waiting: readonly Job[]): Promise<void> {
  for (let turn = 0; turn < GATHER_TURNS; turn++) {
    const before = waiting.length;
    await setImmediate();
    if (waiting.length === before || waiting.length >= GROUP_LIMIT) return;
  }
}

async function runGroup(query: Kysely<Tables>, group: readonly Job[], control: Control): Promise<void> {
  const ends = await query.connection().execute(async (connection) => {
    // A transaction that will write takes the write lock before it reads.
    control.run('begin immediate');
    try {
      const ended: (() => void)[] = [];
      for (const job of group) ended.push(await runJob(connection as Tx, job, control));
      control.run('commit');
      return ended;
    } catch (error) {
      if (control.isOpen()) control.run('rollback');
      throw error;
    }
  });
  for (const end of ends) end();
}

/** Throws only where the whole group is lost (SQLite itself has rolled back, as on a full disk). */
async function runJob(tx: Tx, job: Job, control: Control): Promise<() => void> {
  control.run('savepoint job');
  try {
    const value = await job.work(tx);
    control.run('release job');
    return () => job.succeed(value);
  } catch (error) {
    if (!control.isOpen()) throw error;
    control.run('rollback to job');
    control.run('release job');
    return () => job.fail(error);
  }
}

/** Keeps prepared statements: kysely prepares each time, which costs more than running them. */
function cachingStatements(database: SQLite.Database): SqliteDatabase {
  const statements = new Map<string, SQLite.Statement>();
  return {
    close: () => void database.close(),
    prepare(text) {
      const known = statements.get(text);
      if (known && !known.busy) return known as unknown as SqliteStatement;
      const statement = database.prepare(text);
      if (statements.size >= STATEMENT_CACHE) statements.clear();
      statements.set(text, statement);
      return statement as unknown as SqliteStatement;
    },
  };
}
