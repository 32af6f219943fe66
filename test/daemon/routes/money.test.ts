// Balances, income and refills of a merchant, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { setWallet, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const DAY = 86_400;
/** On Bitcoin's test chains. */
const OWN_WALLET = 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7';

describe.each(databases)('money on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({
      database,
      settings: { 'wallets.ton': wallets.ton ?? '', 'wallets.bitcoin': wallets.bitcoin ?? '' },
    });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: unknown, { token } = merchant) =>
    service.fetch(method, `/api/v1/merchant/${path}`, { token, body });

  describe('money', () => {
    test('balances are the prepaid one and the income of each currency', async () => {
      verifies('get-balances', 'balances-list', 'res-balance');
      const who = await service.merchant();
      expect((await call('GET', 'balances', undefined, who)).json).toEqual([
        { currency: 'USD', amount: '0' },
      ]);
      await sell(who, 'ton', '8');
      // At an address of his own, where he is asked for the plain price.
      await setWallet(service.app, who.id, 'bitcoin', OWN_WALLET);
      await sell(who, 'bitcoin', '30');
      expect((await call('GET', 'balances', undefined, who)).json).toEqual([
        { currency: 'USD', amount: '0' },
        { currency: 'BTC', amount: '0.0003' },
        { currency: 'TON', amount: '2' },
      ]);
    });

    test('income is listed newest first, in pages and by UTC days', async () => {
      verifies('get-income', 'res-income', 'limit-income-page', 'income-fee-charged');
      const who = await service.merchant();
      const income = async (query: string) => (await call('GET', `income?${query}`, undefined, who)).json;
      expect(await income('')).toEqual({ data: [], count: 0, skip: 0, limit: 20 });
      const first = await sell(who, 'ton', '8');
      const first_day = new Date(service.clock.ms()).toISOString().slice(0, 10);
      service.clock.advance(DAY);
      const second = await sell(who, 'ton', '12.5');
      const second_day = new Date(service.clock.ms()).toISOString().slice(0, 10);
      expect(await income('')).toMatchObject({ count: 2, skip: 0, limit: 20 });
      expect((await income('limit=1')).data).toEqual([
        {
          id: expect.any(String),
          chain: 'ton',
          currency: 'TON',
          amount: '3.125',
          fee_charged: '0.125',
          txid: second.txid,
          webhook_status: 'none',
          created_at: service.clock.now(),
          invoice_id: second.id,
        },
      ]);
      const idsOf = async (query: string) =>
        (await income(query)).data.map(({ invoice_id }: { invoice_id: string }) => invoice_id);
      expect(await idsOf('skip=1')).toEqual([first.id]);
      expect(await idsOf(`to_date=${first_day}`)).toEqual([first.id]);
      expect(await idsOf(`from_date=${second_day}`)).toEqual([second.id]);
      expect(await idsOf(`from_date=${first_day}&to_date=${second_day}`)).toEqual([second.id, first.id]);
      expect(await income(`from_date=${first_day}&to_date=${first_day}`)).toMatchObject({ count: 1 });
    });

    test.each(['limit=0', 'limit=201', 'skip=-1', 'from_date=2026-02-30', 'to_date=yesterday'])(
      'income refuses %s',
      async (query) => {
        expect((await call('GET', `income?${query}`)).status).toBe(422);
      },
    );

    test('of another merchant is never answered', async () => {
      const [one, other] = [await service.merchant(), await service.merchant()];
      await sell(one, 'ton', '8');
      expect((await call('GET', 'income', undefined, other)).json.count).toBe(0);
      expect((await call('GET', 'balances', undefined, other)).json).toHaveLength(1);
    });
  });

  describe('refills', () => {
    const refill = (body: object, who = merchant) => call('POST', 'refill', body, who);

    test('are paid to the wallets of the deployment', async () => {
      verifies('get-merchant-refill-wallets', 'post-refill');
      const { status, json } = await call('GET', 'refill-wallets');
      expect(status).toBe(200);
      expect(json.wallets.map(({ blockchain }: { blockchain: string }) => blockchain)).toEqual([
        'bitcoin',
        'ton',
      ]);
      const ton = await refill({ chain: 'ton', amount: 10 });
      expect(ton.status).toBe(200);
      expect(ton.json).toMatchObject({
        chain: 'ton',
        amount_usd: '10',
        amount: '2.5',
        address: json.wallets[1].address,
        status: 'created',
      });
      expect(ton.json.expires_at - ton.json.created_at).toBe(300);
      const bitcoin = await refill({ chain: 'bitcoin', amount: '10' });
      expect(bitcoin.json.expires_at - bitcoin.json.created_at).toBe(3600);
    });

    test('are refused by name where the operator has no wallet, and for a chain that is not there', async () => {
      verifies('refuse-no-wallet', 'refuse-unknown-chain');
      const { status, json } = await refill({ chain: 'solana', amount: 10 });
      expect([status, json.code, json.blockchain]).toEqual([400, 'no_wallet', 'solana']);
      expect(json.detail).toContain('Solana');
      // The wallet that lacks is the operator's: to set one's own changes nothing.
      expect([json.next.operation, json.hint]).toEqual([
        'getRefillWallets',
        expect.stringContaining('operator'),
      ]);
      expect((await refill({ chain: 'dogecoin', amount: 10 })).json.code).toBe('unknown_chain');
    });

    test('take USD, coins, and amount_usd as another name', async () => {
      verifies('post-refill');
      expect((await refill({ chain: 'ton', amount: 3, amount_unit: 'native' })).json).toMatchObject({
        amount: '3',
        amount_usd: '12',
      });
      const named = await refill({ chain: 'ton', amount_usd: '20', amount_unit: 'native' });
      expect(named.json).toMatchObject({ amount_usd: '20', amount: '5' });
      const both = await refill({ chain: 'ton', amount: 8, amount_usd: 20 });
      expect(both.json.amount_usd).toBe('8');
    });

    test.each([
      [{}, ['chain', 'amount']],
      [{ chain: 'ton' }, ['amount']],
      [{ chain: 'ton', amount: 0 }, ['amount']],
      [{ chain: 'ton', amount: -1 }, ['amount']],
      [{ chain: 'ton', amount_usd: '1e3' }, ['amount_usd']],
      [{ chain: 'ton', amount: 1, amount_unit: 'eur' }, ['amount_unit']],
    ])('refuse %j', async (body, names) => {
      const { status, json } = await refill(body);
      expect(status).toBe(422);
      expect(json.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(names);
    });

    test('raise the limit by a hundred times what is paid, and belong to the merchant key', async () => {
      verifies('service-prepaid', 'refill-belongs', 'refill-no-fee', 'limit-is-prepaid-times-100');
      const who = await service.merchant();
      const { json } = await refill({ chain: 'ton', amount: '7.5' }, who);
      const paid = await service.fetch('POST', `/v1/invoices/${json.id}/simulate`, { key: who.key });
      expect([paid.status, paid.json.status]).toEqual([200, 'confirmed']);
      expect((await call('GET', 'account', undefined, who)).json.limit_of_payments).toBe('750');
      expect((await call('GET', 'balances', undefined, who)).json).toEqual([
        { currency: 'USD', amount: '7.5' },
      ]);
      expect((await call('GET', 'income', undefined, who)).json.count).toBe(0);
      const other = await service.merchant();
      const foreign = await service.fetch('GET', `/v1/invoices/${json.id}`, { key: other.key });
      expect(foreign.status).toBe(404);
    });

    test('sent twice with one Idempotency-Key are one invoice', async () => {
      verifies('idempotency-where');
      const send = (body: object) =>
        service.fetch('POST', '/api/v1/merchant/refill', {
          token: merchant.token,
          body,
          headers: { 'idempotency-key': 'refill-1' },
        });
      const first = await send({ chain: 'ton', amount: 10 });
      const again = await send({ chain: 'ton', amount: 10 });
      expect([again.status, again.json]).toEqual([200, first.json]);
      expect((await send({ chain: 'ton', amount: 11 })).status).toBe(422);
    });
  });

  async function sell(who: TestMerchant, chain: string, amount: string) {
    const made = await service.fetch('POST', '/v1/invoices', { key: who.key, body: { chain, amount } });
    const paid = await service.fetch('POST', `/v1/invoices/${made.json.id}/simulate`, { key: who.key });
    expect(paid.json.status).toBe('confirmed');
    return paid.json as { id: string; txid: string | null };
  }
});
