// The public price sources: what is asked, and what their answers say. Each is one request for all assets.
import type { PricedAsset } from './chains/assets.ts';
import { invertPrice, readPrice } from './rates.ts';

export type RateSourceId = 'kraken' | 'coinbase' | 'binance' | 'bitstamp' | 'coingecko';

export interface RateSource {
  id: RateSourceId;
  /** Scheme and host; tests put their own here. */
  base: string;
  /** Path and query. All pairs at once where a source would refuse the whole question for one unknown pair. */
  path(assets: readonly PricedAsset[]): string;
  /** What its prices are in; a stablecoin is converted at its own rate. */
  quoted_in: string;
  /** Prices by our ticker in 10^-9. Leaves out what is missing, malformed or old; never throws. `now`: Unix seconds. */
  parse(answer: unknown, assets: readonly PricedAsset[], now: number): Map<string, bigint>;
}

/** A price that the source itself calls older says nothing about now. */
const MAX_QUOTE_AGE_SECONDS = 300;

/** GET /0/public/Ticker → `{result: {XXBTZUSD: {b: [bid, …]}}}`; old pairs carry X and Z, and BTC is XBT. Newer names have neither: BTC/USD. */
const kraken: RateSource = {
  id: 'kraken',
  base: 'https://api.kraken.com',
  path: () => '/0/public/Ticker',
  quoted_in: 'USD',
  parse(answer, assets) {
    const pairs = member(answer, 'result');
    return prices(assets, (symbol) => {
      const name = symbol === 'BTC' ? 'XBT' : symbol;
      const found = [`${name}USD`, `X${name}ZUSD`, `${name}ZUSD`, `${symbol}/USD`, `${name}/USD`]
        .map((pair) => member(pairs, pair))
        .find(Boolean);
      return readPrice(member(member(found, 'b'), 0));
    });
  },
};

/** GET /v2/exchange-rates?currency=USD → `{data: {rates: {BTC: "0.0000166"}}}`: coins per USD. */
const coinbase: RateSource = {
  id: 'coinbase',
  base: 'https://api.coinbase.com',
  path: () => '/v2/exchange-rates?currency=USD',
  quoted_in: 'USD',
  parse(answer, assets) {
    const rates = member(member(answer, 'data'), 'rates');
    return prices(assets, (symbol) => invertPrice(member(rates, symbol)));
  },
};

/** GET /api/v3/ticker/bookTicker → `[{symbol: "BTCUSDT", bidPrice}]`; a delisted pair stays with a bid of zero. */
const binance: RateSource = {
  id: 'binance',
  base: 'https://data-api.binance.vision',
  path: () => '/api/v3/ticker/bookTicker',
  quoted_in: 'USDT',
  parse(answer, assets) {
    const bids = new Map(list(answer).map((entry) => [member(entry, 'symbol'), member(entry, 'bidPrice')]));
    return prices(assets, (symbol) => readPrice(bids.get(`${symbol}USDT`)));
  },
};

/** GET /api/v2/ticker/ → `[{pair: "BTC/USD", bid}]`. */
const bitstamp: RateSource = {
  id: 'bitstamp',
  base: 'https://www.bitstamp.net',
  path: () => '/api/v2/ticker/',
  quoted_in: 'USD',
  parse(answer, assets) {
    const bids = new Map(list(answer).map((entry) => [member(entry, 'pair'), member(entry, 'bid')]));
    return prices(assets, (symbol) => readPrice(bids.get(`${symbol}/USD`)));
  },
};

/** GET /api/v3/simple/price → `{<id>: {usd: 60000.1, last_updated_at}}`. */
const coingecko: RateSource = {
  id: 'coingecko',
  base: 'https://api.coingecko.com',
  path: (assets) =>
    `/api/v3/simple/price?ids=${[...new Set(assets.map(({ coingecko_id }) => coingecko_id))].join(',')}&vs_currencies=usd&include_last_updated_at=true`,
  quoted_in: 'USD',
  parse(answer, assets, now) {
    const found = new Map<string, bigint>();
    for (const { currency, coingecko_id } of assets) {
      const entry = member(answer, coingecko_id);
      const updated_at = member(entry, 'last_updated_at');
      const price = readPrice(member(entry, 'usd'));
      const old = typeof updated_at === 'number' && now - updated_at > MAX_QUOTE_AGE_SECONDS;
      if (price !== null && !old) found.set(currency, price);
    }
    return found;
  },
};

export const rateSources: readonly RateSource[] = [kraken, coinbase, binance, bitstamp, coingecko];

/** The price under the first of an asset's symbols that has one. */
function prices(
  assets: readonly PricedAsset[],
  price_of: (symbol: string) => bigint | null,
): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const { currency, symbols } of assets) {
    for (const symbol of symbols) {
      const price = price_of(symbol);
      if (price === null) continue;
      found.set(currency, price);
      break;
    }
  }
  return found;
}

/** A member of whatever came; undefined where there is none. */
const member = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string | number, unknown>)[name]
    : undefined;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
