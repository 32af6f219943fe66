// Messages between daemons of one PostgreSQL database: one connection of its own that listens, and is opened again when it breaks.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Channel, Listener } from './database.ts';
import { isPooled, PROCESS_OF_SESSION } from './postgres-pooler.ts';

const CHANNEL = 'gatewayd';
const CONNECT_TIMEOUT_MS = 5_000;
/** How soon a connection that broke is opened again. */
const RECONNECT_MS = 500;
/** A connection that was swallowed by the network says nothing: it is asked so often, … */
const PROBE_MS = 10_000;
/** … and must answer by then. */
const PROBE_TIMEOUT_MS = 5_000;
/** How soon it is asked again whether a pooler still stands between. */
const POOLED_RETRY_MS = 60_000;

/**
 * Sends where everything else goes, and listens at `listen_url`. Without one it listens there too, unless a pooler stands
 * between: that would lend a session that listens to others.
 */
export function channelOf(url: string, listen_url?: string): Channel {
  return {
    send: `select pg_notify('${CHANNEL}', $1)`,
    listen: (listener) => listen(listen_url ?? url, listen_url === undefined, listener),
  };
}

function listen(
  url: string,
  maybePooled: boolean,
  { onMessage, onConnect, onLost, onPooled }: Listener,
): { close(): Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;

  /** Until it breaks; false at once where a pooler stands between. */
  async function follow(client: pg.Client): Promise<boolean> {
    const broken = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      // A listener for each that was tried would add up.
      signal.onabort = () => resolve();
    });
    client.on('notification', ({ payload }) => onMessage(payload ?? ''));
    await client.connect();
    if (maybePooled && isPooled(client, (await client.query(PROCESS_OF_SESSION)).rows)) return false;
    await client.query(`listen ${CHANNEL}`);
    onConnect();
    const probes = probe(client).catch(() => undefined);
    await Promise.race([broken, probes]);
    return true;
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
      const isDirect = await follow(client).catch(() => true);
      onLost();
      if (!isDirect) onPooled();
      client.end().catch(() => undefined);
      await delay(isDirect ? RECONNECT_MS : POOLED_RETRY_MS, undefined, { signal }).catch(() => undefined);
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
