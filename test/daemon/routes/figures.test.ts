// What screens read: figures by day, bookings, and the events and units of all accounts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { openContradiction } from '../../helpers/contradictions.ts';
import { databases } from '../../helpers/database.ts';
import { ABSENT_ID } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('figures and lists for screens on %s', (database) => {
  let service: TestApp;
  let operator: { id: string; token: string };
  let ann: TestMerchant;
  let bob: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database });
    operator = await service.superuser();
    [ann, bob] = [await service.merchant(), await service.merchant()];
    for (const who of [ann, bob])
      await post(`/api/v1/admin/merchants/${who.id}/credit`, operator, {
        prepaid_usd: '50',
        note: 'welcome',
      });
    await sell(ann, '10');
    service.clock.advance(86_400);
    operator = { ...operator, token: (await service.superuser()).token };
    await sell(ann, '15');
    await sell(ann, '5');
    await sell(bob, '7');
    await post('/v1/invoices', { key: ann.key }, { chain: 'ton', amount: '3' });
  });
  afterAll(() => service.stop());

  type Who = { token?: string; key?: string };
  async function ask(method: string, path: string, who: Who, body?: unknown) {
    const { token, key } = who;
    const { status, json, text } = await service.fetch(method, path, token ? { token, body } : { key, body });
    expect(status, `${path}: ${text}`).toBe(200);
    return json;
  }
  const post = (path: string, who: Who, body: unknown) => ask('POST', path, who, body);
  const get = (path: string, who: Who) => ask('GET', path, who);
  async function sell(who: TestMerchant, amount: string) {
    const { id } = await post('/v1/invoices', { key: who.key }, { chain: 'ton', amount });
    await post(`/v1/invoices/${id}/simulate`, { key: who.key }, undefined);
  }

  test('are sales by day and invoices by status, of the caller', async () => {
    verifies('figures-and-lists');
    for (const [who, sales, volumes, created] of [
      [{ key: ann.key }, [1, 2], ['10', '20'], 1],
      [{ key: bob.key }, [0, 1], ['0', '7'], 0],
      [{ token: operator.token }, [1, 3], ['10', '27'], 1],
    ] as const) {
      const { days, invoices, limit_of_payments } = await get('/v1/figures', who);
      expect(days).toHaveLength(30);
      const last = days.slice(-2);
      expect(last.map((day: { sales: number }) => day.sales)).toEqual(sales);
      expect(last.map((day: { volume_usd: string }) => Number(day.volume_usd))).toEqual(volumes.map(Number));
      expect(invoices).toMatchObject({ created, expired: 0 });
      expect(limit_of_payments === null).toBe('token' in who);
    }
    // A superuser who asks for his own has sold nothing.
    const { days } = await get('/v1/figures?own=true', { token: operator.token });
    expect(days.every(({ sales }: { sales: number }) => sales === 0)).toBe(true);
  });

  test('are bookings newest first, page by page, without the name of an operator for merchants', async () => {
    verifies('figures-and-lists');
    const { data } = await get('/v1/ledger?limit=200', { key: ann.key });
    const kinds = data.map(({ kind }: { kind: string }) => kind);
    expect(kinds.slice(0, 3)).toEqual(['fee', 'fee', 'fee']);
    const credit = data.find(({ kind }: { kind: string }) => kind === 'credit');
    expect(credit).toMatchObject({ actor: 'operator', note: 'welcome', owner_id: ann.id });
    const seqs = data.map(({ seq }: { seq: number }) => seq);
    expect(seqs).toEqual([...seqs].sort((one, other) => other - one));
    const pages: string[] = [];
    for (let after = ''; ; ) {
      const page = await get(`/v1/ledger?limit=2${after}`, { key: ann.key });
      pages.push(...page.data.map(({ id }: { id: string }) => id));
      if (!page.has_more) break;
      after = `&after=${page.next}`;
    }
    expect(pages).toEqual(data.map(({ id }: { id: string }) => id));
    // A merchant reads no other's, whatever he asks for; a superuser reads all, or one's.
    const others = await get(`/v1/ledger?owner_id=${bob.id}&limit=200`, { key: ann.key });
    expect(others.data.every(({ owner_id }: { owner_id: string }) => owner_id === ann.id)).toBe(true);
    const all = await get('/v1/ledger?limit=200', { token: operator.token });
    const owners = new Set(all.data.map(({ owner_id }: { owner_id: string }) => owner_id));
    expect([owners.has(ann.id), owners.has(bob.id)]).toEqual([true, true]);
    expect(all.data[0].actor).not.toBe('');
    const one = await get(`/v1/ledger?owner_id=${bob.id}&limit=2`, { token: operator.token });
    expect(one.data.every(({ owner_id }: { owner_id: string }) => owner_id === bob.id)).toBe(true);
    const next = await get(`/v1/ledger?owner_id=${bob.id}&after=${one.next}`, { token: operator.token });
    expect(next.data.map(({ id }: { id: string }) => id)).not.toContain(one.next);
    expect(
      (await get(`/v1/ledger?owner_id=${bob.id}&after=${ABSENT_ID}`, { token: operator.token })).data,
    ).toEqual([]);
  });

  test('are the events of all accounts, and those that no one accepted', async () => {
    verifies('figures-and-lists');
    const admin = { token: operator.token };
    const { data, has_more, next } = await get('/api/v1/admin/events?limit=4', admin);
    expect(data).toHaveLength(4);
    expect(data[0]).toMatchObject({ type: 'invoice.created', owner_id: ann.id });
    expect([has_more, next]).toEqual([true, data[3].id]);
    const rest = await get(`/api/v1/admin/events?after=${next}&limit=200`, admin);
    expect(rest.data.map(({ id }: { id: string }) => id)).not.toContain(next);
    const of_bob = await get(`/api/v1/admin/events?owner_id=${bob.id}&limit=1`, admin);
    expect(of_bob.data[0].owner_id).toBe(bob.id);
    const before = await get(`/api/v1/admin/events?owner_id=${bob.id}&after=${of_bob.next}`, admin);
    expect(before.data.map(({ id }: { id: string }) => id)).not.toContain(of_bob.next);
    for (const path of ['?after=evt_none', `?after=evt_none&owner_id=${bob.id}`]) {
      const refused = await service.fetch('GET', `/api/v1/admin/events${path}`, admin);
      expect([refused.status, refused.json.code]).toEqual([404, 'event_not_found']);
    }
    // No one listens there.
    await ask(
      'PATCH',
      '/api/v1/merchant/account',
      { token: ann.token },
      { webhook_url: 'http://127.0.0.1:9/x' },
    );
    await sell(ann, '2');
    await service.app.webhooks.kick();
    await expect
      .poll(async () => (await get('/api/v1/admin/events?undelivered=true', admin)).data.length)
      .toBe(1);
    for (const query of ['undelivered=true', `undelivered=true&owner_id=${ann.id}`]) {
      const { data } = await get(`/api/v1/admin/events?${query}`, admin);
      expect(data).toMatchObject([
        { type: 'invoice.confirmed', owner_id: ann.id, deliveries: [{ status: 'failed' }] },
      ]);
    }
    expect((await get(`/api/v1/admin/events?undelivered=true&owner_id=${bob.id}`, admin)).data).toEqual([]);
    // Tried again it is one row still, which hides no other behind the end of a page.
    const { data: waiting } = await get('/api/v1/admin/events?undelivered=true', admin);
    const resend = `/api/v1/merchant/events/${waiting[0].id}/resend`;
    for (let time = 0; time < 2; time += 1) await post(resend, { token: ann.token }, undefined);
    await sell(ann, '2');
    await service.app.webhooks.kick();
    const short = '/api/v1/admin/events?undelivered=true&limit=1&count=true';
    await expect.poll(async () => (await get(short, admin)).total).toBe(2);
    for (const more of ['', `&owner_id=${ann.id}`])
      expect(await get(short + more, admin)).toMatchObject({
        data: [{ type: 'invoice.confirmed' }],
        has_more: true,
        total: 2,
        total_is_more: false,
      });
    expect((await get(`${short}&owner_id=${bob.id}`, admin)).total).toBe(0);
  });

  test('are the units of all merchants', async () => {
    verifies('figures-and-lists');
    const make = (who: TestMerchant, title: string) =>
      post('/api/v1/merchant/units', { token: who.token }, { title, amount_usd: '3', currencies: ['TON'] });
    const [tea, cake] = [await make(ann, 'Tea'), await make(bob, 'Cake')];
    const admin = { token: operator.token };
    const first = await get('/api/v1/admin/units?limit=1', admin);
    expect(first).toMatchObject({
      data: [{ id: cake.id, title: 'Cake', owner_id: bob.id, page_url: cake.page_url }],
      has_more: true,
    });
    const next = await get(`/api/v1/admin/units?after=${first.next}`, admin);
    expect(next).toMatchObject({ data: [{ id: tea.id }], has_more: false });
    const of_ann = await get(`/api/v1/admin/units?owner_id=${ann.id}`, admin);
    expect(of_ann.data.map(({ id }: { id: string }) => id)).toEqual([tea.id]);
  });

  test('say how many they have on all pages, with every filter', async () => {
    verifies('list-totals');
    const [{ id: refused }] = (await get('/v1/invoices?status=created', { key: ann.key })).data;
    await post(`/v1/invoices/${refused}/cancel`, { key: ann.key }, undefined);
    const order = { chain: 'ton', amount: '4', external_ref: 'counted' };
    for (let made = 0; made < 3; made += 1) await post('/v1/invoices', { key: ann.key }, order);
    for (let made = 0; made < 2; made += 1) await openContradiction(service.app.db, { invoice_id: refused });
    const { data } = await get('/api/v1/admin/contradictions', { token: operator.token });
    const close = `/api/v1/admin/contradictions/${data[0].id}/close`;
    await post(close, { token: operator.token }, { note: 'one less' });
    const [key, token, admin] = [{ key: ann.key }, { token: ann.token }, { token: operator.token }];
    for (const [path, who, least] of [
      ['/v1/invoices?', key, 7],
      ['/v1/invoices?status=settled', key, 3],
      ['/v1/invoices?status=cancelled', key, 1],
      ['/v1/invoices?external_ref=counted', key, 3],
      ['/v1/invoices?external_ref=counted&status=expired', key, 0],
      ['/v1/ledger?', key, 4],
      ['/v1/ledger?', admin, 6],
      [`/v1/ledger?owner_id=${bob.id}`, admin, 2],
      ['/api/v1/merchant/events?', token, 9],
      ['/api/v1/merchant/events?type=invoice.confirmed', token, 3],
      ['/api/v1/merchant/events?type=payment.late', token, 0],
      ['/api/v1/admin/payments?', admin, 8],
      ['/api/v1/admin/payments?status=settled', admin, 4],
      ['/api/v1/admin/payments?status=created', admin, 3],
      ['/api/v1/admin/payments?kind=refill', admin, 0],
      ['/api/v1/admin/events?', admin, 10],
      [`/api/v1/admin/events?owner_id=${bob.id}`, admin, 2],
      ['/api/v1/admin/units?', admin, 2],
      [`/api/v1/admin/units?owner_id=${ann.id}`, admin, 1],
      ['/api/v1/admin/contradictions?open=false', admin, 2],
      ['/api/v1/admin/contradictions?open=true', admin, 1],
    ] as const) {
      const { total, total_is_more } = await get(`${path}&limit=1&count=true`, who);
      expect([total, total_is_more], path).toEqual([(await all(path, who)).length, false]);
      expect(total, path).toBeGreaterThanOrEqual(least);
      expect(await get(`${path}&limit=1`, who), path).not.toHaveProperty('total');
    }
  });

  /** The rows of every page. */
  async function all(path: string, who: Who): Promise<unknown[]> {
    const rows: unknown[] = [];
    for (let place = ''; ; ) {
      const page = await get(`${path}&limit=3${place}`, who);
      rows.push(...page.data);
      if (!page.has_more && !(page.count > rows.length)) return rows;
      place = page.next ? `&after=${page.next}` : `&skip=${rows.length}`;
    }
  }
});
