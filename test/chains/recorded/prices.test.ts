// What sources of prices really answer, read as the product reads it.
import { expect, test } from 'vitest';
import { openSources } from '../../../daemon/rates/sources.ts';
import { pricedAssets } from '../../../src/chains/assets.ts';
import { type RateSourceId, rateSources } from '../../../src/rate-sources.ts';
import { answering, openRecords, runtimeOf } from './recorded.ts';

const records = openRecords('prices');

/** One round of one source, and what is reported of it. */
async function ask(name: string) {
  const record = records.named(name);
  const id = record.asks as RateSourceId;
  const { transport, asked } = answering([record]);
  const reported: (string | null)[] = [];
  const sources = openSources({
    clock: { ms: () => 1_782_313_307_000 },
    bases: { [id]: 'https://prices.example' },
    onChange: (_, error) => reported.push(error),
    runtime: runtimeOf(transport),
  });
  const quotes = await sources.ask(pricedAssets);
  const again = asked.length;
  await sources.ask(pricedAssets);
  await sources.close();
  const found = Object.fromEntries([...(quotes[0]?.quotes ?? [])]);
  return { found, reported, asked, isPaused: asked.length === again };
}

test.each([
  ['kraken', { BTC: 82_998_900_000_000n }],
  ['coinbase', { ETH: 2_327_604_999_999n }],
  ['binance', { BTC: 65_015_270_000_000n, SOL: 75_560_000_000n }],
  ['bitstamp', { BTC: 25_841_000_000_000n, ETH: 1_734_300_000_000n }],
  ['coingecko', { BTC: 60_997_000_000_000n }],
])('%s', async (name, prices) => {
  const { found, asked, reported } = await ask(name);
  expect(found).toEqual(prices);
  const source = rateSources.find(({ id }) => id === name);
  const [path] = asked.map((each) => `${each.path}${each.query.size > 0 ? '?' : ''}`);
  expect(source?.path(pricedAssets).startsWith(path as string)).toBe(true);
  expect(reported).toEqual([]);
});

test('a source that is asked too often gives no price, and is left alone where it says so by its status', async () => {
  const kraken = await ask('kraken is asked too often');
  expect(kraken.found).toEqual({});
  expect(kraken.reported[0]).toContain('Rate limit exceeded');
  const coingecko = await ask('coingecko is asked too often');
  expect(coingecko.found).toEqual({});
  expect(coingecko.isPaused).toBe(true);
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
