// A buyer's page through a kill -9 of the built daemon in the middle of the payment, and with a wallet in the browser.
import { afterEach, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../helpers/browser.ts';
import { verifies } from '../requirements.ts';
import { nanoOf } from './payer.ts';
import { createInvoice, credit, kill, openShop, openStand, type Stand } from './stand.ts';

describeInBrowser('the pay page of a daemon that dies', () => {
  const browser = useBrowser();
  let stand: Stand;
  afterEach(() => stand.close());

  it('says that it is gone, comes back unasked and shows the receipt of what was paid meanwhile', async () => {
    stand = await openStand('sqlite');
    const daemon = await stand.start();
    const shop = await openShop(stand, daemon.url);
    await credit(daemon.url, shop, '100');
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
