// The rates of a running daemon: rounds against real HTTP servers with recorded answers, ageing, pegs, fixed and demo.
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRates, type Rates, type RatesOptions } from '../../../daemon/rates/rates.ts';
import { Refusal } from '../../../src/errors.ts';
import type { RateSourceId } from '../../../src/rate-sources.ts';
import { json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { answersOf, NOW, type Prices } from '../../helpers/rate-answers.ts';
import { verifies } from '../../requirements.ts';

const currencies = ['BTC', 'SOL', 'LTC', 'TON', 'USDT', 'USDC'];
const LIVE = { demo: false, rates: { source: 'live', usd: {} } } as const;
const REFRESH_MS = 20;

/** Each source on a server of its own; `answer` may be exchanged while they run. */
async function market(ids: readonly RateSourceId[], prices: Prices = {}) {
  const state: { prices: Prices; broken: Map<RateSourceId, string | number> } = { prices, broken: new Map() };
  const clock = { now: NOW * 1000, ms: () => clock.now };
  const servers = new Map<RateSourceId, LocalServer>();
  for (const id of ids) {
    const server = await serve((_, response) => {
      const broken = state.broken.get(id);
      if (typeof broken === 'number') response.writeHead(broken).end('no');
      else if (broken !== undefined) response.end(broken);
      else json(response, answersOf(state.prices, clock.now / 1000)[id]);
    });
    servers.set(id, server);
  }
  const bases = Object.fromEntries([...servers].map(([id, { url }]) => [id, url]));
  return { state, clock, servers, bases };
}

function open(options: Partial<RatesOptions> & Pick<RatesOptions, 'clock'>): Rates {
  const log = pino({ level: 'silent' });
  const rates = openRates({ config: LIVE, currencies, log, refresh_ms: REFRESH_MS, ...options });
  onTestFinished(() => rates.stop());
  return rates;
}

/** Waits until every source was asked again, so that what the test changed has been seen. */
async function anotherRound(servers: Map<RateSourceId, LocalServer>): Promise<void> {
  const before = new Map([...servers].map(([id, { requests }]) => [id, requests.length]));
  await vi.waitFor(
    () => {
      // Two more: the first may have been under way, the second shows that the first was recorded.
      for (const [id, { requests }] of servers)
        expect(requests.length).toBeGreaterThan((before.get(id) ?? 0) + 1);
    },
    { timeout: 10_000, interval: 5 },
  );
}

const refusal = (rates: Rates, currency: string): Refusal => {
  try {
    rates.rate(currency);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`a rate for ${currency}`);
};

const ALL: RateSourceId[] = ['kraken', 'coinbase', 'binance', 'bitstamp', 'coingecko'];

test('the median of five markets becomes the rate of every currency', async () => {
  verifies('rates-median');
  const { clock, servers, bases } = await market(ALL);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('BTC')).toEqual({
    usd_nanos: 60_000_500_000_000n,
    usd: '60000.5',
    source: 'live',
    at: NOW,
  });
  expect(rates.rate('TON').usd).toBe('3.0025');
  expect(rates.rate('SOL').usd).toBe('150');
  expect(rates.rate('LTC').usd).toBe('80');
  expect(rates.rate('USDT')).toMatchObject({ usd: '1', source: 'live' });
  expect(rates.status()).toMatchObject({ source: 'live', updated_at: NOW, stale: false });
  expect(rates.status().sources.map(({ source, last_error }) => [source, last_error])).toEqual(
    ALL.map((id) => [id, null]),
  );
  expect(servers.get('coinbase')?.requests[0]?.path).toBe('/v2/exchange-rates?currency=USD');
  expect(new URL(servers.get('coingecko')?.requests[0]?.path ?? '', 'http://x').searchParams.get('ids')).toBe(
    'the-open-network,solana,bitcoin,litecoin,tether,usd-coin',
  );
});

test('a market that is far off moves nothing', async () => {
  verifies('rates-outliers');
  const { clock, servers, bases } = await market(['coinbase', 'bitstamp', 'coingecko']);
  const liar = await serve((_, response) => json(response, answersOf({ BTC: 6_000_000, TON: 0.01 }).kraken));
  const rates = open({ clock, bases: { ...bases, kraken: liar.url } });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toBe('60000.5');
});

test('failing sources cost their quotes only, and are named with their error', async () => {
  const { state, clock, servers, bases } = await market(ALL);
  state.broken = new Map<RateSourceId, string | number>([
    ['kraken', '<html>maintenance</html>'],
    ['binance', 451],
    ['bitstamp', '[]'],
  ]);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('TON').usd).toBe('3.0025');
  const errors = Object.fromEntries(
    rates.status().sources.map(({ source, last_error }) => [source, last_error]),
  );
  expect(errors).toMatchObject({
    kraken: expect.stringContaining('maintenance'),
    binance: expect.stringContaining('HTTP 451'),
    bitstamp: expect.stringContaining('no price'),
    coinbase: null,
  });
});

test('a source that says 429 is left alone until its time has come', async () => {
  const { clock, servers, bases } = await market(['coinbase']);
  const limited = await serve((_, response) => response.writeHead(429, { 'retry-after': '90' }).end());
  const rates = open({ clock, bases: { ...bases, coingecko: limited.url } });
  rates.start();
  await anotherRound(servers);
  expect(limited.requests).toHaveLength(1);
  clock.now += 90_000;
  await anotherRound(servers);
  expect(limited.requests).toHaveLength(2);
});

test('a lone source is believed for BTC but not for a coin whose symbol others trade under', async () => {
  verifies('rates-alias');
  const { clock, servers, bases } = await market(['kraken']);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toBe('60010.1');
  expect(refusal(rates, 'TON')).toMatchObject({ code: 'no_rate', status: 503 });
  expect(rates.status()).toMatchObject({ stale: true, currencies: { TON: { usd: null, stale: true } } });
});

test('a rate counts for five minutes, then it refuses and says when to try again', async () => {
  verifies('rates-stale');
  const { state, clock, servers, bases } = await market(['kraken', 'coingecko']);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  for (const id of servers.keys()) state.broken.set(id, 500);
  await anotherRound(servers);
  clock.now += 300_000;
  expect(rates.rate('BTC').at).toBe(NOW);
  clock.now += 1000;
  const { code, status, retry_after } = refusal(rates, 'BTC');
  expect({ code, status }).toEqual({ code: 'no_rate', status: 503 });
  expect(retry_after).toBeGreaterThanOrEqual(1);
  expect(retry_after).toBeLessThanOrEqual(60);
  state.broken.clear();
  await anotherRound(servers);
  expect(rates.rate('BTC').at).toBe(NOW + 301);
});

test('of two configured sources one alone sets no price, and two that contradict each other none either', async () => {
  verifies('rates-two-agree');
  const { state, clock, servers, bases } = await market(['kraken', 'coinbase']);
  state.broken.set('coinbase', 503);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  for (const currency of ['BTC', 'SOL', 'LTC', 'TON'])
    expect(refusal(rates, currency)).toMatchObject({ code: 'no_rate', status: 503 });
  state.broken.delete('coinbase');
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toBe('60005.05');
  const liar = await serve((_, response) => json(response, answersOf({ BTC: 63_600 }).coinbase));
  const torn = open({ clock, bases: { kraken: servers.get('kraken')?.url ?? '', coinbase: liar.url } });
  torn.start();
  await vi.waitFor(() => expect(liar.requests.length).toBeGreaterThan(2), { timeout: 10_000, interval: 5 });
  expect(refusal(torn, 'BTC').code).toBe('no_rate');
  expect(torn.rate('SOL').source).toBe('live');
});

test('a jump is refused until a third source agrees, however long the two insist on it', async () => {
  verifies('rates-jump');
  const { state, clock, servers, bases } = await market(['kraken', 'coinbase', 'bitstamp']);
  state.broken.set('bitstamp', 503);
  const rates = open({ clock, bases });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toBe('60005.05');
  state.prices = { BTC: 600_000 };
  await anotherRound(servers);
  for (let minute = 0; minute < 3; minute++) {
    expect(refusal(rates, 'BTC')).toMatchObject({ code: 'no_rate', status: 503 });
    expect(refusal(rates, 'BTC').message).toContain('third source');
    expect(rates.status().currencies.BTC).toMatchObject({ usd: null, stale: true });
    expect(rates.rate('SOL').usd).toBeDefined();
    clock.now += 600_000;
    await anotherRound(servers);
  }
  state.broken.delete('bitstamp');
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toMatch(/^6000\d\d/);
  // Back at the price before is a jump as well, of which only two know.
  state.broken.set('bitstamp', 503);
  state.prices = {};
  await anotherRound(servers);
  expect(refusal(rates, 'BTC').code).toBe('no_rate');
  state.prices = { BTC: 590_000 };
  await anotherRound(servers);
  expect(rates.rate('BTC').usd).toMatch(/^5900\d\d/);
});

test('a stablecoin whose peg breaks follows the markets, and their silence does not restore it', async () => {
  verifies('rates-pegs');
  const { state, clock, servers, bases } = await market(['kraken', 'coinbase', 'binance']);
  const rates = open({ clock, bases });
  expect(rates.rate('USDT').usd).toBe('1');
  rates.start();
  await anotherRound(servers);
  state.prices = { USDT: 0.95 };
  await anotherRound(servers);
  expect(rates.rate('USDT').usd).toBe('0.95');
  expect(rates.rate('USDC').usd).toBe('1');
  for (const id of servers.keys()) state.broken.set(id, 500);
  // First the round ends that may have had its answers already: it would be recorded at the new time.
  await anotherRound(servers);
  clock.now += 301_000;
  expect(refusal(rates, 'USDT').code).toBe('no_rate');
  expect(rates.rate('USDC').usd).toBe('1');
});

test('markets that quote in a stablecoin count although no one accepts it', async () => {
  const { clock, servers, bases } = await market(['binance', 'coinbase']);
  const rates = open({ clock, bases, currencies: ['TON'] });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('TON').usd).toBe('3');
  expect(Object.keys(rates.status().currencies)).toEqual(['TON']);
});

test('starting does not wait for sources that never answer, and stopping ends them', async () => {
  const silent = await serve(() => {});
  const clock = { ms: () => NOW * 1000 };
  const rates = open({ clock, bases: { kraken: silent.url, coinbase: 'http://127.0.0.1:1' } });
  const started = performance.now();
  rates.start();
  expect(refusal(rates, 'BTC').retry_after).toBe(1);
  expect(performance.now() - started).toBeLessThan(200);
  await vi.waitFor(() => expect(silent.requests).toHaveLength(1), { timeout: 5000, interval: 5 });
  await rates.stop();
  expect(performance.now() - started).toBeLessThan(5000);
  await wait(3 * REFRESH_MS);
  expect(silent.requests).toHaveLength(1);
});

test('a demo that reaches no market uses built-in rates and says so, until a market answers', async () => {
  verifies('rates-demo');
  const { state, clock, servers, bases } = await market(['kraken', 'coingecko']);
  for (const id of servers.keys()) state.broken.set(id, 503);
  const rates = open({ clock, bases, config: { ...LIVE, demo: true } });
  expect(rates.rate('BTC')).toMatchObject({ usd: '60000', source: 'demo' });
  rates.start();
  await anotherRound(servers);
  expect(rates.rate('TON')).toMatchObject({ usd: '3', source: 'demo' });
  expect(rates.status()).toMatchObject({ source: 'demo', updated_at: null, stale: false });
  state.broken.clear();
  await anotherRound(servers);
  expect(rates.rate('TON')).toMatchObject({ usd: '3.0075', source: 'live' });
  expect(rates.status()).toMatchObject({ source: 'live', updated_at: NOW });
});

test('fixed rates come from the configuration and ask no one', async () => {
  verifies('rates-fixed');
  const { clock, servers, bases } = await market(['kraken']);
  const config = { demo: true, rates: { source: 'fixed', usd: { BTC: '65000.5', USDC: '0.99' } } } as const;
  const rates = open({ clock, bases, config });
  rates.start();
  await wait(3 * REFRESH_MS);
  expect(rates.rate('BTC')).toEqual({
    usd_nanos: 65_000_500_000_000n,
    usd: '65000.5',
    source: 'fixed',
    at: NOW,
  });
  expect([rates.rate('USDC').usd, rates.rate('USDT').usd]).toEqual(['0.99', '1']);
  expect(refusal(rates, 'TON').message).toBe('No rate is configured for TON');
  expect(refusal(rates, 'DOGE').code).toBe('no_rate');
  expect(rates.status()).toMatchObject({ source: 'fixed', stale: true });
  expect(servers.get('kraken')?.requests).toHaveLength(0);
});
