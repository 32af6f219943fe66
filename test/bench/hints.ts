// How soon a payment that is final on its chain is on the page, and its webhook sent: with and without a provider that says when
// something moves, with 1 and 1,000 open invoices; and what it costs in requests.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createHttp } from '../../daemon/http/mount.ts';
import { openApp, type RunningApp } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { loadConfig } from '../../daemon/settings/config.ts';
import { openDb } from '../../data/db/open.ts';
import { getInvoice } from '../../data/invoices.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { merchantOf } from '../helpers/people.ts';
import { ask, type Service, serviceAt } from '../helpers/service.ts';
import { type HintedChain, models, startHinted } from './hinted-chains.ts';
import { atMost, median, say } from './measure.ts';
import { close, listen } from './shops.ts';

const OPEN_INVOICES = [1, 1_000];
const PAYMENTS = 6;
/** Between two payments, by chance: at any moment of a pause, and rarely two in one reading. */
const APART_MS = { least: 2_500, most: 7_500 };
/** A page shows it, and a webhook is sent, so long after it was final. */
const PAGE_SECONDS = 2;
const WEBHOOK_SECONDS = 3;
const PREPAID_MICROS = 1_000_000_000_000n;
/** Between the end of a pause and what a page shows: the reading, and the page's own. */
const READING_SECONDS = 1;
const PATIENCE_MS = 120_000;
const SETTLE_MS = 1_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function benchHints(): Promise<void> {
  for (const model of models)
    for (const is_hinted of [true, false])
      for (const open of OPEN_INVOICES) {
        const chain = await startHinted(model);
        const found = await measure(chain, { is_hinted, open });
        const name = `${chain.blockchain}, ${is_hinted ? 'subscribed' : 'polled'}, ${open} open`;
        const { page, webhook, per_minute, poll_seconds } = found;
        say(
          `${name}: ${per_minute.toFixed(0)} requests a minute; medians ${median(page).toFixed(2)} and ${median(webhook).toFixed(2)} s`,
        );
        const [to_page, to_webhook] = is_hinted
          ? [PAGE_SECONDS, WEBHOOK_SECONDS]
          : [poll_seconds + READING_SECONDS, poll_seconds + READING_SECONDS];
        atMost(`${name}: slowest page, s`, [Math.max(...page)], to_page);
        atMost(`${name}: slowest webhook, s`, [Math.max(...webhook)], to_webhook);
        await chain.stop();
      }
}

interface Shop {
  app: RunningApp;
  service: Service;
  key: string;
}

async function measure(chain: HintedChain, { is_hinted, open }: { is_hinted: boolean; open: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-bench-'));
  const heard = new Map<string, number>();
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { type, data } = JSON.parse(body) as { type: string; data: { invoice?: { id: string } } };
    if (type === 'invoice.confirmed' && data.invoice) heard.set(data.invoice.id, Date.now());
    response.end();
  });
  const callback_url = await listen(receiver);
  const { config } = loadConfig({
    flags: {
      data_dir: directory,
      'rates.source': 'fixed',
      'rates.usd.TON': '4',
      'rates.usd.SOL': '200',
      [`gateways.${chain.gateway}.enabled`]: true,
      [`gateways.${chain.gateway}.payment_ttl_seconds`]: '1200',
      [`blockchains.${chain.blockchain}.url`]: chain.url,
      [`blockchains.${chain.blockchain}.hints_url`]: is_hinted ? chain.hints_url : 'none',
    },
    env: {},
    cwd: directory,
  });
  const db = await openDb(config.database_url);
  await migrate(db);
  const secrets = createSecrets('a secret for benches only');
  const clock = { ms: Date.now, monotonic_ms: () => performance.now() };
  const log = pino({ level: 'silent' });
  const app = openApp({ config, db, ledger: await openLedger(db, secrets), secrets, log, clock });
  const http = createHttp(app, routes);
  const service = serviceAt({ base_url: config.public_url, send: (request) => http.h3.fetch(request) });
  const keys: string[] = [];
  const merchants = Math.max(1, Math.ceil(open / chain.invoices_each));
  for (let merchant = 0; merchant < merchants; merchant++) keys.push(await openShop(app, chain, merchant));
  const shop = { app, service, key: keys[0] as string };
  const sell = () => sellIn(shop, chain.gateway, callback_url);
  for (let sold = 1; sold < open; sold++) {
    const key = keys[sold % keys.length] as string;
    await sellIn({ app, service, key }, chain.gateway, callback_url);
  }
  app.start();
  const poll_seconds = Math.min(
    ...app.gateways.flatMap((each) =>
      each.blockchain === chain.blockchain ? each.poll_interval_seconds : [],
    ),
  );
  const first = await sell();
  await sleep((poll_seconds + 1) * 1_000);
  const began = { ms: Date.now(), asked: chain.asked() };
  const paid: Promise<{ page: number; webhook: number }>[] = [];
  for (let payment = 0; payment < PAYMENTS; payment++) {
    const invoice = payment === 0 ? first : await sell();
    paid.push(payAndWait(shop, chain, invoice, heard));
    await sleep(APART_MS.least + Math.random() * (APART_MS.most - APART_MS.least));
  }
  const found = await Promise.all(paid);
  const per_minute = ((chain.asked() - began.asked) * 60_000) / (Date.now() - began.ms);
  http.stop();
  await app.stop();
  await db.close();
  await close(receiver);
  rmSync(directory, { recursive: true, force: true });
  const page = found.map((each) => each.page);
  return { page, webhook: found.map((each) => each.webhook), per_minute, poll_seconds };
}

/** The key of a merchant whose prepaid balance covers all that is sold. */
async function openShop(app: RunningApp, chain: HintedChain, merchant: number): Promise<string> {
  const addresses = { [chain.blockchain]: chain.walletOf(merchant) };
  const { id, key } = await merchantOf(app, `shop${merchant}@example.com`, addresses);
  await app.db.transaction((tx) =>
    app.ledger.post(tx, {
      merchant_id: id,
      kind: 'credit',
      amount_micros: PREPAID_MICROS,
      invoice_id: null,
      note: null,
      actor: 'bench',
      now: Math.floor(Date.now() / 1000),
    }),
  );
  return key;
}

async function sellIn({ app, service, key }: Shop, chain: string, callback_url: string): Promise<InvoiceRow> {
  const { id } = await ask(service, 'POST', '/v1/invoices', {
    key,
    body: { chain, amount: '10', callback_url },
  });
  return (await getInvoice(app.db.query, id)) as InvoiceRow;
}

/** Seconds from the moment when a payment is final to its green page, and to its webhook. */
async function payAndWait(
  { app }: Shop,
  chain: HintedChain,
  { id, address_key, amount_atomic, memo }: InvoiceRow,
  heard: ReadonlyMap<string, number>,
): Promise<{ page: number; webhook: number }> {
  const gone = new AbortController();
  const green = greenAt(app, id, gone.signal);
  await sleep(SETTLE_MS);
  const final_ms = await chain.pay({ address_key, amount: BigInt(amount_atomic), memo });
  const green_ms = await Promise.race([green, sleep(PATIENCE_MS)]);
  gone.abort();
  if (green_ms === undefined) throw new Error(`invoice ${id} did not become green`);
  while (!heard.has(id) && Date.now() - final_ms < PATIENCE_MS) await sleep(10);
  return {
    page: (green_ms - final_ms) / 1000,
    webhook: ((heard.get(id) ?? Number.POSITIVE_INFINITY) - final_ms) / 1000,
  };
}

/** When the page of an invoice is sent that it is confirmed. */
async function greenAt(app: RunningApp, id: string, closing: AbortSignal): Promise<number | undefined> {
  const { body } = await app.checkout.follow(id, { ip: '127.0.0.1', closing });
  let text = '';
  for await (const chunk of body.stream()) {
    text += Buffer.from(chunk).toString();
    if (/"status":"confirmed"/.test(text)) return Date.now();
  }
  return undefined;
}
