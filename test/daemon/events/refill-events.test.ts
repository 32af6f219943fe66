// Whose event is whose: refills say that they are refills, and what matches nothing reaches who is paid at its address.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveriesOf } from '../../../data/deliveries.ts';
import { eventsAfter } from '../../../data/events.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { create, newTxid, observe, transferTo } from '../../helpers/payments.ts';
import { wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const HOOK = 'https://shop.example.com/hook';

describe.each(databases)('events on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({
      database,
      settings: { 'wallets.ton': `0:${'22'.repeat(32)}`, 'wallets.bitcoin': wallets.bitcoin ?? '' },
    });
  });
  afterAll(() => service.stop());

  const update = (who: TestMerchant, body: object) =>
    service.fetch('PATCH', '/api/v1/merchant/account', { token: who.token, body });
  /** The events of a kind, with the addresses they were posted to automatically. */
  async function listed(who: TestMerchant, type: string) {
    const { db } = service.app;
    // On PostgreSQL events wait for whatever transaction is open on the server, other tests' too.
    const rows = await expect
      .poll(() => eventsAfter(db, who.id, 0, 100, type), { timeout: 10_000 })
      .not.toEqual([])
      .then(() => eventsAfter(db, who.id, 0, 100, type));
    const deliveries = await deliveriesOf(
      db.query,
      rows.map(({ id }) => id),
    );
    return rows.map(({ id, body }) => ({
      invoice: JSON.parse(body).data.invoice,
      posted: deliveries.filter(({ event_id }) => event_id === id).map(({ url }) => url),
    }));
  }
  async function refill(who: TestMerchant): Promise<string> {
    const { json } = await service.fetch('POST', '/api/v1/merchant/refill', {
      token: who.token,
      body: { chain: 'ton', amount: 5 },
    });
    await service.fetch('POST', `/v1/invoices/${json.id}/simulate`, { key: who.key });
    return json.id;
  }
  async function sell(who: TestMerchant, body: object = {}): Promise<string> {
    const { id } = await create(service, who, 'ton', { amount: '1', ...body });
    await service.fetch('POST', `/v1/invoices/${id}/simulate`, { key: who.key });
    return id;
  }

  test('a refill is posted nowhere unless the account asks for it, and always says what it is', async () => {
    verifies('refill-events');
    const who = await service.merchant();
    await update(who, { webhook_url: HOOK });
    const [refilled, sold] = [await refill(who), await sell(who)];
    const before = await listed(who, 'invoice.confirmed');
    expect(before).toMatchObject([
      { invoice: { id: refilled, kind: 'refill' }, posted: [] },
      { invoice: { id: sold, kind: 'sale' }, posted: [HOOK] },
    ]);
    const created = await listed(who, 'invoice.created');
    expect(created.map(({ invoice }) => invoice.kind)).toEqual(['refill', 'sale']);

    const asked = await update(who, { webhook_refills: true });
    expect(asked.json).toMatchObject({ webhook_url: HOOK, webhook_refills: true });
    expect((await update(who, { webhook_refills: null })).json.webhook_refills).toBe(true);
    const posted = await refill(who);
    expect((await listed(who, 'invoice.confirmed'))[2]).toMatchObject({
      invoice: { id: posted, kind: 'refill' },
      posted: [HOOK],
    });

    expect((await update(who, { webhook_refills: false })).json.webhook_refills).toBe(false);
    await refill(who);
    expect((await listed(who, 'invoice.confirmed'))[3]?.posted).toEqual([]);
  });

  test('the list shows of each event what kind of invoice it is about', async () => {
    verifies('refill-events');
    const who = await service.merchant();
    await refill(who);
    await listed(who, 'invoice.confirmed');
    const { json } = await service.fetch('GET', '/api/v1/merchant/events?type=invoice.confirmed', {
      token: who.token,
    });
    expect(json.data[0].data.invoice.kind).toBe('refill');
  });

  test('a payment that matches nothing at an address of several reaches the operator alone', async () => {
    verifies('unmatched-listed', 'unmatched-notified', 'address-shared');
    const [first, second] = [await service.merchant(), await service.merchant()];
    const address = `0:${'33'.repeat(32)}`;
    for (const who of [first, second])
      await service.fetch('PUT', '/api/v1/merchant/wallets', {
        token: who.token,
        body: { blockchain: 'ton', address },
      });
    const invoice = await create(service, first, 'ton');
    service.clock.advance(1);
    await create(service, second, 'ton');
    const txid = newTxid();
    await observe(service, 'ton', [transferTo(service, invoice, { memo: 'UNKNOWN', txid })]);
    const noticeOf = (merchant_id: string | null) =>
      service.app.db.query
        .selectFrom('events')
        .select('type')
        .where('type', '=', 'payment.unmatched')
        .where('merchant_id', merchant_id === null ? 'is' : '=', merchant_id)
        .execute();
    expect(await noticeOf(null)).toHaveLength(1);
    for (const { id } of [first, second]) expect(await noticeOf(id)).toEqual([]);
    const payments = await service.app.db.query
      .selectFrom('payments')
      .select('owner_id')
      .where('txid', '=', txid)
      .execute();
    expect(payments).toEqual([{ owner_id: null }]);
  });
});
