// Agreeing on a rate: exact reading, the median, outliers, ambiguous symbols, pegs, and each source's answer.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PricedAsset, pricedAssets } from '../../src/chains/assets.ts';
import { tickers } from '../../src/chains/gateways.ts';
import { parseDecimal, RATE_DECIMALS } from '../../src/money.ts';
import { type RateSourceId, rateSources } from '../../src/rate-sources.ts';
import {
  agreedRate as agreedOn,
  decideRates as decideAmong,
  invertPrice,
  isJump,
  MAX_RATE,
  median,
  ONE_USD,
  peggedRate as peggedOn,
  readPrice,
  type SourceQuotes,
} from '../../src/rates.ts';
import { answersOf, NOW } from '../helpers/rate-answers.ts';
import { verifies } from '../requirements.ts';

const usd = (text: string): bigint => parseDecimal(text, RATE_DECIMALS) ?? -1n;
const rate = fc.bigInt({ min: 1n, max: MAX_RATE });
const find = (currency: string): PricedAsset => {
  const asset = pricedAssets.find((each) => each.currency === currency);
  if (!asset) throw new Error(`no ${currency}`);
  return asset;
};
const says = (source: string, quotes: Record<string, string>, quoted_in = 'USD'): SourceQuotes => ({
  source,
  quoted_in,
  quotes: new Map(Object.entries(quotes).map(([currency, text]) => [currency, usd(text)])),
});

const agreedRate = (quotes: readonly bigint[], min_sources: number) =>
  agreedOn(quotes, min_sources)?.usd_nanos ?? null;
const peggedRate = (quotes: readonly bigint[]) => peggedOn(quotes)?.usd_nanos ?? null;
/** `configured` of one: the daemon has no other source to ask. */
const decideRates = (assets: readonly PricedAsset[], answers: readonly SourceQuotes[], configured = 1) =>
  new Map(
    [...decideAmong(assets, answers, configured)].map(([currency, found]) => [
      currency,
      found?.usd_nanos ?? null,
    ]),
  );

describe('reading a figure', () => {
  test.each([
    ['63120.10000', '63120.1'],
    [63120.1, '63120.1'],
    [3, '3'],
    [1.5e-7, '0.00000015'],
    ['1e3', '1000'],
    ['0.0000000019', '0.000000001'],
    [99_999_999.5, '99999999.5'],
  ])('%j is %s USD, exactly, never rounded up', (figure, text) => {
    expect(readPrice(figure)).toBe(usd(text));
  });

  test.each([
    0,
    '0',
    '0.00000000',
    -1,
    '-1',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    'NaN',
    '',
    ' 1',
    '1,5',
    '0x10',
    '1_000',
    '٣',
    null,
    undefined,
    true,
    {},
    [[1]],
    100_000_001,
    '1e300',
    '1e-300',
    '9'.repeat(65),
    '0.0000000001',
  ])('%j is no price', (figure) => {
    expect(readPrice(figure)).toBeNull();
    if (figure !== 100_000_001 && figure !== '0.0000000001') expect(invertPrice(figure)).toBeNull();
  });

  test('every decimal with nine digits of fraction is read exactly', () => {
    fc.assert(
      fc.property(rate, (nanos) => {
        const digits = nanos.toString().padStart(10, '0');
        expect(readPrice(`${digits.slice(0, -9)}.${digits.slice(-9)}`)).toBe(nanos);
      }),
    );
  });

  test('every JSON number of cents is read exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (cents) => {
        expect(readPrice(cents / 100)).toBe(BigInt(cents) * 10_000_000n);
      }),
    );
  });

  test('a price given as coins per USD comes back as USD per coin', () => {
    expect(invertPrice('0.00001')).toBe(usd('100000'));
    expect(invertPrice('3')).toBe(usd('0.333333333'));
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 11n, max: 10n ** 15n }), (digits) => {
        const inverse = invertPrice(`0.${digits.toString().padStart(18, '0')}`) ?? 0n;
        expect(inverse * digits <= 10n ** 27n && (inverse + 1n) * digits > 10n ** 27n).toBe(true);
      }),
    );
  });
});

describe('agreeing', () => {
  test('the median lies among the values and does not depend on their order', () => {
    fc.assert(
      fc.property(fc.array(rate, { minLength: 1, maxLength: 9 }), (values) => {
        const middle = median(values) ?? -1n;
        expect(median([...values].reverse())).toBe(middle);
        expect(values.filter((value) => value <= middle).length * 2).toBeGreaterThanOrEqual(values.length);
        expect(values.filter((value) => value >= middle).length * 2).toBeGreaterThanOrEqual(values.length);
      }),
    );
    expect(median([])).toBeNull();
  });

  test('one liar among four cannot move the rate out of the range of the honest', () => {
    const honest = fc.array(fc.bigInt({ min: 990_000n, max: 1_010_000n }), { minLength: 3, maxLength: 5 });
    fc.assert(
      fc.property(honest, rate, (quotes, lie) => {
        const agreed = agreedRate([...quotes, lie], 2);
        const sorted = [...quotes].sort((a, b) => Number(a - b));
        expect(agreed !== null && agreed >= (sorted[0] ?? 0n) && agreed <= (sorted.at(-1) ?? 0n)).toBe(true);
      }),
    );
  });

  test('a quote over 3 % off is dropped, one at 3 % counts', () => {
    verifies('rates-outliers');
    expect(agreedRate([100_000n, 100_000n, 103_000n, 103_001n], 1)).toBe(101_500n);
    expect(agreedRate([100_000n, 100_000n, 103_001n], 1)).toBe(100_000n);
    expect(agreedRate([100_000n, 100_000n, 103_000n], 1)).toBe(100_000n);
    expect(agreedRate([100_000n, 100_200n, 103_300n], 1)).toBe(100_100n);
  });

  test('markets that contradict each other give no rate', () => {
    expect(agreedRate([100n, 110n], 1)).toBeNull();
    expect(agreedRate([100n, 150n, 200n], 1)).toBeNull();
    expect(agreedRate([100n, 100n, 200n, 200n], 1)).toBeNull();
    expect(agreedRate([], 1)).toBeNull();
  });

  test('two sources that contradict each other are not averaged', () => {
    verifies('rates-two-agree');
    expect(agreedRate([usd('97.1'), usd('102.9')], 2)).toBeNull();
    expect(agreedRate([usd('100'), usd('103')], 2)).toBe(usd('101.5'));
    expect(agreedRate([usd('100'), usd('103.1')], 2)).toBeNull();
    // Nor are two camps, of which each agrees with itself.
    expect(agreedRate([usd('97.1'), usd('97.2'), usd('102.9'), usd('103')], 2)).toBeNull();
    expect(agreedRate([usd('60000'), usd('60001'), usd('600000')], 2)).toBe(usd('60000.5'));
  });

  test('where several sources are configured, one alone sets no price of a coin', () => {
    verifies('rates-two-agree');
    const alone = [says('kraken', { BTC: '600000', SOL: '1500', LTC: '800' })];
    for (const currency of ['BTC', 'SOL', 'LTC']) {
      expect([currency, decideRates(pricedAssets, alone, 2).get(currency)]).toEqual([currency, null]);
      expect(decideRates(pricedAssets, alone, 5).get(currency)).toBeNull();
    }
    const two = [...alone, says('coinbase', { BTC: '60000', SOL: '1501' })];
    expect(decideRates(pricedAssets, two, 2).get('BTC')).toBeNull();
    expect(decideRates(pricedAssets, two, 2).get('SOL')).toBe(usd('1500.5'));
    expect(decideRates(pricedAssets, two, 2).get('USDT')).toBe(ONE_USD);
  });

  test('a price that moved by over 20 % in a minute needs three sources', () => {
    verifies('rates-jump');
    const rate = (text: string, sources: number) => ({ usd_nanos: usd(text), sources });
    expect(isJump(usd('100'), rate('120', 2), 60)).toBe(false);
    expect(isJump(usd('100'), rate('80', 2), 60)).toBe(false);
    expect(isJump(usd('100'), rate('120.01', 2), 60)).toBe(true);
    expect(isJump(usd('100'), rate('79.99', 2), 60)).toBe(true);
    expect(isJump(usd('100'), rate('120.01', 2), 0)).toBe(true);
    expect(isJump(usd('100'), rate('120.01', 2), 119)).toBe(true);
    expect(isJump(usd('100'), rate('1000', 3), 60)).toBe(false);
    // Who was without a price for ten minutes finds what became of it.
    expect(isJump(usd('100'), rate('140', 2), 120)).toBe(false);
    expect(isJump(usd('100'), rate('350', 2), 600)).toBe(true);
  });

  test('the only source is enough for a clear symbol, never for one that other assets trade under', () => {
    verifies('rates-alias');
    const decided = decideRates(pricedAssets, [says('kraken', { TON: '3', BTC: '60000' })]);
    expect(decided.get('BTC')).toBe(usd('60000'));
    expect(decided.get('TON')).toBeNull();
    const two = decideRates(pricedAssets, [says('kraken', { TON: '3' }), says('coingecko', { TON: '3.02' })]);
    expect(two.get('TON')).toBe(usd('3.01'));
  });

  test('a source that means the jetton of the same name is outvoted, and stops the rate where it is one of two', () => {
    const [kraken, coingecko, jetton] = [
      says('kraken', { TON: '3' }),
      says('coingecko', { TON: '3.02' }),
      says('binance', { TON: '1.2' }),
    ];
    expect(decideRates(pricedAssets, [kraken, coingecko, jetton]).get('TON')).toBe(usd('3.01'));
    expect(decideRates(pricedAssets, [kraken, jetton]).get('TON')).toBeNull();
  });
});

describe('pegs', () => {
  test('a stablecoin is one USD while fewer than two sources say that it is over 1 % off', () => {
    verifies('rates-pegs');
    expect(peggedRate([])).toBe(ONE_USD);
    expect(peggedRate([usd('0.995'), usd('1.01'), usd('0.99')])).toBe(ONE_USD);
    expect(peggedRate([usd('0.5'), usd('1'), usd('1')])).toBe(ONE_USD);
  });

  test('where two say so, what they agree on counts', () => {
    expect(peggedRate([usd('0.97'), usd('0.98')])).toBe(usd('0.975'));
    expect(peggedRate([usd('0.97'), usd('0.98'), usd('1')])).toBe(usd('0.98'));
    expect(peggedRate([usd('0.5'), usd('0.9')])).toBeNull();
  });

  test('prices in a stablecoin are converted at its own rate, and left out where it has none', () => {
    const usdt = (price: string) => [says('kraken', { USDT: price }), says('bitstamp', { USDT: price })];
    const binance = says('binance', { BTC: '60000' }, 'USDT');
    expect(decideRates(pricedAssets, [...usdt('1.001'), binance]).get('BTC')).toBe(usd('60000'));
    expect(decideRates(pricedAssets, [...usdt('0.9'), binance]).get('BTC')).toBe(usd('54000'));
    const torn = [says('kraken', { USDT: '0.5' }), says('bitstamp', { USDT: '0.9' }), binance];
    expect(decideRates(pricedAssets, torn).get('BTC')).toBeNull();
    expect(decideRates(pricedAssets, torn).get('USDT')).toBeNull();
  });
});

describe('the answers of the sources', () => {
  const parse = (id: RateSourceId, answer: unknown, now = NOW) => {
    const source = rateSources.find((each) => each.id === id);
    return Object.fromEntries(source?.parse(answer, pricedAssets, now) ?? []);
  };

  test('each is read by its own shape', () => {
    const answers = answersOf({});
    expect(parse('kraken', answers.kraken)).toMatchObject({
      BTC: usd('60010.1'),
      LTC: usd('80.1'),
      TON: usd('3.01'),
    });
    expect(parse('coinbase', answers.coinbase)).toMatchObject({ BTC: usd('60000'), TON: usd('3') });
    expect(parse('binance', answers.binance)).toMatchObject({ BTC: usd('59990.02'), SOL: usd('150.2') });
    expect(parse('bitstamp', answers.bitstamp)).toMatchObject({ BTC: usd('60005'), USDC: usd('0.9999') });
    expect(parse('coingecko', answers.coingecko)).toMatchObject({ BTC: usd('60000.5'), TON: usd('3.005') });
  });

  test.each(['BTC/USD', 'XBT/USD', 'XXBTZUSD'])('Kraken has bitcoin as %s', (pair) => {
    const result = { [pair]: { b: ['60010.1', '1', '1.000'] }, 'TON/USD': { b: ['3.01', '1', '1.000'] } };
    expect(parse('kraken', { error: [], result })).toEqual({ BTC: usd('60010.1'), TON: usd('3.01') });
  });

  test('the new symbol of an asset is preferred to its old one, which may linger without a bid', () => {
    const book = [
      { symbol: 'TONUSDT', bidPrice: '3.00000000' },
      { symbol: 'GRAMUSDT', bidPrice: '3.10000000' },
    ];
    expect(parse('binance', book)).toEqual({ TON: usd('3.1') });
    const before = [
      { symbol: 'TONUSDT', bidPrice: '3.0' },
      { symbol: 'GRAMUSDT', bidPrice: '0.00000000' },
    ];
    expect(parse('binance', before)).toEqual({ TON: usd('3') });
  });

  test('a price that CoinGecko itself calls over five minutes old is left out', () => {
    const entry = { bitcoin: { usd: 60000, last_updated_at: NOW } };
    expect(parse('coingecko', entry, NOW + 300)).toEqual({ BTC: usd('60000') });
    expect(parse('coingecko', entry, NOW + 301)).toEqual({});
  });

  test('whatever comes, parsing neither throws nor invents a price', () => {
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        for (const source of rateSources) {
          for (const price of source.parse(answer, pricedAssets, NOW).values()) expect(price > 0n).toBe(true);
        }
      }),
    );
    for (const source of rateSources) {
      expect(source.parse('<html>', pricedAssets, NOW).size).toBe(0);
      expect(source.parse({ result: { __proto__: null }, data: null }, pricedAssets, NOW).size).toBe(0);
    }
  });

  test('every ticker that gateways have is priced, by at least three sources unless it is pegged', () => {
    verifies('rates-median');
    const answers = answersOf({});
    for (const ticker of tickers) {
      const { currency, stable } = find(ticker);
      const known = rateSources.filter(({ id }) => parse(id, answers[id])[currency] !== undefined);
      expect([ticker, known.length >= 3 || stable]).toEqual([ticker, true]);
      expect(usd(find(ticker).demo_usd)).toBeGreaterThan(0n);
    }
  });
});
