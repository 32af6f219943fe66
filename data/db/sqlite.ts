// SQLite: durable at every commit, one writer, and transactions that wait for each other share one commit.
import { chmodSync, statSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type KyselyPlugin,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
  type UnknownRow,
} from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Db, Executor, Turns } from './database.ts';
import { sqlite } from './driver.ts';
import { registerExact } from './exact.ts';
import { Fenced } from './failures.ts';
import { type Control, createLine } from './group-commit.ts';
import { decodeRow } from './rows.ts';
import { openWritingThread } from './writing-thread.ts';

/** Reading a larger file whole would make every start slow; its schema is still read. */
const QUICK_CHECK_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
const STATEMENT_CACHE = 500;
/** Pages of the write-ahead log after which it is copied back: each time costs as much as many commits. */
const CHECKPOINT_PAGES = 4_000;

export interface SqliteOptions {
  turns: Turns;
  /** Called with what each statement took. */
  onStatement?: ((ms: number) => void) | undefined;
}

/** Opens a file, or `:memory:`. Throws where it is damaged or no database; then nothing stays open. */
export function openSqlite(file: string, plugins: KyselyPlugin[], options: SqliteOptions): Db {
  const SQLite = sqlite();
  const database = new SQLite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    prepareFile(database, file);
    registerExact(database);
    return handleOf(database, file === ':memory:' ? null : file, plugins, options);
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
  // What a savepoint or a statement may have to undo is not written to a file that is made for it.
  database.pragma('temp_store = MEMORY');
  database.prepare('select count(*) from sqlite_schema').get();
  if (file !== ':memory:' && statSync(file).size <= QUICK_CHECK_BYTES) {
    const check = database.pragma('quick_check(1)', { simple: true });
    if (check !== 'ok') throw new Error(String(check));
  }
}

function handleOf(
  database: SQLite.Database,
  file: string | null,
  plugins: KyselyPlugin[],
  { turns, onStatement }: SqliteOptions,
): Db {
  const reader = file === null ? null : openReader(file);
  const statements = cachingStatements(database, onStatement);
  const dialect = inTurn(new SqliteDialect({ database: statements }), turns);
  // Holds the connection from its begin to its end.
  const writer = new Kysely<Tables>({ dialect, plugins });
  const control = controlOf(database, statements, file);
  // Who replaces how it waits decides what is done when: all of it is done here.
  const thread =
    file === null || turns.before
      ? null
      : openWritingThread({
          file,
          timeout: BUSY_TIMEOUT_MS,
          checkpoint_pages: CHECKPOINT_PAGES,
          onCommit() {
            control.batches++;
            control.assertOurs();
          },
        });
  const { transaction, batch } = createLine(writer, control, turns, thread);
  const query = new Kysely<Tables>({ dialect: inLine(dialect, writer, transaction), plugins });
  return {
    dialect: 'sqlite',
    query,
    schema: writer,
    transaction,
    statement: transaction,
    async first(question, values) {
      if (!reader) return (await query.executeQuery<UnknownRow>({ ...question, parameters: values })).rows[0];
      return reader.first(question.sql, values);
    },
    ...(batch && {
      batch: (given) => (control.is_fenced ? Promise.reject(new Fenced()) : batch(given)),
    }),
    ...(reader && {
      firstNow: (question, values) => reader.first(question.sql, values),
      commits: () => control.changes + control.batches,
      changes: () => control.changes,
    }),
    readList: (work) => work({ dialect: 'sqlite', query }),
    fence() {
      control.is_fenced = true;
    },
    // Its statements end before anything else happens.
    interrupt: async () => {},
    async close() {
      // The one that writes goes last: it copies the log back and takes it away.
      await thread?.close();
      reader?.close();
      await writer.destroy();
      // The query builder leaves a database open that it was never asked about.
      database.close();
    },
  };
}

function controlOf(database: SQLite.Database, statements: SqliteDatabase, file: string | null): Control {
  const run = (text: string) => void statements.prepare(text).run([]);
  const wait = (ms: number) => void statements.prepare(`pragma busy_timeout = ${ms}`).all([]);
  const isOurs = file === null ? () => true : sameFiles(file);
  return {
    run,
    begin() {
      // Within SQLite the whole daemon would wait; the line of writers waits and lets others read.
      wait(0);
      try {
        run('begin immediate');
      } finally {
        wait(BUSY_TIMEOUT_MS);
      }
    },
    assertOurs() {
      if (!isOurs())
        throw new (sqlite().SqliteError)(
          'the database file or its log was moved, deleted or replaced: nothing written now would be found again. Put it back, or restart the daemon on the new one',
          'SQLITE_READONLY_DBMOVED',
        );
    },
    commit() {
      if (this.is_fenced) throw new Fenced();
      this.assertOurs();
      try {
        run('commit');
      } finally {
        // Also where it is unknown whether it was.
        this.changes++;
      }
    },
    isOpen: () => database.inTransaction,
    is_fenced: false,
    changes: 0,
    batches: 0,
  };
}

/** Whether the files that were opened are still those that the next start would find. */
function sameFiles(file: string): () => boolean {
  const now = (path: string) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && `${stat.dev} ${stat.ino}`;
  };
  const paths = [file, `${file}-wal`];
  const opened = paths.map(now);
  return () => paths.every((path, at) => now(path) === opened[at]);
}

/** The same dialect, whose statements wait for their turn where there is one. */
function inTurn(dialect: Dialect, { before }: Turns): Dialect {
  if (!before) return dialect;
  const gate = (inner: DatabaseConnection): DatabaseConnection => ({
    async executeQuery(statement) {
      await before(statement.sql);
      return inner.executeQuery(statement);
    },
    streamQuery: (statement, size) => inner.streamQuery(statement, size),
  });
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver() {
      const driver = dialect.createDriver();
      const connections = new WeakMap<DatabaseConnection, DatabaseConnection>();
      return {
        init: () => driver.init(),
        async acquireConnection() {
          const inner = await driver.acquireConnection();
          const gated = gate(inner);
          connections.set(gated, inner);
          return gated;
        },
        beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
        commitTransaction: (connection) => driver.commitTransaction(connection),
        rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
        releaseConnection: (gated) => driver.releaseConnection(connections.get(gated) ?? gated),
        destroy: () => driver.destroy(),
      };
    },
  };
}

const WRITES = ['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode'];

/** Statements outside of transactions: one that writes goes with the line of writers, any other takes its turn at the connection. */
function inLine(dialect: Dialect, writer: Kysely<Tables>, transaction: Db['transaction']): Dialect {
  const run = (on: Executor, statement: CompiledQuery) =>
    on.getExecutor().provideConnection((connection) => connection.executeQuery(statement));
  const refuse = async () => {
    throw new Error('a transaction begins with Db.transaction');
  };
  const connection = {
    executeQuery: (statement: CompiledQuery) =>
      WRITES.includes(statement.query.kind)
        ? transaction((tx) => run(tx, statement))
        : run(writer, statement),
    // biome-ignore lint/correctness/useYield: there is nothing to stream
    async *streamQuery() {
      return refuse();
    },
  };
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver: () => ({
      init: async () => undefined,
      acquireConnection: async () => connection as never,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    }),
  };
}

/** A second connection: it reads what is committed while a transaction is open on the first. */
function openReader(file: string) {
  const SQLite = sqlite();
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
    first(text: string, values: readonly (string | number)[]): UnknownRow | undefined {
      const { statement, names } = questions.get(text) ?? prepare(text);
      const list = statement.get(values) as unknown[] | undefined;
      if (!list) return undefined;
      const row: UnknownRow = {};
      for (let at = 0; at < names.length; at++) row[names[at] as string] = list[at];
      return decodeRow(row);
    },
    close: () => void database.close(),
  };
}

/** Keeps prepared statements: kysely prepares each time, which costs more than running them. */
function cachingStatements(
  database: SQLite.Database,
  onStatement: SqliteOptions['onStatement'],
): SqliteDatabase {
  const statements = new Map<string, { statement: SQLite.Statement; handed: SqliteStatement }>();
  return {
    close: () => void database.close(),
    prepare(text) {
      const known = statements.get(text);
      if (known && !known.statement.busy) return known.handed;
      const statement = database.prepare(text);
      const handed = timedStatement(statement as unknown as SqliteStatement, onStatement);
      if (statements.size >= STATEMENT_CACHE) statements.clear();
      statements.set(text, { statement, handed });
      return handed;
    },
  };
}

function timedStatement(
  statement: SqliteStatement,
  onStatement: SqliteOptions['onStatement'],
): SqliteStatement {
  if (!onStatement) return statement;
  const timed = <T>(work: () => T): T => {
    const began_ms = performance.now();
    try {
      return work();
    } finally {
      onStatement(performance.now() - began_ms);
    }
  };
  return {
    reader: statement.reader,
    all: (values) => timed(() => statement.all(values)),
    run: (values) => timed(() => statement.run(values)),
    iterate: (values) => statement.iterate(values),
  };
}
