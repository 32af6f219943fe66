// A sale above its merchant's limit: the merchant learns of it before anyone pays, and its buyer reads of no limit.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { credit, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const HOUR = 3600;
const REVEALING = /limit(?!_exhausted)|refill|prepaid/i;

describe.each(databases)('a sale above the limit on %s', (database) => {
  let holding: TestApp;
  let refusing: TestApp;
  beforeAll(async () => {
    holding = await startApp({ database, settings: { demo: false } });
    refusing = await startApp({ database, settings: { limit_policy: 'refuse' } });
  });
  afterAll(async () => {
    await holding.stop();
    await refusing.stop();
  });

  const unitOf = async (service: TestApp, { token }: TestMerchant) =>
    (
      await service.fetch('POST', '/api/v1/merchant/units', {
        token,
        body: { title: 'Tea', amount_usd: 5, currencies: ['TON'] },
      })
    ).json;
  const buy = (service: TestApp, unit: { id: string }) =>
    service.fetch('POST', `/v1/units/${unit.id}/checkout`, { body: { chain: 'ton' } });
  const notesOf = async (service: TestApp, { token }: TestMerchant) =>
    (await service.fetch('GET', '/api/v1/merchant/events?type=limit.exhausted', { token })).json.data.filter(
      ({ type }: { type: string }) => type === 'limit.exhausted',
    );

  it('is made and held by default; the merchant is notified of it once an hour', async () => {
    verifies('limit-noted', 'limit-policy');
    const shop = await holding.merchant();
    const unit = await unitOf(holding, shop);
    const first = await buy(holding, unit);
    expect(first.status).toBe(200);
    expect(await notesOf(holding, shop)).toMatchObject([
      { type: 'limit.exhausted', data: { invoice: { id: first.json.id, status: 'created' }, payment: null } },
    ]);
    await buy(holding, unit);
    await holding.fetch('POST', '/v1/invoices', { key: shop.key, body: { chain: 'ton', amount: 3 } });
    expect(await notesOf(holding, shop)).toHaveLength(1);
    holding.clock.advance(HOUR + 1);
    await buy(holding, unit);
    expect(await notesOf(holding, shop)).toHaveLength(2);
  });

  it('that is paid is shown to its buyer as received and being processed', async () => {
    verifies('limit-not-for-buyers');
    const shop = await holding.merchant();
    const { json } = await buy(holding, await unitOf(holding, shop));
    await observe(holding, 'ton', [transferTo(holding, await invoiceRow(holding, json.id), { final: true })]);
    const page = await holding.fetch('GET', `/pay/${json.id}?lang=en`);
    const seen = page.text.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ');
    expect(seen).toContain('Payment received, processing');
    expect(seen).not.toMatch(REVEALING);
  });

  it('is not announced where the limit covers it, nor of the house', async () => {
    const rich = await holding.merchant();
    await credit(holding, rich.id, 1_000_000n);
    const house = await refusing.merchant();
    const { token } = await refusing.superuser();
    await refusing.fetch('PUT', `/api/v1/admin/merchants/${house.id}/house`, { token, body: {} });
    expect((await buy(holding, await unitOf(holding, rich))).status).toBe(200);
    expect((await buy(refusing, await unitOf(refusing, house))).status).toBe(200);
    expect(await notesOf(holding, rich)).toEqual([]);
    expect(await notesOf(refusing, house)).toEqual([]);
  });

  it('is refused where the deployment says so: in full to the merchant, in general to a buyer', async () => {
    verifies('limit-policy', 'limit-noted', 'limit-not-for-buyers');
    const shop = await refusing.merchant();
    const unit = await unitOf(refusing, shop);
    const own = await refusing.fetch('POST', '/v1/invoices', {
      key: shop.key,
      body: { chain: 'ton', amount: 3 },
    });
    expect([own.status, own.json]).toEqual([
      402,
      expect.objectContaining({ code: 'limit_exhausted', required_usd: '3', remaining_usd: '0' }),
    ]);
    const bought = await buy(refusing, unit);
    expect([bought.status, bought.json.code]).toEqual([402, 'limit_exhausted']);
    expect(bought.text).not.toMatch(REVEALING);
    const page = await refusing.fetch('POST', `/u/${unit.merchant_slug}/${unit.slug}`, {
      body: 'chain=ton',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(page.status).toBe(402);
    expect(page.text.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '')).not.toMatch(REVEALING);
    expect(await notesOf(refusing, shop)).toMatchObject([{ data: { invoice: null, payment: null } }]);
    await credit(refusing, shop.id, 1_000_000n);
    expect((await buy(refusing, unit)).status).toBe(200);
  });
});
