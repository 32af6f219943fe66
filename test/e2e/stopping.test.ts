// How built daemons end: within 10 s whatever hangs, and one after the other without a request that is lost.
import { Agent, request as sendRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openDb } from '../../data/db/open.ts';
import type { Daemon } from '../daemon/helpers/process.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import type { Reply } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import {
  call,
  createInvoice,
  credit,
  openShop,
  openStand,
  readInvoice,
  type Shop,
  type Stand,
} from './stand.ts';

const STOP_MS = 10_000;
const CLIENTS = 8;
/** Between two steps of a rolling restart. */
const UNDER_LOAD_MS = 1_000;

describe.skipIf(!hasPostgres)('built daemons on one PostgreSQL database', () => {
  let stand: Stand;
  beforeEach(async () => {
    stand = await openStand('postgres');
  });
  afterEach(() => stand.close());

  /** How long it took. */
  async function stop(daemon: Daemon): Promise<number> {
    const began = Date.now();
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code, daemon.stderr().slice(-2_000)).toBe(0);
    return Date.now() - began;
  }

  it('end within 10 s while provider, receiver, database and readers hang, and answer who waits', async () => {
    verifies('stop-in-time', 'sigterm', 'webhook-one-attempt');
    const daemon = await stand.start();
    const { url } = daemon;
    const shop = await openShop(stand, url);
    await credit(url, shop, '10');
    // A receiver that has the webhook and does not answer.
    stand.receiver.fallSilent();
    const paid = await createInvoice(url, shop);
    const simulated = await call(url, 'POST', `/v1/invoices/${paid.id}/simulate`, { shop });
    expect(simulated.status).toBe(200);
    await until('the receiver has it', async () => stand.receiver.hooks[0]);
    // A reader of events.
    const events = await fetch(`${url}/api/v1/merchant/events`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${shop.token}` },
    });
    const read = events.text();
    // A lock that no one gives back, and a request that waits for it.
    const db = await openDb(stand.database_url);
    onTestFinished(() => db.close());
    let unlock = () => {};
    const locked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const held = db.transaction(async (tx) => {
      // Held on purpose, longer than a daemon may.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      await sql`lock table units in exclusive mode`.execute(tx);
      begin();
      await locked;
    });
    await begun;
    const unit = { title: 'Coffee', amount_usd: 4.5, currencies: ['TON'] };
    // A provider that does not answer, and a check that waits for it.
    stand.gate.delay_ms = 60_000;
    const waiting = await createInvoice(url, shop);
    const answers: Promise<Reply>[] = [
      call(url, 'POST', `/v1/invoices/${waiting.id}/check`, { shop }),
      ...Array.from({ length: 12 }, () =>
        call(url, 'POST', '/api/v1/merchant/units', { shop, as: 'token', body: unit }),
      ),
    ];
    await delay(500);
    expect(await stop(daemon)).toBeLessThan(STOP_MS);
    unlock();
    await held;
    const [check, ...units] = await Promise.all(answers);
    expect(check).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } });
    for (const one of units) expect(one).toMatchObject({ status: 503, json: { code: 'database_busy' } });
    expect(await read).toContain('retry:');
    expect(
      await stand.inspect(({ query }) => query.selectFrom('deliveries').select('status').execute()),
    ).toEqual([{ status: 'unknown' }]);
    expect(await wrongBooks(stand)).toEqual([]);
  }, 60_000);

  it('are restarted one after the other under load, and no request is lost or answered with 5xx', async () => {
    verifies('rolling-restart', 'sigterm');
    const ports = ['0', '0'];
    const daemons = [await stand.start(), await stand.start()] as [Daemon, Daemon];
    for (const [at, { url }] of daemons.entries()) ports[at] = new URL(url).port;
    const urls = daemons.map(({ url }) => url);
    const shop = await openShop(stand, urls[0] as string);
    await credit(urls[0] as string, shop, '1000');
    const load = startClients(urls, shop);
    const restarts: number[] = [];
    for (const at of [0, 1] as const) {
      await delay(UNDER_LOAD_MS);
      restarts.push(await stop(daemons[at]));
      await delay(UNDER_LOAD_MS);
      daemons[at] = await stand.start({}, ports[at]);
    }
    await delay(UNDER_LOAD_MS);
    const { faults, created, answered } = await load.stop();
    expect(faults).toEqual([]);
    expect(answered).toBeGreaterThan(200);
    for (const ms of restarts) expect(ms).toBeLessThan(STOP_MS);
    for (const id of created) expect((await readInvoice(urls[0] as string, id)).id).toBe(id);
    expect(await wrongBooks(stand)).toEqual([]);
  }, 90_000);
});

/** Clients that hold their connections open, and ask another daemon only where a connection is refused. */
function startClients(urls: readonly string[], shop: Shop) {
  const faults: string[] = [];
  const created: string[] = [];
  let answered = 0;
  let stopped = false;

  const send = (agent: Agent, url: string, [method, path, body]: readonly [string, string, string?]) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = sendRequest(
        `${url}${path}`,
        { agent, method, headers: { 'x-api-key': shop.key, 'content-type': 'application/json' } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => {
            text += piece;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });

  async function client(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let at = index;
    let last = '';
    for (let count = 0; !stopped; count++) {
      const request =
        count % 2 === 0 || last === ''
          ? (['POST', '/v1/invoices', '{"chain":"ton","amount":"1"}'] as const)
          : (['GET', `/v1/public/invoices/${last}`] as const);
      try {
        const { status, text } = await send(agent, urls[at % urls.length] as string, request);
        if (status !== 200) faults.push(`${request[0]} ${request[1]}: ${status} ${text}`);
        else if (request[0] === 'POST') {
          last = JSON.parse(text).id;
          created.push(last);
        }
        answered++;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== 'ECONNREFUSED') faults.push(`${request[0]} ${request[1]}: ${code} ${message}`);
        at++;
      }
      await delay(5);
    }
    agent.destroy();
  }

  const running = Array.from({ length: CLIENTS }, (_, index) => client(index));
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
      return { faults, created, answered };
    },
  };
}
