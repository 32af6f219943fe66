// An operator's recheck reads a real chain and books what it finds; on both databases.
import { describe, expect, onTestFinished, test } from 'vitest';
import { putWallet } from '../../../data/merchants.ts';
import { ton } from '../../../src/chains/ton.ts';
import { startTonChain } from '../../chains/ton-chain.ts';
import { databases, startApp, testClock } from '../../helpers/app.ts';
import { invoiceRow } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const ONE_TON = 1_000_000_000n;

describe.each(databases)('a recheck on %s', (database) => {
  test('reads the chain now, books the payment, and finds one that no invoice takes', async () => {
    verifies('resolve-recheck', 'state-resolve');
    const chain = await startTonChain({ clock: 'manual' });
    onTestFinished(() => chain.stop());
    const clock = testClock(chain.now());
    const service = await startApp({
      database,
      clock,
      settings: { 'blockchains.ton.url': chain.url, 'gateways.ton-usdt.enabled': false },
    });
    onTestFinished(() => service.stop());
    const operator = await service.superuser();
    const merchant = await service.merchant();
    const [shop, buyer] = [await chain.createWallet(), await chain.createWallet()];
    // What the wallets were given at first is older than anything watched.
    chain.advanceTime(600);
    clock.set(chain.now());
    const { address, key } = ton.normalizeAddress(shop.address, 'testnet');
    await putWallet(service.app.db.query, {
      merchant_id: merchant.id,
      blockchain: 'ton',
      address,
      address_key: key,
      updated_at: clock.now(),
    });
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
    const paid = await chain.sendTon({ from: buyer, to: shop, amount: ONE_TON, comment: memo });
    const lost = await chain.sendTon({ from: buyer, to: shop, amount: ONE_TON / 2n });
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
    const stray = await call('POST', `payments/${data[0].id}/resolve`, { action: 'recheck' });
    expect([stray.status, stray.json.payment.status]).toEqual([200, 'unmatched']);
    expect(stray.json.logs.at(-1)).toMatchObject({
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
