// Which invoices are too large for the word of one provider, and where the providers of a blockchain are.
import type { Blockchain } from '../../src/chains/catalogue.ts';
import type { Family } from '../../src/chains/family.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import type { Config } from '../settings/config.ts';
import type { ProviderConfig } from './providers/provider.ts';

export interface Quorum {
  /** Whether there are at least two providers to agree, at two hosts. */
  several(blockchain: string): boolean;
  /** Whether an invoice of this volume (USD micros) waits until a second provider has its payment too. */
  needed(blockchain: string, usd_micros: bigint): boolean;
}

/** Two providers must agree above `quorum_above_usd`, where at least two are configured. */
export function createQuorum(
  config: Pick<Config, 'network' | 'blockchains' | 'quorum_above_usd' | 'chains'>,
): Quorum {
  const above = parseDecimal(config.quorum_above_usd, USD_DECIMALS) ?? 0n;
  // Asked each time: providers may be exchanged while the daemon runs.
  const several = (id: string): boolean => {
    const chain = config.chains.find(id);
    if (!chain) return false;
    const providers = providersOf(chain, config.network, config.blockchains[id]);
    return new Set(providers.map(({ url }) => hostOf(url))).size > 1;
  };
  return {
    several,
    needed: (blockchain, usd_micros) => usd_micros > above && several(blockchain),
  };
}

/** What an own provider is asked at most, until it refuses: then half of it, and slowly more again. */
const OWN_REQUESTS_PER_SECOND = 50;

/** What is configured of the providers of one blockchain. */
export interface ConfiguredProviders {
  provider?: string | undefined;
  /** The first of `urls`, or the only one. */
  url?: string | undefined;
  urls?: readonly string[] | undefined;
  api_key?: string | undefined;
  requests_per_second?: number | undefined;
}

/**
 * The configured providers alone, or the public ones, in the order of preference. A key goes to the first one and to others
 * at its host, and to no one else.
 */
export function providersOf(
  { family, providers }: Pick<Blockchain, 'providers'> & { family: Pick<Family, 'providers'> },
  network: Config['network'],
  { provider, url, urls = [], api_key, requests_per_second }: ConfiguredProviders = {},
): ProviderConfig[] {
  const [first, ...others] = providers[network];
  const own = [...new Set([...(url === undefined ? [] : [url]), ...urls])];
  if (own.length === 0) return first ? [{ ...first, api_key }, ...others] : [];
  return own.map((each) => ({
    provider: provider ?? first?.provider ?? (family.providers[0]?.kind as string),
    url: each,
    api_key: hostOf(each) === hostOf(own[0]) ? api_key : undefined,
    requests_per_second: requests_per_second ?? OWN_REQUESTS_PER_SECOND,
    adapts: true,
  }));
}

/**
 * Why a blockchain is not read while one operator of providers is away: no public provider of another one is known that needs
 * no key. Null where there is one, or the settings name providers.
 */
export function loneOperator(
  blockchain: Pick<Blockchain, 'id' | 'name' | 'providers'> & { family: Pick<Family, 'providers'> },
  network: Config['network'],
  configured: ConfiguredProviders = {},
): string | null {
  if (configured.url !== undefined || configured.urls?.length) return null;
  const hosts = providersOf(blockchain, network, configured).map(({ url }) => hostOf(url));
  const operators = new Set(hosts.map((host) => host.split('.').slice(-OPERATOR_LABELS).join('.')));
  if (operators.size > 1) return null;
  const [operator = 'no one'] = operators;
  return `${blockchain.name} is read from ${operator} alone, and no second public provider is known that needs no key`;
}

/** The end of a host's name that is its operator's: `publicnode.com`. */
const OPERATOR_LABELS = 2;

const hostOf = (url = ''): string => (URL.canParse(url) ? new URL(url).host : url);
