// What buyers may do without credentials: see gateways and units, buy, read and cancel an invoice.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow, observe, transferTo, unconfirmed } from '../../helpers/payments.ts';
import { ABSENT_ID } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('a buyer on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const get = (path: string) => service.fetch('GET', path);
  const create = async (chain: string, amount = '10') =>
    (await service.fetch('POST', '/v1/invoices', { key: merchant.key, body: { chain, amount } })).json;
  const cancel = (id: string) => service.fetch('POST', `/v1/invoices/${id}/cancel`);
  const unitOf = async (who: TestMerchant, values: object = {}) => {
    const body = { title: 'Tea', amount_usd: '20', currencies: ['TON', 'BTC'], wait_seconds: 900, ...values };
    return (await service.fetch('POST', '/api/v1/merchant/units', { token: who.token, body })).json;
  };
  const buy = (unit_id: string, body: object) =>
    service.fetch('POST', `/v1/units/${unit_id}/checkout`, { body });

  test('sees every gateway, grouped by blockchain too', async () => {
    verifies('get-gateways', 'res-gateway', 'res-gateway-groups', 'res-gateways-answer', 'gateway-ids');
    const { json } = await get('/v1/gateways');
    const { data, groups, count, ...rest } = json;
    expect(rest).toEqual({
      network: 'testnet',
      service_fee_percent: '0',
      default_fiat: 'USD',
      usd_precision: '0.000001',
      memo_length: 10,
    });
    expect(count).toBe(data.length);
    const ids = data.map(({ chain }: { chain: string }) => chain);
    for (const id of ['ton', 'ton-usdt', 'solana', 'solana-usdc', 'solana-usdt', 'bitcoin'])
      expect(ids).toContain(id);
    for (const gateway of data) {
      const token = gateway.is_token ? `-${gateway.currency.toLowerCase()}` : '';
      expect(gateway.chain).toBe(`${gateway.blockchain}${token}`);
      expect(gateway.token_contract !== null).toBe(gateway.is_token);
    }
    expect(groups.flatMap((group: { currencies: unknown[] }) => group.currencies)).toHaveLength(count);
    for (const { id, currencies } of groups)
      for (const { blockchain } of currencies) expect(blockchain).toBe(id);
  });

  test('learns what the deployment is', async () => {
    verifies('get-config-public', 'service-network-named');
    const { json } = await get('/v1/config/public');
    expect(json).toMatchObject({
      network: 'testnet',
      demo_mode: true,
      service_fee_percent: '0',
      platform_fee_rate: '0.01',
      default_fiat: 'USD',
      memo_length: 10,
      public_base_url: service.app.config.public_url,
      max_payment_units: 3,
      google_login: false,
      telegram_login: false,
    });
    for (const value of Object.values(json)) expect(typeof value === 'object' && value !== null).toBe(false);
  });

  test('reads an invoice and its payment with every change of it', async () => {
    verifies('get-public-invoice', 'get-payment', 'res-payment', 'payment-log');
    const invoice = await create('bitcoin', '300');
    expect((await get(`/v1/public/invoices/${invoice.id}`)).json).toEqual(invoice);
    const none = await get(`/v1/invoices/${invoice.id}/payment`);
    expect(none.json).toMatchObject({ payment: null, logs: [] });
    const row = await invoiceRow(service, invoice.id);
    const transfer = transferTo(service, row, unconfirmed);
    await observe(service, 'bitcoin', [transfer]);
    await observe(service, 'bitcoin', [{ ...transfer, height: 7, block_hash: 'b', confirmations: 1 }]);
    const { payment, logs } = (await get(`/v1/invoices/${invoice.id}/payment`)).json;
    expect(payment).toMatchObject({
      status: 'held',
      txid: transfer.txid,
      confirmations: 1,
      received_amount: invoice.amount,
      amount_match: 'exact',
    });
    expect(logs).toMatchObject([
      { from_status: null, to_status: 'detected', txid: transfer.txid, confirmations: 0, actor: 'observer' },
      { from_status: 'detected', to_status: 'held', confirmations: 1, note: null },
    ]);
    for (const { id, created_at } of logs) expect([id.length, created_at]).toEqual([36, service.clock.now()]);
    expect((await get(`/v1/public/invoices/${ABSENT_ID}`)).status).toBe(404);
  });

  test('cancels an invoice, once and not another that has ended or whose payment was seen', async () => {
    verifies('post-cancel', 'state-cancel', 'ended-cancel', 'cancel-detected-409');
    const { id } = await create('ton');
    const done = await cancel(id);
    expect([done.status, done.json.status]).toEqual([200, 'cancelled']);
    expect((await cancel(id)).json).toEqual(done.json);
    const paid = await create('ton');
    await service.fetch('POST', `/v1/invoices/${paid.id}/simulate`, { key: merchant.key });
    const ended = await cancel(paid.id);
    expect([ended.status, ended.json.code]).toEqual([409, 'invoice_ended']);
    const seen = await create('bitcoin', '310');
    await observe(service, 'bitcoin', [transferTo(service, await invoiceRow(service, seen.id), unconfirmed)]);
    const refused = await cancel(seen.id);
    expect([refused.status, refused.json.code]).toEqual([409, 'payment_detected']);
    expect((await cancel(ABSENT_ID)).status).toBe(404);
  });

  test('is led to wallets on every chain, by links where wallets have them', async () => {
    verifies('get-exits', 'exits-answer', 'exits-documented');
    const { data } = (await get('/v1/gateways')).json;
    for (const { chain, exits } of data) {
      const invoice = await create(chain, '321');
      expect(Object.keys(invoice.exits).sort()).toEqual([...exits].sort());
      for (const kind of ['web', 'tg']) {
        const { status, json } = await get(`/v1/exits/${invoice.id}/${kind}`);
        expect([status, json]).toEqual([
          200,
          {
            url: invoice.exits[kind] ?? null,
            links: invoice.exits,
            address: invoice.address,
            amount: invoice.amount,
            memo: invoice.memo,
            chain,
            currency: invoice.currency,
          },
        ]);
      }
      expect(invoice.exits.wallet).toBe(invoice.qr_payload);
    }
  });

  test('sees a unit and buys it at its price, for its time, from its owner', async () => {
    verifies('get-unit', 'post-checkout', 'unit-available');
    const unit = await unitOf(merchant);
    expect((await get(`/v1/units/${unit.id}`)).json).toEqual(unit);
    const { status, json } = await buy(unit.id, { chain: 'ton', external_ref: 'cart-1' });
    expect([status, json]).toMatchObject([
      200,
      { amount_usd: '20', amount: '5', chain: 'ton', external_ref: 'cart-1', status: 'created' },
    ]);
    expect(json.expires_at - json.created_at).toBe(900);
    expect(await invoiceRow(service, json.id)).toMatchObject({ owner_id: merchant.id, unit_id: unit.id });
    const read = await service.fetch('GET', `/v1/invoices/${json.id}`, { key: merchant.key });
    expect(read.json).toEqual(json);
  });

  test('is refused what a unit does not accept or cannot be paid, and what is not active', async () => {
    verifies('refuse-chain-not-accepted', 'refuse-unknown-chain', 'refuse-no-wallet', 'refuse-inactive');
    verifies('unit-before-wallet');
    const who = await service.merchant();
    const unit = await unitOf(who);
    const code = async (chain: string) => {
      const { status, json } = await buy(unit.id, { chain });
      return [status, json.code];
    };
    expect(await code('solana')).toEqual([400, 'chain_not_accepted']);
    expect(await code('dogecoin')).toEqual([400, 'unknown_chain']);
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', who.id).execute();
    expect(await code('ton')).toEqual([400, 'no_wallet']);
    // A buyer has no credentials to set a wallet with.
    const { json } = await buy(unit.id, { chain: 'ton' });
    expect([json.next.operation, json.blockchain]).toEqual(['getUnit', 'ton']);
    expect(json.detail).not.toContain('PUT');
    await service.fetch('PATCH', `/api/v1/merchant/units/${unit.id}`, {
      token: who.token,
      body: { active: false },
    });
    expect(await code('ton')).toEqual([403, 'unit_inactive']);
    await service.app.db.query.updateTable('users').set({ is_active: 0 }).where('id', '=', who.id).execute();
    expect(await code('ton')).toEqual([403, 'account_inactive']);
    expect((await buy(ABSENT_ID, { chain: 'ton' })).status).toBe(404);
  });

  test('finds the pages of invoices and units, and fragments that any page may fetch', async () => {
    verifies('get-pay', 'get-pay-page', 'get-pay-div', 'get-unit-page', 'get-unit-div', 'get-pretty-unit');
    const unit = await unitOf(await service.merchant(), { title: 'Green tea' });
    const invoice = await create('ton');
    const pretty = `/u/${unit.merchant_slug}/${unit.slug}`;
    const pages: Record<string, string> = {
      [`/pay/${invoice.id}`]: invoice.address,
      [`/v1/pay/${invoice.id}/page?size=mobile&width=360`]: invoice.memo,
      [`/v1/pay/${invoice.id}/div`]: invoice.memo,
      [`/v1/units/${unit.id}/page`]: 'Green tea',
      [`/v1/units/${unit.id}/div`]: 'Green tea',
      [pretty]: 'Green tea',
    };
    for (const [path, holds] of Object.entries(pages)) {
      const { status, headers, text } = await get(path);
      expect([status, headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8']);
      expect(text.replaceAll(/<[^>]*>/g, ''), path).toContain(holds);
      const isFragment = path.endsWith('/div');
      expect(headers.get('access-control-allow-origin'), path).toBe(isFragment ? '*' : null);
      expect(/<html/i.test(text), path).toBe(!isFragment);
    }
    expect(unit.page_url.endsWith(pretty)).toBe(true);
  });

  test.each(['size=huge', 'width=179', 'width=1201', 'width=wide'])(
    'is refused a page of %s',
    async (query) => {
      verifies('page-size');
      const { id } = await create('ton');
      expect((await get(`/v1/pay/${id}/page?${query}`)).status).toBe(422);
    },
  );

  test('from one address signs up ten times and buys thirty times in a minute', async () => {
    verifies('rate-limit-signup', 'rate-limit-checkout', 'rate-limit-429');
    const limited = await startApp({ database, settings: { trust_proxy: true } });
    onTestFinished(() => limited.stop());
    const who = await limited.merchant();
    const unit = await limited.fetch('POST', '/api/v1/merchant/units', {
      token: who.token,
      body: { title: 'Tea', amount_usd: 1, currencies: ['TON'] },
    });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const statuses = async (count: number, path: string, body: (at: number) => object) => {
      const found: number[] = [];
      for (let at = 0; at < count; at++)
        found.push((await limited.fetch('POST', path, { headers, body: body(at) })).status);
      return found;
    };
    const refused = (found: number[]) => found.flatMap((status, at) => (status === 429 ? [at] : []));
    const sold = await statuses(31, `/v1/units/${unit.json.id}/checkout`, () => ({ chain: 'ton' }));
    expect(refused(sold)).toEqual([30]);
    // Refused for its input, so that eleven passwords need no hashing.
    const signed = await statuses(11, '/api/v1/users/signup', () => ({ email: '1', password: 'x' }));
    const last = await limited.fetch('POST', '/api/v1/users/signup', { headers, body: {} });
    expect([refused(signed), last.status]).toEqual([[10], 429]);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
