// Opens the database: SQLite by default, PostgreSQL where several daemons share the work. One kysely over both.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { followed } from './after-commit.ts';
import type { Db, Turns } from './database.ts';
import { DatabaseError, serverFault } from './failures.ts';
import type { ReadReplica } from './postgres.ts';
import { RowPlugin } from './rows.ts';
import { openSqlite } from './sqlite.ts';

export type { Db, Dialect, Executor, Reader, Turns, Tx } from './database.ts';
export { DatabaseAway, DatabaseError } from './failures.ts';

const systemTurns: Turns = { turn: () => setImmediate(), sleep: (ms) => setTimeout(ms) };

export interface OpenOptions {
  /** For a simulator: how it waits. */
  turns?: Turns;
  /** Where PostgreSQL's notifications are listened for, if not at the URL. */
  listen_url?: string | undefined;
  /** A replica that lists may be read from. */
  read?: ReadReplica | undefined;
  /** Called with what each single statement, and each transaction with all its waiting, took. Must not throw. */
  onTimed?: Timed;
}

export type Timed = (kind: 'statement' | 'transaction', ms: number) => void;

/**
 * Opens `sqlite:/path/file.db` or `postgres://…`. Throws DatabaseError for what cannot be used, and DatabaseAway where
 * the server may be there in a moment.
 */
export async function openDb(url: string, options: OpenOptions = {}): Promise<Db> {
  const db = await openHandle(url, options);
  return {
    ...db,
    ...(db.batch && { batch: timed(db.batch, options.onTimed) }),
    transaction: followed(timed(db.transaction, options.onTimed)),
    // On PostgreSQL it is over, and durable, as soon as the statement has been answered.
    statement: db.dialect === 'sqlite' ? followed(db.statement) : db.statement,
  };
}

function timed<Work extends (...given: never[]) => Promise<unknown>>(
  work: Work,
  onTimed: Timed | undefined,
): Work {
  if (!onTimed) return work;
  const measured = async (...given: Parameters<Work>) => {
    const began_ms = performance.now();
    try {
      return await work(...given);
    } finally {
      onTimed('transaction', performance.now() - began_ms);
    }
  };
  return measured as Work;
}

async function openHandle(url: string, options: OpenOptions): Promise<Db> {
  const { turns = systemTurns, onTimed } = options;
  const onStatement = onTimed && ((ms: number) => onTimed('statement', ms));
  if (!url.startsWith('sqlite:')) {
    // The driver and what it loads of Node.js: a sixth of the start of a daemon that never asks it.
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(url, [new RowPlugin()], { ...options, turns, onStatement }).catch(
      (error: unknown) => {
        throw serverFault(error);
      },
    );
  }
  const file = url.slice('sqlite:'.length);
  try {
    return openSqlite(file, [new RowPlugin()], { turns, onStatement });
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw new DatabaseError(
      `the database ${file} cannot be used (${(error as Error).message}); it was left as it is. Put a backup in its place, or name another file with --database-url`,
    );
  }
}
