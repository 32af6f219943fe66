// Answers of the five price sources in their recorded shapes, around one set of prices.
import type { RateSourceId } from '../../src/rate-sources.ts';

/** Unix seconds of the recorded answers. */
export const NOW = Date.UTC(2026, 10, 20, 12) / 1000;

export interface Prices {
  BTC?: number;
  SOL?: number;
  LTC?: number;
  TON?: number;
  USDT?: number;
  USDC?: number;
  ETH?: number;
  BNB?: number;
  POL?: number;
  TRX?: number;
}

const usual = {
  BTC: 60_000,
  SOL: 150,
  LTC: 80,
  TON: 3,
  USDT: 1,
  USDC: 1,
  ETH: 3_000,
  BNB: 800,
  POL: 0.25,
  TRX: 0.3,
};

/** Every source a little different, as markets are. */
export function answersOf(prices: Prices, now = NOW): Record<RateSourceId, unknown> {
  const at = { ...usual, ...prices };
  const pair = (bid: number) => ({
    a: [String(bid * 1.01), '1', '1.000'],
    b: [String(bid), '5', '5.000'],
    c: [String(bid), '0.1'],
  });
  const per_usd = (price: number) => (1 / price).toFixed(18);
  return {
    kraken: {
      error: [],
      result: {
        XXBTZUSD: pair(at.BTC + 10.1),
        SOLUSD: pair(at.SOL),
        XLTCZUSD: pair(at.LTC + 0.1),
        GRAMUSD: pair(at.TON + 0.01),
        USDTZUSD: pair(at.USDT),
        USDCUSD: pair(at.USDC),
        XETHZUSD: pair(at.ETH + 0.5),
        BNBUSD: pair(at.BNB),
        POLUSD: pair(at.POL),
        TRXUSD: pair(at.TRX),
        XXBTZEUR: pair(1),
      },
    },
    coinbase: {
      data: {
        currency: 'USD',
        rates: {
          BTC: '0.000016666666666666666666',
          ...(prices.BTC === undefined ? {} : { BTC: per_usd(at.BTC) }),
          SOL: per_usd(at.SOL),
          LTC: per_usd(at.LTC),
          TON: '0.333333333333333333333333',
          ...(prices.TON === undefined ? {} : { TON: per_usd(at.TON) }),
          USDT: per_usd(at.USDT),
          USDC: per_usd(at.USDC),
          ETH: per_usd(at.ETH),
          BNB: per_usd(at.BNB),
          POL: per_usd(at.POL),
          MATIC: per_usd(at.POL * 1.01),
          EUR: '0.9',
        },
      },
    },
    binance: [
      {
        symbol: 'BTCUSDT',
        bidPrice: String(at.BTC - 9.98),
        bidQty: '4.7',
        askPrice: String(at.BTC),
        askQty: '1',
      },
      {
        symbol: 'SOLUSDT',
        bidPrice: String(at.SOL + 0.2),
        bidQty: '4.7',
        askPrice: String(at.SOL + 1),
        askQty: '1',
      },
      { symbol: 'LTCUSDT', bidPrice: String(at.LTC), bidQty: '4.7', askPrice: String(at.LTC), askQty: '1' },
      { symbol: 'TONUSDT', bidPrice: '0.00000000', bidQty: '0', askPrice: '0.00000000', askQty: '0' },
      { symbol: 'GRAMUSDT', bidPrice: String(at.TON), bidQty: '4.7', askPrice: String(at.TON), askQty: '1' },
      { symbol: 'ETHUSDT', bidPrice: String(at.ETH), bidQty: '4.7', askPrice: String(at.ETH), askQty: '1' },
      { symbol: 'BNBUSDT', bidPrice: String(at.BNB), bidQty: '4.7', askPrice: String(at.BNB), askQty: '1' },
      { symbol: 'MATICUSDT', bidPrice: '0.00000000', bidQty: '0', askPrice: '0.00000000', askQty: '0' },
      { symbol: 'POLUSDT', bidPrice: String(at.POL), bidQty: '4.7', askPrice: String(at.POL), askQty: '1' },
      { symbol: 'TRXUSDT', bidPrice: String(at.TRX), bidQty: '4.7', askPrice: String(at.TRX), askQty: '1' },
      { symbol: 'ETHBTC', bidPrice: '0.03', bidQty: '1', askPrice: '0.031', askQty: '1' },
    ],
    bitstamp: [
      {
        pair: 'BTC/USD',
        bid: String(at.BTC + 5),
        ask: String(at.BTC + 6),
        last: String(at.BTC),
        timestamp: String(now),
      },
      {
        pair: 'LTC/USD',
        bid: String(at.LTC),
        ask: String(at.LTC),
        last: String(at.LTC),
        timestamp: String(now),
      },
      { pair: 'USDC/USD', bid: String(at.USDC - 0.0001), ask: '1', last: '1', timestamp: String(now) },
      { pair: 'USDT/USD', bid: String(at.USDT), ask: '1', last: '1', timestamp: String(now) },
      { pair: 'ETH/USD', bid: String(at.ETH + 1), ask: String(at.ETH + 2), last: String(at.ETH) },
      { pair: 'POL/USD', bid: String(at.POL), ask: String(at.POL), last: String(at.POL) },
      { pair: 'BTC/EUR', bid: '1', ask: '1', last: '1', timestamp: String(now) },
    ],
    coingecko: {
      bitcoin: { usd: at.BTC + 0.5, last_updated_at: now - 20 },
      solana: { usd: at.SOL, last_updated_at: now - 20 },
      litecoin: { usd: at.LTC, last_updated_at: now - 20 },
      'the-open-network': { usd: at.TON + 0.005, last_updated_at: now - 20 },
      ethereum: { usd: at.ETH + 0.4, last_updated_at: now - 20 },
      binancecoin: { usd: at.BNB, last_updated_at: now - 20 },
      'polygon-ecosystem-token': { usd: at.POL, last_updated_at: now - 20 },
      tron: { usd: at.TRX, last_updated_at: now - 20 },
      tether: { usd: at.USDT, last_updated_at: now - 20 },
      'usd-coin': { usd: at.USDC, last_updated_at: now - 20 },
    },
  };
}
