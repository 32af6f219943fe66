// The merchant account: key, webhook, currencies, wallets, balances, income and refills, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookSecretPurpose } from '../../../daemon/secrets.ts';
import { getMerchant } from '../../../data/merchants.ts';
import { isKey } from '../../../src/keys.ts';
import { databases, startApp, type TestApp, type TestMerchant, wallets } from '../../helpers/app.ts';

const DAY = 86_400;
const CHAINS = ['ton', 'ton-usdt', 'solana', 'solana-usdc', 'solana-usdt', 'bitcoin', 'litecoin'];

describe.each(databases)('the merchant account on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({
      database,
      settings: {
        'wallets.ton': wallets.ton ?? '',
        'wallets.bitcoin': wallets.bitcoin ?? '',
        webhook_allow_private: false,
      },
    });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: unknown, { token } = merchant) =>
    service.fetch(method, `/api/v1/merchant/${path}`, { token, body });
  const patch = (body: object, who = merchant) => call('PATCH', 'account', body, who);
  /** A user as signing up makes it: no wallets. */
  const newcomer = async () => {
    const made = await service.merchant();
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', made.id).execute();
    return made;
  };

  test.each([
    ['GET', 'account'],
    ['PATCH', 'account'],
    ['POST', 'account/rotate-key'],
    ['GET', 'balances'],
    ['GET', 'wallets'],
    ['PUT', 'wallets'],
    ['GET', 'refill-wallets'],
    ['POST', 'refill'],
    ['GET', 'income'],
    ['GET', 'payment-page'],
    ['GET', 'embed-preview'],
    ['GET', 'units'],
    ['POST', 'units'],
    ['GET', 'events'],
  ])('%s %s needs a bearer token; the merchant key is none', async (method, path) => {
    const anonymous = await service.fetch(method, `/api/v1/merchant/${path}`, { key: merchant.key });
    expect([anonymous.status, anonymous.json.detail]).toEqual([401, 'Not authenticated']);
    const forged = await service.fetch(method, `/api/v1/merchant/${path}`, { token: merchant.key });
    expect([forged.status, forged.json.detail]).toEqual([403, 'Could not validate credentials']);
  });

  describe('the account', () => {
    test('shows the key, a webhook secret made at sign-up, and a limit of zero', async () => {
      const { status, json } = await call('GET', 'account');
      expect(status).toBe(200);
      expect(json).toEqual({
        slug: expect.stringMatching(/^[a-z0-9](?:-?[a-z0-9])*$/),
        api_key: merchant.key,
        webhook_url: null,
        webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
        enabled_currencies: CHAINS,
        limit_of_payments: '0',
        refill_credit_multiplier: '100',
        platform_fee_rate: '0.01',
        platform_fee_percent: '1',
        max_payment_units: 3,
        plan: 'base',
        network: 'testnet',
        fee_description: expect.stringContaining('1 %'),
      });
      expect(isKey(json.api_key)).toBe(true);
      expect(Buffer.from(json.webhook_secret.slice(6), 'base64')).toHaveLength(24);
    });

    test('keeps key and secret encrypted, bound to their row', async () => {
      const { json } = await call('GET', 'account');
      const row = await getMerchant(service.app.db.query, merchant.id);
      const stored = JSON.stringify({ ...row, prepaid_micros: 0 });
      expect(stored).not.toContain(json.api_key);
      expect(stored).not.toContain(json.webhook_secret);
      const { secrets } = service.app;
      expect(() =>
        secrets.open(row?.webhook_secret_sealed ?? '', webhookSecretPurpose('another row')),
      ).toThrow();
    });

    test('is made for a superuser that came without one, once', async () => {
      const operator = await service.superuser();
      await service.app.db.query.deleteFrom('merchants').where('id', '=', operator.id).execute();
      const both = await Promise.all(
        [1, 2].map(() => service.fetch('GET', '/api/v1/merchant/account', { token: operator.token })),
      );
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      expect(both[0]?.json.api_key).toBe(both[1]?.json.api_key);
    });

    test('keeps what is left out; null and empty texts remove', async () => {
      const who = await service.merchant();
      const set = await patch(
        { webhook_url: 'https://shop.example.com/hook', webhook_secret: 'a secret of my own' },
        who,
      );
      expect(set.json).toMatchObject({
        webhook_url: 'https://shop.example.com/hook',
        webhook_secret: 'a secret of my own',
      });
      expect((await patch({ slug: null }, who)).json).toEqual(set.json);
      expect((await patch({}, who)).json).toEqual(set.json);
      const removed = await patch({ webhook_url: null, webhook_secret: null }, who);
      expect(removed.json).toMatchObject({ webhook_url: null, webhook_secret: null });
      await patch({ webhook_url: 'https://shop.example.com/hook', webhook_secret: 'again' }, who);
      const emptied = await patch({ webhook_url: '', webhook_secret: '' }, who);
      expect(emptied.json).toMatchObject({ webhook_url: null, webhook_secret: null });
      expect((await call('GET', 'account', undefined, who)).json).toEqual(emptied.json);
    });

    test.each([
      'http://127.0.0.1/hook',
      'http://localhost:8080/',
      'http://10.0.0.7/',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'ftp://shop.example.com/',
      'https://user:pass@shop.example.com/',
      'https://shop.example.com:25/',
      'no url',
    ])('refuses to call %s', async (webhook_url) => {
      const { status, json } = await patch({ webhook_url });
      expect([status, json.code]).toEqual([400, 'url_not_allowed']);
      expect((await call('GET', 'account')).json.webhook_url).toBeNull();
    });

    test('refuses a webhook secret that no receiver could verify with, and never echoes one', async () => {
      for (const webhook_secret of ['whsec_', 'whsec_no base64!'])
        expect(await patch({ webhook_secret })).toMatchObject({ status: 400, json: { code: 'bad_request' } });
      const long = await patch({ webhook_secret: 'secret'.repeat(100) });
      expect([long.status, 'input' in long.json.detail[0]]).toEqual([422, false]);
    });

    test('takes gateway ids and tickers in any case, once each, and answers them as they were sent', async () => {
      const who = await service.merchant();
      const enable = (enabled_currencies: unknown) => patch({ enabled_currencies }, who);
      expect((await enable(['Ton', 'USDT', 'usdt', 'solana', 'TON'])).json.enabled_currencies).toEqual([
        'Ton',
        'USDT',
        'solana',
      ]);
      const missing = (await call('GET', 'wallets', undefined, await withoutWallets(who))).json.missing;
      expect(missing).toEqual(['ton', 'solana']);
      const unknown = await enable(['TON', 'DOGE']);
      expect([unknown.status, unknown.json.code]).toEqual([400, 'unknown_chain']);
      expect(unknown.json.detail).toContain('DOGE');
      expect((await enable([])).json.enabled_currencies).toEqual([]);
      const off = await service.fetch('POST', '/v1/invoices', {
        key: who.key,
        body: { chain: 'ton', amount: 1 },
      });
      expect([off.status, off.json.code]).toEqual([400, 'unknown_chain']);
      expect((await enable(null)).json.enabled_currencies).toEqual(CHAINS);
      expect((await enable('TON')).json.detail[0].type).toBe('list_type');
    });

    test('has a slug of its own choice, which nobody else has', async () => {
      const [one, other] = [await service.merchant(), await service.merchant()];
      expect((await patch({ slug: 'my-shop-7' }, one)).json.slug).toBe('my-shop-7');
      const taken = await patch({ slug: 'my-shop-7', webhook_url: 'https://example.org/' }, other);
      expect([taken.status, taken.json.code]).toEqual([409, 'slug_taken']);
      expect((await call('GET', 'account', undefined, other)).json.webhook_url).toBeNull();
      expect((await patch({ slug: 'my-shop-7' }, one)).status).toBe(200);
      for (const slug of ['ab', 'My-Shop', '-shop', 'shop-', 'my--shop', 'my_shop', 'x'.repeat(65)])
        expect([slug, (await patch({ slug }, one)).status]).toEqual([slug, 422]);
    });

    test('cannot be given money, another key or another owner', async () => {
      const who = await service.merchant();
      const before = (await call('GET', 'account', undefined, who)).json;
      const after = await patch(
        {
          prepaid_micros: 5,
          limit_of_payments: '1000',
          api_key: 'gw_x',
          id: 'x',
          plan: 'gold',
          network: 'mainnet',
        },
        who,
      );
      expect([after.status, after.json]).toEqual([200, before]);
    });

    test('replaces its key, and the old one stops working at once', async () => {
      const who = await service.merchant();
      const { status, json } = await call('POST', 'account/rotate-key', undefined, who);
      expect([status, isKey(json.api_key), json.api_key === who.key]).toEqual([200, true, false]);
      const list = (key: string) => service.fetch('GET', '/v1/invoices', { key });
      expect((await list(who.key)).json.detail).toBe('Invalid API key');
      expect((await list(json.api_key)).status).toBe(200);
    });
  });

  describe('wallets', () => {
    const put = (blockchain: string, address: string, who = merchant) =>
      call('PUT', 'wallets', { blockchain, address }, who);

    test('are listed with what enabled currencies still need', async () => {
      const who = await newcomer();
      const list = async () => (await call('GET', 'wallets', undefined, who)).json;
      expect(await list()).toEqual({ wallets: [], missing: ['ton', 'solana', 'bitcoin', 'litecoin'] });
      await put('bitcoin', wallets.bitcoin ?? '', who);
      await patch({ enabled_currencies: ['BTC', 'USDC'] }, who);
      expect(await list()).toEqual({
        wallets: [
          {
            blockchain: 'bitcoin',
            blockchain_name: 'Bitcoin',
            address: wallets.bitcoin,
            network: 'testnet',
            currencies: ['BTC'],
            updated_at: service.clock.now(),
          },
        ],
        missing: ['solana'],
      });
    });

    test('are shown as wallets write them, and one replaces the one before', async () => {
      const who = await newcomer();
      const first = await put(' TON ', wallets.ton ?? '', who);
      expect(first.status).toBe(200);
      expect(first.json).toMatchObject({ blockchain: 'ton', currencies: ['TON', 'USDT'] });
      expect(first.json.address).toMatch(/^0Q/);
      const second = await put('ton', `0:${'22'.repeat(32)}`, who);
      const { json } = await call('GET', 'wallets', undefined, who);
      expect(json.wallets).toEqual([second.json]);
    });

    test('a new one leaves open invoices on the address that they show', async () => {
      const who = await service.merchant();
      const made = await service.fetch('POST', '/v1/invoices', {
        key: who.key,
        body: { chain: 'bitcoin', amount: '10' },
      });
      await put('bitcoin', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', who);
      const read = await service.fetch('GET', `/v1/invoices/${made.json.id}`, { key: who.key });
      expect(read.json.address).toBe(wallets.bitcoin);
      const next = await service.fetch('POST', '/v1/invoices', {
        key: who.key,
        body: { chain: 'bitcoin', amount: '10' },
      });
      expect(next.json.address).toMatch(/^tb1qrp33g/);
    });

    test.each([
      ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy', 'a wrong checksum'],
      ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'the other network'],
      ['ton', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'another chain'],
      ['solana', '0x52908400098527886E0F7030069857D2E4169EE7', 'another chain'],
      ['litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'the other network'],
    ])('of %s refuse %s: %s', async (blockchain, address) => {
      const { status, json } = await put(blockchain, address);
      expect([status, json.code]).toEqual([400, 'invalid_address']);
      expect(json.detail.length).toBeGreaterThan('Invalid address'.length);
    });

    test('refuse a blockchain that is not there, and name the one of a gateway', async () => {
      const unknown = await put('dogecoin', 'D'.repeat(34));
      expect([unknown.status, unknown.json.code]).toEqual([400, 'unknown_chain']);
      expect(unknown.json.detail).toContain('ton, solana, bitcoin, litecoin');
      expect((await put('ton-usdt', wallets.ton ?? '')).json.detail).toContain('use ton');
    });

    test('take 8 to 256 characters', async () => {
      expect((await put('ton', 'x'.repeat(7))).json.detail[0].type).toBe('string_too_short');
      expect((await put('ton', 'x'.repeat(257))).json.detail[0].type).toBe('string_too_long');
      const { json } = await call('PUT', 'wallets', {});
      expect(json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
        ['body', 'blockchain'],
        ['body', 'address'],
      ]);
    });
  });

  describe('money', () => {
    test('balances are the prepaid one and the income of each currency', async () => {
      const who = await service.merchant();
      expect((await call('GET', 'balances', undefined, who)).json).toEqual([
        { currency: 'USD', amount: '0' },
      ]);
      await sell(who, 'ton', '8');
      await sell(who, 'bitcoin', '30');
      expect((await call('GET', 'balances', undefined, who)).json).toEqual([
        { currency: 'USD', amount: '0' },
        { currency: 'BTC', amount: '0.0003' },
        { currency: 'TON', amount: '2' },
      ]);
    });

    test('income is listed newest first, in pages and by UTC days', async () => {
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
      const { status, json } = await refill({ chain: 'solana', amount: 10 });
      expect([status, json.code, json.blockchain]).toEqual([400, 'no_wallet', 'solana']);
      expect(json.detail).toContain('Solana');
      expect((await refill({ chain: 'dogecoin', amount: 10 })).json.code).toBe('unknown_chain');
    });

    test('take USD, coins, and amount_usd as another name', async () => {
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

  describe('previews', () => {
    test('the payment page says what keeps buyers from paying, until nothing does', async () => {
      const who = await newcomer();
      const page = async () => (await call('GET', 'payment-page', undefined, who)).json;
      const empty = await page();
      expect(empty).toMatchObject({ network: 'testnet', demo_mode: true, ready: false, units: [] });
      expect(empty.problems.join()).toContain('POST /api/v1/merchant/units');
      const body = { title: 'Tea', amount_usd: 3, currencies: ['TON'] };
      const unit = (await call('POST', 'units', body, who)).json;
      const unpayable = await page();
      expect([unpayable.ready, unpayable.problems.join()]).toEqual([false, expect.stringContaining('“Tea”')]);
      expect(unpayable.missing_wallets).toEqual(['ton', 'solana', 'bitcoin', 'litecoin']);
      await call('PUT', 'wallets', { blockchain: 'ton', address: wallets.ton }, who);
      expect(await page()).toMatchObject({
        ready: true,
        problems: [],
        units: [{ id: unit.id, chains: ['ton'] }],
      });
      await call('PATCH', `units/${unit.id}`, { active: false }, who);
      expect(await page()).toMatchObject({ ready: false, problems: [expect.stringContaining('active')] });
    });

    test('the embed preview has markup for each unit, and patterns where there is none', async () => {
      const who = await newcomer();
      const preview = async () => (await call('GET', 'embed-preview', undefined, who)).json;
      const patterns = await preview();
      expect(patterns.snippets.map(({ unit_id }: { unit_id: null }) => unit_id)).toEqual([null, null, null]);
      const body = { title: 'Tea', amount_usd: 3, currencies: ['TON'] };
      const unit = (await call('POST', 'units', body, who)).json;
      const [mobile] = (await preview()).snippets;
      expect(mobile.html).toContain(`src="http://127.0.0.1:4020/embed.js" data-unit="${unit.id}"`);
      expect(mobile.html).toMatch(/async .*data-size="mobile" data-target="#gateway-checkout"/);
      expect(mobile.preview_url).toBe(unit.embed_small_url);
    });
  });

  async function sell(who: TestMerchant, chain: string, amount: string) {
    const made = await service.fetch('POST', '/v1/invoices', { key: who.key, body: { chain, amount } });
    const paid = await service.fetch('POST', `/v1/invoices/${made.json.id}/simulate`, { key: who.key });
    expect(paid.json.status).toBe('confirmed');
    return paid.json as { id: string; txid: string | null };
  }

  /** The same merchant without wallets. */
  async function withoutWallets(who: TestMerchant): Promise<TestMerchant> {
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', who.id).execute();
    return who;
  }
});
