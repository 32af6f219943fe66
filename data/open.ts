// Opens the database: SQLite by default, PostgreSQL where several daemons share the work. One kysely over both.
import {
  type CompiledQuery,
  Kysely,
  type KyselyPlugin,
  PostgresDialect,
  type RootOperationNode,
  type Transaction,
  type UnknownRow,
} from 'kysely';
import pg from 'pg';
import { withNumbers } from './numbers.ts';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** A database handle or a transaction; queries take either. */
export type Executor = Kysely<Tables> | Transaction<Tables>;
export type Tx = Transaction<Tables>;

export interface Db {
  dialect: Dialect;
  /** For reading, and for single statements. */
  query: Kysely<Tables>;
  /** Runs `work` in one transaction that is durable when the promise resolves; repeats it on a serialisation failure. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The first row of a question that was compiled before, with these values; reads what is committed. */
  first(question: CompiledQuery, values: readonly string[]): Promise<UnknownRow | undefined>;
  close(): Promise<void>;
}

/** A database that must not be used; the message says what to do. The daemon exits with 78. */
export class DatabaseError extends Error {
  override name = 'DatabaseError';
}

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const TRANSACTION_TRIES = 5;

/** Integers come as bigint from both drivers; all but money become numbers. */
class IntegerPlugin implements KyselyPlugin {
  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    return node;
  }
  async transformResult<R extends { rows: UnknownRow[] }>({ result }: { result: R }): Promise<R> {
    for (const row of result.rows) withNumbers(row);
    return result;
  }
}

/** Opens `sqlite:/path/file.db` or `postgres://…`. Throws DatabaseError for what cannot be used. */
export async function openDb(url: string): Promise<Db> {
  if (!url.startsWith('sqlite:')) return openPostgres(url);
  const file = url.slice('sqlite:'.length);
  try {
    return openSqlite(file, [new IntegerPlugin()]);
  } catch (error) {
    throw new DatabaseError(
      `the database ${file} cannot be used (${(error as Error).message}); it was left as it is. Put a backup in its place, or name another file with --database-url`,
    );
  }
}

async function openPostgres(url: string): Promise<Db> {
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === pg.types.builtins.INT8
        ? (text: string) => BigInt(text)
        : pg.types.getTypeParser(oid, format as 'text'),
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: types as pg.CustomTypesConfig,
  });
  // A lost idle connection is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => undefined);
  try {
    await pool.query('select 1');
  } catch (error) {
    await pool.end();
    throw new DatabaseError(
      `PostgreSQL cannot be reached (${(error as Error).message || codeOf(error)}); check database_url`,
    );
  }
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new IntegerPlugin()],
  });
  return {
    dialect: 'postgres',
    query,
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await query.transaction().setIsolationLevel('read committed').execute(work);
        } catch (error) {
          if (attempt >= TRANSACTION_TRIES || !isRetryable(error)) throw error;
        }
      }
    },
    first: async (question, values) =>
      (await query.executeQuery<UnknownRow>({ ...question, parameters: values })).rows[0],
    close: () => query.destroy(),
  };
}

/** What the databases name their errors by; other errors may carry a number of that name. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Deadlock and serialisation failure: nothing was done, the same transaction may be tried again. */
function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40P01' || code === '40001';
}

/** Whether a unique or primary key refused the row; the databases name it differently. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error);
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Whether the disk of the database has no room left: nothing was written, and reading goes on. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_FULL' || code === '53100';
}

/** Whether the database asked to come back later (SQLite's write lock, PostgreSQL out of connections or restarting). */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code.startsWith('SQLITE_BUSY') || ['53300', '57P01', '57P03', 'ECONNREFUSED', 'ECONNRESET'].includes(code)
  );
}
