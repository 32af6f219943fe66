// A list of blockchains and gateways, and what is asked of it for a network and its settings.
import {
  atLeast,
  type ConfirmationStep,
  type Depth,
  isDeep,
  type Measure,
  stepFor,
  type Usual,
  type Wait,
  waitOf,
} from '../confirmations.ts';
import type { TokenContract } from './evm/contracts.ts';
import type { Family, Gateway, Network } from './family.ts';

/** A public endpoint that works without a key. */
export interface DefaultProvider {
  provider: string;
  url: string;
}

export interface Blockchain extends Usual {
  id: string;
  name: string;
  family: Family;
  /** Ticker of the native coin. */
  coin: string;
  /** As of its gateways. */
  is_found_by_luck?: boolean;
  /** What invoices wait for by their value, where the settings say nothing; absent where all wait for the same. */
  confirmations?: readonly ConfirmationStep[];
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
    | 'min_confirmations'
    | 'confirmations_by_value'
    | 'is_found_by_luck'
    | keyof Usual
  > {
  /** Where blocks decide; elsewhere there is `confirm_seconds`. */
  min_confirmations?: number;
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
  confirm_seconds?: number;
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
  blockchain: Blockchain,
  network: Network,
  { enabled: _, ...override }: GatewayOverride,
  { confirmations }: BlockchainOverride = {},
): Gateway {
  const { family, name: blockchain_name, block_seconds, final_seconds, is_found_by_luck } = blockchain;
  const { min_confirmations: blocks, confirm_seconds: seconds, ...changed } = override;
  const least = measureOf(blocks, seconds);
  const usual = { block_seconds, ...(final_seconds === undefined ? {} : { final_seconds }) };
  // Steps of the settings replace the usual depth, but never what is set for this very gateway; that replaces the usual steps.
  const steps = confirmations ?? (least ? undefined : blockchain.confirmations);
  const own = least ?? measureOf(value.min_confirmations, value.confirm_seconds) ?? { blocks: 1 };
  const effective = steps?.map((step) => (least ? atLeast(step, least, block_seconds) : step));
  const { min_confirmations: _own, confirm_seconds: _time, ...rest } = value;
  return {
    chain,
    currency: asset.currency,
    ...rest,
    ...usual,
    ...(is_found_by_luck ? { is_found_by_luck } : {}),
    family,
    asset,
    network,
    blockchain_name,
    is_token: token_contract !== undefined,
    direct_only: token_contract === undefined && (family.misses_contracts?.(network) ?? false),
    unique_amount: !value.supports_memo,
    ...changed,
    ...(value.supports_memo ? {} : { unique_amount: true }),
    ...mostOf(effective ?? [own], usual),
    ...(effective ? { confirmations_by_value: effective } : {}),
    token_contract: token_contract ? (override.token_contract ?? token_contract[network]) : null,
  };
}

const measureOf = (blocks: number | undefined, seconds: number | undefined): Measure | undefined => {
  if (seconds !== undefined) return { seconds };
  return blocks === undefined ? undefined : { blocks };
};

/** The most that is waited for, but for the chain's own word, which is no number. */
function mostOf(
  measures: readonly Measure[],
  usual: Usual,
): Pick<Gateway, 'min_confirmations' | 'confirm_seconds'> {
  const counted = measures.filter(({ until }) => !until);
  const waits = (counted.length > 0 ? counted : measures).map((measure) => waitOf(measure, usual));
  const most = waits.reduce((one, other) => (other.min_confirmations > one.min_confirmations ? other : one));
  const { min_confirmations, confirm_seconds } = most;
  return { min_confirmations, ...(confirm_seconds === null ? {} : { confirm_seconds }) };
}

/** What each of its invoices may be waiting for. */
const measuresOf = ({
  confirmations_by_value: steps,
  min_confirmations: blocks,
  confirm_seconds: seconds,
}: Gateway): readonly Measure[] => steps ?? [seconds === undefined ? { blocks } : { seconds }];

/** What an invoice of this volume (USD micros) waits for, where a block takes so many seconds now. */
export function waitFor(gateway: Gateway, usd_micros: bigint, block_seconds = gateway.block_seconds): Wait {
  const [own = { blocks: gateway.min_confirmations }] = measuresOf(gateway);
  const measure = stepFor(gateway.confirmations_by_value ?? [], usd_micros) ?? own;
  return waitOf(measure, { ...gateway, block_seconds });
}

/** Whether a transfer is so deep that no invoice of the gateway asks for more. */
export const isDeepForAll = (gateway: Gateway, at: Depth): boolean =>
  measuresOf(gateway).every((measure) => isDeep(waitOf(measure, gateway), at));

/** Measures of the settings that a blockchain does not have, by the dotted path of the setting. */
export function measureFaultsOf(
  { values }: Catalogue,
  overrides: Overrides,
  chains: BlockchainOverrides,
): { path: string; says: string }[] {
  const faults = values.flatMap(({ chain, blockchain, confirm_seconds }) => {
    const { min_confirmations: blocks, confirm_seconds: seconds } = overrides[chain] ?? {};
    const path = `gateways.${chain}.confirm_seconds`;
    if (seconds === undefined) return [];
    if (blocks !== undefined)
      return [{ path, says: 'and min_confirmations are two measures: leave one of them out' }];
    return confirm_seconds === undefined ? [{ path, says: notTimed(blockchain) }] : [];
  });
  const timed = new Set(
    values.flatMap(({ blockchain, confirm_seconds }) => (confirm_seconds === undefined ? [] : [blockchain])),
  );
  for (const [id, { confirmations = [] }] of Object.entries(chains))
    if (!timed.has(id) && confirmations.some(({ blocks }) => blocks === undefined))
      faults.push({ path: `blockchains.${id}.confirmations`, says: notTimed(id) });
  return faults;
}

const notTimed = (blockchain: string): string =>
  `only blocks are counted on ${blockchain}, besides the chain's own word: use blocks`;
