// Prices as binary floats write them: each door reads what was meant, to the nearest millionth, and no price becomes nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { moreWallets, setWallet, type TestOperator, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

/** As languages with binary floats add them up; as text, as PHP writes them with serialize_precision 17. */
const floats: [written: number | string, meant: string][] = [
  [19.990000000000002, '19.99'],
  [0.1 + 0.1 + 0.1, '0.3'],
  [0.003 + 0.0000000000000000005, '0.003'],
  ['29.949999999999999', '29.95'],
  ['0.0050000000000000001', '0.005'],
  ['472.18500000000006', '472.185'],
  ['0.300001', '0.300001'],
  ['0.3000005', '0.300001'],
  ['0.30000049999999999', '0.3'],
];
const absurd = ['1e3', '9'.repeat(400), `0.${'3'.repeat(400)}`, '0.1234567890123456789', '1_000'];

describe.each(databases)('a price that a binary float wrote, on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let operator: TestOperator;
  beforeAll(async () => {
    service = await startApp({
      database,
      settings: {
        'wallets.ton': wallets.ton ?? '',
        'rates.usd.USDC': '1',
        'rates.usd.USDT': '1',
        'rates.usd.ETH': '3000',
        'gateways.base-usdc.enabled': 'true',
        'gateways.ethereum.enabled': 'true',
      },
    });
    [merchant, operator] = [await service.merchant(), await service.superuser()];
    for (const blockchain of ['base', 'ethereum'])
      await setWallet(service.app, merchant.id, blockchain, moreWallets.base ?? '');
  });
  afterAll(() => service.stop());

  const invoice = (body: object) => service.fetch('POST', '/v1/invoices', { key: merchant.key, body });
  const refill = (body: object) =>
    service.fetch('POST', '/api/v1/merchant/refill', { token: merchant.token, body });
  const unit = (amount_usd: unknown, path = '', method = 'POST') =>
    service.fetch(method, `/api/v1/merchant/units${path}`, {
      token: merchant.token,
      body: { title: 'Tea', amount_usd, currencies: ['TON'] },
    });
  const credit = (prepaid_usd: unknown) =>
    service.fetch('POST', `/api/v1/admin/merchants/${merchant.id}/credit`, {
      token: operator.token,
      body: { prepaid_usd },
    });

  test.each(floats)('%j is %s USD of an invoice, a unit, a refill and a credit', async (written, meant) => {
    verifies('money-usd-nearest');
    for (const chain of ['base-usdc', 'ton-usdt']) {
      const sold = (await invoice({ chain, amount: written })).json;
      expect(sold.amount_usd).toBe(meant);
      if (!meant.startsWith('0.00')) expect(sold.amount.startsWith(meant.slice(0, 5))).toBe(true);
    }
    expect((await refill({ chain: 'ton', amount: written })).json.amount_usd).toBe(meant);
    expect((await refill({ chain: 'ton', amount_usd: written })).json.amount_usd).toBe(meant);
    const made = (await unit(written)).json;
    expect(made.amount_usd).toBe(meant);
    expect((await unit('7', `/${made.id}`, 'PATCH')).json.amount_usd).toBe('7');
    expect((await unit(written, `/${made.id}`, 'PATCH')).json.amount_usd).toBe(meant);
    await unit(undefined, `/${made.id}`, 'DELETE');
    expect((await credit(written)).json.entry.amount_usd).toBe(meant);
  });

  test('in coins is what was meant, also of coins with eighteen decimals', async () => {
    verifies('money-usd-nearest');
    for (const chain of ['ton', 'ethereum']) {
      const { json } = await invoice({ chain, amount: 0.1 + 0.1 + 0.1, amount_unit: 'native' });
      expect(json.amount_merchant, chain).toBe('0.3');
    }
  });

  test('that is nothing in millionths is refused at every door', async () => {
    const tiny = '0.0000004';
    const answers = [await unit(tiny), await credit(tiny), await invoice({ chain: 'ton', amount: tiny })];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 400]);
    expect(answers.at(-1)?.json.code).toBe('amount_too_small');
  });

  test('just above a bound by what a float added is that bound', async () => {
    expect((await credit(1000.0000000000001)).json.entry.amount_usd).toBe('1000');
    expect((await credit('1000.000001')).status).toBe(422);
  });

  test.each(absurd)('%j stays refused', async (written) => {
    verifies('money-input');
    const answers = [
      await invoice({ chain: 'ton', amount: written }),
      await refill({ chain: 'ton', amount: written }),
      await unit(written),
      await credit(written),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  });
});
