// A check reads a real chain: what is not paid, paid beyond the limit, and paid; on both databases.
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { serve } from '../../helpers/local-server.ts';
import { create, credit } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';
import { openTonShop } from '../helpers/ton-shop.ts';

/** Each has a gateway of its name. */
const BLOCKCHAINS = ['ton', 'solana', 'bitcoin', 'litecoin'];

describe.each(databases)('a check on %s', (database) => {
  test('answers 402 below the limit, books the payment above it, and then asks no more', async () => {
    verifies('post-check', 'error-402-check', 'service-limit-402', 'limit-402-body', 'limit-starts-zero');
    verifies('state-confirm-by-check', 'state-confirm-effects', 'limit-held', 'ton-txid', 'ended-check');
    const { chain, clock, service, operator, merchant, shop, payer } = await openTonShop(database);
    const { json: invoice } = await service.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '8' },
    });
    const check = () => service.fetch('POST', `/v1/invoices/${invoice.id}/check`, { key: merchant.key });
    const lacking = { status: 402, json: { code: 'limit_exhausted', required_usd: '8', remaining_usd: '0' } };

    expect(await check()).toMatchObject(lacking);
    chain.advanceTime(10);
    const paid = await chain.sendTon({
      from: payer,
      to: shop,
      amount: 2_000_000_000n,
      comment: invoice.memo,
    });
    chain.advanceTime(10);
    clock.set(chain.now());
    const refused = await check();
    expect(refused).toMatchObject(lacking);
    expect(refused.json.refill).toMatchObject({ method: 'POST', amount_usd: '0.08' });
    expect(refused.json.refill.url).toContain('/api/v1/merchant/refill');
    const { payment } = (await service.fetch('GET', `/v1/invoices/${invoice.id}/payment`)).json;
    expect(payment).toMatchObject({ status: 'held', txid: paid.txid });
    expect(paid.txid).toMatch(/^[0-9a-f]{64}$/);

    await service.fetch('POST', `/api/v1/admin/merchants/${merchant.id}/credit`, {
      token: operator.token,
      body: { prepaid_usd: '0.08' },
    });
    const booked = await check();
    expect(booked).toMatchObject({ status: 200, json: { status: 'confirmed', txid: paid.txid } });
    const get = (path: string) => service.fetch('GET', `/api/v1/merchant/${path}`, { token: merchant.token });
    expect((await get('income')).json.data).toMatchObject([{ invoice_id: invoice.id, fee_charged: '0.08' }]);
    expect((await get('account')).json.limit_of_payments).toBe('0');

    await chain.stop();
    expect(await check()).toMatchObject({ status: 200, json: booked.json });
  });
});

describe('a check whose chain cannot be reached', () => {
  test('still answers 402 below the limit, and 503 above it', async () => {
    verifies('error-402-check', 'service-limit-402', 'limit-402-body');
    const service = await startApp({ settings: { 'blockchains.ton.url': 'http://127.0.0.1:9' } });
    onTestFinished(() => service.stop());
    const [operator, merchant] = [await service.superuser(), await service.merchant()];
    const { json: invoice } = await service.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '8' },
    });
    const check = () => service.fetch('POST', `/v1/invoices/${invoice.id}/check`, { key: merchant.key });
    expect(await check()).toMatchObject({
      status: 402,
      json: { code: 'limit_exhausted', required_usd: '8', remaining_usd: '0' },
    });
    await service.fetch('POST', `/api/v1/admin/merchants/${merchant.id}/credit`, {
      token: operator.token,
      body: { prepaid_usd: '0.08' },
    });
    const unreachable = await check();
    expect(unreachable).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } });
    expect(Number(unreachable.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each([
    ['an error of its own', 500, 'out of order', {}],
    ['too many requests', 429, 'slow down', { 'retry-after': '60' }],
    ['a refused key', 401, 'no such key', {}],
    ['an unknown path', 404, 'not here', {}],
    ['a page in the place of data', 200, '<html>Hello</html>', {}],
    ['data of another shape', 200, '{"transactions": 7, "result": [], "last": null}', {}],
    ['an error of JSON-RPC', 200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"behind"}}', {}],
  ])('answers 503 where the provider answers %s, on every blockchain', async (_, status, body, headers) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    });
    const settings = BLOCKCHAINS.map((id) => [`blockchains.${id}.url`, url]);
    const service = await startApp({ settings: Object.fromEntries(settings) });
    onTestFinished(() => service.stop());
    const merchant = await service.merchant();
    await credit(service, merchant.id, 1_000_000n);
    const checkOn = async (chain: string) => {
      const row = await create(service, merchant, chain);
      const checked = await service.fetch('POST', `/v1/invoices/${row.id}/check`, { key: merchant.key });
      expect(checked, chain).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } });
      expect(Number(checked.headers.get('retry-after'))).toBeGreaterThan(0);
    };
    await Promise.all(BLOCKCHAINS.map(checkOn));
  });
});
