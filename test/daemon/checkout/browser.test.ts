// The pay page in a real browser: what is scanned, copied, read without scripts, printed, and seen as it happens.
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { apply } from '../../../daemon/settle/settle.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, holds, listen, useBrowser } from '../../helpers/browser.ts';
import { fundedMerchant, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { readQr } from '../../helpers/png.ts';
import { createInvoice, createUnit } from './states.ts';

const CLS_LIMIT = 0.02;
const RAW_LIMIT = 60_000;
const COMPRESSED_LIMIT = 20_000;
const REQUEST_LIMIT = 3;
const SETTLEMENTS = 5;

describeInBrowser('the pay page in a browser', () => {
  const browser = useBrowser();
  let world: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  beforeAll(async () => {
    world = await startApp({ clock: realClock() });
    merchant = await fundedMerchant(world);
    serving = await listen(world);
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  const invoice = (body: Record<string, unknown> = {}) => createInvoice({ test: world, merchant }, body);
  const settle = (id: string) => apply(world.app, id, { fact: { kind: 'simulate' }, actor: 'merchant' });
  const open = async (path: string, context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.addInitScript(LISTEN);
    await page.goto(serving.url + path);
    return page;
  };

  test.each([
    ['light', 1280, {}],
    ['dark', 390, { colorScheme: 'dark' }],
    ['forced colours', 320, { forcedColors: 'active', colorScheme: 'dark' }],
    ['half size', 768, { deviceScaleFactor: 0.5 }],
  ] as const)('the code on a screenshot says what is stored: %s', async (_, width, options) => {
    const id = await invoice({ chain: 'ton-usdt' });
    const context = await browser.open({ viewport: { width, height: 900 }, ...options });
    const page = await open(`/pay/${id}`, context);
    const { qr_payload } = await invoiceRow(world, id);
    expect(readQr(await page.locator('[data-qr]').screenshot())).toBe(qr_payload);
    await context.close();
  });

  test('the code of an underpaid invoice asks for the rest', async () => {
    const id = await invoice();
    const row = await invoiceRow(world, id);
    const part = BigInt(row.amount_atomic) / 4n;
    await observe(world, 'solana', [transferTo(world, row, { amount_atomic: part })]);
    const context = await browser.open();
    const page = await open(`/pay/${id}`, context);
    const link = readQr(await page.locator('[data-qr]').screenshot());
    expect(link).toBe(row.qr_payload.replace('amount=12.5&', 'amount=9.375&'));
    expect(await page.locator('.opens a').first().getAttribute('href')).toBe(link);
    await context.close();
  });

  for (const api of ['with the clipboard API', 'without it'])
    test(`one click each copies amount, memo and address to the letter, ${api}`, async () => {
      const id = await invoice({ chain: 'ton', amount: '7.77' });
      const row = await invoiceRow(world, id);
      const context = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] });
      if (api === 'without it')
        await context.addInitScript('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))');
      const page = await open(`/pay/${id}?lang=fa`, context);
      const values = [world.app.config.public_url && (await amountOf(world, id)), row.memo, row.address];
      for (const [index, value] of values.entries()) {
        await page.locator('.copy').nth(index).click();
        await page.locator('.copy.done').nth(index).waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(value);
        expect(await page.locator('.raw').nth(index).textContent()).toBe(value);
      }
      expect(await page.locator('[data-live]').textContent()).toBe('کپی شد');
      await context.close();
    });

  test('the memo is warned about before the address', async () => {
    const context = await browser.open();
    const page = await open(`/pay/${await invoice({ chain: 'ton' })}`, context);
    const memo = await page.getByText('Add this memo').boundingBox();
    const address = await page.getByText('Address', { exact: true }).boundingBox();
    expect(memo?.y).toBeLessThan(address?.y ?? 0);
    await context.close();
  });

  test('without scripts: all that is needed to pay, its own refresh, and cancelling with a confirmation', async () => {
    const id = await invoice({ chain: 'ton' });
    const row = await invoiceRow(world, id);
    const context = await browser.open({ javaScriptEnabled: false });
    const page = await open(`/pay/${id}?lang=es`, context);
    const text = (await page.locator('main').textContent()) ?? '';
    for (const part of [row.address, row.memo, await amountOf(world, id), 'Tiempo restante', 'UTC'])
      expect(text).toContain(part);
    expect(readQr(await page.locator('[data-qr]').screenshot())).toBe(row.qr_payload);
    expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('15');
    expect(await page.locator('.copy').first().isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Sí, cancelar este pago' }).isVisible()).toBe(false);
    await page.getByText('Cancelar el pago').click();
    await page.getByRole('button', { name: 'Sí, cancelar este pago' }).click();
    await page.getByRole('heading', { name: 'Pago cancelado' }).waitFor();
    expect(page.url()).toBe(`${serving.url}/pay/${id}?lang=es`);
    expect((await invoiceRow(world, id)).status).toBe('cancelled');
    await context.close();
  });

  test('without scripts: a currency is chosen and its invoice shown in the same language', async () => {
    const unit = await createUnit({ test: world, merchant }, { language: 'de' });
    const context = await browser.open({ javaScriptEnabled: false });
    const page = await open(`/u/${unit.merchant_slug}/${unit.slug}`, context);
    await page.locator('button[value="solana-usdc"]').click();
    await page.getByRole('heading', { name: 'Wir warten auf Ihre Zahlung' }).waitFor();
    const id = /\/pay\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';
    expect((await invoiceRow(world, id)).unit_id).toBe(unit.id);
    await context.close();
  });

  test('a settlement is on screen, announced, without a reload', async () => {
    const context = await browser.open();
    const waits: number[] = [];
    for (let round = 0; round < SETTLEMENTS; round++) {
      const id = await invoice();
      const page = await open(`/pay/${id}`, context);
      await page.evaluate('document.body.dataset.same = "yes"');
      await connected(page);
      // A buyer who has just paid by hand has scrolled to the end of a long page.
      await page.setViewportSize({ width: 390, height: 500 });
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await settle(id);
      const settled = performance.now();
      await page.locator('.gw[data-state=confirmed]').waitFor();
      waits.push(performance.now() - settled);
      const state = await page.locator('.state').boundingBox();
      expect(state?.y).toBeGreaterThanOrEqual(0);
      expect((state?.y ?? 0) + (state?.height ?? 0)).toBeLessThanOrEqual(500);
      expect(await page.locator('[data-live]').textContent()).toMatch(/^Paid\. /);
      expect(await page.title()).toMatch(/^Paid · /);
      expect(await page.getAttribute('body', 'data-same')).toBe('yes');
      await page.close();
    }
    console.log(`settlement to screen: ${waits.map(Math.round).join(', ')} ms`);
    await context.close();
  });

  test('money that comes after the end is reported on the page that is still open', async () => {
    const id = await invoice();
    const context = await browser.open();
    const page = await open(`/pay/${id}`, context);
    await apply(world.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    await page.locator('.gw[data-state=cancelled]').waitFor();
    await observe(world, 'solana', [transferTo(world, await invoiceRow(world, id))]);
    await page.locator('.gw[data-state=late]').waitFor();
    expect(await page.locator('[data-live]').textContent()).toMatch(/^Your payment arrived late\. /);
    await context.close();
  });

  test('confirmations are followed, and the button that has the focus keeps it', async () => {
    const id = await invoice();
    const context = await browser.open();
    const page = await open(`/pay/${id}`, context);
    await page.locator('.copy').nth(2).focus();
    const row = await invoiceRow(world, id);
    await observe(world, 'solana', [transferTo(world, row, { amount_atomic: 1_000_000n })]);
    await page.locator('.gw[data-state=underpaid]').waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("data-copy")')).toBe(row.address);
    const rest = BigInt(row.amount_atomic) - 1_000_000n;
    const transfer = transferTo(world, row, { amount_atomic: rest, confirmations: 3 });
    await observe(world, 'solana', [transfer]);
    await page.getByText('Confirmations: 3 of 32').waitFor();
    await observe(world, 'solana', [{ ...transfer, confirmations: 9 }]);
    await page.getByText('Confirmations: 9 of 32').waitFor();
    await observe(world, 'solana', [{ ...transfer, confirmations: 32 }]);
    await page.locator('.gw[data-state=confirmed]').waitFor();
    await context.close();
  });

  test('the daemon restarts in the middle of a payment: the page says so, comes back and shows the receipt', async () => {
    const id = await invoice();
    const context = await browser.open();
    const page = await open(`/pay/${id}`, context);
    await connected(page);
    await serving.stop();
    await page.getByText('No connection. Trying again…').waitFor();
    await settle(id);
    serving = await listen(world, serving.port);
    await page.locator('.gw[data-state=confirmed]').waitFor();
    expect(await page.getByText('No connection').isVisible()).toBe(false);
    await context.close();
  });

  // A browser that stands still while it draws shows half a page: that is no jump of ours.
  test('a page is small, asks for little, and does not jump', { retry: 2 }, async () => {
    const id = await invoice({ chain: 'ton-usdt' });
    const context = await browser.open({ viewport: { width: 390, height: 800 } });
    await context.addInitScript(
      `${LISTEN}; globalThis.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.shift += entry.value }).observe({ type: "layout-shift", buffered: true })`,
    );
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let compressed = 0;
    const urls: string[] = [];
    session.on('Network.requestWillBeSent', ({ request }) => {
      if (!request.url.startsWith('data:')) urls.push(request.url);
    });
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      compressed += encodedDataLength;
    });
    const response = await page.goto(`${serving.url}/pay/${id}`);
    await connected(page);
    expect((await response?.body())?.length).toBeLessThan(RAW_LIMIT);
    console.log(`a page: ${compressed} bytes on the wire in ${urls.length} requests`);
    expect(compressed).toBeGreaterThan(0);
    expect(compressed).toBeLessThan(COMPRESSED_LIMIT);
    expect(urls.length).toBeLessThanOrEqual(REQUEST_LIMIT);
    expect(urls.every((url) => url.startsWith(serving.url))).toBe(true);
    await settle(id);
    await page.locator('.gw[data-state=confirmed]').waitFor();
    expect(await page.evaluate('globalThis.shift')).toBeLessThanOrEqual(CLS_LIMIT);
    await context.close();
  });

  test('big figures are grouped where they are read, and bare where they are copied', async () => {
    const context = await browser.open();
    const page = await open(`/pay/${await invoice({ chain: 'ton', amount: '999999999' })}?lang=de`, context);
    expect(await page.locator('.coin bdi').first().textContent()).toBe('249.999.999,75\u00a0Gram (TON)');
    expect(await page.locator('.sum').textContent()).toBe('249999999.75');
    await context.close();
  });

  test('leads back to the shop after a few seconds, unless its reader stays', async () => {
    const { token } = merchant;
    const body = { return_hosts: ['localhost:9'], display_name: 'Shop' };
    await world.fetch('PATCH', '/api/v1/merchant/account', { token, body });
    const context = await browser.open();
    await context.route('http://localhost:9/**', (route) => route.fulfill({ body: 'thanks' }));
    const order = { success_url: 'http://localhost:9/thanks', return_automatically: true };
    const [id, stays] = [await invoice(order), await invoice(order)];
    const page = await open(`/pay/${id}`, context);
    await settle(id);
    await page.waitForURL(/localhost:9\/thanks\?.*invoice_status=confirmed/, { timeout: 15_000 });
    await settle(stays);
    await page.goto(`${serving.url}/pay/${stays}`);
    await page.getByRole('button', { name: 'Stay on this page' }).click();
    expect(await page.locator('[data-leading]').count()).toBe(0);
    await page.waitForTimeout(6_000);
    expect(page.url()).toContain(`/pay/${stays}`);
    await context.close();
  }, 30_000);

  test('a receipt prints on one page, and says that it is one', async () => {
    const id = await invoice();
    await settle(id);
    const context = await browser.open();
    const receipt = await open(`/pay/${id}/receipt`, context);
    const printed_receipt = (await receipt.pdf({ format: 'A4' })).toString('latin1');
    expect(printed_receipt.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    expect(await receipt.getByRole('button', { name: 'Print receipt' }).isVisible()).toBe(true);
    const page = await open(`/pay/${id}`, context);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('link', { name: 'Receipt' }).isVisible()).toBe(false);
    expect(await page.locator('.receipt').isVisible()).toBe(true);
    const ink = () => page.evaluate('getComputedStyle(document.querySelector(".title")).color');
    const printed = await ink();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await ink(), 'paper is white on dark screens too').toBe(printed);
    const waiting = await open(`/pay/${await invoice({ chain: 'ton' })}`, context);
    await waiting.emulateMedia({ media: 'print' });
    expect(await waiting.locator('[data-qr]').isVisible()).toBe(true);
    expect(await waiting.locator('.btn:visible, button:visible').count(), 'nothing to press on paper').toBe(
      0,
    );
    await context.close();
  });
});

/** Time passes in these tests: the browser has its own clock. */
function realClock() {
  let ahead = 0;
  const ms = () => Date.now() + ahead;
  const now = () => Math.floor(ms() / 1000);
  return {
    ms,
    monotonic_ms: ms,
    now,
    step: () => {
      throw new Error('not moved here');
    },
    set: (seconds: number) => {
      ahead = seconds * 1000 - Date.now();
    },
    advance: (seconds: number) => {
      ahead += seconds * 1000;
    },
    freeze: () => {
      throw new Error('not stopped here');
    },
    whileRunning: () => {},
  };
}

const LISTEN = 'document.addEventListener("gatewayd:status", () => { globalThis.followed = true })';

/** Until the page's stream has brought its first status. */
const connected = (page: Page) => holds(page, 'globalThis.followed');

async function amountOf(world: TestApp, id: string): Promise<string> {
  const reply = await world.fetch('GET', `/v1/public/invoices/${id}`);
  return reply.json.amount;
}
