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
  /** What people know it by; the ticker is in it. */
  title: string;
  /** What stands behind an amount where people read it: the ticker, but for a coin that wallets call otherwise. */
  unit: string;
  /** Name of the drawing that pages show for it: `PLAIN_LOGO` where it has none of its own. */
  logo: string;
}

export const PLAIN_LOGO = 'plain';

/** By ticker, in the order in which prices are shown. */
export const assets = {
  // The coin was renamed in 2026, and an unrelated jetton had traded as GRAM before: a lone quote proves nothing.
  TON: {
    currency: 'TON',
    title: 'Gram (TON)',
    unit: 'Gram (TON)',
    symbols: ['GRAM', 'TON'],
    coingecko_id: 'the-open-network',
    stable: false,
    demo_usd: '3',
    logo: 'ton',
  },
  SOL: {
    currency: 'SOL',
    title: 'Solana (SOL)',
    unit: 'SOL',
    symbols: ['SOL'],
    coingecko_id: 'solana',
    stable: false,
    demo_usd: '150',
    logo: 'sol',
  },
  BTC: {
    currency: 'BTC',
    title: 'Bitcoin (BTC)',
    unit: 'BTC',
    symbols: ['BTC'],
    coingecko_id: 'bitcoin',
    stable: false,
    demo_usd: '60000',
    logo: 'btc',
  },
  LTC: {
    currency: 'LTC',
    title: 'Litecoin (LTC)',
    unit: 'LTC',
    symbols: ['LTC'],
    coingecko_id: 'litecoin',
    stable: false,
    demo_usd: '80',
    logo: 'ltc',
  },
  ETH: {
    currency: 'ETH',
    title: 'Ether (ETH)',
    unit: 'ETH',
    symbols: ['ETH'],
    coingecko_id: 'ethereum',
    stable: false,
    demo_usd: '3000',
    logo: 'eth',
  },
  BNB: {
    currency: 'BNB',
    title: 'BNB',
    unit: 'BNB',
    symbols: ['BNB'],
    coingecko_id: 'binancecoin',
    stable: false,
    demo_usd: '800',
    logo: 'bnb',
  },
  // MATIC until 2024, and still so on some markets.
  POL: {
    currency: 'POL',
    title: 'Polygon (POL)',
    unit: 'POL',
    symbols: ['POL', 'MATIC'],
    coingecko_id: 'polygon-ecosystem-token',
    stable: false,
    demo_usd: '0.25',
    logo: 'pol',
  },
  TRX: {
    currency: 'TRX',
    title: 'TRON (TRX)',
    unit: 'TRX',
    symbols: ['TRX'],
    coingecko_id: 'tron',
    stable: false,
    demo_usd: '0.3',
    logo: 'trx',
  },
  USDT: {
    currency: 'USDT',
    title: 'USDT',
    unit: 'USDT',
    symbols: ['USDT'],
    coingecko_id: 'tether',
    stable: true,
    demo_usd: '1',
    logo: 'usdt',
  },
  USDC: {
    currency: 'USDC',
    title: 'USDC',
    unit: 'USDC',
    symbols: ['USDC'],
    coingecko_id: 'usd-coin',
    stable: true,
    demo_usd: '1',
    logo: 'usdc',
  },
} satisfies Record<string, Asset>;

export const pricedAssets: readonly PricedAsset[] = Object.values(assets);

/** Decimals that an amount of money has at least. */
const STABLE_DIGITS = 2;

const assetOf = (currency: string): Asset | undefined =>
  Object.values<Asset>(assets).find((asset) => asset.currency === currency);

/** The logo of a ticker; the plain one where no asset has it any more. */
export const logoOf = (currency: string): string => assetOf(currency)?.logo ?? PLAIN_LOGO;

/** How people read amounts of a ticker: what stands behind them, and how many decimals they have at least. */
export function unitOf(currency: string): { unit: string; digits: number } {
  const asset = assetOf(currency);
  return { unit: asset?.unit ?? currency, digits: asset?.stable ? STABLE_DIGITS : 0 };
}
