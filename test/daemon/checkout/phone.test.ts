// What phones, programs that translate, and forced colours do to a page: what is paid by stays as it is and can be read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';
import { invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { readPng } from '../../helpers/png.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, createUnit } from './states.ts';

describeInBrowser('a page', () => {
  const browser = useBrowser();
  let world: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  let paths: { open: string; paid: string; fragment: string; receipt: string; unit: string };
  beforeAll(async () => {
    world = await startApp();
    merchant = await world.merchant();
    serving = await listen(world);
    const open = await createInvoice({ test: world, merchant }, { chain: 'ton', external_ref: 'order 1007' });
    const paid = await createInvoice({ test: world, merchant }, { chain: 'ton', external_ref: 'order 1008' });
    const row = await invoiceRow(world, paid);
    await observe(world, 'ton', [transferTo(world, row)]);
    const unit = await createUnit({ test: world, merchant });
    paths = {
      open: `/pay/${open}`,
      paid: `/pay/${paid}`,
      fragment: `/v1/pay/${open}/div`,
      receipt: `/pay/${paid}/receipt`,
      unit: `/v1/units/${unit.id}/page`,
    };
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  test('keeps amount, address, memo, reference and transaction from being translated, and from being telephone numbers', async () => {
    verifies('pages-untouched');
    const context = await browser.open();
    const page = await context.newPage();
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(serving.url + path);
      // Each text with a figure of four digits or more, or a decimal one, is data of a payment.
      const touched = await page.evaluate(`(() => {
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const parent = node.parentElement;
          if (/script|style|template|time/i.test(parent.tagName)) continue;
          const isData = /* the name of the shop has figures too */ /\\d[.,]\\d|[\\w-]{10,}\\d|\\d{4,}/.test(node.textContent.replace(/merchant\\d+-\\d+/g, ''));
          if (isData && parent.translate) found.push(parent.outerHTML.slice(0, 120));
        }
        return found;
      })()`);
      expect(touched, name).toEqual([]);
      if (name === 'fragment') continue;
      const phone = page.locator('meta[name=format-detection]');
      expect(await phone.getAttribute('content'), name).toBe('telephone=no');
    }
  });

  test('has no field that a phone enlarges', async () => {
    verifies('pages-untouched');
    const context = await browser.open({ viewport: { width: 360, height: 740 }, isMobile: true });
    const page = await context.newPage();
    let fields = 0;
    for (const path of [
      paths.open,
      paths.paid,
      paths.unit,
      `${paths.open}/coins`,
      '/reset-password',
      '/confirm-email',
    ]) {
      await page.goto(serving.url + path);
      for (const size of (await page.evaluate(
        `[...document.querySelectorAll('input:not([type=hidden]), select, textarea')].map((field) => parseFloat(getComputedStyle(field).fontSize))`,
      )) as number[]) {
        fields++;
        expect(size, path).toBeGreaterThanOrEqual(16);
      }
    }
    expect(fields).toBeGreaterThan(0);
  });

  test('stays right in forced colours: the code is black on white, and buttons and focus can be seen', async () => {
    verifies('pages-untouched');
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.open({ forcedColors: 'active', colorScheme });
      const page = await context.newPage();
      await page.goto(serving.url + paths.open);
      const code = page.locator('[data-qr]');
      const png = await code.screenshot();
      if (process.env.SHOTS) {
        await page.screenshot({ path: `${process.env.SHOTS}/forced-${colorScheme}.png`, fullPage: true });
      }
      const { light, dark } = shades(png);
      expect(light, 'white').toBeGreaterThan(0.3);
      expect(dark, 'black').toBeGreaterThan(0.15);
      expect(light + dark).toBeGreaterThan(0.9);
      const button = page.locator('a.btn:visible, button:visible').first();
      await button.focus();
      const style = (await button.evaluate((node) => {
        const { borderTopStyle, outlineStyle, outlineWidth } = getComputedStyle(node);
        return { borderTopStyle, outlineStyle, outlineWidth };
      })) as Record<string, string>;
      expect(style).toMatchObject({ borderTopStyle: 'solid', outlineStyle: 'solid' });
      await page.goto(serving.url + paths.unit);
      if (process.env.SHOTS)
        await page.screenshot({
          path: `${process.env.SHOTS}/forced-unit-${colorScheme}.png`,
          fullPage: true,
        });
      const choice = page.locator('button:visible').first();
      expect(await choice.evaluate((node) => getComputedStyle(node).borderTopStyle)).toBe('solid');
    }
  });
});

/** The shares of white and of black, by the red of each pixel. */
function shades(bytes: Buffer): { light: number; dark: number } {
  const { data } = readPng(bytes);
  const reds = data.filter((_, index) => index % 4 === 0);
  const share = (isOne: (red: number) => boolean) => reds.filter(isOne).length / reds.length;
  return { light: share((red) => red > 250), dark: share((red) => red < 5) };
}
