// A real PostgreSQL server for simulated daemons: it does nothing of its own accord, and nothing at a time of its own.
import { createRequire } from 'node:module';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import pg from 'pg';
import { openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import type { Books, EventRow } from './books.ts';

/** The longest time that a setting can have: the gate finds circles and ends waiting itself. */
const NEVER_MS = 2_147_483_647;
const SETTINGS = {
  autovacuum: 'off',
  track_counts: 'off',
  deadlock_timeout: NEVER_MS,
  jit: 'off',
  max_parallel_workers_per_gather: 0,
  synchronize_seqscans: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
const TEMPLATE = 'simulator_template';
/** Numbers that rolled back transactions took and no one has; the oldest are forgotten. */
const GAPS_MOST = 500;

export interface SimulatorServer {
  /** Of a database in which nothing is simulated. */
  url: string;
  /** A new database with the schema. */
  createDatabase(): Promise<{ url: string; drop(): Promise<void> }>;
  stop(): Promise<void>;
}

/** Undefined where the platform has no PostgreSQL. */
export async function startSimulatorServer(): Promise<SimulatorServer | undefined> {
  const binaries = postgresBinaries();
  if (!binaries) return undefined;
  const { url, stop } = await startPostgres(binaries, SETTINGS);
  try {
    await prepareTemplate(url);
  } catch (error) {
    await stop();
    throw error;
  }
  let count = 0;
  return {
    url,
    stop,
    async createDatabase() {
      const name = `simulator_${++count}`;
      await run(url, `create database ${name} template ${TEMPLATE}`);
      return {
        url: urlOf(url, name),
        drop: () => run(url, `drop database if exists ${name} with (force)`),
      };
    },
  };
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function prepareTemplate(server: string): Promise<void> {
  await run(server, `create database ${TEMPLATE}`);
  const url = urlOf(server, TEMPLATE);
  // Triggers spread their sums by the number of the process, which the system chooses: here it is the gate's.
  await run(
    url,
    `create schema simulator`,
    `create function simulator.pg_backend_pid() returns integer stable language sql
     return coalesce(current_setting('simulator.backend', true), '0')::integer`,
  );
  const db = await openDb(url);
  await migrate(db);
  await db.close();
}

/** Set for each connection of a daemon. */
export const SEARCH_PATH = 'public, simulator, pg_catalog';

/** Keys, and what is sealed or hashed with them: random as they must be. */
const RANDOM_COLUMNS = [
  'idempotency.body',
  'ledger.hash',
  'ledger.previous_hash',
  'ledger_seals.hash',
  'ledger_seals.seal',
  'merchants.api_key_hash',
  'merchants.api_key_sealed',
  'merchants.ledger_hash',
  'merchants.previous_api_key_hash',
  'merchants.previous_webhook_secret_sealed',
  'merchants.webhook_secret_sealed',
  'meta.value',
];

/** Equal for equal rows of every table, those columns aside. */
export async function digestOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; columns: string[] }>(
      `select table_name as name, array_agg(column_name::text order by ordinal_position) as columns
       from information_schema.columns where table_schema = 'public' and table_name not like 'kysely%'
       group by 1 order by 1`,
    );
    let digest = 0;
    for (const { name, columns } of rows) {
      const known = columns.filter((column) => !RANDOM_COLUMNS.includes(`${name}.${column}`));
      const row = `concat_ws('|', ${known.map((column) => `"${column}"`).join(', ')})`;
      const { rows: sums } = await client.query<{ sum: string | null }>(
        `select md5(string_agg(${row}, ' ' order by ${row} collate "C")) as sum from "${name}"`,
      );
      for (const letter of sums[0]?.sum ?? name)
        digest = Math.imul(digest ^ letter.charCodeAt(0), 0x01000193) >>> 0;
    }
    return digest;
  } finally {
    await client.end();
  }
}

/** Runs in a thread of its own, so that the simulator can wait for it without letting go. */
const READER = `
  const { workerData } = require('node:worker_threads');
  const pg = require(workerData.module);
  const big = [pg.types.builtins.INT8, pg.types.builtins.INT4, pg.types.builtins.INT2];
  const getTypeParser = (oid, format) => (big.includes(oid) ? (text) => BigInt(text) : pg.types.getTypeParser(oid, format));
  const client = new pg.Client({ connectionString: workerData.url, types: { getTypeParser } });
  client.on('error', () => undefined);
  const connected = client.connect();
  workerData.port.on('message', async ({ text, values }) => {
    let answer;
    try {
      await connected;
      answer = { rows: (await client.query(text, values)).rows };
    } catch (error) {
      answer = { error: String(error) };
    }
    workerData.port.postMessage(answer);
    Atomics.store(workerData.signal, 0, 1);
    Atomics.notify(workerData.signal, 0);
  });
`;

/** The books of a server; `changed`: whether anything may have been committed since it was asked last. */
export function openServerBooks(url: string, changed: () => boolean): Books {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1: port, port2 } = new MessageChannel();
  const module = createRequire(import.meta.url).resolve('pg');
  const worker = new Worker(READER, {
    eval: true,
    workerData: { module, url, port: port2, signal },
    transferList: [port2],
  });
  worker.unref();
  const ask = <T>(text: string, values: unknown[]): T[] => {
    Atomics.store(signal, 0, 0);
    port.postMessage({ text, values });
    Atomics.wait(signal, 0, 0);
    const { message } = receiveMessageOnPort(port) as { message: { rows: T[]; error?: string } };
    if (message.error !== undefined) throw new Error(`${message.error} in ${text}`);
    return message.rows;
  };
  const rows = <T>(text: string, ...values: (string | number | bigint)[]): T[] => {
    let count = 0;
    return ask<T>(
      text.replaceAll('?', () => `$${++count}`),
      values,
    );
  };
  let last = 0n;
  let gaps: bigint[] = [];
  return {
    rows,
    changed,
    // Who writes to a server delays no one but those who want the same rows.
    newTransfers: () => 0,
    newEvents() {
      // Transactions commit in another order than they take numbers.
      const events = ask<EventRow>(
        'select seq, type, invoice_id, payment_id from events where seq > $1 or seq = any($2) order by seq',
        [last, gaps],
      );
      const seen = new Set(events.map(({ seq }) => seq));
      const end = events.at(-1)?.seq ?? last;
      gaps = gaps.filter((seq) => !seen.has(seq));
      for (let seq = last + 1n; seq <= end; seq++) if (!seen.has(seq)) gaps.push(seq);
      gaps = gaps.slice(-GAPS_MOST);
      if (end > last) last = end;
      return events;
    },
    close() {
      port.close();
      void worker.terminate();
    },
  };
}
