// Receive wallets of a merchant, and what buyers are shown because of them, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('wallets on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: unknown, { token } = merchant) =>
    service.fetch(method, `/api/v1/merchant/${path}`, { token, body });
  const patch = (body: object, who = merchant) => call('PATCH', 'account', body, who);
  /** A merchant without wallets, as signing up makes it. */
  const newcomer = async () => {
    const made = await service.merchant();
    await service.app.db.query.deleteFrom('wallets').where('merchant_id', '=', made.id).execute();
    return made;
  };

  const put = (blockchain: string, address: string, who = merchant) =>
    call('PUT', 'wallets', { blockchain, address }, who);

  test('are listed with what enabled currencies still need', async () => {
    verifies('get-wallets', 'wallet-entry');
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
    verifies('put-wallets', 'res-wallet', 'wallet-entry');
    const who = await newcomer();
    const first = await put(' TON ', wallets.ton ?? '', who);
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({ blockchain: 'ton', currencies: ['TON', 'USDT'] });
    expect(first.json.address).toMatch(/^0Q/);
    const second = await put('ton', `0:${'22'.repeat(32)}`, who);
    const { json } = await call('GET', 'wallets', undefined, who);
    const { also, warning, ...stored } = second.json;
    expect([json.wallets, also, warning]).toEqual([[stored], [], null]);
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
    verifies('limit-wallet-address');
    expect((await put('ton', 'x'.repeat(7))).json.detail[0].type).toBe('string_too_short');
    expect((await put('ton', 'x'.repeat(257))).json.detail[0].type).toBe('string_too_long');
    const { json } = await call('PUT', 'wallets', {});
    expect(json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ['body', 'blockchain'],
      ['body', 'address'],
    ]);
  });

  describe('previews', () => {
    test('the payment page says what keeps buyers from paying, until nothing does', async () => {
      verifies('get-payment-page');
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
      verifies('get-embed-preview');
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
});
