// Opens the database: SQLite by default, PostgreSQL where several daemons share the work. One kysely over both.
import { setImmediate, setTimeout } from 'node:timers/promises';
import type {
  CompiledQuery,
  Kysely,
  KyselyPlugin,
  RootOperationNode,
  SelectQueryNode,
  Transaction,
  UnknownRow,
} from 'kysely';
import { codeOf } from './failures.ts';
import { withNumbers } from './numbers.ts';
import { type ConnectionPool, openPostgres, type PoolConfig } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** How a database waits; the owner of the process may replace it. */
export interface Turns {
  /** Resolves in a later turn of the event loop, when what has arrived is under way. */
  turn(): Promise<void>;
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Where set, called before each statement, and before and after each commit (`commit`, `committed`): what it returns is awaited. */
  before?(statement: string): Promise<void> | undefined;
  /** Stands in for the connections to PostgreSQL; absent: real ones. */
  openPool?(config: PoolConfig): ConnectionPool;
}

const systemTurns: Turns = { turn: () => setImmediate(), sleep: (ms) => setTimeout(ms) };

/** A database handle or a transaction; queries take either. */
export type Executor = Kysely<Tables> | Transaction<Tables>;
export type Tx = Transaction<Tables>;

export interface Db {
  dialect: Dialect;
  /** For reading, and for single statements. */
  query: Kysely<Tables>;
  /** For changing the schema: waits as long as that takes. */
  schema: Kysely<Tables>;
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

/** Integers come as bigint from both drivers; all but money become numbers. */
export class IntegerPlugin implements KyselyPlugin {
  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    return withLimit(node);
  }
  async transformResult<R extends { rows: UnknownRow[] }>({ result }: { result: R }): Promise<R> {
    for (const row of result.rows) withNumbers(row);
    return result;
  }
}

/** With its limit written out: as a parameter it makes SQLite prepare the statement again at each run, to plan by its value. */
function withLimit(node: RootOperationNode): RootOperationNode {
  const limit = node.kind === 'SelectQueryNode' ? node.limit?.limit : undefined;
  if (limit?.kind !== 'ValueNode') return node;
  return {
    ...node,
    limit: { kind: 'LimitNode', limit: { ...limit, immediate: true } },
  } as unknown as SelectQueryNode;
}

/** Opens `sqlite:/path/file.db` or `postgres://…`. Throws DatabaseError for what cannot be used. */
export async function openDb(url: string, turns: Turns = systemTurns): Promise<Db> {
  if (!url.startsWith('sqlite:'))
    return openPostgres(url, [new IntegerPlugin()], { turns }).catch((error: unknown) => {
      throw new DatabaseError(
        `PostgreSQL cannot be reached (${(error as Error).message || codeOf(error)}); check database_url`,
      );
    });
  const file = url.slice('sqlite:'.length);
  try {
    return openSqlite(file, [new IntegerPlugin()], turns);
  } catch (error) {
    throw new DatabaseError(
      `the database ${file} cannot be used (${(error as Error).message}); it was left as it is. Put a backup in its place, or name another file with --database-url`,
    );
  }
}
