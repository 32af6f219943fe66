// Webhooks sent per second to fast receivers, while receivers that never answer have older ones waiting.
import { createServer } from 'node:http';
import { sql } from 'kysely';
import { type Db, openDb } from '../../data/db/open.ts';
import { atLeast, say } from './measure.ts';
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
  const seconds = ((heard.at(-1) ?? 0) - (heard[0] ?? 0)) / 1000;
  say(
    `processor time of the daemon with its start: ${((cpuSeconds(daemon) * 1e6) / expected).toFixed(0)} µs each`,
  );
  atLeast(
    `webhooks to fast receivers per second, ${HANGING_SHOPS} shops hang`,
    [expected / seconds],
    PER_SECOND,
  );
  await made.home.remove();
  await Promise.all([chain.close(), ...fast.map((one) => one.close()), ...hanging.map(close)]);
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
