// A buyer who goes back and chooses again, what he reads where he is refused, and refills that sales leave alone.
import { bech32 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow, observe, readThrough, transferTo } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const IP = '203.0.113.7';
const EARLY_RELEASE = 900;
const READ = 60;

interface Browser {
  ip?: string;
  cookie?: string | undefined;
  agent?: string;
}

describe.each(databases)('a buyer on %s', (database) => {
  let test: TestApp;
  let shops = 0;
  beforeAll(async () => {
    const limits = { 'limits.checkout_per_address': '0', 'limits.login_per_address': '0' };
    test = await startApp({ database, settings: { trust_proxy: true, ...limits } });
  });
  afterAll(() => test.stop());

  async function shop(title = 'Tea'): Promise<{ merchant: TestMerchant; path: string; id: string }> {
    const merchant = await test.merchant();
    // An address of its own: what others reserve elsewhere is none of its business.
    const program = new Uint8Array(20).fill(77);
    program[0] = ++shops;
    await setWallet(test.app, merchant.id, 'bitcoin', bech32.encode('tb', [0, ...bech32.toWords(program)]));
    const body = { title, amount_usd: 33, currencies: ['bitcoin', 'litecoin', 'ton'] };
    const { json } = await test.fetch('POST', '/api/v1/merchant/units', { token: merchant.token, body });
    return { merchant, id: json.id, path: `/u/${json.merchant_slug}/${json.slug}` };
  }
  const headersOf = ({ ip = IP, cookie, agent }: Browser) => ({
    'x-forwarded-for': ip,
    accept: 'text/html',
    ...(cookie === undefined ? {} : { cookie }),
    ...(agent === undefined ? {} : { 'user-agent': agent }),
  });
  const choose = (path: string, chain = 'bitcoin', browser: Browser = {}) =>
    test.fetch('POST', path, {
      headers: { ...headersOf(browser), 'content-type': 'application/x-www-form-urlencoded' },
      body: `chain=${chain}`,
    });
  const visit = async (path: string): Promise<string> => {
    const { headers } = await test.fetch('GET', path, { headers: headersOf({}) });
    return headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const places = (replies: { headers: Headers }[]) =>
    new Set(replies.map(({ headers }) => headers.get('location')));
  const idOf = ({ headers }: { headers: Headers }) => headers.get('location')?.split('/').at(-1) ?? '';
  const inTurn = async <T>(count: number, work: () => Promise<T>): Promise<T[]> => {
    const done: T[] = [];
    for (let at = 0; at < count; at++) done.push(await work());
    return done;
  };
  const buy = (unit_id: string, ip: string, body: object = {}) =>
    test.fetch('POST', `/v1/units/${unit_id}/checkout`, {
      headers: { 'x-forwarded-for': ip },
      body: { chain: 'bitcoin', ...body },
    });
  const cancel = (id: string) => test.fetch('POST', `/v1/invoices/${id}/cancel`);

  it.each(['bitcoin', 'ton'])('who chooses %s six times is shown one invoice', async (chain) => {
    verifies('buyer-same-invoice');
    const { path } = await shop();
    const replies = await inTurn(6, () => choose(path, chain));
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(303));
    expect(places(replies).size).toBe(1);
  });

  it.each(['bitcoin', 'ton'])('who presses twice at once on %s makes one invoice', async (chain) => {
    verifies('buyer-same-invoice');
    const { path, id } = await shop();
    const cookie = await visit(path);
    const replies = await Promise.all(Array.from({ length: 8 }, () => choose(path, chain, { cookie })));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect(places(replies).size).toBe(1);
    const made = test.app.db.query.selectFrom('invoices').select('id').where('unit_id', '=', id);
    const rows = await made.execute();
    expect(rows).toHaveLength(1);
  });

  it('is known among others at his address by a number that his browser keeps', async () => {
    verifies('buyer-same-invoice');
    const { path } = await shop();
    const [one, other] = [await visit(path), await visit(path)];
    expect(one).toMatch(/^gatewayd_buyer=[\w-]{22}$/);
    expect(one).not.toBe(other);
    const mine = await choose(path, 'bitcoin', { cookie: one });
    const theirs = await choose(path, 'bitcoin', { cookie: other });
    const agent = await choose(path, 'bitcoin', { agent: 'another program' });
    expect(places([mine, theirs, agent]).size).toBe(3);
    // A browser that keeps none is no one that is known.
    const senders: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'http://shop.onion' },
    ];
    for (const sent of senders) {
      const headers = { ...headersOf({}), ...sent, 'content-type': 'application/x-www-form-urlencoded' };
      const form = { headers, body: 'chain=ton' };
      const both = [await test.fetch('POST', path, form), await test.fetch('POST', path, form)];
      expect(places(both).size).toBe(2);
    }
    const again = await test.fetch('GET', path, { headers: headersOf({ cookie: one }) });
    expect(again.headers.get('set-cookie')).toBeNull();
    // The same number elsewhere is the same buyer.
    expect(places([mine, await choose(path, 'bitcoin', { cookie: one, ip: '198.51.100.9' })]).size).toBe(1);
  });

  it('gets another for another coin, price or unit, and once it is cancelled, seen, changed or nearly over', async () => {
    verifies('buyer-same-invoice');
    const { path, merchant, id } = await shop();
    const cookie = await visit(path);
    const first = await choose(path, 'bitcoin', { cookie });
    const coin = await choose(path, 'ton', { cookie });
    const other = await choose((await shop()).path, 'bitcoin', { cookie });
    const token = merchant.token;
    await test.fetch('PATCH', `/api/v1/merchant/units/${id}`, { token, body: { amount_usd: 34 } });
    const price = await choose(path, 'bitcoin', { cookie });
    await cancel(idOf(price));
    const renewed = await choose(path, 'bitcoin', { cookie });
    await observe(test, 'bitcoin', [
      transferTo(test, await invoiceRow(test, idOf(renewed)), { final: false }),
    ]);
    const seen = await choose(path, 'bitcoin', { cookie });
    await test.fetch('POST', `/v1/invoices/${idOf(seen)}/switch`, { body: { chain: 'litecoin' } });
    const changed = await choose(path, 'bitcoin', { cookie });
    const row = await invoiceRow(test, idOf(changed));
    test.clock.advance(row.expires_at - test.clock.now() - 100);
    // From elsewhere: what he has begun here is as much as one caller may.
    const late = await choose(path, 'bitcoin', { cookie, ip: '198.51.100.8' });
    const all = [first, coin, other, price, renewed, seen, changed, late];
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect(places(all).size).toBe(8);
  });

  it('of a program is known where it says who that is', async () => {
    verifies('buyer-same-invoice');
    const { id } = await shop();
    const ids = async (bodies: object[]) => {
      const made: string[] = [];
      for (const body of bodies) made.push((await buy(id, '192.0.2.77', { chain: 'ton', ...body })).json.id);
      return new Set(made).size;
    };
    expect(await ids([{}, {}])).toBe(2);
    // A reference may name what is sold: two who buy it would pay one invoice.
    expect(await ids([{ external_ref: 'A-1' }, { external_ref: 'A-1' }])).toBe(2);
    const named = { customer_email: 'a@example.com', external_ref: 'A-2' };
    expect(await ids([named, named])).toBe(1);
    expect(await ids([named, { ...named, external_ref: 'A-3' }])).toBe(2);
  });

  it('who cancelled is not refused for it, and who is refused reads the true time', async () => {
    verifies('amount-quota', 'retry-true');
    const { id } = await shop();
    const ip = '192.0.2.9';
    const made = await inTurn(5, () => buy(id, ip));
    expect(made.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const refused = await buy(id, ip);
    const wait = 3600 + EARLY_RELEASE + READ;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(wait)]);
    await cancel(made[0]?.json.id);
    expect((await buy(id, ip)).status).toBe(200);
    test.clock.advance(100);
    expect((await buy(id, ip)).headers.get('retry-after')).toBe(String(wait - 100));
    test.clock.advance(3500);
    await readThrough(test, 'bitcoin');
    test.clock.advance(EARLY_RELEASE + READ - 1);
    await readThrough(test, 'bitcoin');
    test.clock.advance(1);
    expect((await buy(id, ip)).status).toBe(200);
  });

  it('takes no more from a shop than leaves something for the others, however often he cancels', async () => {
    verifies('amount-quota');
    const { id } = await shop();
    const statuses: number[] = [];
    for (let at = 0; at < 12; at++) {
      const { status, json } = await buy(id, '192.0.2.10');
      statuses.push(status);
      if (status === 200) await cancel(json.id);
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
    expect((await buy(id, '192.0.2.11')).status).toBe(200);
  });

  it('reads on the page, in his language, when he may try again', async () => {
    verifies('retry-true');
    const { path, id } = await shop();
    await inTurn(5, () => buy(id, IP));
    const words = async (language: string) => {
      const { status, text } = await test.fetch('POST', path, {
        headers: {
          ...headersOf({}),
          'accept-language': language,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'chain=bitcoin',
      });
      expect(status).toBe(429);
      return (/data-notice[^>]*>[\s\S]*?<p class="text">([^<]*)</.exec(text)?.[1] ?? '').replace(
        /[\u2066-\u2069]/g,
        '',
      );
    };
    expect(await words('en')).toContain('try again in 76 minutes');
    expect(await words('de')).toContain('in 76 Minuten');
    expect(await words('ru')).toContain('через 76 минут');
  });

  it('with twenty unpaid sales can refill still', async () => {
    verifies('amount-quota-refills');
    const { merchant } = await shop();
    const { token } = await test.superuser();
    const address = 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7';
    await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body: { chain: 'bitcoin', address } });
    const sale = () =>
      test.fetch('POST', '/v1/invoices', { key: merchant.key, body: { chain: 'bitcoin', amount: 33 } });
    const sales = await inTurn(21, sale);
    expect(sales.map(({ status }) => status)).toEqual([...Array(20).fill(200), 429]);
    const refill = () =>
      test.fetch('POST', '/api/v1/merchant/refill', {
        token: merchant.token,
        body: { chain: 'bitcoin', amount: 10 },
      });
    const refills = await inTurn(6, refill);
    expect(refills.map(({ status }) => status)).toEqual([...Array(5).fill(200), 429]);
    expect(refills.at(-1)?.json.detail).toContain('refills are unpaid');
    expect(Number(refills.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(EARLY_RELEASE);
    // Nor do refills take from the sales of another.
    expect((await sale()).status).toBe(429);
  });
});
