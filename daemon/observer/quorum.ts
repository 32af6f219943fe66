// Which invoices are too large for the word of one provider, and where the providers of a blockchain are.
import { type Blockchain, blockchains } from '../../src/chains/gateways.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import type { Config } from '../config.ts';
import type { ProviderConfig } from './provider.ts';

export interface Quorum {
  /** Whether there are at least two providers to agree. */
  several(blockchain: string): boolean;
  /** Whether an invoice of this volume (USD micros) waits until a second provider has its payment too. */
  needed(blockchain: string, usd_micros: bigint): boolean;
}

/** Two providers must agree above `quorum_above_usd`, where at least two are configured. */
export function createQuorum(config: Pick<Config, 'network' | 'blockchains' | 'quorum_above_usd'>): Quorum {
  const above = parseDecimal(config.quorum_above_usd, USD_DECIMALS) ?? 0n;
  const several = new Set(
    blockchains
      .filter((chain) => providersOf(chain, config.network, config.blockchains[chain.id]).length > 1)
      .map(({ id }) => id),
  );
  return {
    several: (blockchain) => several.has(blockchain),
    needed: (blockchain, usd_micros) => several.has(blockchain) && usd_micros > above,
  };
}

/** The configured providers alone, or the public ones; a key without a URL is the first one's, and goes to no other. */
export function providersOf(
  { id, providers }: Pick<Blockchain, 'id' | 'providers'>,
  network: Config['network'],
  { provider, url, api_key }: Partial<ProviderConfig> = {},
): ProviderConfig[] {
  const [first, ...others] = providers[network];
  if (url) return [{ provider: provider ?? first?.provider ?? id, url, api_key }];
  return first ? [{ ...first, api_key }, ...others] : [];
}
