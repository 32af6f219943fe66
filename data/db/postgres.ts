// PostgreSQL: a pool for transactions and one for everything else, so that those who wait for a lock stop no reader.
import { setTimeout } from 'node:timers/promises';
import {
  Kysely,
  type KyselyPlugin,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type UnknownRow,
} from 'kysely';
import pg, { type PoolClient } from 'pg';
import type { Tables } from '../schema/tables.ts';
import type { ConnectionPool, Db, PoolConfig, Turns } from './database.ts';
import { ConnectionLost, codeOf, Fenced, isRetryable } from './failures.ts';
import { statementName } from './named.ts';
import { cancelStatement, dropConnection } from './postgres-cancel.ts';
import { channelOf } from './postgres-channel.ts';
import { isPooled, PROCESS_OF_SESSION } from './postgres-pooler.ts';
import { openReplica } from './replica.ts';

/** Connections of one daemon: those of transactions, and those of single statements. */
const TRANSACTIONS = 10;
const STATEMENTS = 5;
/** Those to a replica, and how long a list waits for one: the primary can answer instead. */
const REPLICA = 5;
const REPLICA_CONNECT_MS = 1_000;
/** The one that changes the schema. */
const SCHEMA = 1;

export interface Limits {
  /** A connection must be there by then, whether it is opened or given back by another. */
  connect_ms: number;
  /** A lock that another holds is waited for as long as the one of a SQLite file. */
  lock_ms: number;
  /** A server that takes a statement and does not answer is given up: the network may have swallowed it. It ends it, too. */
  answer_ms: number;
  /**
   * What a daemon has locked that vanished, or is frozen, is free again by then: sooner than others give up waiting for it,
   * and well before its leases run out. The server rolls back, and the daemon finds its connection gone.
   */
  idle_transaction_ms: number;
}

export const LIMITS: Limits = {
  connect_ms: 5_000,
  lock_ms: 5_000,
  answer_ms: 30_000,
  idle_transaction_ms: 4_000,
};
/** Changes of the schema take as long as they take, and wait for those of another daemon. */
const SCHEMA_LIMITS: Limits = { connect_ms: 5_000, lock_ms: 0, answer_ms: 0, idle_transaction_ms: 0 };
const TRANSACTION_TRIES = 5;
/** A server that was asked to cancel a statement has done so by then. */
const CANCELLED_MS = 300;

/** Connections whose statement is not answered yet, with when that was sent, milliseconds of a timer. */
type Running = Map<PoolClient, number>;

export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? (text: string) => BigInt(text)
      : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;

export interface PostgresOptions {
  limits?: Limits;
  turns?: Turns | undefined;
  /** Called with what each statement took. */
  onStatement?: ((ms: number) => void) | undefined;
  /** Where notifications are listened for; by default where everything else goes. */
  listen_url?: string | undefined;
  read?: ReadReplica | undefined;
}

export interface ReadReplica {
  /** Of the replica, or of what stands before several. */
  url: string;
  /** Called when it is used no more, with the reason, and with null when it is used again. */
  onChange?(reason: string | null): void;
}

/** Leaves transaction and lock of a migration to `migrate`: the query builder's own lock is one of a session. */
class SchemaDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new SchemaAdapter();
  }
}

class SchemaAdapter extends PostgresAdapter {
  override get supportsTransactionalDdl(): boolean {
    return false;
  }
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** Opens `postgres://…`; rejects where there is no answer. */
export async function openPostgres(
  url: string,
  plugins: KyselyPlugin[],
  { limits = LIMITS, turns, onStatement, listen_url, read }: PostgresOptions = {},
): Promise<Db> {
  const pool = openPool(url, STATEMENTS, limits, turns);
  try {
    await pool.query('select 1');
  } catch (error) {
    await pool.end();
    throw error;
  }
  const running: Running = new Map();
  const fence = { is_closed: false };
  const guards = { turns, running, onStatement, fence };
  const kyselyOn = (on: PostgresPool) =>
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: on }), plugins });
  const query = kyselyOn(guarded(pool, limits, guards));
  const transactions = kyselyOn(guarded(openPool(url, TRANSACTIONS, limits, turns), limits, guards));
  const schema = new Kysely<Tables>({
    dialect: new SchemaDialect({
      pool: guarded(openPool(url, SCHEMA, SCHEMA_LIMITS, turns), SCHEMA_LIMITS),
    }),
    plugins,
  });
  // One that is away is asked again later, and stops no start.
  const replica =
    read &&
    kyselyOn(guarded(openPool(read.url, REPLICA, { ...limits, connect_ms: REPLICA_CONNECT_MS }), limits));
  return {
    dialect: 'postgres',
    query,
    schema,
    transaction: (work) =>
      repeated(() => transactions.transaction().setIsolationLevel('read committed').execute(work)),
    statement: (work) => repeated(() => work(transactions)),
    first: async (question, values) =>
      (await query.executeQuery<UnknownRow>({ ...question, parameters: values })).rows[0],
    readList: replica
      ? openReplica({ replica, primary: query, onChange: read.onChange })
      : (work) => work({ dialect: 'postgres', query }),
    // What stands in for the connections carries no messages.
    ...(turns?.openPool ? {} : { channel: channelOf(url, listen_url) }),
    sleep: turns?.sleep ?? setTimeout,
    fence() {
      fence.is_closed = true;
    },
    interrupt: (older_than_ms) => interrupt(running, older_than_ms),
    async close() {
      await Promise.all([query.destroy(), transactions.destroy(), schema.destroy(), replica?.destroy()]);
      if (!pool.ended) await pool.end();
    },
  };
}

/** What was refused because of others is tried again: nothing of it was written. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= TRANSACTION_TRIES || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Connections by way of a pooler, which lends a server's session for one transaction at a time. What is set for a session
 * would be lost there, and found by a stranger; statements that are prepared in it, too.
 */
const pooled = new WeakSet<object>();

const setLimits = (scope: 'session' | 'local', { lock_ms, answer_ms, idle_transaction_ms }: Limits): string =>
  `set ${scope} lock_timeout = ${lock_ms}; set ${scope} statement_timeout = ${answer_ms};
   set ${scope} idle_in_transaction_session_timeout = ${idle_transaction_ms}`;

const BEGINS = /^(begin|start transaction)\b/;

/**
 * As it goes to the server. By way of a pooler a transaction brings its limits along, in the same round trip, and so bounds
 * how long single statements wait for its locks; nothing has a name, by which another daemon may have prepared something else.
 */
function statementFor(client: PoolClient, text: string, limits: Limits): { text: string; name?: string } {
  if (pooled.has(client))
    return { text: BEGINS.test(text) ? `${text}; ${setLimits('local', limits)}` : text };
  const name = statementName(text);
  return name === undefined ? { text } : { text, name };
}

function openPool(url: string, max: number, limits: Limits, turns?: Turns): ConnectionPool {
  const config: PoolConfig = {
    connectionString: url,
    max,
    connectionTimeoutMillis: limits.connect_ms,
    keepAlive: true,
    types,
    async onConnect(client) {
      // A connection that breaks while it is lent says so here and to its next statement; unheard, it would end the process.
      client.on('error', () => undefined);
      const { rows } = await client.query(PROCESS_OF_SESSION);
      if (isPooled(client, rows)) pooled.add(client);
      else await client.query(setLimits('session', limits));
    },
  };
  const pool = turns?.openPool?.(config) ?? new pg.Pool(config);
  // The same while it is idle: it is replaced at the next statement.
  pool.on('error', () => undefined);
  return pool;
}

type Guards = Pick<PostgresOptions, 'turns' | 'onStatement'> & {
  running?: Running;
  fence?: { is_closed: boolean };
};

/** A transaction is stored by its end, and a single statement at once. */
const STORES = /^commit\b|\b(insert into|update|delete from|merge into|truncate)\b/i;

/** The pool as the query builder sees it: a connection that broke or fell silent does not come back into it. */
function guarded(
  pool: ConnectionPool,
  limits: Limits,
  { turns, running, onStatement, fence }: Guards = {},
): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw lost(error) ?? error;
      });
      let broken: ConnectionLost | undefined;
      const query = async (text: string, values: readonly unknown[]) => {
        // The server cannot be informed of its end either.
        if (broken) throw broken;
        if (fence?.is_closed && STORES.test(text)) throw new Fenced();
        await turns?.before?.(text);
        const sent = statementFor(client, text, limits);
        const asked = { ...sent, values: [...values], query_timeout: limits.answer_ms } as pg.QueryConfig;
        const began_ms = performance.now();
        running?.set(client, began_ms);
        const result = await client
          .query(asked)
          .catch((error: unknown) => {
            broken = lost(error);
            throw broken ?? error;
          })
          .finally(() => {
            running?.delete(client);
            onStatement?.(performance.now() - began_ms);
          });
        // The server's way to say that an earlier statement had failed: then nothing is stored, not even what succeeded.
        if (text === 'commit' && result.command !== 'COMMIT')
          throw new Error('a transaction in which a statement had failed was not committed');
        return result;
      };
      return { query: query as never, release: () => client.release(broken) };
    },
    end: () => pool.end(),
  };
}

async function interrupt(running: Running, older_than_ms: number): Promise<void> {
  const began_before = performance.now() - older_than_ms;
  const old = [...running].filter(([, began]) => began <= began_before);
  await Promise.all(old.map(([client]) => cancelStatement(client)));
  await setTimeout(CANCELLED_MS);
  // A server that does not hear: what became of it, no one knows.
  for (const [client, began] of old) if (running.get(client) === began) dropConnection(client);
}

/** What a pooler says in place of a server that it has lost. */
const BROKEN_OFF = /^08/;

/** What the server itself did not report is reported of the connection; a value that cannot be sent is a bug of ours. */
function lost(error: unknown): ConnectionLost | undefined {
  if (error instanceof pg.DatabaseError && BROKEN_OFF.test(codeOf(error)))
    return new ConnectionLost(error.message, { cause: error });
  if (error instanceof pg.DatabaseError || error instanceof TypeError || error instanceof RangeError)
    return undefined;
  return new ConnectionLost((error as Error).message || codeOf(error), { cause: error });
}
