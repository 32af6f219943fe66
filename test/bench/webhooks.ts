// Webhooks sent per second to fast receivers, while receivers that never answer have older ones waiting.
import { createServer } from 'node:http';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { type Db, openDb } from '../../data/db/open.ts';
import { atLeast, say, spread } from './measure.ts';
import {
  close,
  cpuSeconds,
  listen,
  makeShops,
  openFastReceiver,
  openModelChain,
  startShops,
} from './shops.ts';

const SHOPS = 70;
/** Those of the first shops never answer; their places alone would be more than a daemon has. */
const HANGING_SHOPS = 20;
const WEBHOOKS_PER_SHOP = 100;
/** Fast receivers; shops share them as they share hosts. */
const RECEIVERS = 10;
const PER_SECOND = 500;
/** What an event says alongside its ids, in bytes. */
const BODY_BYTES = 900;
const LIMIT_MS = 300_000;
/** Parts of the run, each with a rate of its own: its spread. */
const PARTS = 4;
/** Of the bare client to each receiver. */
const FLOOR_CONNECTIONS = 8;
const COUNT_EVERY_MS = 20;

export async function benchWebhooks(): Promise<void> {
  const heard: number[] = [];
  const hear = () => void heard.push(performance.now());
  const fast = await Promise.all(Array.from({ length: RECEIVERS }, () => openFastReceiver(hear)));
  const hanging = Array.from({ length: HANGING_SHOPS }, () => createServer(() => {}));
  const silent = await Promise.all(hanging.map(listen));
  const made = await makeShops({
    shops: SHOPS,
    invoices: WEBHOOKS_PER_SHOP,
    status: 'confirmed',
    webhook_url: (shop) => silent[shop] ?? fast[shop % RECEIVERS]?.url ?? null,
  });
  const db = await openDb(`sqlite:${made.file}`);
  await queueWebhooks(db);
  await db.close();
  const chain = await openModelChain();
  const daemon = await startShops(made, chain);
  const expected = (SHOPS - HANGING_SHOPS) * WEBHOOKS_PER_SHOP;
  const began = performance.now();
  while (heard.length < expected) {
    if (performance.now() - began > LIMIT_MS) throw new Error(`only ${heard.length} webhooks came`);
    await new Promise((resolve) => setTimeout(resolve, COUNT_EVERY_MS));
  }
  say(
    `processor time of the daemon with its start: ${((cpuSeconds(daemon) * 1e6) / expected).toFixed(0)} µs each`,
  );
  const rates = partsOf(heard.splice(0));
  atLeast(`webhooks to fast receivers per second, ${HANGING_SHOPS} shops hang`, rates, PER_SECOND);
  await postBare(
    fast.map(({ url }) => url),
    expected,
  );
  const bare = partsOf(heard);
  say(`bare posts of the same bodies on open connections per second: ${spread(bare)}`);
  say(
    `of that floor: ${spread(
      rates.map((rate, at) => rate / (bare[at] ?? Number.NaN)),
      2,
    )}`,
  );
  await made.home.remove();
  await Promise.all([chain.close(), ...fast.map((one) => one.close()), ...hanging.map(close)]);
}

/** Arrivals per second in each part of a run. */
function partsOf(heard: readonly number[]): number[] {
  const size = Math.floor(heard.length / PARTS);
  return Array.from({ length: PARTS }, (_, part) => {
    const times = heard.slice(part * size, (part + 1) * size);
    return ((times.length - 1) * 1000) / ((times.at(-1) ?? 0) - (times[0] ?? 0));
  });
}

/** The floor: so many bodies posted to these receivers by a client that does nothing else. */
async function postBare(urls: readonly string[], count: number): Promise<void> {
  const invoice = { id: '0'.repeat(36) };
  const data = { invoice, text: 'x'.repeat(BODY_BYTES) };
  const body = JSON.stringify({ type: 'invoice.confirmed', data });
  const headers = { 'content-type': 'application/json' };
  let posted = 0;
  const pools = urls.map((url) => new Pool(url, { connections: FLOOR_CONNECTIONS }));
  const clients = pools.flatMap((pool) => Array.from({ length: FLOOR_CONNECTIONS }, () => pool));
  await Promise.all(
    clients.map(async (pool) => {
      while (posted++ < count) {
        const reply = await pool.request({ method: 'POST', path: '/', headers, body });
        await reply.body.dump();
      }
    }),
  );
  await Promise.all(pools.map((pool) => pool.close()));
}

/** One for each invoice, those of the shops that were made first are the oldest. */
async function queueWebhooks({ query }: Db): Promise<void> {
  const body = sql`'{"type":"invoice.confirmed","data":{"invoice":{"id":"' || invoices.id || '"},"text":"' ||
    ${'x'.repeat(BODY_BYTES)} || '"}}'`;
  await sql`insert into events (id, merchant_id, type, invoice_id, body, created_at)
    select replace(id, '-8000-', '-9000-'), owner_id, 'invoice.confirmed', id, ${body}, created_at
    from invoices`.execute(query);
  await sql`insert into deliveries (id, event_id, merchant_id, url, host, kind, status, created_at)
    select events.id, events.id, merchants.id, webhook_url, replace(webhook_url, 'http://', ''), 'automatic', 'pending',
      events.created_at
    from events join merchants on merchants.id = events.merchant_id order by events.seq`.execute(query);
}
