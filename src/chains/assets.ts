// What prices are asked for: one entry per ticker, with the names that markets know it by.

export interface PricedAsset {
  /** Our ticker. */
  currency: string;
  /** Symbols on markets, preferred first. More than one: the symbol alone does not tell the asset. */
  symbols: readonly string[];
  /** CoinGecko names assets, not symbols. */
  coingecko_id: string;
  /** Pegged to one USD. */
  stable: boolean;
  /** USD per coin where a demo reaches no market; a round figure nobody takes for a price. */
  demo_usd: string;
}

export const pricedAssets: readonly PricedAsset[] = [
  // The coin was renamed in 2026, and an unrelated jetton had traded as GRAM before: a lone quote proves nothing.
  {
    currency: 'TON',
    symbols: ['GRAM', 'TON'],
    coingecko_id: 'the-open-network',
    stable: false,
    demo_usd: '3',
  },
  { currency: 'SOL', symbols: ['SOL'], coingecko_id: 'solana', stable: false, demo_usd: '150' },
  { currency: 'BTC', symbols: ['BTC'], coingecko_id: 'bitcoin', stable: false, demo_usd: '60000' },
  { currency: 'LTC', symbols: ['LTC'], coingecko_id: 'litecoin', stable: false, demo_usd: '80' },
  { currency: 'ETH', symbols: ['ETH'], coingecko_id: 'ethereum', stable: false, demo_usd: '3000' },
  { currency: 'TRX', symbols: ['TRX'], coingecko_id: 'tron', stable: false, demo_usd: '0.3' },
  { currency: 'USDT', symbols: ['USDT'], coingecko_id: 'tether', stable: true, demo_usd: '1' },
  { currency: 'USDC', symbols: ['USDC'], coingecko_id: 'usd-coin', stable: true, demo_usd: '1' },
];
