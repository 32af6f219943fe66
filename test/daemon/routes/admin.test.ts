// The operator's figures, merchants, credits and wallets, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import type { WebhookStatus } from '../../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { verifyChain } from '../../helpers/books.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow, observe, readThrough, transferTo } from '../../helpers/payments.ts';
import { ABSENT_ID, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const DAY = 86_400;

describe.each(databases)("the operator's desk on %s", (database) => {
  let service: TestApp;
  let operator: { id: string };

  beforeAll(async () => {
    service = await startApp({ database });
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  /** With a fresh token: the clock of these tests passes the life of one. */
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const token = await issueAccessToken(service.app, { id: operator.id, token_version: 1 });
    return service.fetch(method, `/api/v1/admin/${path}`, { token, body, headers });
  };
  const credit = (who: { id: string }, body: unknown, headers?: Record<string, string>) =>
    call('POST', `merchants/${who.id}/credit`, body, headers);
  const create = async (who: TestMerchant, amount = '10', chain = 'ton') => {
    const { status, json } = await service.fetch('POST', '/v1/invoices', {
      key: who.key,
      body: { chain, amount },
    });
    expect(status).toBe(200);
    return json as { id: string };
  };
  const sell = async (who: TestMerchant, amount = '10', chain = 'ton') => {
    const { id } = await create(who, amount, chain);
    const { json } = await service.fetch('POST', `/v1/invoices/${id}/simulate`, { key: who.key });
    expect(json.status).toBe('confirmed');
    return id;
  };
  /** Pays an invoice on chain, as the observer would see it. */
  const pay = async (id: string) => {
    await observe(service, 'ton', [transferTo(service, await invoiceRow(service, id))]);
  };
  const warnings = (text: string) =>
    service.log
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line.msg === text && line.level === 'warn');

  describe('the dashboard', () => {
    test('adds up volume, fees, refills and balances by days without counting anything', async () => {
      verifies('get-dashboard');
      const before = (await call('GET', 'dashboard')).json;
      const who = await service.merchant();
      await credit(who, { prepaid_usd: '5' });
      await sell(who, '40');
      service.clock.advance(8 * DAY);
      await sell(who, '60', 'bitcoin');
      const expired = await create(who);
      service.clock.advance(DAY);
      await readThrough(service, 'ton');
      await create(who);
      const { status, json } = await call('GET', 'dashboard');
      expect(status).toBe(200);
      const grown = (name: string, of: string) => Number(json[name][of]) - Number(before[name][of]);
      expect(grown('volume_usd', 'total')).toBe(100);
      expect([json.volume_usd.day, json.volume_usd.week, json.volume_usd.month]).toEqual(['0', '60', '100']);
      expect([json.fees_usd.week, json.fees_usd.month]).toEqual(['0.6', '1']);
      expect(grown('fees_usd', 'total')).toBe(1);
      expect(Number(json.prepaid_usd) - Number(before.prepaid_usd)).toBe(4);
      expect(json.merchants - before.merchants).toBe(1);
      expect(json.users - before.users).toBe(1);
      expect((await invoiceRow(service, expired.id)).status).toBe('expired');
      for (const [of, more] of [
        ['confirmed', 2],
        ['expired', 1],
        ['created', 1],
        ['failed', 0],
      ] as const)
        expect(grown('invoices', of), of).toBe(more);
      expect(json.income).toContainEqual({ currency: 'BTC', count: 1, volume_usd: '60' });
      expect(json.rates).toMatchObject({ source: 'fixed', stale: false });
      expect(json.rates.currencies).toContainEqual(
        expect.objectContaining({ currency: 'TON', usd: '4', stale: false }),
      );
      expect(json.observers.map(({ blockchain }: { blockchain: string }) => blockchain)).toContain('bitcoin');
    });

    test('counts what waits for a person, and no longer once it is done', async () => {
      const attention = async () => (await call('GET', 'dashboard')).json.attention;
      const before = await attention();
      const who = await service.merchant();
      const { id } = await create(who);
      await pay(id);
      expect(await attention()).toEqual({ ...before, held: before.held + 1 });
      await credit(who, { prepaid_usd: 1 });
      expect(await attention()).toEqual(before);
      const row = await invoiceRow(service, id);
      await observe(service, 'ton', [
        transferTo(service, row, { memo: 'UNKNOWN' }),
        transferTo(service, row),
      ]);
      expect(await attention()).toEqual({
        ...before,
        late: before.late + 1,
        unmatched: before.unmatched + 1,
      });
    });

    test('counts confirmations that no receiver took', async () => {
      const who = await service.merchant();
      const before = (await call('GET', 'dashboard')).json.attention;
      const id = await sell(who);
      const set = (webhook_status: WebhookStatus) =>
        service.app.db.query
          .updateTable('income')
          .set({ webhook_status })
          .where('invoice_id', '=', id)
          .execute();
      await set('failed');
      const failed = (await call('GET', 'dashboard')).json.attention;
      expect(failed.webhooks_failed).toBe(before.webhooks_failed + 1);
      await set('delivered');
      expect((await call('GET', 'dashboard')).json.attention).toEqual(before);
    });

    test('names merchants whose limit is nearly used up, but no newcomers', async () => {
      const [near, fine, newcomer] = [
        await service.merchant(),
        await service.merchant(),
        await service.merchant(),
      ];
      await credit(near, { prepaid_usd: '0.5' });
      await credit(fine, { prepaid_usd: '100' });
      const { near_limit } = (await call('GET', 'dashboard')).json;
      const ids = near_limit.merchants.map((row: { user_id: string }) => row.user_id);
      expect(ids).toContain(near.id);
      expect(ids).not.toContain(fine.id);
      expect(ids).not.toContain(newcomer.id);
      expect(near_limit.count).toBeGreaterThanOrEqual(1);
      expect(near_limit.below_usd).toBe('100');
      expect(near_limit.merchants).toContainEqual(
        expect.objectContaining({ user_id: near.id, prepaid_usd: '0.5', limit_of_payments: '50' }),
      );
    });
  });

  describe('merchants', () => {
    test('are listed newest first, in pages, and found by a part of slug or email address', async () => {
      verifies('get-merchants');
      service.clock.advance(10);
      const first = await service.merchant('Needle.One@example.com');
      service.clock.advance(10);
      const second = await service.merchant('needle.two@example.com');
      const list = async (query: string) => (await call('GET', `merchants?${query}`)).json;
      const ids = ({ data }: { data: { user_id: string }[] }) => data.map((row) => row.user_id);
      expect(ids(await list('limit=2'))).toEqual([second.id, first.id]);
      expect(ids(await list('limit=1&skip=1'))).toEqual([first.id]);
      const all = await list('');
      expect(all.count).toBe((await call('GET', 'dashboard')).json.merchants);
      expect(await list('q=NEEDLE')).toMatchObject({ count: 2, skip: 0, limit: 50 });
      expect(ids(await list('q=needle-t'))).toEqual([second.id]);
      expect(ids(await list('q=two@'))).toEqual([second.id]);
      expect(ids(await list(`q=${first.id}`))).toEqual([first.id]);
      expect(await list('q=%25')).toMatchObject({ count: 0, data: [] });
      expect((await call('GET', 'merchants?limit=201')).status).toBe(422);
    });

    test('carry their figures', async () => {
      const who = await service.merchant();
      await credit(who, { prepaid_usd: '2' });
      await sell(who, '30');
      await create(who);
      const { json } = await call('GET', `merchants?q=${who.id}`);
      expect(json.data[0]).toEqual({
        user_id: who.id,
        email: who.user.email,
        full_name: null,
        is_active: true,
        slug: expect.any(String),
        plan: 'base',
        house: false,
        prepaid_usd: '1.7',
        limit_of_payments: '170',
        units: 0,
        invoices: 2,
        confirmed_invoices: 1,
        confirmed_usd: '30',
        fees_usd: '0.3',
        wallets: ['bitcoin', 'litecoin', 'solana', 'ton'],
        created_at: who.user.created_at,
        last_invoice_at: service.clock.now(),
      });
    });

    test('one is shown with all that is its own, but never with its key or secret', async () => {
      verifies('get-merchant');
      const who = await service.merchant();
      const account = await service.fetch('GET', '/api/v1/merchant/account', { token: who.token });
      await service.fetch('POST', '/api/v1/merchant/units', {
        token: who.token,
        body: { title: 'Coffee', amount_usd: 4, currencies: ['TON'] },
      });
      await credit(who, { prepaid_usd: '2', note: 'welcome' });
      const id = await sell(who, '30');
      const { status, json, text } = await call('GET', `merchants/${who.id}`);
      expect(status).toBe(200);
      expect(json.merchant).toMatchObject({ user_id: who.id, units: 1, invoices: 1 });
      expect(json.wallets).toHaveLength(4);
      expect(json.units).toMatchObject([{ title: 'Coffee', chains: ['ton'] }]);
      expect(json.ledger).toMatchObject([
        { seq: 2, kind: 'fee', amount_usd: '-0.3', balance_usd: '1.7', invoice_id: id },
        { seq: 1, kind: 'credit', amount_usd: '2', balance_usd: '2', note: 'welcome' },
      ]);
      expect(json.balances).toEqual([
        { currency: 'USD', amount: '1.7' },
        { currency: 'TON', amount: '7.5' },
      ]);
      expect(json.payments).toMatchObject([{ id, status: 'confirmed', payment_status: 'confirmed' }]);
      expect(text).not.toContain(who.key);
      expect(text).not.toContain(account.json.webhook_secret);
    });

    test('absent ones are 404, and a text that is no id 422', async () => {
      expect((await call('GET', `merchants/${ABSENT_ID}`)).json.code).toBe('merchant_not_found');
      expect((await call('GET', 'merchants/somebody')).status).toBe(422);
      expect((await credit({ id: ABSENT_ID }, { prepaid_usd: 1 })).json.code).toBe('merchant_not_found');
    });
  });

  describe('a credit', () => {
    test('raises the limit a hundredfold, is an entry of the ledger, and is logged as a warning', async () => {
      verifies('post-credit', 'limit-multiplier');
      const who = await service.merchant();
      const { status, json } = await credit(who, { prepaid_usd: '12.345678', note: 'for the outage' });
      expect(status).toBe(200);
      expect(json).toMatchObject({
        prepaid_usd: '12.345678',
        limit_of_payments: '1234.5678',
        entry: {
          seq: 1,
          kind: 'credit',
          amount_usd: '12.345678',
          note: 'for the outage',
          actor: `operator:${operator.id}`,
        },
        merchant: { user_id: who.id, prepaid_usd: '12.345678' },
      });
      const account = await service.fetch('GET', '/api/v1/merchant/account', { token: who.token });
      expect(account.json.limit_of_payments).toBe('1234.5678');
      expect(warnings('prepaid balance credited by hand')).toContainEqual(
        expect.objectContaining({
          merchant_id: who.id,
          actor: `operator:${operator.id}`,
          prepaid_usd: '12.345678',
          note: 'for the outage',
        }),
      );
      expect(await verifyChain(service, who.id)).toBe(1);
    });

    test('books held payments at once, oldest first, as far as it reaches', async () => {
      verifies('limit-held-books');
      const who = await service.merchant();
      const ids: string[] = [];
      for (let each = 0; each < 3; each++) {
        const { id } = await create(who, '100');
        await pay(id);
        ids.push(id);
        service.clock.advance(1);
      }
      const statuses = async () => Promise.all(ids.map(async (id) => (await invoiceRow(service, id)).status));
      expect(await statuses()).toEqual(['created', 'created', 'created']);
      const { json } = await credit(who, { prepaid_usd: 2 });
      expect(await statuses()).toEqual(['confirmed', 'confirmed', 'created']);
      expect(json.entry.balance_usd).toBe('2');
      expect(json.merchant).toMatchObject({ prepaid_usd: '0', confirmed_invoices: 2 });
      await credit(who, { prepaid_usd: 1 });
      expect(await statuses()).toEqual(['confirmed', 'confirmed', 'confirmed']);
      expect(await verifyChain(service, who.id)).toBe(5);
    });

    test('sent twice under one Idempotency-Key is given once', async () => {
      verifies('idempotency-where');
      const who = await service.merchant();
      const key = { 'idempotency-key': `credit-${who.id}` };
      const first = await credit(who, { prepaid_usd: 5 }, key);
      const again = await credit(who, { prepaid_usd: 5 }, key);
      expect([again.status, again.json]).toEqual([200, first.json]);
      expect((await credit(who, { prepaid_usd: 6 }, key)).status).toBe(422);
      expect((await call('GET', `merchants/${who.id}`)).json.merchant.prepaid_usd).toBe('5');
    });

    test('given many at once adds up to all of them', async () => {
      const who = await service.merchant();
      const replies = await Promise.all(Array.from({ length: 8 }, () => credit(who, { prepaid_usd: '1.5' })));
      expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect((await call('GET', `merchants/${who.id}`)).json.merchant.prepaid_usd).toBe('12');
      expect(await verifyChain(service, who.id)).toBe(8);
    });

    test.each([
      [{}, 'missing'],
      [{ prepaid_usd: 0 }, 'greater_than'],
      [{ prepaid_usd: -5 }, 'greater_than'],
      [{ prepaid_usd: '1000.000001' }, 'less_than_equal'],
      [{ prepaid_usd: '1e2' }, 'decimal_parsing'],
      [{ prepaid_usd: 1, note: 'x'.repeat(256) }, 'string_too_long'],
    ])('of %j is refused', async (body, type) => {
      verifies('limit-credit');
      const who = await service.merchant();
      const { status, json } = await credit(who, body);
      expect([status, json.detail[0].type]).toEqual([422, type]);
    });
  });

  describe('refill wallets', () => {
    const put = (body: unknown) => call('PUT', 'refill-wallets', body);

    test('are set by blockchain or gateway, shown to merchants, and removed by an empty address', async () => {
      verifies('get-admin-refill-wallets', 'put-admin-refill-wallets', 'deployment-wallets');
      expect((await call('GET', 'refill-wallets')).json).toEqual({
        wallets: [],
        missing: expect.arrayContaining(['ton', 'bitcoin', 'solana']),
      });
      const set = await put({ chain: 'TON-USDT', address: wallets.ton, note: 'cold' });
      expect(set.status).toBe(200);
      expect(set.json.wallets).toMatchObject([
        { blockchain: 'ton', network: 'testnet', note: 'cold', currencies: ['TON', 'USDT'] },
      ]);
      expect(set.json.missing).not.toContain('ton');
      const who = await service.merchant();
      const refill = () =>
        service.fetch('POST', '/api/v1/merchant/refill', {
          token: who.token,
          body: { chain: 'ton', amount: 5 },
        });
      const paid_to = set.json.wallets[0].address;
      const invoice = await refill();
      expect(invoice.json.address).toBe(paid_to);
      const other = await put({ chain: 'ton', address: `0:${'22'.repeat(32)}` });
      expect(other.json.wallets[0].address).not.toBe(paid_to);
      expect((await invoiceRow(service, invoice.json.id)).address).toBe(paid_to);
      const removed = await put({ chain: 'ton', address: '' });
      expect(removed.json.wallets).toEqual([]);
      expect((await refill()).json.code).toBe('no_wallet');
      expect((await invoiceRow(service, invoice.json.id)).address).toBe(paid_to);
      expect(warnings('refill wallet removed')).toHaveLength(1);
    });

    test('refuse what is no address of that blockchain and network', async () => {
      const wrong = [
        ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
        ['bitcoin', wallets.ton],
        ['solana', 'not an address'],
        ['ton', 'EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
      ];
      for (const [chain, address] of wrong) {
        const { status, json } = await put({ chain, address });
        expect([status, json.code], `${chain} ${address}`).toEqual([400, 'invalid_address']);
      }
      expect((await put({ chain: 'dogecoin', address: 'x' })).json.code).toBe('unknown_chain');
      expect((await put({ chain: 'ton', address: 'x'.repeat(257) })).status).toBe(422);
      expect((await put({ chain: 'ton' })).status).toBe(422);
    });
  });

  test('only a superuser is let in', async () => {
    verifies('auth-admin');
    const who = await service.merchant();
    const routes = [
      ['GET', 'dashboard'],
      ['GET', 'merchants'],
      ['GET', `merchants/${who.id}`],
      ['POST', `merchants/${who.id}/credit`],
      ['GET', 'refill-wallets'],
      ['PUT', 'refill-wallets'],
      ['GET', 'observers'],
      ['GET', 'payments'],
      ['GET', `payments/${ABSENT_ID}`],
      ['POST', `payments/${ABSENT_ID}/resolve`],
    ] as const;
    for (const [method, path] of routes) {
      const body = method === 'GET' ? undefined : { prepaid_usd: 1 };
      const at = `/api/v1/admin/${path}`;
      expect((await service.fetch(method, at, { body })).status, path).toBe(401);
      expect((await service.fetch(method, at, { body, key: who.key })).status, path).toBe(401);
      expect((await service.fetch(method, at, { body, token: who.token })).status, path).toBe(403);
    }
    expect((await call('GET', `merchants/${who.id}`)).json.merchant.prepaid_usd).toBe('0');
  });
});
