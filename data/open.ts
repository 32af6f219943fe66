// Opens the database: SQLite by default, PostgreSQL where several daemons share the work. One kysely over both.
import type { CompiledQuery, Kysely, KyselyPlugin, RootOperationNode, Transaction, UnknownRow } from 'kysely';
import { codeOf } from './failures.ts';
import { withNumbers } from './numbers.ts';
import { openPostgres } from './postgres.ts';
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
    return node;
  }
  async transformResult<R extends { rows: UnknownRow[] }>({ result }: { result: R }): Promise<R> {
    for (const row of result.rows) withNumbers(row);
    return result;
  }
}

/** Opens `sqlite:/path/file.db` or `postgres://…`. Throws DatabaseError for what cannot be used. */
export async function openDb(url: string): Promise<Db> {
  if (!url.startsWith('sqlite:'))
    return openPostgres(url, [new IntegerPlugin()]).catch((error: unknown) => {
      throw new DatabaseError(
        `PostgreSQL cannot be reached (${(error as Error).message || codeOf(error)}); check database_url`,
      );
    });
  const file = url.slice('sqlite:'.length);
  try {
    return openSqlite(file, [new IntegerPlugin()]);
  } catch (error) {
    throw new DatabaseError(
      `the database ${file} cannot be used (${(error as Error).message}); it was left as it is. Put a backup in its place, or name another file with --database-url`,
    );
  }
}
