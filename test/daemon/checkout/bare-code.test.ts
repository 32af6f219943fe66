// Pages whose code holds only the address: every language says so, with network and amount.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LanguageCode, languageOf, languages } from '../../../daemon/checkout/language.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { create, credit } from '../../helpers/payments.ts';
import { moreWallets, setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

let world: TestApp;
let merchant: TestMerchant;
beforeAll(async () => {
  world = await startApp({
    settings: {
      'gateways.base-usdc.enabled': 'true',
      'gateways.tron.enabled': 'true',
      'gateways.tron-usdt.enabled': 'true',
      'rates.usd.TRX': '0.25',
    },
  });
  merchant = await world.merchant();
  await credit(world, merchant.id, 1_000_000_000n);
  for (const [blockchain, address] of Object.entries(moreWallets))
    await setWallet(world.app, merchant.id, blockchain, address);
});
afterAll(() => world.stop());

const noteIn = (html: string): string | undefined =>
  /<p class="alert" data-address-only[^>]*>(.*?)<\/p>/.exec(html)?.[1];
const page = async (id: string, lang = 'en') => (await world.fetch('GET', `/pay/${id}?lang=${lang}`)).text;

test.each([
  ['base-usdc', 'USDC', 'Base'],
  ['tron-usdt', 'USDT', 'TRON'],
])(
  '%s: the code is the address, and its words name amount and network in every language',
  async (chain, currency, network) => {
    verifies('code-address');
    const { id, qr_payload, address } = await create(world, merchant, chain);
    expect(qr_payload).toBe(address);
    for (const code of Object.keys(languages)) {
      const note = noteIn(await page(id, code)) ?? '';
      expect(note, code).toContain(network);
      expect(note, code).toContain(currency);
      expect(note, code).toMatch(/[\d٠-٩۰-۹०-९]/);
    }
  },
);

test('where payments by contract go unseen, the page says so in every language, and the list of gateways too', async () => {
  verifies('direct-only');
  const { id } = await create(world, merchant, 'tron');
  for (const code of Object.keys(languages) as LanguageCode[]) {
    const html = await page(id, code);
    const words = languageOf(code).say('warn_direct', { currency: '{currency}' });
    for (const part of words.replace(/[\u2068\u2069]/g, '').split('{currency}'))
      expect(html, code).toContain(part);
  }
  const { json } = await world.fetch('GET', '/v1/gateways');
  const listed = new Map(
    json.data.map((each: { chain: string; direct_only: boolean }) => [each.chain, each.direct_only]),
  );
  expect([listed.get('tron'), listed.get('tron-usdt'), listed.get('ton')]).toEqual([true, false, false]);
  const token = await create(world, merchant, 'tron-usdt');
  expect(await page(token.id)).not.toContain('exchanges and smart contract wallets');
});

test('a code that holds the whole payment has no such words', async () => {
  const { id } = await create(world, merchant, 'ton');
  const html = await page(id);
  expect(html).toContain('data-qr');
  expect(noteIn(html)).toBeUndefined();
});
