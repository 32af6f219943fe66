// Money that waits: for a provider that is away, behind or talking nonsense, for the limit, and at the end of its time.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasLitecoind, type Litecoind, startLitecoind } from '../chains/utxo-chain.ts';
import { startEsploraFront } from '../chains/utxo-fronts.ts';
import { freshAddress } from '../chains/utxo-observer.ts';
import { type Database, databases } from '../helpers/database.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import type { Weather } from './gate.ts';
import { walletOf } from './gateway-suite.ts';
import { nanoOf } from './payer.ts';
import {
  ask,
  call,
  createInvoice,
  credit,
  type Invoice,
  latePayments,
  openShop,
  openStand,
  readInvoice,
  type Shop,
  type Stand,
} from './stand.ts';

const BAD_DAYS: Weather[] = ['html', 'rate_limited', 'truncated'];
/** A provider that failed again and again is left alone for up to a minute. */
const BACK_OFF_MS = 65_000;

const waiting = (seconds: number) => ({ GATEWAYD_GATEWAYS_TON_PAYMENT_TTL_SECONDS: String(seconds) });
/** The shortest that there is, so that expiry comes soon. */
const shortLived = waiting(5);
/** Long enough for three payments, a second between them. */
const notSoShortLived = waiting(12);

interface World {
  stand: Stand;
  url: string;
  shop: Shop;
}

/** A running daemon with a shop. */
async function begin(settings: Record<string, string>, database: Database = 'sqlite'): Promise<World> {
  const stand = await openStand(database, settings);
  onTestFinished(() => stand.close());
  const { url } = await stand.start({ GATEWAYD_WALLETS_TON: stand.payer.shop_address });
  return { stand, url, shop: await openShop(stand, url) };
}

const pay = async ({ stand }: World, invoice: Invoice) => {
  const [paid] = await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
  if (!paid) throw new Error('not paid');
  return paid;
};

/** Changes what becomes of the requests to the provider, and waits for the first one. */
async function turn({ gate }: Stand, weather: Weather): Promise<void> {
  gate.weather = weather;
  const before = gate.requests.length;
  await until(
    `the provider is asked while it is ${weather}`,
    async () => gate.requests.length > before || undefined,
  );
}

const untilStatus = (world: World, { id }: Invoice, status: string, limit_ms?: number): Promise<Invoice> =>
  until(
    `invoice ${id} is ${status}`,
    async () => {
      const now = await readInvoice(world.url, id);
      return now.status === status ? now : undefined;
    },
    limit_ms,
  );

const statusOfPayment = async ({ url }: World, { id }: Invoice): Promise<string | undefined> =>
  (await ask(url, 'GET', `/v1/invoices/${id}/payment`)).payment?.status;

/** Waits for a moment on the clock, Unix seconds. */
const untilTime = (at: number) => delay(Math.max(0, at * 1000 - Date.now()));

const check = ({ url, shop }: World, { id }: Invoice) =>
  call(url, 'POST', `/v1/invoices/${id}/check`, { shop });

describe('a provider', () => {
  it.skipIf(!hasLitecoind)(
    'that is away across expiry: what was paid in time confirms, and other chains continue',
    async () => {
      verifies('expire-not-while-blind', 'late-listed', 'address-sum');
      const node = await startLitecoind();
      onTestFinished(() => node.stop());
      const front = await startEsploraFront(node);
      onTestFinished(() => front.stop());
      const world = await begin({
        ...shortLived,
        GATEWAYD_BLOCKCHAINS_BITCOIN_URL: front.url,
        GATEWAYD_BLOCKCHAINS_BITCOIN_REQUESTS_PER_SECOND: '200',
        GATEWAYD_GATEWAYS_BITCOIN_POLL_INTERVAL_SECONDS: '1',
        GATEWAYD_RATES_USD_BTC: '100000',
      });
      const { stand, url, shop } = world;
      await credit(url, shop, '10');
      // A reading that was under way may still be answered; one that is asked for from now on is not.
      await turn(stand, 'down');
      const [paid, unpaid, late] = [
        await createInvoice(url, shop),
        await createInvoice(url, shop),
        await createInvoice(url, shop),
      ];
      const { txid, time } = await pay(world, paid);
      expect(time).toBeLessThanOrEqual(paid.expires_at);
      await payBitcoin(world, node);
      for (const weather of BAD_DAYS) await turn(stand, weather);
      await untilTime(late.expires_at + 2);
      const tardy = await pay(world, late);
      for (const invoice of [paid, unpaid, late])
        expect(await readInvoice(url, invoice.id)).toMatchObject({
          status: 'created',
          received_amount: null,
          amount_match: 'none',
        });
      const refused = await check(world, paid);
      expect([refused.status, refused.json.code]).toEqual([503, 'provider_unavailable']);
      stand.gate.weather = 'fair';
      expect(await untilStatus(world, paid, 'confirmed', BACK_OFF_MS)).toMatchObject({
        txid,
        amount_match: 'exact',
        received_amount: paid.amount,
      });
      await untilStatus(world, unpaid, 'expired');
      await untilStatus(world, late, 'expired');
      expect(await latePayments(url)).toEqual([tardy.txid]);
      expect(await wrongBooks(stand)).toEqual([]);
    },
    240_000,
  );

  it('whose node lags: nothing expires before it has caught up, and what it shows late was paid in time', async () => {
    verifies('expire-not-while-blind');
    const world = await begin(shortLived);
    const { stand, url, shop } = world;
    await credit(url, shop, '10');
    const [paid, unpaid] = [await createInvoice(url, shop), await createInvoice(url, shop)];
    stand.chain.lag({ masterchainInfo: 10_000, transactions: 10_000 });
    const { txid } = await pay(world, paid);
    await untilTime(unpaid.expires_at + 2);
    for (const invoice of [paid, unpaid]) {
      expect((await check(world, invoice)).json.status).toBe('created');
      expect(await statusOfPayment(world, invoice)).toBeUndefined();
    }
    stand.chain.lag({});
    expect((await untilStatus(world, paid, 'confirmed')).txid).toBe(txid);
    await untilStatus(world, unpaid, 'expired');
    expect(await wrongBooks(stand)).toEqual([]);
  }, 60_000);
});

describe('time', () => {
  it('takes a payment of the last seconds, and lists one of the seconds after as late', async () => {
    verifies('late-listed', 'address-sum', 'expire-not-while-blind');
    const world = await begin(shortLived);
    const { stand, url, shop } = world;
    await credit(url, shop, '10');
    const [before, after] = [await createInvoice(url, shop), await createInvoice(url, shop)];
    await untilTime(before.expires_at - 2);
    const early = await pay(world, before);
    expect(before.expires_at - early.time).toBeOneOf([0, 1, 2]);
    await untilTime(after.expires_at + 1);
    const late = await pay(world, after);
    expect(late.time - after.expires_at).toBeOneOf([1, 2, 3]);
    expect((await untilStatus(world, before, 'confirmed')).txid).toBe(early.txid);
    await untilStatus(world, after, 'expired');
    const isListed = async () => (await latePayments(url)).includes(late.txid) || undefined;
    await until('the late payment is listed', isListed);
    const rows = await stand.inspect(({ query }) =>
      query.selectFrom('transfers').select(['txid', 'disposition']).execute(),
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { txid: early.txid, disposition: 'matched' },
        { txid: late.txid, disposition: 'late' },
      ]),
    );
    expect(await wrongBooks(stand)).toEqual([]);
  }, 60_000);
});

describe.each(databases)('the limit, on %s', (database) => {
  it('holds what it does not cover, past expiry too, and credit or refill book it, oldest payment first', async () => {
    verifies(
      'limit-held',
      'limit-402-body',
      'limit-held-books',
      'limit-starts-zero',
      'expire-not-while-paid',
    );
    const world = await begin(notSoShortLived, database);
    const { url, shop } = world;
    const invoices: Invoice[] = [];
    for (let each = 0; each < 3; each++) invoices.push(await createInvoice(url, shop, '10'));
    // The last one is paid first.
    const [third, second, first] = invoices;
    for (const invoice of [first, second, third]) {
      await pay(world, invoice);
      await until(
        'the payment is held',
        async () => (await statusOfPayment(world, invoice)) === 'held' || undefined,
      );
      if (invoice !== third) await delay(1_000);
    }
    const refused = await check(world, first);
    expect(refused).toMatchObject({
      status: 402,
      json: {
        code: 'limit_exhausted',
        detail: expect.any(String),
        required_usd: '10',
        remaining_usd: '0',
        refill: { method: 'POST', url: `${url}/api/v1/merchant/refill`, chains: ['ton'], amount_usd: '0.1' },
      },
    });
    await untilTime(third.expires_at + 2);
    const statuses = async () => {
      const now = await Promise.all([first, second, third].map(({ id }) => readInvoice(url, id)));
      return now.map(({ status }) => status);
    };
    expect(await statuses()).toEqual(['created', 'created', 'created']);
    await credit(url, shop, '0.10');
    await untilStatus(world, first, 'confirmed');
    expect(await statuses()).toEqual(['confirmed', 'created', 'created']);
    expect((await check(world, second)).status).toBe(402);
    const refill = await ask(url, 'POST', '/api/v1/merchant/refill', {
      shop,
      as: 'token',
      body: { chain: 'ton', amount: '0.1' },
    });
    await pay(world, refill);
    await untilStatus(world, second, 'confirmed');
    expect(await statuses()).toEqual(['confirmed', 'confirmed', 'created']);
    expect(await statusOfPayment(world, third)).toBe('held');
    await credit(url, shop, '0.10');
    await untilStatus(world, third, 'confirmed');
    expect((await ask(url, 'GET', '/api/v1/merchant/account', { shop, as: 'token' })).limit_of_payments).toBe(
      '0',
    );
  }, 60_000);
});

/** Pays on Bitcoin while TON is away, and sees it confirmed. */
async function payBitcoin(world: World, node: Litecoind): Promise<void> {
  const { url, shop } = world;
  const address = freshAddress('bitcoin');
  const body = { blockchain: 'bitcoin', address };
  await ask(url, 'PUT', '/api/v1/merchant/wallets', { shop, as: 'token', body });
  const invoice = await createInvoice(url, shop, '10', 'bitcoin');
  const amount = BigInt(invoice.amount.replace('.', '').padEnd(invoice.amount.split('.')[0].length + 8, '0'));
  const { txid } = await node.send([{ script: walletOf('bitcoin', address).key, amount }]);
  await node.mine(1);
  expect((await untilStatus(world, invoice, 'confirmed')).txid).toBe(txid);
}
