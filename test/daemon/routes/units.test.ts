// Units: three per merchant and no more, clamped waits, stable slugs, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

const ABSENT_ID = '00000000-0000-4000-8000-000000000000';
const tea = { title: 'Tea for two', amount_usd: 4.5, currencies: ['TON', 'usdt'] };

describe.each(databases)('units on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const call = (who: TestMerchant, method: string, path = '', body?: unknown) =>
    service.fetch(method, `/api/v1/merchant/units${path}`, { token: who.token, body });

  test('are created with their pages and surfaces', async () => {
    verifies('post-units', 'res-unit');
    const { status, json } = await call(merchant, 'POST', '', {
      ...tea,
      description: 'Green',
      wait_seconds: 900,
      language: 'de',
    });
    const base = 'http://127.0.0.1:4020';
    const account = await service.fetch('GET', '/api/v1/merchant/account', { token: merchant.token });
    expect(status).toBe(200);
    expect(json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      slug: 'tea-for-two',
      merchant_slug: account.json.slug,
      title: 'Tea for two',
      description: 'Green',
      amount_usd: '4.5',
      currencies: ['TON', 'usdt'],
      chains: ['ton', 'ton-usdt', 'solana-usdt'],
      wait_seconds: 900,
      language: 'de',
      active: true,
      network: 'testnet',
      page_url: `${base}/u/${account.json.slug}/tea-for-two`,
      embed_small_url: `${base}/v1/units/${json.id}/page?size=mobile`,
      embed_big_url: `${base}/v1/units/${json.id}/page?size=desktop`,
      surfaces: [
        expect.objectContaining({ id: 'mobile', url: json.embed_small_url }),
        expect.objectContaining({ id: 'desktop', url: json.embed_big_url }),
        { id: 'site', name: 'Site page', url: json.page_url, html: null },
      ],
      created_at: service.clock.now(),
      updated_at: service.clock.now(),
      listed: false,
    });
    expect(json.surfaces[0].html).toContain(`data-unit="${json.id}" data-size="mobile"`);
  });

  test('are listed oldest first, with what the account allows', async () => {
    verifies('get-units', 'res-unit-list', 'unit-available');
    const who = await service.merchant();
    const first = (await call(who, 'POST', '', { ...tea, title: 'First' })).json;
    service.clock.advance(1);
    const second = (await call(who, 'POST', '', { ...tea, title: 'Second' })).json;
    await service.fetch('PATCH', '/api/v1/merchant/account', {
      token: who.token,
      body: { enabled_currencies: ['USDT'] },
    });
    const { json } = await call(who, 'GET');
    expect(json).toMatchObject({
      max_payment_units: 3,
      available_currencies: ['ton-usdt', 'solana-usdt'],
      wait_seconds_min: 300,
      wait_seconds_max: 86400,
    });
    expect(json.units.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    // What the account no longer enables is not offered, though the unit still names it.
    expect(json.units[0]).toMatchObject({
      currencies: ['TON', 'usdt'],
      chains: ['ton-usdt', 'solana-usdt'],
    });
  });

  test('may be made before wallets are set, and then can be paid with nothing', async () => {
    verifies('unit-before-wallet');
    const who = await service.merchant();
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', who.id).execute();
    expect((await call(who, 'POST', '', tea)).json).toMatchObject({
      chains: [],
      currencies: ['TON', 'usdt'],
    });
  });

  test('of eight made at once, three are', async () => {
    verifies('limit-units', 'refuse-unit-limit');
    const who = await service.merchant();
    const made = await Promise.all(Array.from({ length: 8 }, () => call(who, 'POST', '', tea)));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { status, json } of made)
      if (status !== 200) expect([status, json.code]).toEqual([403, 'unit_limit']);
    const { json } = await call(who, 'GET');
    expect(json.units.map(({ slug }: { slug: string }) => slug).sort()).toEqual([
      'tea-for-two',
      'tea-for-two-2',
      'tea-for-two-3',
    ]);
    await call(who, 'DELETE', `/${json.units[1].id}`);
    expect((await call(who, 'POST', '', tea)).status).toBe(200);
  });

  test('are slugged from their title, which two merchants may share', async () => {
    verifies('unit-slug');
    const [one, other] = [await service.merchant(), await service.merchant()];
    const slug = async (who: TestMerchant, title: string) =>
      (await call(who, 'POST', '', { ...tea, title })).json.slug;
    expect(await slug(one, 'Café  Crème & co!')).toBe('cafe-creme-co');
    expect(await slug(other, 'Café Crème & Co')).toBe('cafe-creme-co');
    expect(await slug(one, 'Чай')).toBe('offer');
    expect(await slug(one, 'x'.repeat(128))).toBe('x'.repeat(48));
  });

  test.each([
    [0, 300],
    [-5, 300],
    [299, 300],
    ['600', 600],
    [86_401, 86_400],
    [null, 3600],
    [undefined, 3600],
  ])('a wait of %s seconds is one of %s', async (wait_seconds, expected) => {
    verifies('limit-wait-seconds');
    const who = await service.merchant();
    const { json } = await call(who, 'POST', '', { ...tea, wait_seconds });
    expect(json.wait_seconds).toBe(expected);
    const later = await call(who, 'PATCH', `/${json.id}`, { wait_seconds: wait_seconds ?? 700 });
    expect(later.json.wait_seconds).toBe(wait_seconds == null ? 700 : expected);
  });

  test('change what is sent and keep the rest; the slug stays', async () => {
    verifies('patch-unit');
    const who = await service.merchant();
    const { json } = await call(who, 'POST', '', { ...tea, description: 'Green', language: 'de' });
    service.clock.advance(5);
    const change = (body: object) => call(who, 'PATCH', `/${json.id}`, body);
    const changed = await change({ title: 'Coffee', amount_usd: '5.25', currencies: ['BTC'], active: false });
    expect(changed.json).toMatchObject({
      title: 'Coffee',
      slug: 'tea-for-two',
      amount_usd: '5.25',
      currencies: ['BTC'],
      chains: ['bitcoin'],
      active: false,
      description: 'Green',
      language: 'de',
      created_at: json.created_at,
      updated_at: json.created_at + 5,
    });
    const nulls = await change({ title: null, amount_usd: null, currencies: null, active: null });
    expect(nulls.json).toEqual(changed.json);
    expect((await change({ description: null, language: null })).json).toMatchObject({
      description: null,
      language: null,
    });
    const mass = await change({ slug: 'mine', merchant_id: ABSENT_ID, id: ABSENT_ID });
    expect(mass.json).toMatchObject({ id: json.id, slug: 'tea-for-two' });
  });

  test('are deleted once', async () => {
    verifies('delete-unit');
    const who = await service.merchant();
    const { json } = await call(who, 'POST', '', tea);
    const gone = await call(who, 'DELETE', `/${json.id}`);
    expect([gone.status, gone.json]).toEqual([
      200,
      { id: json.id, deleted: true, message: 'Unit deleted successfully' },
    ]);
    expect((await call(who, 'DELETE', `/${json.id}`)).json).toMatchObject({ code: 'unit_not_found' });
    expect((await call(who, 'GET')).json.units).toEqual([]);
  });

  test('of another merchant are not there', async () => {
    const [one, other] = [await service.merchant(), await service.merchant()];
    const { json } = await call(one, 'POST', '', tea);
    for (const id of [json.id, ABSENT_ID]) {
      const changed = await call(other, 'PATCH', `/${id}`, { title: 'Mine' });
      expect([changed.status, changed.json.detail]).toEqual([404, 'Unit not found']);
      expect((await call(other, 'DELETE', `/${id}`)).status).toBe(404);
    }
    expect((await call(one, 'GET')).json.units).toEqual([json]);
  });

  test.each([
    [{}, ['title', 'amount_usd', 'currencies']],
    [{ ...tea, title: '' }, ['title']],
    [{ ...tea, title: 'x'.repeat(129) }, ['title']],
    [{ ...tea, description: 'x'.repeat(513) }, ['description']],
    [{ ...tea, language: 'x'.repeat(9) }, ['language']],
    [{ ...tea, amount_usd: 0 }, ['amount_usd']],
    [{ ...tea, amount_usd: 1e9 }, ['amount_usd']],
    [{ ...tea, currencies: [] }, ['currencies']],
    [{ ...tea, wait_seconds: 'soon' }, ['wait_seconds']],
  ])('refuse %j', async (body, names) => {
    verifies('limit-unit-texts');
    const { status, json } = await call(merchant, 'POST', '', body);
    expect(status).toBe(422);
    expect(json.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(names);
  });

  test('refuse a currency that is not there', async () => {
    verifies('currency-entries');
    const made = await call(merchant, 'POST', '', { ...tea, currencies: ['TON', 'DOGE'] });
    expect([made.status, made.json.code]).toEqual([400, 'unknown_chain']);
  });

  test('refuse a price that no invoice can ask for, and round to the nearest millionth', async () => {
    const price = (amount_usd: string) => call(merchant, 'POST', '', { ...tea, amount_usd });
    const high = await price('999999999.5');
    expect([high.status, high.json.code]).toEqual([400, 'amount_too_large']);
    expect((await price('0.0000005')).json.amount_usd).toBe('0.000001');
    expect((await price('0.0000001')).json.detail[0]).toMatchObject({ type: 'greater_than' });
  });

  test('made twice with one Idempotency-Key are one', async () => {
    verifies('idempotency-where');
    const who = await service.merchant();
    const send = () =>
      service.fetch('POST', '/api/v1/merchant/units', {
        token: who.token,
        body: tea,
        headers: { 'idempotency-key': 'unit-1' },
      });
    const [first, again] = [await send(), await send()];
    expect(again.json).toEqual(first.json);
    expect((await call(who, 'GET')).json.units).toHaveLength(1);
  });
});
