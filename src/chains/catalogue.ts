// A list of blockchains and gateways, and what is asked of it for a network and its settings.
import type { ConfirmationStep } from '../confirmations.ts';
import type { TokenContract } from './evm/contracts.ts';
import type { Family, Gateway, Network } from './family.ts';

/** A public endpoint that works without a key. */
export interface DefaultProvider {
  provider: string;
  url: string;
}

export interface Blockchain {
  id: string;
  name: string;
  family: Family;
  /** Ticker of the native coin. */
  coin: string;
  /** Between two confirmations on average. */
  block_seconds: number;
  /** Whether blocks come by luck, so that a few in a row may take many times as long. */
  is_found_by_luck?: boolean;
  /** Requests per second to the default providers. */
  requests_per_second: number;
  providers: Record<Network, readonly DefaultProvider[]>;
  /** The forms that an address has, for messages. */
  address_hint: Record<Network, string>;
  /** Blockchains with the same word here share their addresses, so that money may be sent on the wrong one of them. */
  address_space?: string;
}

/** A gateway as listed: what follows from its asset, its blockchain and the network is filled in by `gatewaysOf`. */
export interface GatewayValue
  extends Omit<
    Gateway,
    | 'currency'
    | 'family'
    | 'network'
    | 'blockchain_name'
    | 'token_contract'
    | 'is_token'
    | 'direct_only'
    | 'unique_amount'
    | 'confirmations_by_value'
  > {
  /** Contract, mint or jetton master per network; absent for the native coin, null where only the settings can name one. */
  token_contract?: TokenContract;
  /** Whether it is offered only where the settings say so. */
  is_off_by_default?: boolean;
}

/** What the configuration may change of a gateway (`gateways.<chain>` in the settings). */
export interface GatewayOverride {
  enabled?: boolean;
  token_contract?: string;
  min_confirmations?: number;
  poll_interval_seconds?: number;
  payment_ttl_seconds?: number;
  unique_amount?: boolean;
}

/** What the configuration says of a whole blockchain (`blockchains.<id>` in the settings). */
export interface BlockchainOverride {
  confirmations?: readonly ConfirmationStep[] | undefined;
}

export type Overrides = Readonly<Record<string, GatewayOverride>>;
export type BlockchainOverrides = Readonly<Record<string, BlockchainOverride>>;

/** What a daemon knows of blockchains: those that are built in, and those that its settings add. */
export interface Catalogue {
  blockchains: readonly Blockchain[];
  /** What each gateway is before the settings change it. */
  values: readonly GatewayValue[];
  /** The blockchain with this id; undefined where there is none. */
  find(id: string): Blockchain | undefined;
  /** The other blockchains on which an address of this one is an address too. */
  sharingAddresses(id: string): readonly string[];
  /** Gateways of the same asset on those blockchains. */
  sameAssetElsewhere(chain: string): readonly { blockchain: string; chain: string; decimals: number }[];
  /** The enabled gateways of a network, in the order people read them. */
  enabled(network: Network, overrides?: Overrides, chains?: BlockchainOverrides): Gateway[];
  /** Those switched off: nothing new is asked for through them, but what was asked for before may still be paid. */
  disabled(network: Network, overrides?: Overrides, chains?: BlockchainOverrides): Gateway[];
  /** Gateways that the settings switch on though no contract is known on this network, and none is set. */
  withoutContract(network: Network, overrides: Overrides): readonly string[];
}

/** Every ticker that its gateways are paid in. */
export const tickersOf = ({ values }: Pick<Catalogue, 'values'>): string[] => [
  ...new Set(values.map(({ asset }) => asset.currency)),
];

export function catalogueOf(blockchains: readonly Blockchain[], values: readonly GatewayValue[]): Catalogue {
  const find = (id: string) => blockchains.find((chain) => chain.id === id);
  const sharingAddresses = (id: string): readonly string[] => {
    const space = find(id)?.address_space;
    return blockchains.flatMap((each) =>
      space !== undefined && each.address_space === space && each.id !== id ? [each.id] : [],
    );
  };
  const listed = (
    is_on: boolean,
    network: Network,
    overrides: Overrides = {},
    chains: BlockchainOverrides = {},
  ): Gateway[] =>
    values.flatMap((value) => {
      const override = overrides[value.chain] ?? {};
      const { enabled = !value.is_off_by_default } = override;
      if (enabled !== is_on || !exists(value, network, override)) return [];
      const blockchain = find(value.blockchain);
      if (!blockchain)
        throw new Error(`a gateway names the blockchain ${value.blockchain}, which is not listed`);
      return [resolved(value, blockchain, network, override, chains[value.blockchain])];
    });
  return {
    blockchains,
    values,
    find,
    sharingAddresses,
    sameAssetElsewhere(chain) {
      const own = values.find((value) => value.chain === chain);
      const others = own ? sharingAddresses(own.blockchain) : [];
      return values.filter(({ asset, blockchain }) => asset === own?.asset && others.includes(blockchain));
    },
    enabled: (...asked) => listed(true, ...asked),
    disabled: (...asked) => listed(false, ...asked),
    withoutContract: (network, overrides) =>
      values.flatMap((value) => {
        const override = overrides[value.chain] ?? {};
        return override.enabled && !exists(value, network, override) ? [value.chain] : [];
      }),
  };
}

/** Whether a gateway can be offered on a network: one without a contract there waits for the settings to name it. */
const exists = ({ token_contract }: GatewayValue, network: Network, override: GatewayOverride): boolean =>
  token_contract?.[network] !== null || override.token_contract !== undefined;

function resolved(
  { chain, asset, token_contract, is_off_by_default: _off, ...value }: GatewayValue,
  { family, name: blockchain_name }: Blockchain,
  network: Network,
  { enabled: _, ...override }: GatewayOverride,
  { confirmations: steps }: BlockchainOverride = {},
): Gateway {
  // Steps replace the usual number, but never what is set for this very gateway.
  const least = override.min_confirmations ?? 1;
  return {
    chain,
    currency: asset.currency,
    ...value,
    family,
    asset,
    network,
    blockchain_name,
    is_token: token_contract !== undefined,
    direct_only: token_contract === undefined && (family.misses_contracts?.(network) ?? false),
    unique_amount: !value.supports_memo,
    ...override,
    ...(value.supports_memo ? {} : { unique_amount: true }),
    ...(steps
      ? {
          min_confirmations: Math.max(least, ...steps.map(({ blocks }) => blocks)),
          confirmations_by_value: { steps, least },
        }
      : {}),
    token_contract: token_contract ? (override.token_contract ?? token_contract[network]) : null,
  };
}
