// Opens the database of a daemon that starts, and waits for a server that is away: machines of one system come up in any order.
import type { Logger } from 'pino';
import { DatabaseAway, type Db, openDb, type Timed } from '../../data/db/open.ts';
import type { Config } from '../settings/config.ts';
import type { Runtime } from './runtime.ts';

/** How often a server that is away is asked, and how often the operator hears that it still is. */
const RETRY_MS = 1_000;
const REPORT_MS = 5_000;

export interface OpenDatabaseOptions {
  log: Logger;
  runtime: Pick<Runtime, 'elapsed_ms' | 'sleep'>;
  onTimed?: Timed;
}

/**
 * The open database. Waits `wait_for_database_seconds` for a server that cannot be reached or takes no one yet; throws
 * DatabaseAway after it, and DatabaseError at once for what waiting does not change.
 */
export async function openDatabase(
  config: Pick<
    Config,
    'database_url' | 'database_listen_url' | 'database_read_url' | 'wait_for_database_seconds'
  >,
  { log, runtime, onTimed }: OpenDatabaseOptions,
): Promise<Db> {
  const { database_url, database_listen_url: listen_url, wait_for_database_seconds } = config;
  const read = replicaOf(config, log);
  const began_ms = runtime.elapsed_ms();
  let reported_ms = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await openDb(database_url, { listen_url, read, onTimed });
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error;
      const now_ms = runtime.elapsed_ms();
      const left_ms = began_ms + wait_for_database_seconds * 1000 - now_ms;
      if (left_ms <= 0) throw given(error, wait_for_database_seconds);
      if (now_ms - reported_ms >= REPORT_MS) {
        reported_ms = now_ms;
        log.warn(
          { reason: error.message, seconds_left: Math.ceil(left_ms / 1000) },
          'waiting for PostgreSQL',
        );
      }
      await runtime.sleep(Math.min(RETRY_MS, left_ms));
    }
  }
}

function replicaOf({ database_read_url: url }: Pick<Config, 'database_read_url'>, log: Logger) {
  if (url === undefined) return undefined;
  return {
    url,
    onChange(reason: string | null) {
      if (reason === null) log.info('lists are read from the replica');
      else log.warn({ reason }, 'the replica cannot be used: lists are read from the primary');
    },
  };
}

const given = (error: DatabaseAway, waited_seconds: number): DatabaseAway =>
  waited_seconds === 0 ? error : new DatabaseAway(`${error.message}; waited ${waited_seconds} s for it`);
