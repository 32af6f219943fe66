// Messages between daemons of one PostgreSQL database: one connection of its own that listens, and is opened again when it breaks.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Channel, Listener } from './database.ts';

const CHANNEL = 'gatewayd';
const CONNECT_TIMEOUT_MS = 5_000;
/** How soon a connection that broke is opened again. */
const RECONNECT_MS = 500;
/** A connection that was swallowed by the network says nothing: it is asked so often, … */
const PROBE_MS = 10_000;
/** … and must answer by then. */
const PROBE_TIMEOUT_MS = 5_000;

export function channelOf(url: string): Channel {
  return { send: `select pg_notify('${CHANNEL}', $1)`, listen: (listener) => listen(url, listener) };
}

function listen(url: string, { onMessage, onConnect, onLost }: Listener): { close(): Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;

  /** Until it breaks. */
  async function follow(client: pg.Client): Promise<void> {
    const broken = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload }) => onMessage(payload ?? ''));
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    onConnect();
    const probes = probe(client).catch(() => undefined);
    await Promise.race([broken, probes]);
  }

  async function probe(client: pg.Client): Promise<void> {
    for (;;) {
      await delay(PROBE_MS, undefined, { signal });
      await client.query({ text: 'select 1', query_timeout: PROBE_TIMEOUT_MS } as pg.QueryConfig);
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        application_name: 'gatewayd listener',
      });
      await follow(client).catch(() => undefined);
      onLost();
      client.end().catch(() => undefined);
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}
