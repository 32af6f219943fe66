// Buyers with a wallet at the page of the built daemon: on a computer and on a phone, and through a kill -9 in the middle.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Daemon } from '../daemon/helpers/process.ts';
import { describeInBrowser, useBrowser } from '../helpers/browser.ts';
import { verifies } from '../requirements.ts';
import { nanoOf } from './payer.ts';
import { ask, createInvoice, credit, kill, openShop, openStand, type Shop, type Stand } from './stand.ts';
import { payByCamera, payByTap } from './wallet.ts';

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 375, height: 667 }, isMobile: true, hasTouch: true };
const SHOP = { display_name: 'Tea & Co', return_hosts: ['shop.example'] };
const ORDER = { chain: 'ton', amount: '1', success_url: 'https://shop.example/thanks' };

describeInBrowser('the pay page of the built daemon', () => {
  const browser = useBrowser();
  let stand: Stand;
  let daemon: Daemon;
  let shop: Shop;
  beforeAll(async () => {
    stand = await openStand('sqlite');
    daemon = await stand.start();
    shop = await openShop(stand, daemon.url);
    await credit(daemon.url, shop, '100');
    await ask(daemon.url, 'PATCH', '/api/v1/merchant/account', { shop, as: 'token', body: SHOP });
  });
  afterAll(() => stand.close());

  /** The page, one payment, and the way back: with how long it took until the payment was sent. */
  async function buy(device: 'computer' | 'phone'): Promise<void> {
    const { pay_url } = await ask(daemon.url, 'POST', '/v1/invoices', { shop, body: ORDER });
    const context = await browser.open(device === 'phone' ? PHONE : DESKTOP);
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(pay_url);
    await page.locator('.gw[data-state=waiting]').waitFor();
    const { txid } = await (device === 'phone' ? payByTap : payByCamera)(page, stand.payer);
    console.info(`${device}: ${Math.round(performance.now() - began)} ms from the link to a sent payment`);
    await page.locator('.gw[data-state=confirmed]').waitFor();
    expect(await page.getByText(txid).isVisible()).toBe(true);
    const back = page.getByRole('link', { name: 'Return to Tea & Co' });
    expect(await back.getAttribute('href')).toMatch(
      /^https:\/\/shop\.example\/thanks\?.*invoice_status=confirmed/,
    );
    await context.close();
  }

  it('is paid by the code on a screenshot of a computer, by one tap on a phone, and shows the way back', async () => {
    verifies('pay-step-phone', 'pay-step-desktop');
    await buy('computer');
    await buy('phone');
  }, 90_000);

  it('says that the daemon is gone, comes back unasked and shows the receipt of what was paid meanwhile', async () => {
    const invoice = await createInvoice(daemon.url, shop);
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(invoice.pay_url);
    await page.locator('.gw[data-state=waiting]').waitFor();
    await page.evaluate('globalThis.not_reloaded = true');
    await kill(daemon);
    await page.getByText('No connection. Trying again…').waitFor();
    const [paid] = await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
    await stand.start({}, new URL(daemon.url).port);
    await page.locator('.gw[data-state=confirmed]').waitFor();
    expect(await page.getByText(paid?.txid ?? 'no transaction').isVisible()).toBe(true);
    expect(await page.getByText('No connection').isVisible()).toBe(false);
    expect(await page.evaluate('globalThis.not_reloaded')).toBe(true);

    verifies('found-wallets', 'compose-pays');
    const { account, paid: arrived } = stand.payer;
    await context.exposeFunction('sign', (order: string) => stand.payer.sign(JSON.parse(order).messages));
    await context.addInitScript(walletOf(account));
    const another = await createInvoice(daemon.url, shop);
    await page.goto(another.pay_url);
    await page.locator('.found button', { hasText: 'Test Wallet' }).click();
    await page.locator('.gw[data-state=confirmed]').waitFor();
    expect(arrived.at(-1)).toMatchObject({ memo: another.memo, amount: nanoOf(another) });
    await context.close();
  }, 90_000);
});

/** What a wallet puts into the page, which signs for its account on the chain of the test. */
const walletOf = (account: string): string => `window.testwallet = { tonconnect: {
  protocolVersion: 2,
  walletInfo: { name: 'Test Wallet', image: 'https://wallet.example/icon.png' },
  connect: async () => ({
    event: 'connect', id: 1, payload: { items: [{ name: 'ton_addr', address: '${account}', network: '-3' }] },
  }),
  send: async ({ params, id }) => {
    await globalThis.sign(params[0]);
    return { result: '', id };
  },
} }`;
