// An operator's recheck reads a real chain and books what it finds; on both databases.
import { describe, expect, test } from 'vitest';
import { databases } from '../../helpers/database.ts';
import { invoiceRow } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';
import { openTonShop } from '../helpers/ton-shop.ts';

const ONE_TON = 1_000_000_000n;

describe.each(databases)('a recheck on %s', (database) => {
  test('reads the chain now, books the payment, and finds one that no invoice takes', async () => {
    verifies('resolve-recheck', 'state-resolve');
    const { chain, clock, service, operator, merchant, shop, payer } = await openTonShop(database);
    const call = (method: string, path: string, body?: unknown) =>
      service.fetch(method, `/api/v1/admin/${path}`, { token: operator.token, body });
    await call('POST', `merchants/${merchant.id}/credit`, { prepaid_usd: 10 });
    const made = await service.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '1', amount_unit: 'native' },
    });
    const { id, memo } = made.json as { id: string; memo: string };

    const nothing = await call('POST', `payments/${id}/resolve`, { action: 'recheck' });
    expect([nothing.status, nothing.json.invoice.status]).toEqual([200, 'created']);
    expect(nothing.json.logs).toMatchObject([
      { from_status: 'created', to_status: 'created', note: 'checked again by the operator' },
    ]);

    chain.advanceTime(10);
    const paid = await chain.sendTon({ from: payer, to: shop, amount: ONE_TON, comment: memo });
    const lost = await chain.sendTon({ from: payer, to: shop, amount: ONE_TON / 2n });
    chain.advanceTime(10);
    clock.set(chain.now());
    const found = await call('POST', `payments/${id}/resolve`, { action: 'recheck' });
    expect(found.json.invoice).toMatchObject({ status: 'confirmed', txid: paid.txid });
    expect(found.json.logs.at(-1)).toMatchObject({
      actor: `operator:${operator.id}`,
      to_status: 'confirmed',
    });
    expect((await invoiceRow(service, id)).status).toBe('confirmed');

    const { data } = (await call('GET', 'payments?status=unmatched')).json;
    expect(data).toMatchObject([{ txid: lost.txid, owner_id: merchant.id, received_amount: '0.5' }]);
    const unmatched = await call('POST', `payments/${data[0].id}/resolve`, { action: 'recheck' });
    expect([unmatched.status, unmatched.json.payment.status]).toEqual([200, 'unmatched']);
    expect(unmatched.json.logs.at(-1)).toMatchObject({
      actor: `operator:${operator.id}`,
      from_status: 'unmatched',
    });

    const { observers } = (await call('GET', 'observers')).json;
    const observer = observers.find(({ blockchain }: { blockchain: string }) => blockchain === 'ton');
    expect(observer).toMatchObject({ status: 'ok', unmatched_count: 1, watched_addresses: 1 });
    expect(observer.provider).toContain('127.0.0.1');
    expect(observer.requests).toBeGreaterThan(0);
    expect(observer.ranges.length).toBeGreaterThan(0);
  });
});
