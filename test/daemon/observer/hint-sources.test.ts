// The daemon and what pushes hints to it: a source that lies, floods, hangs or is gone loses no payment, and one daemon of several listens.
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { HINTED_AT_ONCE, HINTED_EACH_MS } from '../../../daemon/observer/hints/schedule.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { type Database, newDatabase } from '../../helpers/database.ts';
import { create, fundedMerchant, invoiceRow } from '../../helpers/payments.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { type Indexer, serveTon } from '../../helpers/ton-indexer.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const MOVED = JSON.stringify({ type: 'account_state_change', finality: 'finalized', account: '0:00' });
const FLOOD_MS = 2;
/** How long what a flood costs is counted. */
const COUNTED_MS = 4_000;

/** A server of WebSockets that does this with each who comes. */
async function serveHints(onConnection: (socket: WebSocket) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => onConnection(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.on('listening', resolve));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${server.address().port}/`, connected: () => server.clients.size };
}

/** Takes connections, and never says a word. */
async function serveSilence(): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => void open.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

/** A daemon that reads TON each second, and hears of this source. */
async function daemon(
  indexer: Indexer,
  hints_url: string,
  { database = 'sqlite', database_url }: { database?: Database; database_url?: string } = {},
): Promise<TestApp> {
  const test = await startApp({
    single: true,
    start: true,
    database,
    ...(database_url === undefined ? {} : { database_url }),
    settings: {
      'blockchains.ton.url': indexer.url,
      'blockchains.ton.hints_url': hints_url,
      'blockchains.ton.requests_per_second': '1000',
      'gateways.ton.poll_interval_seconds': '1',
      'gateways.ton-usdt.enabled': false,
    },
  });
  test.clock.set(indexer.now);
  return test;
}

const readingsForHints = (test: TestApp): number =>
  Number(
    /gatewayd_hints_total\{blockchain="ton",event="reading"\} (\d+)/.exec(test.app.metrics.text())?.[1] ?? 0,
  );

describe('a source of hints that', () => {
  const flooding = async () => {
    const { url } = await serveHints((socket) => {
      const flood = setInterval(() => socket.send(MOVED), FLOOD_MS);
      socket.on('close', () => clearInterval(flood));
    });
    return url;
  };
  const sources: [string, () => Promise<string>][] = [
    ['floods with lies', flooding],
    ['never says anything', async () => (await serveHints(() => {})).url],
    ['ends each connection', async () => (await serveHints((socket) => socket.terminate())).url],
    ['sends 10 MB', async () => (await serveHints((socket) => socket.send('['.repeat(1e7)))).url],
    ['hangs', serveSilence],
    ['is not there', async () => 'ws://127.0.0.1:1/'],
  ];
  test.each(sources)(
    '%s loses no payment, costs a bounded number of readings, and ends with the daemon',
    async (_, serve) => {
      verifies('hints-bounded');
      const indexer = await serveTon();
      const test = await daemon(indexer, await serve());
      const merchant = await fundedMerchant(test);
      const invoice = await create(test, merchant, 'ton');
      const began = { ms: performance.now(), readings: readingsForHints(test) };
      indexer.now += 5;
      test.clock.set(indexer.now);
      indexer.pay(invoice);
      await until('the payment is found', async () =>
        (await invoiceRow(test, invoice.id)).status === 'confirmed' ? true : undefined,
      );
      while (performance.now() - began.ms < COUNTED_MS)
        await new Promise((resolve) => setTimeout(resolve, 50));
      const most = HINTED_AT_ONCE + (performance.now() - began.ms) / HINTED_EACH_MS;
      expect(readingsForHints(test) - began.readings).toBeLessThanOrEqual(Math.ceil(most));
      await test.stop();
    },
  );
});

describe('hints', () => {
  test('end with the daemon, and are shown to its operator', async () => {
    verifies('hints-forward');
    const indexer = await serveTon();
    const { url, connected } = await serveHints((socket) => void socket.send(MOVED));
    const test = await daemon(indexer, url);
    const merchant = await fundedMerchant(test);
    const { token } = await test.superuser();
    const shown = async () => {
      const { json } = await test.fetch('GET', '/api/v1/admin/observers', { token });
      const { observers } = json as { observers: { blockchain: string; hints: Record<string, unknown> }[] };
      return observers.find(({ blockchain }) => blockchain === 'ton')?.hints;
    };
    expect(await shown()).toMatchObject({ connected_since: null, last_hint_at: null });
    await create(test, merchant, 'ton');
    await until('a hint', async () => ((await shown())?.last_hint_at === null ? undefined : true));
    expect(await shown()).toEqual({
      source: `hints at ${new URL(url).host}`,
      connected_since: expect.any(Number),
      last_hint_at: expect.any(Number),
    });
    expect(connected()).toBe(1);
    expect(readingsForHints(test)).toBeGreaterThan(0);
    await test.stop();
    await until('no connection', async () => (connected() === 0 ? true : undefined));
  });

  test.runIf(hasPostgres)(
    'are heard by the daemon that reads, and by the next one after it',
    async () => {
      verifies('hints-forward');
      const indexer = await serveTon();
      const { url, connected } = await serveHints(() => {});
      const { url: database_url, remove } = await newDatabase('postgres');
      onTestFinished(remove);
      const first = await daemon(indexer, url, { database: 'postgres', database_url });
      const merchant = await fundedMerchant(first);
      await create(first, merchant, 'ton');
      const isHeard = ({ app }: TestApp) =>
        (app.observer.status().find(({ blockchain }) => blockchain === 'ton')?.hints?.connected_since ??
          null) !== null;
      const second = await daemon(indexer, url, { database: 'postgres', database_url });
      const daemons = [first, second];
      const heardBy = async () => {
        const [one, ...others] = daemons.filter(isHeard);
        expect(connected()).toBeLessThanOrEqual(2);
        return one && others.length === 0 && connected() === 1 ? one : undefined;
      };
      const reader = await until('one daemon hears', heardBy);
      expect(reader.app.observer.reads()).toContain('ton');
      const other = daemons.find((each) => each !== reader) as TestApp;
      await reader.stop();
      await until('the other one hears', async () =>
        isHeard(other) && connected() === 1 ? true : undefined,
      );
      await other.stop();
      await until('no connection', async () => (connected() === 0 ? true : undefined));
    },
    60_000,
  );
});
