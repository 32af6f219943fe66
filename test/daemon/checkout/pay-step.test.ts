// The step where the buyer pays, on phones and on computers: what stands first, what it opens, and what it is called.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type LanguageCode, languageOf, languages } from '../../../daemon/checkout/language.ts';
import type { Serving } from '../../../daemon/process/serve.ts';
import {
  type Composed,
  type Family,
  type Gateway,
  PayerError,
  type PayerOrder,
} from '../../../src/chains/family.ts';
import { blockchains, gatewaysOf } from '../../../src/chains/gateways.ts';
import { usualTime } from '../../../src/chains/usual.ts';
import { waitOf } from '../../../src/confirmations.ts';
import { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, holds, listen, useBrowser } from '../../helpers/browser.ts';
import { namedRpc } from '../../helpers/family.ts';
import { create, credit, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { moreWallets, setWallet, wallets } from '../../helpers/people.ts';
import { readQr } from '../../helpers/png.ts';
import { sourceOf } from '../../helpers/reading.ts';
import { inspect } from '../../pictures/faults.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, createUnit } from './states.ts';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
const TALL = { width: 390, height: 844 };
const SMALL = { width: 375, height: 667 };
const phone = (viewport = TALL): BrowserContextOptions => ({
  viewport,
  isMobile: true,
  hasTouch: true,
  userAgent: IPHONE,
});

let world: TestApp;
let merchant: TestMerchant;
beforeAll(async () => {
  world = await startApp({
    settings: { 'gateways.tron-usdt.enabled': 'true' },
    // Wallets are handed what a family makes; no chain is asked.
    source: (id) => (id === 'solana' || id === 'ton' ? sourceOf(namedRpc('none')) : undefined),
  });
  merchant = await world.merchant();
  await credit(world, merchant.id, 1_000_000_000n);
  for (const [blockchain, address] of Object.entries(moreWallets))
    await setWallet(world.app, merchant.id, blockchain, address);
});
afterAll(() => world.stop());

const TON_ACCOUNT = `0:${'1'.repeat(64)}`;

/** A wallet that announces itself, its words to be feared, next to one of another network; it answers as the test sets. */
const announcedWallet = (address: string): string => `{
  const sends = 'solana:signAndSendTransaction';
  const accounts = [{ address: '${address}', chains: ['solana:devnet'], features: [sends] }];
  const wallet = {
    version: '1.0.0',
    name: '<img src=https://wallet.example/x onerror=alert(1)>',
    icon: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    chains: ['solana:mainnet', 'solana:devnet'],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: globalThis.accounts || accounts }) },
      [sends]: { version: '1.0.0', async signAndSendTransaction({ account, transaction, chain }) {
        globalThis.questions = (globalThis.questions || 0) + 1;
        if (globalThis.opens_for) await new Promise((resolve) => setTimeout(resolve, globalThis.opens_for));
        if (globalThis.fails) throw globalThis.fails;
        globalThis.asked = [new TextDecoder().decode(transaction), chain, account.address];
        return [{ signature: new Uint8Array(64) }];
      } },
    },
  };
  const other = { ...wallet, name: 'Main', icon: 'https://wallet.example/i.png', chains: ['solana:mainnet'] };
  const hostile = { ...wallet };
  Object.defineProperty(hostile, 'name', { get() { throw new Error('no name'); } });
  const wordless = { ...wallet, name: { toString() { throw new Error('no words'); } } };
  const announce = (api) => api.register(hostile, null, wallet, wordless, other, { name: 'Nothing' });
  addEventListener('wallet-standard:app-ready', (event) => announce(event.detail));
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: announce }));
}`;

/** A wallet that puts itself into the page; it answers as the test sets. */
const bridgedWallet = `{
  globalThis.account = (network) => ({
    event: 'connect', id: 1, payload: { items: [{ name: 'ton_addr', address: '${TON_ACCOUNT}', network }] },
  });
  window.hostile = { tonconnect: { protocolVersion: 2, get walletInfo() { throw new Error('no words'); } } };
  window.testwallet = { tonconnect: {
    protocolVersion: 2,
    walletInfo: { name: 'Test Wallet', image: 'https://wallet.example/icon.png' },
    async connect(...request) {
      globalThis.connected = request;
      return globalThis.answer;
    },
    async send(request) {
      globalThis.sent = request;
      return { result: '', id: request.id };
    },
  } };
}`;

const invoice = (chain: string, amount = '29.90') =>
  createInvoice({ test: world, merchant }, { chain, amount });
const html = async (path: string) => (await world.fetch('GET', path)).text;

describeInBrowser('the pay step', () => {
  const browser = useBrowser();
  let serving: Serving;
  beforeAll(async () => {
    serving = await listen(world);
  });
  afterAll(() => serving.stop());

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.open(options);
    const page = await context.newPage();
    await page.goto(serving.url + path);
    return page;
  }
  const box = async (page: Page, selector: string) => {
    const found = await page.locator(selector).first().boundingBox();
    if (!found) throw new Error(`${selector} is not shown`);
    return found;
  };
  const shown = (page: Page, selector: string) => page.locator(`${selector}:visible`).count();

  test.each([
    ['with scripts', true],
    ['without', false],
  ])('a phone shows one button, and the whole step on one screen, %s', async (_, javaScriptEnabled) => {
    verifies('pay-step-phone');
    const unit = await createUnit({ test: world, merchant });
    const bought = await world.fetch('POST', `/v1/units/${unit.id}/checkout`, { body: { chain: 'ton' } });
    const page = await open(`/pay/${bought.json.id}`, { ...phone(), javaScriptEnabled });
    expect(await shown(page, '.opens a')).toBe(1);
    expect(await page.locator('.first').textContent()).toBe('Pay with Keeperformerly Tonkeeper');
    const end = await box(page, '.cancel');
    expect(end.y + end.height).toBeLessThanOrEqual(TALL.height);
    expect(await shown(page, '[data-qr]')).toBe(0);
    await page.getByText('Other wallets').click();
    expect(await shown(page, '.opens a')).toBe(2);
    await page.getByText('Pay manually').click();
    expect(await shown(page, '[data-qr]')).toBe(1);
    expect(await shown(page, '.hand .field')).toBe(3);
    expect((await box(page, '[data-qr]')).y).toBeGreaterThan((await box(page, '.hand .field')).y);
    await page.context().close();
  });

  test.each([['ton'], ['solana-usdc'], ['bitcoin']])(
    'the button of %s is above the fold of a small phone',
    async (chain) => {
      const page = await open(`/pay/${await invoice(chain)}?lang=de`, phone(SMALL));
      const button = await box(page, '.opens .first');
      expect(button.y + button.height).toBeLessThan(SMALL.height);
      await page.context().close();
    },
  );

  test('a phone whose coin no wallet link opens shows what is paid by hand at once', async () => {
    const page = await open(`/pay/${await invoice('tron-usdt')}`, phone());
    expect(await shown(page, '.opens a')).toBe(0);
    expect(await shown(page, '.hand .field')).toBe(2);
    expect(await shown(page, '[data-qr]')).toBe(1);
    await page.context().close();
  });

  test('a computer shows the code first, with what to do in one sentence, and only links that open something', async () => {
    verifies('pay-step-desktop');
    for (const [chain, links] of [
      ['ton', 1],
      ['bitcoin', 1],
      ['solana-usdc', 0],
    ] as const) {
      const page = await open(`/pay/${await invoice(chain)}`, { viewport: { width: 1280, height: 800 } });
      const code = await box(page, '[data-qr]');
      expect(code.width).toBeGreaterThanOrEqual(280);
      expect(code.width).toBeLessThanOrEqual(320);
      expect(code.y + code.height).toBeLessThan(800);
      expect(await page.locator('.ask').textContent()).toMatch(
        /^Scan with your wallet app, then confirm .+\.$/,
      );
      expect(await shown(page, '.opens a'), chain).toBe(links);
      if (links > 0) expect((await box(page, '.opens.on-desk a')).y).toBeGreaterThan(code.y + code.height);
      await page.context().close();
    }
  });

  test('the clock is a quiet line until two minutes are left', async () => {
    verifies('pay-step-clock');
    const id = await invoice('ton');
    const colour = (page: Page) =>
      page.evaluate('getComputedStyle(document.querySelector("[data-left]")).color');
    const page = await open(`/pay/${id}`);
    const quiet = await colour(page);
    expect(await page.locator('.soon').count()).toBe(0);
    world.clock.advance(185);
    await page.reload();
    expect(await page.locator('.soon').count()).toBe(1);
    expect(await colour(page)).not.toBe(quiet);
    await page.context().close();
  });

  test('the wallet that was opened last comes first the next time, on this origin alone', async () => {
    verifies('last-wallet');
    const context = await browser.open(phone());
    const page = await context.newPage();
    await page.goto(`${serving.url}/pay/${await invoice('solana-usdc')}`);
    expect(await page.locator('.first').getAttribute('data-wallet')).toBe('any');
    await page.getByText('Other wallets').click();
    await page.evaluate(
      'document.querySelector("[data-wallet=solflare]").addEventListener("click", (event) => event.preventDefault())',
    );
    await page.locator('[data-wallet=solflare]').click();
    const id = await invoice('solana');
    await page.goto(`${serving.url}/pay/${id}`);
    await holds(page, 'document.querySelector(".first").dataset.wallet === "solflare"');
    expect(await page.locator('.first').textContent()).toBe('Pay with Solflare');
    expect(await page.evaluate('localStorage.length')).toBe(1);
    const row = await invoiceRow(world, id);
    const part = BigInt(row.amount_atomic) / 2n;
    await observe(world, 'solana', [transferTo(world, row, { amount_atomic: part })]);
    await page.locator('.gw[data-state=underpaid]').waitFor();
    expect(await page.locator('.first').getAttribute('data-wallet'), 'after an update, too').toBe('solflare');
    await page.goto(`${serving.url}/pay/${await invoice('ton')}`);
    expect(await page.locator('.first').getAttribute('data-wallet')).toBe('keeper');
    await context.close();
  });

  test('inside the browser of a wallet its own link is not offered', async () => {
    const page = await open(`/pay/${await invoice('solana')}`, {
      ...phone(),
      userAgent: `${IPHONE} Phantom/25.1`,
    });
    await holds(page, 'document.querySelectorAll("[data-wallet=phantom]").length === 0');
    expect(await page.locator('[data-wallet=solflare]').count()).toBe(1);
    await page.context().close();
  });

  /** What the daemon makes for a wallet, as the chain of this test has it. */
  function composing(chain: string, make: (order: PayerOrder) => Composed) {
    const { family } = gatewaysOf('testnet').find((gateway) => gateway.chain === chain) as Gateway;
    const spy = vi
      .spyOn(family as Required<Family>, 'compose')
      .mockImplementation(async (_, order) => make(order));
    onTestFinished(() => spy.mockRestore());
  }
  const buttons = (page: Page) => page.locator('.found button').allTextContents();
  const outcome = (page: Page, words: string) => page.locator('[data-outcome]', { hasText: words }).waitFor();

  test('wallets that announce themselves are offered on their network, and handed exactly what the daemon made', async () => {
    verifies('found-wallets', 'found-words', 'found-foreign');
    const payer = wallets.solana as string;
    let trouble: PayerError | null = new PayerError('This account has less USDC than is asked for');
    composing('solana-usdc', ({ payer: account, amount_atomic, memo }) => {
      if (trouble) throw trouble;
      return {
        kind: 'transaction',
        transaction: btoa(`${account} ${amount_atomic} ${memo}`),
        valid_seconds: 32,
      };
    });
    const context = await browser.open();
    const requests: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    await context.addInitScript(announcedWallet(payer));
    const page = await context.newPage();
    const id = await invoice('solana-usdc');
    const { memo } = await invoiceRow(world, id);
    await page.goto(`${serving.url}/pay/${id}`);
    const name = '<img src=https://wallet.example/x onerror=alert(1)>'.slice(0, 40);
    await holds(page, 'document.querySelectorAll(".found button").length === 1');
    expect((await buttons(page)).map((text) => text.replace(/[\u2068\u2069]/g, ''))).toEqual([
      `Pay with ${name}`,
    ]);
    expect(await page.locator('.found img').getAttribute('src')).toMatch(/^data:image\/png/);
    const press = () => page.locator('.found button').click();
    await page.evaluate('globalThis.accounts = []');
    await press();
    await outcome(page, 'is set to a different network');
    await page.evaluate('globalThis.accounts = undefined');
    await press();
    await outcome(page, 'There is not enough in this account');
    trouble = null;
    await page.evaluate('globalThis.fails = Object.assign(new Error("no"), { code: 4001 })');
    await press();
    await outcome(page, 'You did not confirm the payment');
    await page.evaluate('globalThis.fails = new Error("something else")');
    await press();
    await outcome(page, 'could not make the payment');
    await page.evaluate('globalThis.fails = undefined');
    await press();
    await outcome(page, 'has sent the payment');
    expect(await page.locator('.found button').isDisabled()).toBe(true);
    const asked = await page.evaluate('globalThis.asked');
    expect(asked).toEqual([`${payer} 29900000 ${memo}`, 'solana:devnet', payer]);
    await page.reload();
    await outcome(page, 'has sent the payment');
    expect(await page.locator('.found button').isDisabled(), 'after a reload').toBe(true);
    const row = await invoiceRow(world, id);
    await observe(world, 'solana', [transferTo(world, row, { amount_atomic: 1_000_000n })]);
    await page.locator('.gw[data-state=underpaid]').waitFor();
    await press();
    await outcome(page, 'has sent the payment');
    expect(await page.evaluate('globalThis.asked[0]'), 'the rest').toBe(`${payer} 28900000 ${memo}`);
    expect(requests.filter((url) => !url.startsWith(serving.url) && !url.startsWith('data:'))).toEqual([]);
    await page.goto(`${serving.url}/pay/${await invoice('bitcoin')}`);
    expect(await page.locator('.found').count()).toBe(0);
    await context.close();
  });

  test('a payment that lapsed while the wallet asked is made again, the page says why, and a no stays a no', async () => {
    verifies('compose-lapsed');
    let made = 0;
    composing('solana-usdc', () => ({
      kind: 'transaction',
      transaction: btoa(`payment ${++made}`),
      valid_seconds: 1,
    }));
    const context = await browser.open();
    await context.addInitScript(announcedWallet(wallets.solana as string));
    const page = await context.newPage();
    await page.goto(`${serving.url}/pay/${await invoice('solana-usdc')}`);
    const press = () => page.locator('.found button').click();
    await holds(page, 'document.querySelectorAll(".found button").length === 1');
    await page.evaluate('globalThis.fails = new Error("Blockhash not found")');
    // In time no one knows whether it was sent.
    await press();
    await outcome(page, 'could not make the payment');
    expect(made).toBe(1);
    await page.evaluate('globalThis.opens_for = 1500');
    await page.evaluate('globalThis.fails = new Error("User rejected the request")');
    await press();
    await outcome(page, 'You did not confirm the payment');
    expect(made).toBe(2);
    await page.evaluate('globalThis.fails = new Error("Blockhash not found")');
    await press();
    await outcome(page, 'the network no longer takes it. You will be asked again');
    expect(await page.locator('.found button').isDisabled()).toBe(true);
    await page.evaluate('globalThis.fails = undefined; globalThis.opens_for = undefined');
    await outcome(page, 'has sent the payment');
    expect(made).toBe(4);
    expect(await page.evaluate('[globalThis.questions, globalThis.asked[0]]')).toEqual([4, 'payment 4']);
    await context.close();
  });

  test('wallets that put themselves into the page are asked on their network, with the manifest of this service', async () => {
    verifies('found-wallets', 'found-words', 'wallet-manifest');
    const messages = [{ address: 'to', amount: '7', payload: 'cell' }];
    composing('ton', () => ({ kind: 'messages', network: '-3', valid_until: 1_800_000_000, messages }));
    const context = await browser.open(phone());
    await context.addInitScript(bridgedWallet);
    const page = await context.newPage();
    await page.goto(`${serving.url}/pay/${await invoice('ton')}`);
    const press = () => page.locator('.found button').click();
    for (const [answer, words] of [
      ['{ event: "connect_error", payload: { code: 300 } }', 'You did not confirm'],
      ['{ event: "connect_error", payload: { code: 2 } }', 'could not make the payment'],
      ['account("-239")', 'is set to a different network'],
    ] as const) {
      await page.evaluate(`globalThis.answer = ${answer}`);
      await press();
      await outcome(page, words);
    }
    await page.evaluate('globalThis.answer = account("-3")');
    await press();
    await outcome(page, 'has sent the payment');
    const { connected, sent } = (await page.evaluate('({ connected, sent })')) as Record<string, never>;
    const manifestUrl = `${serving.url}/wallet-manifest.json`;
    expect(connected).toEqual([2, { manifestUrl, items: [{ name: 'ton_addr' }] }]);
    const order = { valid_until: 1_800_000_000, network: '-3', from: TON_ACCOUNT, messages };
    expect(sent).toMatchObject({ method: 'sendTransaction', params: [JSON.stringify(order)] });
    const { json, headers } = await world.fetch('GET', '/wallet-manifest.json');
    expect(json).toEqual({
      url: serving.url,
      name: new URL(serving.url).host,
      iconUrl: `${serving.url}/logo.png`,
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    await context.close();
  });

  test('what was unfolded or folded stays so when the page changes', async () => {
    const id = await invoice('solana-usdc');
    const page = await open(`/pay/${id}`);
    await page.getByText('Pay manually').click();
    expect(await shown(page, '.hand .field')).toBe(0);
    const row = await invoiceRow(world, id);
    await observe(world, 'solana', [transferTo(world, row, { amount_atomic: 1_000_000n })]);
    await page.locator('.gw[data-state=underpaid]').waitFor();
    expect(await shown(page, '.hand .field')).toBe(0);
    await page.context().close();
  });

  test.each([
    ['a computer', {}],
    ['a phone', phone()],
  ])('below 300 px there is amount, code and button, on %s', async (_, options) => {
    verifies('pay-step-tiny');
    for (const chain of ['ton', 'solana-usdc']) {
      const id = await invoice(chain);
      const page = await open(`/v1/pay/${id}/page?width=240`, options);
      expect(await shown(page, '.step :is(a, button, summary)')).toBe(1);
      expect(await shown(page, '.usd')).toBe(1);
      expect((await box(page, '.title')).width, 'read aloud alone').toBe(1);
      for (const left of ['.who', '.more', '.field', '.now', '.note'])
        expect(await shown(page, left), left).toBe(0);
      const { qr_payload } = await invoiceRow(world, id);
      expect(readQr(await page.locator('[data-qr]').screenshot())).toBe(qr_payload);
      await page.goto(`${serving.url}/v1/pay/${id}/page?width=300`);
      expect((await box(page, '.title')).width).toBeGreaterThan(100);
      // Enlarged twice, a page of ours keeps all that there is to do.
      await page.setViewportSize({ width: 195, height: 422 });
      await page.goto(`${serving.url}/pay/${id}`);
      for (const remaining of ['.title', '.hand summary', 'details.cancel summary'])
        expect(await shown(page, remaining), remaining).toBeGreaterThan(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(195);
      await page.context().close();
    }
  });
});

test('no link leads on a test network to what works on the main network alone, and every link is of a real wallet', async () => {
  verifies('wallet-links');
  const namesOf = async (chain: string) =>
    [...(await html(`/pay/${await invoice(chain)}`)).matchAll(/data-wallet="([a-z]+)"/g)].map(
      ([, name]) => name,
    );
  expect(new Set(await namesOf('ton'))).toEqual(new Set(['keeper', 'any']));
  expect(new Set(await namesOf('solana'))).toEqual(new Set(['any', 'phantom', 'solflare']));
  expect(await namesOf('tron-usdt')).toEqual([]);
  const order = {
    amount_atomic: 29_900_000n,
    memo: 'K7M2X',
    reference: null,
    label: '',
    expires_at: 1_800_000_000,
  };
  const page_url = 'https://pay.example/pay/1?lang=en';
  for (const gateway of gatewaysOf('mainnet', { 'tron-usdt': { enabled: true } })) {
    const address =
      gateway.blockchain === 'ton' ? 'UQAREREREREREREREREREREREREREREREREREREREREREetT' : 'ADDRESS';
    const asked = { ...order, gateway, address, page_url, transaction_url: null };
    for (const { href, wallet } of gateway.family.walletLinks(asked)) {
      if (wallet?.browser) expect(decodeURIComponent(href)).toContain(page_url);
      else expect(href).toContain(address);
      if (wallet?.id === 'mytonwallet') expect(href).toContain('https://my.tt/transfer/');
    }
  }
});

test('a transaction request is offered where wallets reach it by https, and the code stays a transfer request', async () => {
  verifies('transaction-request');
  const { config } = world.app;
  /** What any wallet opens on a page of a daemon at this address, and what the code says. */
  async function links(public_url: string) {
    const id = await invoice('solana-usdc');
    const had = config.public_url;
    config.public_url = public_url;
    const page = await html(`/pay/${id}`).finally(() => {
      config.public_url = had;
    });
    const { qr_payload } = await invoiceRow(world, id);
    expect(qr_payload).toMatch(/^solana:\w+\?amount=29\.9&/);
    const [first] = /data-wallet="[a-z]+"/.exec(page) ?? [];
    return { id, first, qr_payload, any: /href="(solana:[^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') };
  }
  for (const url of [
    'http://pay.example',
    'http://127.0.0.1:4021',
    'https://localhost:4021',
    'https://[::1]',
  ]) {
    const { any, qr_payload, first } = await links(url);
    expect(any, url).toBe(qr_payload);
    expect(first, url).toBe('data-wallet="any"');
  }
  const { any, id, first } = await links('https://pay.example');
  expect(first).toBe('data-wallet="phantom"');
  const request = `https://pay.example/v1/invoices/${id}/transaction`;
  expect(any).toBe(`solana:${encodeURIComponent(request)}`);
});

test('a coin has the name that wallets give it where people read, and its ticker on the wire', async () => {
  verifies('coin-names');
  const made = await create(world, merchant, 'ton', { amount: '29.90' });
  const { json } = await world.fetch('GET', `/v1/public/invoices/${made.id}`);
  expect(json).toMatchObject({ currency: 'TON', amount: '7.475' });
  const page = await html(`/pay/${made.id}`);
  expect(page).toContain('7.475\u00a0Gram (TON)');
  expect(page).toMatch(/≈\u00a0<bdi translate="no">\$29\.90<\/bdi>/);
  expect(page).not.toMatch(/\d TON/);
});

test('stablecoins have two decimals at least, and what is copied is what is shown', async () => {
  verifies('coin-digits');
  const page = await html(`/pay/${await invoice('solana-usdc', '12.5')}`);
  expect(page).toContain('confirm 12.50\u00a0USDC.');
  expect(page).toContain('data-copy="12.50"');
  expect(await html(`/pay/${await invoice('bitcoin', '1000')}`)).toContain('data-copy="0.01"');
});

test('the sum in USD is that of what is asked for now', async () => {
  verifies('asked-usd');
  const id = await invoice('solana', '20');
  const row = await invoiceRow(world, id);
  await observe(world, 'solana', [transferTo(world, row, { amount_atomic: 33_333_333n })]);
  const page = await html(`/pay/${id}`);
  expect(page).toContain('Send the remaining 0.066666667\u00a0SOL (≈\u00a0$13.33)');
  expect(page).toContain('The QR code and the buttons below ask only for the remaining amount.');
});

test('the memo is asked for where the payment is entered by hand, and nowhere else', async () => {
  verifies('memo-by-hand');
  const page = await html(`/pay/${await invoice('ton')}`);
  const words = page.indexOf('If you enter the payment manually, add this memo');
  expect(words).toBeGreaterThan(page.indexOf('class="fold hand"'));
  expect(words).toBeLessThan(page.indexOf('data-qr'));
});

test('a payment that is on its way is given the time that it usually takes, in every language', async () => {
  verifies('usual-time');
  const id = await invoice('bitcoin', '12.50');
  const row = await invoiceRow(world, id);
  await observe(world, 'bitcoin', [transferTo(world, row, { confirmations: 0, final: false })]);
  expect(await html(`/pay/${id}?lang=en`)).toContain('This usually takes 10 to 60 minutes.');
  for (const code of Object.keys(languages) as LanguageCode[]) {
    const words = languageOf(code).usually({ seconds: 600, at_most: 3600 });
    expect(words, code).toContain(languageOf(code).number(10));
    expect(await html(`/pay/${id}?lang=${code}`), code).toContain(
      words.replace(/[\u2068\u2069]/g, '').slice(0, 2),
    );
  }
  for (const blockchain of blockchains) {
    const wait = waitOf({ blocks: 1 }, blockchain);
    const time = usualTime(blockchain, wait, blockchain.block_seconds);
    expect(time.seconds, blockchain.id).toBeGreaterThan(0);
    expect(time.at_most).toBeGreaterThanOrEqual(time.seconds);
  }
});

describeInBrowser('the choice of a coin', () => {
  const browser = useBrowser();
  test('is one list, cheapest and fastest first, with amount, fee and time; what cannot be chosen is last and says why', async () => {
    verifies('coin-list');
    const serving = await listen(world);
    const unit = await createUnit({ test: world, merchant }, { title: 'Tea' });
    const context = await browser.open({ viewport: TALL });
    const page = await context.newPage();
    const rows = async () => (await page.locator('.pick').allTextContents()).map((text) => text.trim());
    await page.goto(`${serving.url}/u/${unit.merchant_slug}/${unit.slug}`);
    expect(await rows()).toEqual([
      'Solana (SOL) ≈ 0.12 SOLfee about $0.01 · about a second',
      'USDC Solana24.00 USDCfee about $0.01 · about a second',
      'USDT Solana24.00 USDTfee about $0.01 · about a second',
      'Gram (TON) ≈ 6 Gram (TON)fee about $0.01 · about a second',
      'Litecoin (LTC) ≈ 0.24 LTCfee about $0.01 · 8 to 20 minutes',
      'USDT TON24.00 USDTfee about $0.05 · about a second',
      'Bitcoin (BTC) ≈ 0.00024 BTCfee about $1.00 · 10 to 60 minutes',
      'USDT TRON≈ 24.00 USDTfee about $2.00 · about a minute',
    ]);
    // Amounts stand at the end of the line, in either direction, whether or not it is theirs alone.
    for (const [lang, width] of [
      ['fa', 320],
      ['fa', 1280],
    ] as const) {
      await page.setViewportSize({ ...TALL, width });
      await page.goto(`${serving.url}/u/${unit.merchant_slug}/${unit.slug}?lang=${lang}`);
      const ends = await page
        .locator('.sum')
        .evaluateAll((sums) => sums.map((one) => one.getBoundingClientRect().left));
      expect(new Set(ends.map(Math.round)).size, `${lang} at ${width}`).toBe(1);
    }
    await page.goto(`${serving.url}/u/${unit.merchant_slug}/${unit.slug}`);
    for (const width of [320, 360, 390]) {
      await page.setViewportSize({ ...TALL, width });
      expect((await inspect(page, [])).faults, `at ${width}`).toEqual([]);
    }
    const { rates } = world.app;
    const rate = rates.rate.bind(rates);
    rates.rate = (currency) => {
      if (currency === 'SOL') throw new Refusal('no_rate');
      return rate(currency);
    };
    await page.reload();
    rates.rate = rate;
    expect((await rows()).at(-1)).toBe('Solana (SOL) No exchange rate right now');
    expect(await page.locator('.pick').last().isDisabled()).toBe(true);
    expect(await page.locator('.pick:disabled').count()).toBe(1);
    await page.locator('button[value="ton-usdt"]').click();
    await page.locator('.gw[data-state=waiting]').waitFor();
    await context.close();
    await serving.stop();
  });
});
