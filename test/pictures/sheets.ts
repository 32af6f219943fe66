// `npm run sheets`: every page in every language, width and colour scheme, on sheets that a person can look through, with what a
// program finds wrong. Fewer: `LANGUAGES=ar WIDTHS=390 SCHEMES=light SCENES=waiting,unit AXE= SHEETS=/tmp/sheets npm run sheets`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { languages } from '../../daemon/checkout/language.ts';
import { violations } from '../helpers/axe.ts';
import { describeInBrowser, listen, useBrowser } from '../helpers/browser.ts';
import { boxes, inspect } from './faults.ts';
import { foreign, makeScenes, type Scene } from './scenes.ts';

const {
  SHEETS = join(tmpdir(), 'gatewayd-sheets'),
  LANGUAGES = Object.keys(languages).join(),
  WIDTHS = '320,390,768,1280',
  SCHEMES = 'light,dark',
  SCENES = '',
  AXE = '1',
} = process.env;
/** At these axe looks, too. */
const AXE_WIDTHS = [320, 1280];
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
/** Up to this width a device is a phone. */
const PHONE_WIDTH = 480;
/** The whole step is on one screen of this, and the button on one of that. */
const TALL = { width: 390, height: 844 };
const SMALL = { width: 375, height: 667 };
/** At least this high; what is longer is pictured to its end. */
const PICTURED_HEIGHT = 500;
/** Scenes in which a buyer is about to pay. */
const PAYING = ['waiting', 'memo', 'bitcoin'];
/** As when little time is left; done once the page's script has seen it. */
const SOON = `new Promise((resolve) => {
  const { dataset } = document.querySelector('.gw');
  const written = { childList: true, characterData: true, subtree: true };
  new MutationObserver(resolve).observe(document.querySelector('[data-left]'), written);
  dataset.expires = +dataset.now + 90;
})`;
/** A sheet is a square, in pixels; pages are drawn smaller on it. */
const SHEET = 1560;
const SCALES: Record<string, number> = { 320: 0.7, 390: 0.66, 768: 0.5, 1280: 0.5 };
const GAP = 6;
const CAPTION = 20;
/** Texts that are the same in other languages, or are none of ours. */
const SAME =
  /^(?:[^a-z]*|.{0,3}|Description|Total|Transaction|USDC|Solana|Bitcoin|TON|TRON|Litecoin|API.*|≈.*|.*(?:USDT|USDC|SOL|BTC|LTC) = .*)$/u;

const deviceOf = (lang: string, width: number, height: number): BrowserContextOptions => ({
  viewport: { width, height },
  locale: lang,
  ...(width <= PHONE_WIDTH && { isMobile: true, hasTouch: true, userAgent: IPHONE }),
});

type Opener = ReturnType<typeof useBrowser>;

interface Shot {
  name: string;
  png: Buffer;
}

interface Placed {
  html: string;
  sheet: number;
}

/** Each below the shortest column so far; where none has room, on the next sheet. */
function place(shots: readonly Shot[], scale: number): Placed[] {
  let sheet = 0;
  let ends: number[] = [];
  return shots.map(({ name, png }) => {
    const [width, height] = [png.readUInt32BE(16) * scale + GAP, png.readUInt32BE(20) * scale + CAPTION];
    const columns = Math.max(1, Math.floor(SHEET / width));
    if (ends.length === 0 || Math.min(...ends) + height > SHEET) {
      if (ends.length > 0) sheet++;
      ends = Array(columns).fill(0);
    }
    const column = ends.indexOf(Math.min(...ends));
    const top = ends[column] as number;
    ends[column] = top + height;
    const style = `left:${column * width}px;top:${top}px`;
    const src = `data:image/png;base64,${png.toString('base64')}`;
    return {
      sheet,
      html: `<figure style="${style}">${name}<img style="zoom:${scale}" src="${src}"></figure>`,
    };
  });
}

/** Page after page with their names, on as many sheets as it takes. */
async function writeSheets(
  browser: Opener,
  file: string,
  shots: readonly Shot[],
  scale: number,
): Promise<void> {
  const placed = place(shots, scale);
  const context = await browser.open({ viewport: { width: SHEET, height: SHEET } });
  // A sheet holds megabytes, and a busy machine takes its time for them.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  for (let sheet = 0; sheet <= (placed.at(-1)?.sheet ?? 0); sheet++) {
    const figures = placed.filter((one) => one.sheet === sheet).map(({ html }) => html);
    await page.setContent(
      `<style>body{margin:0;background:#888;font:11px/14px sans-serif}figure{position:absolute;margin:0}img{display:block}</style>${figures.join('')}`,
    );
    await page.screenshot({ path: `${file}-${sheet + 1}.png` });
  }
  await context.close();
}

async function openScene(
  page: Page,
  url: string,
  { path, unfolded, script }: Scene,
  lang: string,
): Promise<void> {
  await page.goto(`${url}${path}${path.includes('?') ? '&' : '?'}lang=${lang}`);
  if (unfolded)
    await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })');
  if (script) await page.evaluate(script);
}

const found: string[] = [];
const report = (where: string, faults: readonly string[]): void => {
  for (const fault of faults) {
    found.push(`${where}: ${fault}`);
    console.info(`${where}: ${fault}`);
  }
};
/** What English pages say, by scene. */
const english = new Map<string, readonly string[]>();

/** One language at one width. */
async function take(browser: Opener, url: string, scenes: readonly Scene[], lang: string, width: number) {
  const context = await browser.open(deviceOf(lang, width, PICTURED_HEIGHT));
  const page = await context.newPage();
  const schemes = SCHEMES.split(',') as ('light' | 'dark')[];
  const shots = new Map<string, Shot[]>(schemes.map((scheme) => [scheme, []]));
  for (const scene of scenes) {
    const where = `${lang} ${width} ${scene.name}`;
    await openScene(page, url, scene, lang);
    const { faults, texts } = await inspect(page, foreign);
    report(where, faults);
    if (lang === 'en') english.set(scene.name, [...(english.get(scene.name) ?? []), ...texts]);
    const same = texts.filter(
      (text) =>
        lang !== 'en' &&
        english.get(scene.name)?.includes(text) &&
        !SAME.test(text) &&
        !foreign.includes(text),
    );
    report(
      where,
      same.map((text) => `in English: “${text}”`),
    );
    report(
      where,
      (await boxes(page)).map((letter) => `no font has “${letter}”`),
    );
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme });
      if (scene.soon) await page.evaluate(SOON);
      shots.get(scheme)?.push({ name: scene.name, png: await page.screenshot({ fullPage: true }) });
      if (AXE === '1' && AXE_WIDTHS.includes(width)) report(`${where} ${scheme}`, await violations(page));
    }
  }
  await context.close();
  for (const [scheme, taken] of shots)
    await writeSheets(browser, join(SHEETS, `${lang}-${width}-${scheme}`), taken, SCALES[width] ?? 0.5);
}

/** What must be seen without scrolling on phones. */
async function checkFold(
  browser: Opener,
  url: string,
  scenes: readonly Scene[],
  lang: string,
): Promise<void> {
  for (const [device, selector] of [
    [TALL, '.step'],
    [SMALL, '.first'],
  ] as const) {
    const context = await browser.open(deviceOf(lang, device.width, device.height));
    const page = await context.newPage();
    for (const scene of scenes.filter(({ name }) => PAYING.includes(name))) {
      await openScene(page, url, scene, lang);
      const box = await page.locator(selector).first().boundingBox();
      const end = box ? Math.round(box.y + box.height) : Number.POSITIVE_INFINITY;
      if (end > device.height)
        report(`${lang} ${device.width}×${device.height} ${scene.name}`, [`${selector} ends at ${end}`]);
    }
    await context.close();
  }
}

describeInBrowser('every page', () => {
  const browser = useBrowser();
  test('is drawn whole, in every language, at every width', async () => {
    mkdirSync(SHEETS, { recursive: true });
    const { test: world, scenes: all } = await makeScenes();
    const serving = await listen(world);
    const wanted = SCENES ? SCENES.split(',') : null;
    const scenes = all.filter(({ name }) => wanted?.includes(name) ?? true);
    // English first: the others are compared with it.
    for (const lang of new Set(['en', ...LANGUAGES.split(',')])) {
      for (const width of WIDTHS.split(',')) await take(browser, serving.url, scenes, lang, Number(width));
      await checkFold(browser, serving.url, scenes, lang);
    }
    writeFileSync(join(SHEETS, 'faults.txt'), `${found.join('\n')}\n`);
    console.info(`sheets: ${SHEETS}`);
    await serving.stop();
    await world.stop();
    expect(found).toEqual([]);
  });
});
