// One daemon per SQLite file: a lock that the operating system releases with the process, however it ends.
import { chmodSync } from 'node:fs';
import type SQLite from 'better-sqlite3';
import { sqlite } from '../../data/db/driver.ts';
import { ConfigError } from '../settings/config.ts';

/** Whether a daemon runs on a SQLite file now. */
export function isLocked(database_url: string): boolean {
  try {
    lockDatabase(database_url).release();
    return false;
  } catch (error) {
    if (error instanceof ConfigError) return true;
    throw error;
  }
}

/** Takes the lock of a database URL; PostgreSQL serves many daemons and needs none. Throws ConfigError where it is held, DatabaseError where SQLite cannot be loaded. */
export function lockDatabase(database_url: string): { release(): void } {
  if (!database_url.startsWith('sqlite:')) return { release() {} };
  const database = database_url.slice('sqlite:'.length);
  if (database === ':memory:') return { release() {} };
  const file = `${database}.lock`;
  const SQLite = sqlite();
  let lock: SQLite.Database | undefined;
  try {
    lock = new SQLite(file, { timeout: 0 });
    chmodSync(file, 0o600);
    // Nothing is ever written into it: the open transaction is the lock.
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY'))
      throw new ConfigError(
        `another gatewayd is running on ${database_url}; stop it first, or give this one its own --data-dir`,
      );
    throw new ConfigError(`the lock file ${file} cannot be used: ${(error as Error).message}`);
  }
  const held = lock;
  return { release: () => void held.close() };
}
