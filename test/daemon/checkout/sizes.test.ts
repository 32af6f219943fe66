// What browsers are given stays small, and is what the pages carry.
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtNames, builtText } from '../../../daemon/checkout/built.ts';

/** Bytes, minified and gzipped: a little above what they have; a change that raises one says why. */
const budgets = {
  'checkout.js': 2_900,
  'embed.js': 3_750,
  'link-page.js': 650,
  'page.css': 3_020,
  'fragment.css': 3_480,
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
  expect(builtNames('coins').sort()).toEqual(sources('coins').sort());
  expect(builtNames('.')).toEqual(expect.arrayContaining(sources('.').filter((name) => name.includes('.'))));
});
