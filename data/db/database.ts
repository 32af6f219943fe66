// A database as all of `data/` uses it: one shape for SQLite and PostgreSQL.
import type { CompiledQuery, Kysely, Transaction, UnknownRow } from 'kysely';
import type { Pool, PoolConfig } from 'pg';
import type { Tables } from '../schema/tables.ts';

export type { PoolConfig };
/** What is used of a pool of connections to PostgreSQL. */
export type ConnectionPool = Pick<Pool, 'connect' | 'query' | 'end' | 'ended' | 'on'>;

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

/** What listens to a channel; none of it may throw. */
export interface Listener {
  onMessage(payload: string): void;
  /** From now on messages arrive; what was sent before may be lost. */
  onConnect(): void;
  onLost(): void;
  /** The way there leads through a pooler, which carries no messages: none is listened for. */
  onPooled(): void;
}

/** Messages to all daemons of a database, this one included. What is sent while one does not listen is lost to it. */
export interface Channel {
  /** The statement that sends its one value, of up to 8,000 bytes. */
  send: string;
  listen(listener: Listener): { close(): Promise<void> };
}

/** A database handle or a transaction; queries take either. */
export type Executor = Kysely<Tables> | Transaction<Tables>;
export type Tx = Transaction<Tables>;

/** Where questions are asked. */
export type Reader = Pick<Db, 'dialect' | 'query'>;

/** Inserts that are one transaction, with their values: nothing is written where the first one writes no row. */
export type Batch = readonly { text: string; values: readonly (string | number | bigint | null)[] }[];

export interface Db {
  dialect: Dialect;
  /** For reading, and for single statements. */
  query: Kysely<Tables>;
  /** For changing the schema: waits as long as that takes. */
  schema: Kysely<Tables>;
  /** Runs `work` in one transaction that is durable when the promise resolves; repeats it on a serialisation failure. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs one statement that writes as a transaction of its own, without the round trips that open and close one. On
   * SQLite `work` may run several: it is a transaction as any other there.
   */
  statement<T>(work: (on: Executor) => Promise<T>): Promise<T>;
  /**
   * Writes a batch in a thread of its own, durable when the promise resolves; false where its first statement wrote no row. Present
   * where that is faster (SQLite in a file).
   */
  batch?(batch: Batch): Promise<boolean>;
  /** The first row of a question that was compiled before, with these values; reads what is committed. */
  first(question: CompiledQuery, values: readonly (string | number)[]): Promise<UnknownRow | undefined>;
  /** The same at once, where nothing has to be waited for: SQLite in a file. */
  firstNow?(question: CompiledQuery, values: readonly (string | number)[]): UnknownRow | undefined;
  /**
   * How often something was committed since it was opened, where this process alone writes what is read so: as long as it is the
   * same, so is every answer of the database.
   */
  commits?(): number;
  /** The same without batches, which add rows and change none. */
  changes?(): number;
  /**
   * Runs the questions of a list that is shown to someone; it may come from a replica, but has all that was committed
   * before the call. What is decided about money is read by `query` and `transaction` alone.
   */
  readList<T>(work: (on: Reader) => Promise<T>): Promise<T>;
  /** Waits as its owner does; present on PostgreSQL. */
  sleep?: Turns['sleep'];
  /** Present where several daemons may share the database. */
  channel?: Channel;
  /** For the rest of this run nothing is stored here: what is under way and whatever comes fails with Fenced, reading does not. */
  fence(): void;
  /** Ends statements that have run for so long: their callers fail with what is busy. For the end of a daemon. */
  interrupt(older_than_ms: number): Promise<void>;
  close(): Promise<void>;
}
