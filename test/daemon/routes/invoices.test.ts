// Invoices for the holder of a key: what they say, what refuses them, and how they are listed, checked and settled.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { putDeploymentWallet } from '../../../data/merchants.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { ABSENT_ID, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const PLATFORM_KEY = `gw_${'p'.repeat(24)}`;

describe.each(databases)('invoices on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({
      database,
      settings: { platform_key: PLATFORM_KEY, 'wallets.ton': wallets.ton ?? '' },
    });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const create = (body: object, key = merchant.key, of = service) =>
    of.fetch('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: '10', ...body } });
  const act = (id: string, verb: 'check' | 'simulate', key = merchant.key) =>
    service.fetch('POST', `/v1/invoices/${id}/${verb}`, { key });
  const read = (id: string, key = merchant.key) => service.fetch('GET', `/v1/invoices/${id}`, { key });

  test('say what to pay, where to and until when', async () => {
    verifies('post-invoices', 'service-invoice-shows', 'service-own-wallet', 'state-created');
    verifies(
      'res-invoice',
      'res-invoice-defaults',
      'res-invoice-urls',
      'res-unix-seconds',
      'memo-plain-price',
    );
    const { json } = await create({ external_ref: 'order-1' });
    const base = service.app.config.public_url;
    const now = service.clock.now();
    expect(json).toMatchObject({
      chain: 'ton',
      currency: 'TON',
      network: 'testnet',
      fiat: 'USD',
      amount_usd: '10',
      amount_usd_fee: '0',
      amount_merchant: '2.5',
      amount_fee: '0',
      amount: '2.5',
      memo: expect.stringMatching(/^[2-9A-Z]{10}$/),
      status: 'created',
      payment_id: null,
      amount_match: 'none',
      received_amount: null,
      external_ref: 'order-1',
      txid: null,
      confirmations: 0,
      created_at: now,
      expires_at: now + 300,
      paid_at: null,
      ask_donation: false,
      pay_url: `${base}/pay/${json.id}`,
      page_url: `${base}/v1/pay/${json.id}/page`,
      div_url: `${base}/v1/pay/${json.id}/div`,
      qr_url: `${base}/v1/pay/${json.id}/qr.svg`,
      qr_png_url: `${base}/v1/pay/${json.id}/qr.png`,
    });
    const shown = await service.fetch('GET', '/api/v1/merchant/wallets', { token: merchant.token });
    const own = shown.json.wallets.find((wallet: { blockchain: string }) => wallet.blockchain === 'ton');
    expect(json.address).toBe(own.address);
    expect(json.qr_payload).toContain(json.memo);
    for (const url of [
      json.pay_url,
      json.embed_url,
      json.page_url,
      json.div_url,
      json.qr_url,
      json.qr_png_url,
    ])
      expect((await service.fetch('GET', url.slice(base.length))).status, url).toBe(200);
    expect((await read(json.id)).json).toEqual(json);
  });

  test('are priced in USD or in coins, by a number or a decimal', async () => {
    verifies('post-invoices-amount', 'money-wire');
    expect((await create({ amount: 12.5 })).json).toMatchObject({ amount_usd: '12.5', amount: '3.125' });
    expect((await create({ amount: '1.5', amount_unit: 'native' })).json).toMatchObject({
      amount: '1.5',
      amount_usd: '6',
    });
    const token = await create({ chain: 'ton-usdt', amount: '0.000001' });
    expect(token.json).toMatchObject({ amount: '0.000001', amount_usd: '0.000001' });
  });

  test.each(
    [0, -1, '0', '1e3', '1_0', '١٢', 'NaN', '', null, true, [], '1234567890', 1e10].map((amount) => [amount]),
  )('refuse an amount of %j', async (amount) => {
    verifies('money-input', 'post-invoices-amount');
    const { status, json } = await create({ amount });
    expect([status, json.detail[0].loc]).toEqual([422, ['body', 'amount']]);
  });

  test('carry the surcharge of the service in the payer’s total', async () => {
    verifies('service-surcharge', 'money-sum');
    const charged = await startApp({ database, settings: { service_fee_percent: '1.5' } });
    onTestFinished(() => charged.stop());
    const { key } = await charged.merchant();
    expect((await create({ amount: '100' }, key, charged)).json).toMatchObject({
      amount_usd: '100',
      amount_usd_fee: '1.5',
      amount_merchant: '25',
      amount_fee: '0.375',
      amount: '25.375',
    });
  });

  test('keep the rate that they were made at', async () => {
    verifies('rate-frozen');
    const { json } = await create({});
    const rates = service.app.rates.rate;
    const row = await invoiceRow(service, json.id);
    expect(row.rate_usd_nanos).toBe(rates('TON').usd_nanos.toString());
    const dearer = await startApp({ database, settings: { 'rates.usd.TON': '8' } });
    onTestFinished(() => dearer.stop());
    const { key } = await dearer.merchant();
    expect((await create({}, key, dearer)).json.amount).toBe('1.25');
    expect((await read(json.id)).json.amount).toBe('2.5');
  });

  test('are refused by name for a chain that is not there, disabled, or without a wallet', async () => {
    verifies('refuse-unknown-chain', 'refuse-no-wallet', 'error-creation');
    const code = async (body: object, key: string) => {
      const { status, json } = await create(body, key);
      return [status, json.code];
    };
    const who = await service.merchant();
    expect(await code({ chain: 'dogecoin' }, who.key)).toEqual([400, 'unknown_chain']);
    await service.fetch('PATCH', '/api/v1/merchant/account', {
      token: who.token,
      body: { enabled_currencies: ['BTC'] },
    });
    expect(await code({ chain: 'ton' }, who.key)).toEqual([400, 'unknown_chain']);
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', who.id).execute();
    const none = await create({ chain: 'bitcoin' }, who.key);
    expect([none.status, none.json.code]).toEqual([400, 'no_wallet']);
    expect(none.json.detail).toContain('Bitcoin');
  });

  test('are refused without a key, and to an account that is not active', async () => {
    verifies('error-creation', 'refuse-inactive', 'key-401');
    const none = await service.fetch('POST', '/v1/invoices', { body: { chain: 'ton', amount: 1 } });
    expect([none.status, none.json.code]).toEqual([401, 'invalid_api_key']);
    const who = await service.merchant();
    await service.app.db.query.updateTable('users').set({ is_active: 0 }).where('id', '=', who.id).execute();
    const refused = await create({}, who.key);
    expect([refused.status, refused.json.code]).toEqual([403, 'account_inactive']);
  });

  test('are refused with 503 while no rate is fresh', async () => {
    verifies('refuse-no-rate', 'rates-stale');
    // Never started, so that no source was asked.
    const blind = await startApp({ database, settings: { 'rates.source': 'live', demo: false } });
    onTestFinished(() => blind.stop());
    const { key } = await blind.merchant();
    const { status, headers, json } = await create({}, key, blind);
    expect([status, json.code]).toEqual([503, 'no_rate']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('of another owner are answered like absent ones', async () => {
    verifies('error-404-foreign', 'get-invoice');
    const other = await service.merchant();
    const { json } = await create({});
    for (const id of [json.id, ABSENT_ID]) {
      expect((await read(id, other.key)).status).toBe(404);
      expect((await act(id, 'check', other.key)).status).toBe(404);
      expect((await act(id, 'simulate', other.key)).status).toBe(404);
    }
  });

  test('are listed newest first, by status and reference, page after page', async () => {
    verifies('list-invoices', 'settled-filter', 'state-settled-word');
    const who = await service.merchant();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) {
      // Four of them in one second: their order is that of their making all the same.
      if (at === 3) service.clock.advance(1);
      ids.unshift((await create({ external_ref: at % 2 ? 'odd' : 'even' }, who.key)).json.id);
    }
    const list = async (query: string, key = who.key) => {
      const { json } = await service.fetch('GET', `/v1/invoices?${query}`, { key });
      return { ...json, ids: json.data.map(({ id }: { id: string }) => id) };
    };
    expect((await list('')).ids).toEqual(ids);
    const first = await list('limit=2');
    expect(first).toMatchObject({ ids: ids.slice(0, 2), has_more: true, next: ids[1] });
    const rest = await list(`limit=200&after=${first.next}`);
    expect(rest).toMatchObject({ ids: ids.slice(2), has_more: false, next: null });
    expect((await list('external_ref=odd')).ids).toEqual([ids[1], ids[3]]);
    await act(ids[2] ?? '', 'simulate', who.key);
    expect((await list('status=confirmed')).ids).toEqual([ids[2]]);
    expect((await list('status=settled')).ids).toEqual([ids[2]]);
    expect((await list('status=created')).ids).toHaveLength(4);
    expect((await list('', merchant.key)).ids).not.toContain(ids[0]);
    const { status } = await invoiceRow(service, ids[2] ?? '');
    expect(status).toBe('confirmed');
  });

  test('that are simulated go the whole way: fee, income, event; ended ones do not', async () => {
    verifies(
      'post-simulate',
      'state-simulate',
      'simulate-demo-credit',
      'ended-simulate',
      'income-fee-charged',
    );
    const who = await service.merchant();
    const { json } = await create({ amount: '50' }, who.key);
    const done = await act(json.id, 'simulate', who.key);
    expect(done.json).toMatchObject({
      status: 'confirmed',
      amount_match: 'exact',
      received_amount: json.amount,
      paid_at: service.clock.now(),
    });
    const income = await service.fetch('GET', '/api/v1/merchant/income', { token: who.token });
    expect(income.json.data).toMatchObject([
      { invoice_id: json.id, fee_charged: '0.5', amount: json.amount },
    ]);
    expect((await act(json.id, 'simulate', who.key)).json).toEqual(done.json);
    const cancelled = await create({}, who.key);
    await service.fetch('POST', `/v1/invoices/${cancelled.json.id}/cancel`);
    const refused = await act(cancelled.json.id, 'simulate', who.key);
    expect([refused.status, refused.json.code]).toEqual([409, 'invoice_ended']);
  });

  test('are not simulated where demo mode is off', async () => {
    verifies('error-403-simulate', 'post-simulate', 'service-simulate-demo-only');
    const real = await startApp({ database, settings: { demo: false } });
    onTestFinished(() => real.stop());
    const who = await real.merchant();
    const { id } = (await create({}, who.key, real)).json;
    const { status, json } = await real.fetch('POST', `/v1/invoices/${id}/simulate`, { key: who.key });
    expect([status, json.code]).toEqual([403, 'demo_off']);
    const after = await real.fetch('GET', `/v1/invoices/${id}`, { key: who.key });
    expect(after.json.status).toBe('created');
  });

  test('that have ended are answered unchanged by check, without asking the chain', async () => {
    verifies('ended-check');
    const { json } = await create({});
    const done = await act(json.id, 'simulate');
    // No provider answers here: a poll would be 503.
    const checked = await act(json.id, 'check');
    expect([checked.status, checked.json]).toEqual([200, done.json]);
  });

  test('of the platform key are paid to the deployment, without limit and fee', async () => {
    verifies('post-invoices-platform-key', 'platform-invoices-free', 'deployment-wallets');
    const { json } = await create({}, PLATFORM_KEY);
    const row = await invoiceRow(service, json.id);
    expect(row.owner_id).toBeNull();
    await observe(service, 'ton', [transferTo(service, row)]);
    expect((await read(json.id, PLATFORM_KEY)).json).toMatchObject({ status: 'confirmed' });
    for (const table of ['ledger', 'income'] as const) {
      const rows = service.app.db.query.selectFrom(table).select('id').where('invoice_id', '=', json.id);
      expect(await rows.execute()).toEqual([]);
    }
    const none = await create({ chain: 'bitcoin' }, PLATFORM_KEY);
    expect([none.status, none.json.code]).toEqual([400, 'no_wallet']);
    expect((await read(json.id)).status).toBe(404);
  });

  test('on a memo chain with unique amounts match by the amount as well as by the memo', async () => {
    verifies('amount-setting', 'amount-unique', 'amount-tail');
    const exact = await startApp({ database, settings: { 'gateways.ton.unique_amount': true } });
    onTestFinished(() => exact.stop());
    const { key } = await exact.merchant();
    const made = [];
    for (let count = 0; count < 4; count++)
      made.push(await invoiceRow(exact, (await create({}, key, exact)).json.id));
    expect(new Set(made.map((row) => row.amount_atomic)).size).toBe(4);
    expect(made[0]?.amount_atomic).toBe('2500000000');
    for (const row of made) {
      const tail = BigInt(row.amount_atomic) - 2_500_000_000n;
      expect(tail >= 0n && tail <= 25_000_000n && tail % 1000n === 0n).toBe(true);
      expect(BigInt(row.amount_merchant_atomic)).toBe(BigInt(row.amount_atomic));
    }
    const [first, second, third] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]];
    await observe(exact, 'ton', [
      transferTo(exact, first, { memo: null }),
      transferTo(exact, second, { amount_atomic: BigInt(second.amount_atomic) + 1n }),
      transferTo(exact, third, { memo: null, amount_atomic: BigInt(third.amount_atomic) + 1n }),
    ]);
    const matches = await Promise.all(made.map(async ({ id }) => (await invoiceRow(exact, id)).amount_match));
    expect(matches).toEqual(['exact', 'over', 'none', 'none']);
  });

  test('wait as long as their gateway says, refills too', async () => {
    verifies('payment-ttl', 'service-refill-wait');
    await setAllDeploymentWallets(service);
    const waits = async (chain: string) => {
      const sale = await create({ chain });
      const refill = await service.fetch('POST', '/api/v1/merchant/refill', {
        token: merchant.token,
        body: { chain, amount: 5 },
      });
      return [sale.json, refill.json].map(({ created_at, expires_at }) => expires_at - created_at);
    };
    expect(await waits('ton')).toEqual([300, 300]);
    expect(await waits('solana')).toEqual([300, 300]);
    expect(await waits('bitcoin')).toEqual([3600, 3600]);
    const quick = await startApp({ database, settings: { 'gateways.ton.payment_ttl_seconds': '5' } });
    onTestFinished(() => quick.stop());
    const { json } = await create({}, (await quick.merchant()).key, quick);
    expect(json.expires_at - json.created_at).toBe(5);
    await expect(startApp({ settings: { 'gateways.ton.payment_ttl_seconds': '4' } })).rejects.toThrow(/5/);
  });

  async function setAllDeploymentWallets({ app }: TestApp): Promise<void> {
    for (const [blockchain, address] of Object.entries(wallets))
      await putDeploymentWallet(app.db.query, {
        blockchain,
        address,
        address_key: address,
        note: null,
        updated_at: 0,
      });
  }
});
