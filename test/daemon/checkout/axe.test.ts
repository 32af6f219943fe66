// Every state of the pay page, and the chooser, for everybody: axe finds nothing, in each colour scheme, direction and width.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { checkoutStates } from '../../../src/checkout.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { violations } from '../../helpers/axe.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';
import { hasFonts } from '../../helpers/software.ts';
import { boxes } from '../../pictures/faults.ts';
import { createUnit, everyState } from './states.ts';

const WIDTHS = [320, 768, 1280];
/**
 * What axe checks: the layout of phones in both schemes, which differ in nothing but colours, and the one that all wider
 * screens have. Another direction changes where things are, so that it is checked once, where there is least room.
 */
const LOOKS = {
  en: [
    { colorScheme: 'light', width: 320 },
    { colorScheme: 'dark', width: 320 },
    { colorScheme: 'light', width: 1280 },
  ],
  ar: [{ colorScheme: 'light', width: 320 }],
} as const;

const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describeInBrowser('accessibility of checkout', () => {
  const browser = useBrowser();
  const paths: Record<string, string> = {};
  let world: TestApp;
  let serving: Serving;
  beforeAll(async () => {
    world = await startApp();
    const merchant = await world.merchant();
    serving = await listen(world);
    for (const [state, id] of Object.entries(await everyState({ test: world, merchant })))
      paths[state] = `/pay/${id}`;
    const unit = await createUnit({ test: world, merchant });
    paths.unit = `/u/${unit.merchant_slug}/${unit.slug}`;
    paths.receipt = `${paths.confirmed}/receipt`;
    paths.landing = '/';
    paths.missing = '/pay/00000000-0000-4000-8000-000000000000';
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  test('axe sees what is wrong', async () => {
    const context = await browser.open();
    const page = await context.newPage();
    await page.setContent(
      '<p style="color:#999">grey</p><a href="#a" style="font-size:4px">a</a><img src="data:,">',
    );
    const found = (await violations(page)).join();
    for (const rule of ['color-contrast', 'image-alt', 'html-has-lang']) expect(found).toContain(rule);
    await context.close();
  });

  test.skipIf(!hasFonts)('every letter of every script is drawn, and none is a box', async () => {
    const context = await browser.open();
    const page = await context.newPage();
    await page.setContent('<p class="gw">a\u0378</p>');
    expect(await boxes(page), 'a letter that no font has').toEqual(['\u0378']);
    for (const lang of ['ar', 'hi', 'ja', 'zh', 'ru']) {
      await page.goto(`${serving.url}${paths.waiting}?lang=${lang}`);
      expect(await boxes(page), lang).toEqual([]);
    }
    await context.close();
  });

  for (const lang of ['en', 'ar'] as const)
    test(`axe finds nothing in any state, ${lang}, and nothing scrolls sideways at ${WIDTHS.join(', ')} px`, async () => {
      const context = await browser.open();
      const page = await context.newPage();
      for (const name of [...checkoutStates, 'unit', 'receipt', 'landing', 'missing']) {
        await page.goto(`${serving.url}${paths[name]}?lang=${lang}`);
        if (checkoutStates.some((state) => state === name))
          expect(await page.getAttribute('.gw', 'data-state'), name).toBe(name);
        for (const { colorScheme, width } of LOOKS[lang]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          expect(await violations(page), `${name}, ${colorScheme}, at ${width}`).toEqual([]);
        }
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          expect(await overflow(page), `${name} at ${width} scrolls sideways`).toBe(0);
        }
      }
      await context.close();
    }, 120_000);
});
