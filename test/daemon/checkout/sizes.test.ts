// What browsers are given stays small, and is what the pages carry.
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtNames, builtText } from '../../../daemon/checkout/built.ts';

/** Bytes, minified and gzipped: a little above what they have; a change that raises one says why. */
const budgets = {
  // With the wallets that a browser has, the payment that is made again where the one in question lapsed, and the state that is
  // fetched where a stream is refused.
  'checkout.js': 5_550,
  // With the tags that modules, optimizers and frameworks put into a page, move and take out.
  'embed.js': 4_600,
  'link-page.js': 650,
  'page.css': 4_350,
  'fragment.css': 5_000,
  'link-page.css': 280,
};

test.each(Object.entries(budgets))('%s has at most %i bytes', (name, budget) => {
  expect(gzipSync(builtText(name), { level: 9 }).length).toBeLessThanOrEqual(budget);
});

test('scripts and sheets end nowhere but at the end of their element, and load nothing', () => {
  for (const name of Object.keys(budgets)) {
    expect(builtText(name), name).not.toMatch(
      /<\/(script|style)\b|<!--|@import|url\(|\bimport\b|\brequire\b/,
    );
    expect(builtText(name).trim(), name).not.toContain('\n');
  }
});

test('each picture of the sources is built', () => {
  const sources = (folder: string) =>
    readdirSync(new URL(`../../../daemon/checkout/assets/${folder}`, import.meta.url));
  for (const folder of ['coins', 'wallets'])
    expect(builtNames(folder).sort()).toEqual(sources(folder).sort());
  expect(builtNames('.')).toEqual(expect.arrayContaining(sources('.').filter((name) => name.includes('.'))));
});
