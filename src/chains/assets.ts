// The assets that gateways are paid in: what their price is asked for by, and their logo. One entry per ticker.

/** What a price is asked for. */
export interface PricedAsset {
  /** Our ticker. */
  currency: string;
  /** Symbols on markets, preferred first. More than one: the symbol alone does not tell the asset. */
  symbols: readonly string[];
  /** CoinGecko names assets, not symbols. */
  coingecko_id: string;
  /** Pegged to one USD. */
  stable: boolean;
  /** USD per coin where a demo reaches no market; a round figure that no one takes for a price. */
  demo_usd: string;
}

export interface Asset extends PricedAsset {
  /** Name of the drawing that pages show for it: `PLAIN_LOGO` where it has none of its own. */
  logo: string;
}

export const PLAIN_LOGO = 'plain';

/** By ticker, in the order in which prices are shown. */
export const assets = {
  // The coin was renamed in 2026, and an unrelated jetton had traded as GRAM before: a lone quote proves nothing.
  TON: {
    currency: 'TON',
    symbols: ['GRAM', 'TON'],
    coingecko_id: 'the-open-network',
    stable: false,
    demo_usd: '3',
    logo: 'ton',
  },
  SOL: {
    currency: 'SOL',
    symbols: ['SOL'],
    coingecko_id: 'solana',
    stable: false,
    demo_usd: '150',
    logo: 'sol',
  },
  BTC: {
    currency: 'BTC',
    symbols: ['BTC'],
    coingecko_id: 'bitcoin',
    stable: false,
    demo_usd: '60000',
    logo: 'btc',
  },
  LTC: {
    currency: 'LTC',
    symbols: ['LTC'],
    coingecko_id: 'litecoin',
    stable: false,
    demo_usd: '80',
    logo: 'ltc',
  },
  ETH: {
    currency: 'ETH',
    symbols: ['ETH'],
    coingecko_id: 'ethereum',
    stable: false,
    demo_usd: '3000',
    logo: 'eth',
  },
  BNB: {
    currency: 'BNB',
    symbols: ['BNB'],
    coingecko_id: 'binancecoin',
    stable: false,
    demo_usd: '800',
    logo: 'bnb',
  },
  // MATIC until 2024, and still so on some markets.
  POL: {
    currency: 'POL',
    symbols: ['POL', 'MATIC'],
    coingecko_id: 'polygon-ecosystem-token',
    stable: false,
    demo_usd: '0.25',
    logo: 'pol',
  },
  TRX: {
    currency: 'TRX',
    symbols: ['TRX'],
    coingecko_id: 'tron',
    stable: false,
    demo_usd: '0.3',
    logo: 'trx',
  },
  USDT: {
    currency: 'USDT',
    symbols: ['USDT'],
    coingecko_id: 'tether',
    stable: true,
    demo_usd: '1',
    logo: 'usdt',
  },
  USDC: {
    currency: 'USDC',
    symbols: ['USDC'],
    coingecko_id: 'usd-coin',
    stable: true,
    demo_usd: '1',
    logo: 'usdc',
  },
} satisfies Record<string, Asset>;

export const pricedAssets: readonly PricedAsset[] = Object.values(assets);

/** The logo of a ticker; the plain one where no asset has it any more. */
export const logoOf = (currency: string): string =>
  Object.values<Asset>(assets).find((asset) => asset.currency === currency)?.logo ?? PLAIN_LOGO;
