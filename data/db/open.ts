// Opens the database: SQLite by default, PostgreSQL where several daemons share the work. One kysely over both.
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Db, Turns } from './database.ts';
import { codeOf, DatabaseError } from './failures.ts';
import { openPostgres } from './postgres.ts';
import { RowPlugin } from './rows.ts';
import { openSqlite } from './sqlite.ts';

export type { Db, Dialect, Executor, Turns, Tx } from './database.ts';
export { DatabaseError } from './failures.ts';

const systemTurns: Turns = { turn: () => setImmediate(), sleep: (ms) => setTimeout(ms) };

/** Opens `sqlite:/path/file.db` or `postgres://…`. Throws DatabaseError for what cannot be used. */
export async function openDb(url: string, turns: Turns = systemTurns): Promise<Db> {
  if (!url.startsWith('sqlite:'))
    return openPostgres(url, [new RowPlugin()], { turns }).catch((error: unknown) => {
      throw new DatabaseError(
        `PostgreSQL cannot be reached (${(error as Error).message || codeOf(error)}); check database_url`,
      );
    });
  const file = url.slice('sqlite:'.length);
  try {
    return openSqlite(file, [new RowPlugin()], turns);
  } catch (error) {
    throw new DatabaseError(
      `the database ${file} cannot be used (${(error as Error).message}); it was left as it is. Put a backup in its place, or name another file with --database-url`,
    );
  }
}
