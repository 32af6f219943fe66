// Many at once: a hundred callers at one daemon, and two daemons on one database.
import { describe, expect, it, onTestFinished } from 'vitest';
import { databases } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { openGate } from './gate.ts';
import { nanoOf } from './payer.ts';
import {
  call,
  createInvoice,
  credit,
  type Invoice,
  kill,
  openShop,
  openStand,
  readInvoice,
  type Stand,
  tonSettings,
} from './stand.ts';

const CALLERS = 100;
/** As a public provider takes it; a read is two requests. */
const PROVIDER_MS = 150;
/** Two for each caller would be 200. What is left is the observer's own, and callers who came after a read had begun. */
const FEW_REQUESTS = 30;
/** The lease of a dead reader runs out after 15 s. */
const TAKE_OVER_MS = 25_000;

const pay = (stand: Stand, ...invoices: Invoice[]) =>
  stand.payer.pay(...invoices.map((invoice) => ({ amount: nanoOf(invoice), memo: invoice.memo })));

const untilConfirmed = (url: string, invoice: Invoice, limit_ms?: number): Promise<Invoice> =>
  until(
    `invoice ${invoice.id} is confirmed`,
    async () => {
      const now = await readInvoice(url, invoice.id);
      return now.status === 'confirmed' ? now : undefined;
    },
    limit_ms,
  );

describe.each(databases)('on %s', (database) => {
  it('a hundred checks alongside the observer book a payment once and share few requests to the provider', async () => {
    verifies('exactly-once', 'one-door', 'state-confirm-by-check');
    const stand = await openStand(database);
    onTestFinished(() => stand.close());
    const { url } = await stand.start();
    const shop = await openShop(stand, url);
    await credit(url, shop, '10');
    const invoice = await createInvoice(url, shop);
    stand.gate.delay_ms = PROVIDER_MS;
    const [paid] = await pay(stand, invoice);
    const before = stand.gate.requests.length;
    const path = `/v1/invoices/${invoice.id}/check`;
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () => call(url, 'POST', path, { shop })),
    );
    const asked = stand.gate.requests.length - before;
    const seen = replies.map(({ status, json }) => [status, json.status, json.txid]);
    expect(seen).toEqual(replies.map(() => [200, 'confirmed', paid?.txid]));
    expect(asked).toBeLessThan(FEW_REQUESTS);
    expect(await wrongBooks(stand)).toEqual([]);
    expect(stand.receiver.hooks.map(({ invoice_id }) => invoice_id)).toEqual([invoice.id]);
  }, 60_000);
});

it.skipIf(!hasPostgres)(
  'two daemons serve one database, one reads the chain, and where it is killed the other takes over',
  async () => {
    verifies('exactly-once', 'webhook-one-attempt');
    const stand = await openStand('postgres');
    onTestFinished(() => stand.close());
    const gates = [stand.gate, await openGate(stand.chain.url)] as const;
    onTestFinished(() => gates[1].stop());
    const daemons = [await stand.start(), await stand.start(tonSettings(gates[1].url))] as const;
    const urls = daemons.map(({ url }) => url) as [string, string];
    const shop = await openShop(stand, urls[0]);
    await credit(urls[1], shop, '1000');

    const invoices: Invoice[] = [];
    for (let each = 0; each < 6; each++) invoices.push(await createInvoice(urls[each % 2] as string, shop));
    await pay(stand, ...invoices);
    for (const [at, invoice] of invoices.entries())
      await untilConfirmed(urls[(at + 1) % 2] as string, invoice);
    const reading = gates.findIndex(({ requests }) => requests.length > 0);
    const other = 1 - reading;
    expect(gates[other]?.requests).toEqual([]);

    // Callers ask both at once.
    const asked = await createInvoice(urls[0], shop);
    await pay(stand, asked);
    const path = `/v1/invoices/${asked.id}/check`;
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, at) => call(urls[at % 2] as string, 'POST', path, { shop })),
    );
    expect(replies.map(({ status, json }) => [status, json.status])).toEqual(
      replies.map(() => [200, 'confirmed']),
    );

    // The reader dies while the receiver has a webhook and has not answered.
    stand.receiver.fallSilent();
    const interrupted = await createInvoice(urls[0], shop);
    await pay(stand, interrupted);
    const arrivals = () => stand.receiver.hooks.filter(({ invoice_id }) => invoice_id === interrupted.id);
    await until('the receiver has the webhook', async () => arrivals().length > 0 || undefined);
    await kill(daemons[reading as 0 | 1]);
    stand.receiver.speak();
    const left = urls[other] as string;
    const next = await createInvoice(left, shop);
    await pay(stand, next);
    await untilConfirmed(left, next, TAKE_OVER_MS);
    expect(await wrongBooks(stand)).toEqual([]);
    expect(arrivals()).toHaveLength(1);
  },
  90_000,
);
