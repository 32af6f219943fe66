// The operator's list of payments, one payment in full, and what an operator may do with it; on both databases.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BlindnessKeeper } from '../../../daemon/observer/blindness.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { verifyChain } from '../../helpers/books.ts';
import { databases } from '../../helpers/database.ts';
import {
  follow,
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { ABSENT_ID, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

interface Listed {
  id: string;
  status: string;
  payment_status: string | null;
}

describe.each(databases)("the operator's payments on %s", (database) => {
  let service: TestApp;
  let operator: { id: string; token: string };
  let merchant: TestMerchant;

  beforeAll(async () => {
    service = await startApp({
      single: true,
      database,
      settings: {
        platform_key: 'gw_the-operators-own-platform-key',
        'wallets.ton': wallets.ton ?? '',
        'blockchains.ton.url': 'http://127.0.0.1:9',
      },
    });
    operator = await service.superuser();
    merchant = await service.merchant();
    await credit(merchant, 100);
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: unknown) =>
    service.fetch(method, `/api/v1/admin/${path}`, { token: operator.token, body });
  const credit = (who: TestMerchant, prepaid_usd: number) =>
    call('POST', `merchants/${who.id}/credit`, { prepaid_usd });
  const resolve = (id: string, body: unknown) => call('POST', `payments/${id}/resolve`, body);
  const detail = async (id: string) => (await call('GET', `payments/${id}`)).json;
  const list = async (query = '') => (await call('GET', `payments?${query}`)).json;
  const ids = async (query: string): Promise<string[]> =>
    (await list(query)).data.map((entry: Listed) => entry.id);
  const create = async (who = merchant, amount = '10', chain = 'ton') => {
    // The list is in seconds: each has its own.
    service.clock.advance(1);
    const reply = await service.fetch('POST', '/v1/invoices', { key: who.key, body: { chain, amount } });
    expect(reply.status, reply.text).toBe(200);
    return invoiceRow(service, reply.json.id);
  };
  const lapse = async () => {
    service.clock.advance(600);
    await readThrough(service, 'ton');
  };

  describe('the list', () => {
    test('shows every state of an invoice and of a payment under its word', async () => {
      verifies('get-payments', 'settled-filter', 'unapplied-to-operator');
      const poor = await service.merchant();
      const held = await create(poor);
      const unpaid = await create();
      const late = await create();
      await lapse();
      const [open, paid] = [await create(), await create()];
      service.clock.advance(1);
      await observe(service, 'ton', [
        transferTo(service, open, { ...unconfirmed, confirmations: 0 }),
        transferTo(service, paid),
      ]);
      await observe(service, 'ton', [transferTo(service, late)]);
      await observe(service, 'ton', [transferTo(service, late, { time: service.clock.now() - 1 })]);
      const lost = transferTo(service, open, { memo: 'LOST' });
      await observe(service, 'ton', [lost]);
      expect(await ids('status=detected')).toEqual([open.id]);
      expect(await ids('status=confirmed&limit=1')).toEqual([paid.id]);
      expect(await ids('status=settled&limit=1')).toEqual([paid.id]);
      expect(await ids('status=SETTLED&limit=1')).toEqual([paid.id]);
      expect(await ids(`status=expired&owner_id=${poor.id}`)).toEqual([held.id]);
      const expired = await ids(`status=expired&owner_id=${merchant.id}`);
      expect(new Set(expired)).toEqual(new Set([unpaid.id, late.id]));
      const unapplied = (await list('status=late')).data as (Listed & Record<string, unknown>)[];
      expect(unapplied).toHaveLength(2);
      const [alongside, shown] = unapplied;
      expect(shown).toMatchObject({ id: late.id, status: 'expired', payment_status: 'late', kind: 'sale' });
      expect(alongside).toMatchObject({
        invoice_id: late.id,
        status: 'late',
        payment_status: 'late',
        owner_id: merchant.id,
        kind: 'sale',
      });
      expect(alongside?.id).not.toBe(late.id);
      const [unmatched] = (await list('status=unmatched')).data;
      expect(unmatched).toMatchObject({
        invoice_id: null,
        status: 'unmatched',
        kind: null,
        txid: lost.txid,
        received_amount: '2.5',
        candidates: 1,
        claimed_invoice_id: null,
      });
      const everything = await list('limit=200');
      const all = everything.data.map((entry: Listed) => entry.id);
      expect(all).toContain(alongside?.id);
      expect(all).toContain(unmatched.id);
      expect(new Set(all).size).toBe(all.length);
      const times = everything.data.map((entry: { created_at: number }) => entry.created_at);
      expect(times).toEqual([...times].sort((a: number, b: number) => b - a));
      await observe(service, 'ton', [transferTo(service, open)]);
    });

    test('is filtered by kind, chain and owner, together and in pages', async () => {
      verifies('get-payments');
      const who = await service.merchant();
      await credit(who, 5);
      const sale = await create(who, '10', 'bitcoin');
      service.clock.advance(1);
      const ton = await create(who);
      service.clock.advance(1);
      const refill = await service.fetch('POST', '/api/v1/merchant/refill', {
        token: who.token,
        body: { chain: 'ton', amount: 5 },
      });
      const mine = `owner_id=${who.id}`;
      expect(await ids(mine)).toEqual([refill.json.id, ton.id, sale.id]);
      expect(await ids(`${mine}&kind=refill`)).toEqual([refill.json.id]);
      expect(await ids(`${mine}&kind=sale`)).toEqual([ton.id, sale.id]);
      expect(await ids(`${mine}&chain=TON`)).toEqual([refill.json.id, ton.id]);
      expect(await ids(`${mine}&chain=ton&kind=sale&status=created`)).toEqual([ton.id]);
      expect(await ids(`${mine}&chain=ton&kind=sale&status=confirmed`)).toEqual([]);
      expect(await list(`${mine}&limit=2`)).toMatchObject({ has_more: true, skip: 0, limit: 2 });
      expect(await list(`${mine}&limit=2&skip=2`)).toMatchObject({ has_more: false, skip: 2 });
      expect(await ids(`${mine}&limit=2&skip=2`)).toEqual([sale.id]);
      expect(await ids(`${mine}&skip=1000000`)).toEqual([]);
    });

    test.each(['status=nonsense', 'kind=gift', 'chain=dogecoin', `owner_id=${ABSENT_ID}`, 'status='])(
      'finds nothing under %s',
      async (query) => {
        expect(await list(query)).toMatchObject({ data: [], has_more: false });
      },
    );

    test.each(['limit=0', 'limit=201', 'skip=-1', 'owner_id=somebody', `status=${'x'.repeat(65)}`])(
      'refuses %s',
      async (query) => {
        expect((await call('GET', `payments?${query}`)).status).toBe(422);
      },
    );

    test('names no owner for invoices of the platform key', async () => {
      const { json } = await service.fetch('POST', '/v1/invoices', {
        key: 'gw_the-operators-own-platform-key',
        body: { chain: 'ton', amount: 3 },
      });
      const found = (await list('limit=10')).data.find((entry: Listed) => entry.id === json.id);
      expect(found).toMatchObject({ owner_id: null, owner_slug: null, kind: 'sale' });
    });
  });

  describe('one payment', () => {
    test('is shown with payments, log, transfers, ledger, income and events', async () => {
      verifies('get-admin-payment');
      const invoice = await create();
      const transfer = transferTo(service, invoice);
      await observe(service, 'ton', [transfer]);
      const shown = await detail(invoice.id);
      expect(shown.payment).toMatchObject({
        id: invoice.id,
        owner_id: merchant.id,
        status: 'confirmed',
        payment_status: 'confirmed',
        amount_usd: '10',
        txid: transfer.txid,
      });
      expect(shown.invoice).toMatchObject({ id: invoice.id, status: 'confirmed' });
      expect(shown.payments).toMatchObject([{ id: shown.invoice.payment_id, status: 'confirmed' }]);
      expect(shown.logs).toMatchObject([{ to_status: 'confirmed', actor: 'observer' }]);
      expect(shown.transfers).toMatchObject([
        { txid: transfer.txid, amount: '2.5', state: 'final', booked_invoice_id: invoice.id },
      ]);
      expect(shown.ledger).toMatchObject([{ kind: 'fee', amount_usd: '-0.1', invoice_id: invoice.id }]);
      expect(shown.income).toMatchObject({ invoice_id: invoice.id, fee_charged: '0.1' });
      expect(shown.events.map(({ type }: { type: string }) => type)).toEqual([
        'invoice.created',
        'invoice.confirmed',
      ]);
      expect(shown.candidates).toEqual([]);
      expect((await detail(shown.invoice.payment_id)).payment.id).toBe(invoice.id);
    });

    test('that matches nothing names the open invoices it could mean, the nearest amount first', async () => {
      verifies('memo-unknown');
      const who = await service.merchant();
      const [other, meant] = [await create(who, '999'), await create(who, '123')];
      const transfer = transferTo(service, meant, { memo: null });
      await observe(service, 'ton', [transfer]);
      const [entry] = (await list('status=unmatched&limit=1')).data;
      const shown = await detail(entry.id);
      expect(shown.invoice).toBeNull();
      expect(shown.payments).toMatchObject([{ id: entry.id, status: 'unmatched' }]);
      expect(shown.transfers).toMatchObject([{ txid: transfer.txid, disposition: 'unmatched', memo: null }]);
      expect(shown.logs).toMatchObject([{ to_status: 'unmatched', actor: 'observer' }]);
      expect(shown.events).toMatchObject([{ type: 'payment.unmatched' }]);
      const candidates = shown.candidates.map(({ id }: { id: string }) => id);
      expect(candidates[0]).toBe(meant.id);
      expect(candidates).toContain(other.id);
      expect(candidates.length).toBeLessThanOrEqual(20);
      expect(entry.candidates).toBe(candidates.length);
    });

    test('alongside its invoice is shown on its own', async () => {
      const invoice = await create();
      await observe(service, 'ton', [transferTo(service, invoice)]);
      const second = transferTo(service, invoice);
      await observe(service, 'ton', [second]);
      const [entry] = (await list('status=late&limit=1')).data;
      const shown = await detail(entry.id);
      expect(shown).toMatchObject({
        payment: { id: entry.id, invoice_id: invoice.id, status: 'late' },
        invoice: { id: invoice.id, status: 'confirmed' },
        transfers: [{ txid: second.txid, disposition: 'late' }],
        logs: [{ to_status: 'late' }],
        events: [{ type: 'payment.late' }],
      });
      expect((await detail(invoice.id)).payments).toHaveLength(2);
    });

    test('that is absent is 404', async () => {
      for (const reply of [
        await call('GET', `payments/${ABSENT_ID}`),
        await resolve(ABSENT_ID, { action: 'expire' }),
      ])
        expect([reply.status, reply.json.code]).toEqual([404, 'payment_not_found']);
    });
  });

  describe('resolving', () => {
    const confirm = (id: string, txid: string | null = null) => resolve(id, { action: 'confirm', txid });
    /** Books though the chain of these tests cannot be asked. */
    const force = (id: string, txid: string) =>
      resolve(id, { action: 'confirm', txid, force: true, note: 'seen on an explorer' });

    test.each([
      ['expire', 'expired'],
      ['fail', 'failed'],
    ])('%s ends an invoice, with its actor on record', async (action, status) => {
      const invoice = await create();
      const { status: code, json } = await resolve(invoice.id, { action });
      expect(code).toBe(200);
      expect(json.invoice.status).toBe(status);
      expect(json.logs).toMatchObject([{ to_status: status, actor: `operator:${operator.id}` }]);
      expect(json.events.map(({ type }: { type: string }) => type)).toEqual([
        'invoice.created',
        `invoice.${status}`,
      ]);
      const again = await resolve(invoice.id, { action });
      expect([again.status, again.json.invoice.status]).toEqual([200, status]);
      expect(again.json.logs).toHaveLength(1);
      const lines = service.log.map((line) => JSON.parse(line));
      expect(lines).toContainEqual(
        expect.objectContaining({
          msg: 'the operator resolved a payment',
          level: 'warn',
          actor: `operator:${operator.id}`,
          action,
          id: invoice.id,
        }),
      );
    });

    test('moves between expired and failed, but never out of confirmed or cancelled', async () => {
      verifies('resolve-end');
      const invoice = await create();
      await resolve(invoice.id, { action: 'fail' });
      expect((await resolve(invoice.id, { action: 'expire' })).json.invoice.status).toBe('expired');
      const cancelled = await create();
      await service.fetch('POST', `/v1/invoices/${cancelled.id}/cancel`);
      const confirmed = await create();
      await observe(service, 'ton', [transferTo(service, confirmed)]);
      for (const id of [cancelled.id, confirmed.id])
        for (const action of ['expire', 'fail']) {
          const { status, json } = await resolve(id, { action });
          expect([status, json.code], action).toEqual([409, 'invoice_ended']);
          expect(json.next.operation).toBe('getAdminPayment');
        }
    });

    test('confirm books from every state with the usual fee, once', async () => {
      verifies('post-resolve', 'resolve-confirm', 'resolve-pays-fee', 'state-resolve');
      const who = await service.merchant();
      await credit(who, 5);
      const make: [string, (id: string) => Promise<unknown>][] = [
        ['created', async () => {}],
        ['expired', (id) => resolve(id, { action: 'expire' })],
        ['failed', (id) => resolve(id, { action: 'fail' })],
        ['cancelled', (id) => service.fetch('POST', `/v1/invoices/${id}/cancel`)],
      ];
      for (const [state, move] of make) {
        const invoice = await create(who, '100');
        await move(invoice.id);
        expect((await invoiceRow(service, invoice.id)).status).toBe(state);
        const txid = newTxid();
        const asked = await confirm(invoice.id, txid);
        expect([asked.status, asked.json.code], state).toEqual([503, 'provider_unavailable']);
        const first = await force(invoice.id, txid);
        expect(first.status, state).toBe(200);
        expect(first.json).toMatchObject({
          invoice: { status: 'confirmed', txid, amount_match: 'exact' },
          income: { fee_charged: '1', txid },
        });
        expect(first.json.logs.at(-1)).toMatchObject({
          to_status: 'confirmed',
          txid,
          actor: `operator:${operator.id}`,
          note: 'confirmed by the operator: seen on an explorer',
        });
        const again = await confirm(invoice.id, newTxid());
        expect([again.status, again.json.invoice]).toEqual([200, first.json.invoice]);
        expect(again.json.ledger).toHaveLength(1);
      }
      expect(await verifyChain(service, who.id)).toBe(5);
      const { merchant: figures } = (await call('GET', `merchants/${who.id}`)).json;
      expect(figures).toMatchObject({ prepaid_usd: '1', confirmed_invoices: 4, fees_usd: '4' });
    });

    test('confirm gives an unmatched or late payment to the invoice that its txid pays', async () => {
      verifies('unapplied-to-operator');
      const invoice = await create();
      service.clock.advance(1);
      const transfer = transferTo(service, invoice, { memo: null });
      await observe(service, 'ton', [transfer]);
      const [unmatched] = (await list('status=unmatched&limit=1')).data;
      expect(unmatched.txid).toBe(transfer.txid);
      const { json } = await confirm(invoice.id, transfer.txid);
      expect(json.invoice).toMatchObject({ status: 'confirmed', txid: transfer.txid });
      expect(json.transfers).toMatchObject([{ booked_invoice_id: invoice.id, disposition: 'matched' }]);
      expect(await ids('status=unmatched')).not.toContain(unmatched.id);
      expect((await list('limit=200')).data.map((entry: Listed) => entry.id)).not.toContain(unmatched.id);
    });

    test('one transaction books once, however its id is written', async () => {
      verifies('output-books-once');
      const [one, other] = [await create(), await create()];
      const txid = `ab${newTxid().slice(2)}`;
      expect((await force(one.id, txid)).status).toBe(200);
      const base64 = Buffer.from(txid, 'hex').toString('base64');
      for (const spelling of [txid, txid.toUpperCase(), ` ${txid} `, `0x${txid}`, base64]) {
        for (const { status, json } of [await confirm(other.id, spelling), await force(other.id, spelling)])
          expect([status, json.code], spelling).toEqual([409, 'transfer_booked']);
      }
      expect((await invoiceRow(service, other.id)).status).toBe('created');
      await observe(service, 'ton', [transferTo(service, other, { txid, memo: other.memo })]);
      expect((await invoiceRow(service, other.id)).status).toBe('created');
    });

    test('confirm does not go beyond the limit: 402 says what is missing', async () => {
      verifies('resolve-pays-fee', 'limit-402-body');
      const poor = await service.merchant();
      const invoice = await create(poor, '250');
      const { status, json } = await force(invoice.id, newTxid());
      expect(status).toBe(402);
      expect(json).toMatchObject({
        code: 'limit_exhausted',
        required_usd: '250',
        remaining_usd: '0',
        refill: { amount_usd: '2.5' },
      });
      expect((await invoiceRow(service, invoice.id)).status).toBe('created');
      await credit(poor, 3);
      expect((await force(invoice.id, newTxid())).json.invoice.status).toBe('confirmed');
    });

    test('recheck of a chain that cannot be read is 503, and changes nothing', async () => {
      const invoice = await create();
      const { status, json } = await resolve(invoice.id, { action: 'recheck' });
      expect([status, json.code]).toEqual([503, 'provider_unavailable']);
      expect((await invoiceRow(service, invoice.id)).status).toBe('created');
      const refused = service.log.map((line) => JSON.parse(line)).filter((line) => line.id === invoice.id);
      expect(refused).toMatchObject([{ action: 'recheck', actor: `operator:${operator.id}`, level: 'warn' }]);
    });

    test('a payment without invoice is not resolved, but its invoice is named', async () => {
      const invoice = await create();
      await observe(service, 'ton', [transferTo(service, invoice), transferTo(service, invoice)]);
      const [entry] = (await list('status=late&limit=1')).data;
      const { status, json } = await confirm(entry.id);
      expect([status, json.code]).toEqual([404, 'payment_not_found']);
      expect(json.detail).toContain(entry.invoice_id);
    });

    test.each([{}, { action: 'delete' }, { action: 'confirm', txid: 'x'.repeat(129) }])(
      'refuses %j',
      async (body) => {
        expect((await resolve(ABSENT_ID, body)).status).toBe(422);
      },
    );
  });

  test.each([
    ['dashboard', 18],
    ['payments?limit=200', 6],
    ['payments?limit=200&kind=sale&chain=ton', 6],
    ['merchants?limit=200', 6],
    ['observers', 50],
  ])('%s costs at most %i statements, however much there is', async (path, budget) => {
    const { db } = service.app;
    const { query } = db;
    // Loops of the daemon ask the same database meanwhile; theirs are not of this request.
    const request = new AsyncLocalStorage<true>();
    let statements = 0;
    db.query = query.withPlugin({
      transformQuery({ node }) {
        if (request.getStore()) statements++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    try {
      expect((await request.run(true, () => call('GET', path))).status).toBe(200);
    } finally {
      db.query = query;
    }
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThanOrEqual(budget);
  });

  describe('observers', () => {
    test('show what was read, what is pending, and the transfers left over', async () => {
      verifies('get-observers');
      const of = async (blockchain: string) =>
        (await call('GET', 'observers')).json.observers.find(
          (observer: { blockchain: string }) => observer.blockchain === blockchain,
        );
      const invoice = await create(merchant, '10', 'bitcoin');
      const before = await of('bitcoin');
      const tip = { height: 900, hash: 'tip', time: service.clock.now() };
      const lost = transferTo(service, invoice, { amount_atomic: 1_000n, memo: null });
      const waiting = transferTo(service, invoice, { ...unconfirmed });
      await observe(service, 'bitcoin', [lost, waiting], {
        tip,
        cursor: { height: 900, hashes: ['tip'] },
        ranges: [{ scope: 'height', from: 890, to: 900 }],
      });
      service.clock.advance(40);
      await readThrough(service, 'bitcoin');
      service.clock.advance(5);
      const after = await of('bitcoin');
      expect(after).toMatchObject({
        name: 'Bitcoin',
        status: 'ok',
        tip_height: 900,
        cursor_height: 900,
        lag_seconds: 5,
        watched_addresses: 1,
        pending: 1,
        ranges: [{ scope: 'height', from: 890, to: 900 }],
        unmatched_count: before.unmatched_count + 1,
      });
      expect(after.unmatched[0]).toMatchObject({ txid: lost.txid, status: 'unmatched' });
      expect(after.unmatched[0].candidates).toBeGreaterThan(0);
      expect(after.providers[0]).toMatchObject({ state: 'unknown', requests: 0 });
      await follow(service, 'bitcoin', [{ ...waiting, state: 'gone', confirmations: 0 }]);
      service.clock.advance(600);
      expect(await of('bitcoin')).toMatchObject({ status: 'behind', pending: 0 });
      expect(await of('ton')).toMatchObject({
        status: 'down',
        provider: expect.stringContaining('127.0.0.1'),
      });
      expect((await of('ton')).last_error).toEqual(expect.any(String));
      expect((await of('ton')).late_count).toBeGreaterThan(0);
      expect((await of('ton')).late.length).toBeGreaterThan(0);
      expect(await of('litecoin')).toMatchObject({ status: 'starting', watched_addresses: 0 });
      (service.app.blindness as BlindnessKeeper).answered('litecoin');
      expect(await of('litecoin')).toMatchObject({ status: 'idle', lag_seconds: null, watched_addresses: 0 });
    });
  });
});
