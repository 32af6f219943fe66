// A buyer's page through a kill -9 of the built daemon in the middle of the payment.
import { afterEach, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../helpers/browser.ts';
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
    await context.close();
  }, 90_000);
});
