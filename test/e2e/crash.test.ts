// kill -9 at every kind of moment: nothing that was answered is lost, every payment is booked once, no webhook goes twice.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { type Database, databases } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { brokenPromises, newPromises, startLoad } from './load.ts';
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
  type Shop,
  type Stand,
} from './stand.ts';

/** Each daemon lives for so many answers more than the one before it, and a few milliseconds; `KILLS` asks for more of them. */
const { KILLS } = process.env;
const storms: Record<Database, { times: number; answers: number }> = {
  sqlite: { times: Number(KILLS ?? 3), answers: 5 },
  postgres: { times: Number(KILLS ?? 3), answers: 7 },
};
const LONGEST_LIFE_MS = 10_000;
/** A first start takes about half a second; kills before, in and after its migration. */
const FIRST_STARTS_MS = KILLS ? [200, 350, 450, 600] : [200, 400, 600];
/** After an answer of the provider has left: its page is stored within a few milliseconds, then settled. */
const AFTER_ANSWER_MS = KILLS ? [0, 2, 5, 11, 20] : [0, 4, 12];
/** What one receiver gets at once from one merchant (daemon/webhooks/concurrency.ts). */
const PER_RECEIVER = 8;

let stand: Stand;
afterEach(() => stand.close());

/** A stand with one shop that has credit, and no daemon running. */
async function begin(database: Database, settings: Record<string, string> = {}): Promise<Shop> {
  stand = await openStand(database, settings);
  const daemon = await stand.start();
  const shop = await openShop(stand, daemon.url);
  await credit(daemon.url, shop, '1000');
  await kill(daemon);
  return shop;
}

const pay = (...invoices: Invoice[]) =>
  stand.payer.pay(...invoices.map((invoice) => ({ amount: nanoOf(invoice), memo: invoice.memo })));

/** Has the chain read: on PostgreSQL the observer itself waits until the dead daemon's lease has run out. */
const untilConfirmed = (url: string, shop: Shop, { id }: Invoice): Promise<Invoice> =>
  until(`invoice ${id} is confirmed`, async () => {
    const { json } = await call(url, 'POST', `/v1/invoices/${id}/check`, { shop });
    return json.status === 'confirmed' ? json : undefined;
  });

/** The same without an answer: the daemon dies meanwhile. */
const startCheck = (url: string, shop: Shop, { id }: Invoice): void =>
  void call(url, 'POST', `/v1/invoices/${id}/check`, { shop }).catch(() => undefined);

const deliveryStatuses = () =>
  stand.inspect(async ({ query }) => {
    const rows = await query.selectFrom('deliveries').select('status').orderBy('status').execute();
    return rows.map(({ status }) => status);
  });

describe.each(databases)('on %s', (database) => {
  it('a daemon killed again and again under load keeps every promise and books every payment once', async () => {
    verifies('exactly-once', 'address-sum', 'ledger-hash-chain');
    const shop = await begin(database);
    const promises = newPromises();
    const { times, answers } = storms[database];
    for (let each = 0; each < times; each++) {
      const daemon = await stand.start();
      const load = startLoad(stand, daemon.url, shop, promises);
      await load.answered(each * answers, LONGEST_LIFE_MS);
      await delay(each % 7);
      await kill(daemon);
      await load.stop();
    }
    const { url } = await stand.start();
    // The storm is one with each kind of promise in it: lives may have been too short for all.
    const { created, confirmed, cancelled, accounts } = promises;
    const isStorm = async () =>
      Math.min(created.size, confirmed.size, cancelled.size, accounts.size) > 0 || undefined;
    const load = startLoad(stand, url, shop, promises);
    await until('each kind of promise was made', isStorm, 3 * LONGEST_LIFE_MS);
    await load.stop();
    for (const id of promises.paid)
      await until(`paid invoice ${id} has ended`, async () =>
        (await readInvoice(url, id)).status === 'created' ? undefined : true,
      );
    expect(promises.faults).toEqual([]);
    expect(await brokenPromises(url, shop, promises)).toEqual([]);
    expect(await wrongBooks(stand)).toEqual([]);
  }, 300_000);

  it('killed in its first start it leaves a database that the next one takes up', async () => {
    stand = await openStand(database);
    for (const after_ms of FIRST_STARTS_MS) await stand.startAndKill(after_ms);
    const { url } = await stand.start();
    const shop = await openShop(stand, url);
    expect((await createInvoice(url, shop)).status).toBe('created');
  });

  it('killed while the answer with a payment is being stored and settled, it books that once', async () => {
    const shop = await begin(database);
    const invoices: Invoice[] = [];
    for (const after_ms of AFTER_ANSWER_MS) {
      const daemon = await stand.start();
      const invoice = await createInvoice(daemon.url, shop);
      invoices.push(invoice);
      const [{ txid } = { txid: '' }] = await pay(invoice);
      const hash = Buffer.from(txid, 'hex').toString('base64');
      startCheck(daemon.url, shop, invoice);
      await new Promise<void>((resolve) => {
        stand.gate.answered = (_, body) => {
          if (body.includes(hash)) setTimeout(resolve, after_ms);
        };
      });
      await kill(daemon);
      stand.gate.answered = () => {};
    }
    const { url } = await stand.start();
    for (const invoice of invoices) await untilConfirmed(url, shop, invoice);
    expect(await wrongBooks(stand)).toEqual([]);
  }, 120_000);

  it('killed between seeing a payment and its last confirmation, it confirms after the restart', async () => {
    const shop = await begin(database, { GATEWAYD_GATEWAYS_TON_MIN_CONFIRMATIONS: '1000' });
    const daemon = await stand.start();
    const invoice = await createInvoice(daemon.url, shop);
    const [paid] = await pay(invoice);
    startCheck(daemon.url, shop, invoice);
    await until(
      'the payment is seen',
      async () => (await readInvoice(daemon.url, invoice.id)).confirmations > 0 || undefined,
    );
    await kill(daemon);
    stand.chain.mineBlocks(1000);
    const { url } = await stand.start();
    expect((await untilConfirmed(url, shop, invoice)).txid).toBe(paid?.txid);
    expect(await wrongBooks(stand)).toEqual([]);
  });
});

/** A creation under a key, as a caller repeats it. */
const createUnder = (url: string, shop: Shop, key: string): Promise<Response> =>
  fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { 'x-api-key': shop.key, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ chain: 'ton', amount: '1' }),
  });

const claims = () =>
  stand.inspect(async ({ query }) => {
    const { length } = await query
      .selectFrom('idempotency')
      .select('key')
      .where('status', 'is', null)
      .execute();
    return length;
  });

it('killed before an answer was stored for its key, the next start answers the repetition at once', async () => {
  verifies('idempotency-after-kill');
  const shop = await begin('sqlite');
  const daemon = await stand.start();
  const first = (await (await createUnder(daemon.url, shop, 'k')).json()) as Invoice;
  await kill(daemon);
  // As it is left by a daemon that dies between the commit and the record of its answer.
  await stand.inspect(({ query }) =>
    query.updateTable('idempotency').set({ status: null, body: null }).where('key', '=', 'k').execute(),
  );
  const { url } = await stand.start();
  const again = await createUnder(url, shop, 'k');
  expect([again.status, (await again.json()).id]).toEqual([200, first.id]);
  expect(await claims()).toBe(0);
});

it.skipIf(!hasPostgres)(
  'killed in the middle of a request, a repetition learns when it will be answered, and is',
  async () => {
    verifies('idempotency-after-kill');
    const shop = await begin('postgres');
    const daemon = await stand.start();
    await stand.inspect((db) =>
      db.transaction(async (tx) => {
        // No invoice of this merchant can be written meanwhile.
        await sql`select 1 from merchants where id = ${shop.id} for update`.execute(tx);
        void createUnder(daemon.url, shop, 'k').catch(() => undefined);
        await until('the key is claimed', async () => (await claims()) === 1 || undefined);
        await kill(daemon);
      }),
    );
    const { url } = await stand.start();
    const refused = await createUnder(url, shop, 'k');
    expect(refused.status).toBe(409);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeLessThan(10);
    await delay(seconds * 1000);
    const answered = await createUnder(url, shop, 'k');
    expect(answered.status).toBe(200);
    const { id } = (await answered.json()) as Invoice;
    const invoices = await stand.inspect(({ query }) => query.selectFrom('invoices').select('id').execute());
    expect(invoices).toEqual([{ id }]);
  },
  120_000,
);

it('killed between confirming and sending, and while sending, it sends each webhook at most once', async () => {
  verifies('webhook-one-attempt');
  const shop = await begin('sqlite');
  const daemon = await stand.start();
  const invoices: Invoice[] = [];
  for (let each = 0; each <= PER_RECEIVER; each++) invoices.push(await createInvoice(daemon.url, shop));
  stand.receiver.fallSilent();
  await pay(...invoices);
  for (const invoice of invoices) await untilConfirmed(daemon.url, shop, invoice);
  await until(
    'the receiver has taken what it gets at once',
    async () => stand.receiver.hooks.length === PER_RECEIVER || undefined,
  );
  await kill(daemon);
  const sending = Array.from({ length: PER_RECEIVER }, () => 'sending');
  expect(await deliveryStatuses()).toEqual(['pending', ...sending]);
  stand.receiver.speak();
  await stand.start();
  expect(await wrongBooks(stand)).toEqual([]);
  expect(await deliveryStatuses()).toEqual(['delivered', ...sending.map(() => 'unknown')]);
  expect(stand.receiver.hooks).toHaveLength(PER_RECEIVER + 1);
}, 120_000);

it.skipIf(!hasPostgres)(
  'killed between storing a payment and settling it, the next start settles it',
  async () => {
    const shop = await begin('postgres');
    const daemon = await stand.start();
    const invoice = await createInvoice(daemon.url, shop);
    // Settling needs the head of the merchant's ledger; storing does not.
    await stand.inspect((db) =>
      db.transaction(async (tx) => {
        await sql`select 1 from merchants where id = ${shop.id} for update`.execute(tx);
        await pay(invoice);
        startCheck(daemon.url, shop, invoice);
        await until('the payment is stored', async () => {
          const rows = await db.query.selectFrom('transfers').select('state').execute();
          return rows.some(({ state }) => state === 'final') || undefined;
        });
        await kill(daemon);
      }),
    );
    const { status } = await stand.inspect(({ query }) =>
      query.selectFrom('invoices').select('status').where('id', '=', invoice.id).executeTakeFirstOrThrow(),
    );
    expect(status).toBe('created');
    // Not by reading it again: its chain is away.
    stand.gate.weather = 'down';
    const { url } = await stand.start();
    await until(
      'the clock settles it',
      async () => (await readInvoice(url, invoice.id)).status === 'confirmed' || undefined,
    );
    expect((await call(url, 'GET', '/health')).status).toBe(200);
    expect(await wrongBooks(stand)).toEqual([]);
  },
);
