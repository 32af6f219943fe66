// The operator's own shop: it sells without limit and fee, no merchant can make itself one, and the books stay right.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create,
  credit,
  invoiceRow,
  observe,
  transferTo,
} from '../../helpers/payments.ts';
import { ABSENT_ID } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('the merchant of the house on %s', (database) => {
  let test: TestApp;
  let operator: { id: string; token: string };

  beforeAll(async () => {
    test = await startApp({ database });
    operator = await test.superuser();
  });
  afterAll(() => test.stop());

  const mark = (id: string, body: object = {}, token = operator.token) =>
    test.fetch('PUT', `/api/v1/admin/merchants/${id}/house`, { token, body });
  const account = async ({ token }: TestMerchant) =>
    (await test.fetch('GET', '/api/v1/merchant/account', { token })).json;
  const pay = async (id: string) => {
    await observe(test, 'ton', [transferTo(test, await invoiceRow(test, id), { final: true })]);
    return invoiceRow(test, id);
  };
  const sold = async (who: TestMerchant) => pay((await create(test, who, 'ton')).id);
  const incomeOf = (invoice_id: string) =>
    test.app.db.query
      .selectFrom('income')
      .selectAll()
      .where('invoice_id', '=', invoice_id)
      .executeTakeFirstOrThrow();
  const entriesOf = (merchant_id: string) =>
    test.app.db.query.selectFrom('ledger').selectAll().where('merchant_id', '=', merchant_id).execute();

  it('sells with an empty balance, without a fee, and its account says so', async () => {
    verifies('house-free');
    const shop = await test.merchant();
    expect(await account(shop)).toMatchObject({ house: false, platform_fee_rate: '0.01' });
    const marked = await mark(shop.id, { note: 'our own' });
    expect([marked.status, marked.json]).toEqual([
      200,
      expect.objectContaining({ user_id: shop.id, house: true, prepaid_usd: '0' }),
    ]);
    const { id, status } = await sold(shop);
    expect(status).toBe('confirmed');
    expect(await incomeOf(id)).toMatchObject({ fee_charged_micros: 0n, house: 1 });
    expect(await entriesOf(shop.id)).toEqual([]);
    const income = await test.fetch('GET', '/api/v1/merchant/income', { token: shop.token });
    expect(income.json.data[0]).toMatchObject({ invoice_id: id, fee_charged: '0' });
    expect(await account(shop)).toMatchObject({
      house: true,
      limit_of_payments: '0',
      platform_fee_rate: '0',
      platform_fee_percent: '0',
      fee_description: expect.stringContaining("operator's own shop"),
    });
    const simulated = await create(test, shop, 'ton');
    await test.fetch('POST', `/v1/invoices/${simulated.id}/simulate`, { key: shop.key });
    const forced = await create(test, shop, 'ton');
    await confirmByOperator(test, forced.id, { force: true });
    expect((await incomeOf(simulated.id)).house + (await incomeOf(forced.id)).house).toBe(2);
    expect(await entriesOf(shop.id)).toEqual([]);
  });

  it('books what the limit held when it is marked, oldest first', async () => {
    verifies('house-mark-books');
    const shop = await test.merchant();
    const held: string[] = [];
    for (let each = 0; each < 3; each++) {
      held.push((await sold(shop)).id);
      test.clock.advance(2);
    }
    for (const id of held) expect((await invoiceRow(test, id)).status).toBe('created');
    expect((await test.fetch('POST', `/v1/invoices/${held[0]}/check`, { key: shop.key })).status).toBe(402);
    await mark(shop.id);
    const booked = await test.app.db.query
      .selectFrom('income')
      .select('invoice_id')
      .where('merchant_id', '=', shop.id)
      .orderBy('seq')
      .execute();
    expect(booked.map(({ invoice_id }) => invoice_id)).toEqual(held);
  });

  it('is like any other once the mark is taken back: open invoices need the limit, booked ones stay', async () => {
    verifies('house-unmarked');
    const shop = await test.merchant();
    await mark(shop.id);
    const free = await sold(shop);
    const open = await create(test, shop, 'ton');
    expect((await mark(shop.id, { house: false })).json.house).toBe(false);
    expect((await pay(open.id)).status).toBe('created');
    const refused = await test.fetch('POST', `/api/v1/admin/payments/${open.id}/resolve`, {
      token: operator.token,
      body: { action: 'confirm' },
    });
    expect([refused.status, refused.json.code]).toEqual([402, 'limit_exhausted']);
    await credit(test, shop.id, 1_000_000n, { wake: true });
    expect((await invoiceRow(test, open.id)).status).toBe('confirmed');
    expect(await incomeOf(open.id)).toMatchObject({ fee_charged_micros: 100_000n, house: 0 });
    expect(await incomeOf(free.id)).toMatchObject({ fee_charged_micros: 0n, house: 1 });
    // A refill is booked for it like for any other, marked or not.
    await mark(shop.id);
    expect((await entriesOf(shop.id)).map(({ kind }) => kind)).toEqual(['credit', 'fee']);
    const before = (await account(shop)).limit_of_payments;
    await sold(shop);
    expect((await account(shop)).limit_of_payments).toBe(before);
  });

  it('keeps the moment of the first mark, and logs a change with who made it', async () => {
    const shop = await test.merchant();
    await mark(shop.id);
    const since = async () =>
      (
        await test.app.db.query
          .selectFrom('merchants')
          .select('house_since')
          .where('id', '=', shop.id)
          .executeTakeFirstOrThrow()
      ).house_since;
    const first = await since();
    test.clock.advance(60);
    await mark(shop.id);
    expect(await since()).toBe(first);
    const lines = test.log.filter((line) => line.includes('merchant of the house') && line.includes(shop.id));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', actor: `operator:${operator.id}` });
    expect((await mark(ABSENT_ID)).status).toBe(404);
  });

  it('can be made by the operator only', async () => {
    verifies('house-operator-only');
    const shop = await test.merchant();
    const own = { token: shop.token };
    const house = { house: true, house_since: 1, is_house: true, plan: 'house', prepaid_micros: '1' };
    expect((await mark(shop.id, { house: true }, shop.token)).status).toBe(403);
    for (const credentials of [{}, { key: shop.key }])
      expect(
        (
          await test.fetch('PUT', `/api/v1/admin/merchants/${shop.id}/house`, {
            ...credentials,
            body: { house: true },
          })
        ).status,
      ).toBe(401);
    for (const [method, path, body] of [
      ['PATCH', '/api/v1/merchant/account', house],
      ['PATCH', '/api/v1/users/me', house],
      ['PUT', '/api/v1/merchant/wallets', { blockchain: 'ton', address: `0:${'11'.repeat(32)}`, ...house }],
      ['POST', '/api/v1/merchant/units', { title: 'T', amount_usd: 1, currencies: ['TON'], ...house }],
    ] as const)
      expect((await test.fetch(method, path, { ...own, body })).status, path).toBe(200);
    const signed = await test.fetch('POST', '/api/v1/users/signup', {
      body: { email: 'self-made@example.com', password: 'a long password', ...house },
    });
    expect(signed.status).toBe(200);
    expect((await account(shop)).house).toBe(false);
    expect((await sold(shop)).status).toBe('created');
    const others = test.app.db.query
      .selectFrom('merchants')
      .select('id')
      .where('id', 'in', [shop.id, signed.json.id])
      .where('house_since', 'is not', null);
    expect(await others.execute()).toEqual([]);
  });

  it('is what the database itself asks of income without fee', async () => {
    const shop = await test.merchant();
    await credit(test, shop.id, 1_000_000n);
    const { id } = await sold(shop);
    const { seq: _, ...row } = await incomeOf(id);
    const other = await create(test, shop, 'ton');
    const insert = test.app.db.query
      .insertInto('income')
      .values({ ...row, id: ABSENT_ID, invoice_id: other.id, fee_charged_micros: 0n, house: 1 });
    await expect(insert.execute()).rejects.toThrow('only a merchant of the house');
  });

  it('leaves the books right', async () => {
    const { app } = test;
    const input = await verifyInput({ ...app.db, damages: undefined }, app.config, test.clock.now());
    const laws = await verifyLaws(input, { laws: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13] });
    expect(laws.filter(({ ok }) => !ok)).toEqual([]);
  });
});
