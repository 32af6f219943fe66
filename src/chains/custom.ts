// Blockchains and gateways that the settings add to those that are built in: what they become, and what is wrong with them.
import { nearest } from '../nearest.ts';
import { type Asset, assets, PLAIN_LOGO } from './assets.ts';
import {
  type Blockchain,
  type Catalogue,
  catalogueOf,
  type GatewayValue,
  type Overrides,
} from './catalogue.ts';
import { evm } from './evm/family.ts';
import { evmNetwork, networks } from './evm/networks.ts';
import { AddressError, type Family, type Network } from './family.ts';
import { tronNetwork } from './tron/network.ts';

/** An entry of `custom_blockchains` in the settings: a network that answers Ethereum's JSON-RPC. */
export interface CustomBlockchain {
  id: string;
  name: string;
  /** What its providers answer to `eth_chainId`. */
  chain_id: number;
  /** Ticker of its coin. */
  coin: string;
  /** Seconds between two blocks on average. */
  block_seconds: number;
  /** At `block_seconds`: what decides is the time that they take. */
  min_confirmations: number;
  /** A block so deep is final also where the network itself does not say so. */
  final_blocks?: number | undefined;
}

/** An entry of `custom_gateways` in the settings: a token, or the coin of a blockchain of the settings. */
export interface CustomGateway {
  id: string;
  blockchain: string;
  /** Ticker. */
  currency: string;
  name?: string | undefined;
  /** Absent for the coin. */
  token_contract?: string | undefined;
  /** Of the token; the chain is asked at every start. */
  decimals?: number | undefined;
  payable_decimals?: number | undefined;
  /** A ticker that is built in, which has the same price. */
  priced_as?: string | undefined;
  /** What markets call it. */
  market?: { symbol: string; coingecko_id: string } | undefined;
}

export interface Custom {
  custom_blockchains: readonly CustomBlockchain[];
  custom_gateways: readonly CustomGateway[];
}

/** What is wrong with a setting, by its dotted path. */
export interface Fault {
  path: string;
  says: string;
}

const TOKEN_TTL_SECONDS = 1200;
/** Coins of networks like Ethereum. */
const COIN_DECIMALS = 18;
/** What exchanges pay out of a stablecoin, and of others. */
const STABLE_PAYABLE = 4;
const PAYABLE = 8;
/** A block that old is final, where neither the network nor the settings say when it is. */
const FINAL_SECONDS = 7200;
const [LEAST_POLL_SECONDS, MOST_POLL_SECONDS] = [6, 12];

/** Chain ids of what is built in, which the settings must not add a second time. */
const takenIds: ReadonlyMap<number, string> = new Map(
  [...Object.values(networks), tronNetwork].flatMap(({ name, chain_ids }) =>
    Object.values(chain_ids).map((id) => [id, name] as const),
  ),
);

/** What is built in and what the settings add to it for this network. */
export function withCustom(
  builtIn: Catalogue,
  network: Network,
  { custom_blockchains, custom_gateways }: Custom,
): Catalogue {
  if (custom_blockchains.length + custom_gateways.length === 0) return builtIn;
  const more = custom_blockchains.map((each) => blockchainOf(each, network, custom_gateways));
  const values = custom_gateways.flatMap((each) => {
    const blockchain = [...builtIn.blockchains, ...more].find(({ id }) => id === each.blockchain);
    const own = custom_blockchains.find(({ id }) => id === each.blockchain);
    return blockchain ? [gatewayValueOf(each, blockchain, own, builtIn)] : [];
  });
  const all = [...builtIn.blockchains, ...more].map((blockchain) => refusing(blockchain, values, network));
  return catalogueOf(all, [...builtIn.values, ...values]);
}

function blockchainOf(
  { id, name, chain_id, coin, block_seconds, min_confirmations, final_blocks }: CustomBlockchain,
  network: Network,
  gateways: readonly CustomGateway[],
): Blockchain {
  const depth_seconds = Math.ceil(min_confirmations * block_seconds);
  const alone_seconds =
    final_blocks === undefined
      ? Math.max(FINAL_SECONDS, depth_seconds)
      : Math.ceil(final_blocks * block_seconds);
  const sells_coin = gateways.some((each) => each.blockchain === id && each.token_contract === undefined);
  const coins = sells_coin ? ({ found_by: 'balances' } as const) : ({ found_by: 'none' } as const);
  return {
    id,
    name,
    coin,
    block_seconds,
    final_seconds: alone_seconds,
    family: evm({
      ...evmNetwork,
      name: `${name} (chain ${chain_id})`,
      // It has one id: a provider that has another one is of another network.
      chain_ids: { mainnet: 0, testnet: 0, [network]: chain_id },
      block_seconds,
      coins: { mainnet: coins, testnet: coins },
      // Who makes its blocks is not known.
      is_sequenced: true,
      final: { depth_seconds, alone_seconds },
    }),
    requests_per_second: 4,
    providers: { mainnet: [], testnet: [] },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  };
}

function gatewayValueOf(
  custom: CustomGateway,
  blockchain: Blockchain,
  own: CustomBlockchain | undefined,
  builtIn: Catalogue,
): GatewayValue {
  const { id, currency, name, token_contract, decimals = COIN_DECIMALS, payable_decimals } = custom;
  // A token is read together with the others of its blockchain: it waits for as many blocks, as often.
  const like = builtIn.values.find((value) => value.blockchain === blockchain.id);
  const asset = assetOf(custom);
  const pace = Math.ceil(own?.block_seconds ?? LEAST_POLL_SECONDS);
  return {
    chain: id,
    asset,
    name: name ?? (token_contract === undefined ? blockchain.name : `${currency} on ${blockchain.name}`),
    blockchain: blockchain.id,
    decimals,
    payable_decimals: Math.min(payable_decimals ?? (asset.stable ? STABLE_PAYABLE : PAYABLE), decimals),
    ...(own
      ? { confirm_seconds: Math.ceil(own.min_confirmations * own.block_seconds) }
      : depthOf(like ?? { min_confirmations: 1 })),
    payment_ttl_seconds: TOKEN_TTL_SECONDS,
    poll_interval_seconds:
      like?.poll_interval_seconds ?? Math.min(MOST_POLL_SECONDS, Math.max(LEAST_POLL_SECONDS, pace)),
    supports_memo: false,
    usual_fee_usd: like?.usual_fee_usd ?? null,
    exits: like?.exits ?? ['wallet', 'metamask'],
    ...(token_contract === undefined
      ? {}
      : { token_contract: { mainnet: token_contract, testnet: token_contract } }),
  };
}

const depthOf = ({ min_confirmations, confirm_seconds }: Partial<GatewayValue>) => ({
  ...(min_confirmations === undefined ? {} : { min_confirmations }),
  ...(confirm_seconds === undefined ? {} : { confirm_seconds }),
});

const known: Readonly<Record<string, Asset>> = assets;

/** The same asset where its ticker is known; else one of its own, with the price that the settings point to. */
function assetOf({ currency, priced_as = '', market }: CustomGateway): Asset {
  const same = known[currency];
  if (same) return same;
  const own = { currency, title: currency, unit: currency, demo_usd: '1', logo: PLAIN_LOGO };
  const priced = known[priced_as];
  if (priced) return { ...priced, currency, title: currency, unit: currency, logo: PLAIN_LOGO };
  return {
    ...own,
    symbols: market ? [market.symbol] : [],
    coingecko_id: market?.coingecko_id ?? '',
    stable: false,
  };
}

/** A contract of a gateway is no one's wallet, on any blockchain with the same addresses. */
function refusing(blockchain: Blockchain, values: readonly GatewayValue[], network: Network): Blockchain {
  const { family } = blockchain;
  const contracts = values.flatMap(({ token_contract }) => {
    const key = contractKey(family, token_contract?.[network]);
    return key === null ? [] : [key];
  });
  if (contracts.length === 0) return blockchain;
  const normalizeAddress: Family['normalizeAddress'] = (text, side) => {
    const found = family.normalizeAddress(text, side);
    if (contracts.includes(found.key))
      throw new AddressError('this is the contract of a token, not a wallet; give an address of your own');
    return found;
  };
  return { ...blockchain, family: { ...family, normalizeAddress } };
}

/** Null where there is none, or it is not spelled as one of this family. */
function contractKey({ contractKey }: Family, text: string | null | undefined): string | null {
  if (text == null || !contractKey) return null;
  try {
    return contractKey(text);
  } catch (error) {
    if (error instanceof AddressError) return null;
    throw error;
  }
}

/** Everything that is wrong with what the settings add; nothing may be built of it then. */
export function customFaults(
  builtIn: Catalogue,
  custom: Custom,
  has_figure: (ticker: string) => boolean,
): Fault[] {
  const { custom_blockchains, custom_gateways } = custom;
  return [
    ...custom_blockchains.flatMap((each, at) =>
      blockchainFaults(builtIn, custom, at).map(({ path, says }) => ({
        path: `custom_blockchains.${at}.${path}`,
        says: `${each.id}: ${says}`,
      })),
    ),
    ...custom_gateways.flatMap((each, at) =>
      [...gatewayFaults(builtIn, custom, at), ...priceFaults(custom, at, has_figure)].map(
        ({ path, says }) => ({
          path: `custom_gateways.${at}.${path}`,
          says: `${each.id}: ${says}`,
        }),
      ),
    ),
  ];
}

const fault = (path: string, says: string): Fault => ({ path, says });

function blockchainFaults(
  builtIn: Catalogue,
  { custom_blockchains, custom_gateways }: Custom,
  at: number,
): Fault[] {
  const { id, chain_id, min_confirmations, final_blocks } = custom_blockchains[at] as CustomBlockchain;
  const earlier = custom_blockchains.slice(0, at);
  const faults: Fault[] = [];
  if (builtIn.find(id))
    faults.push(fault('id', 'is built in: leave it out, and name only the gateways to add to it'));
  else if (builtIn.values.some(({ chain }) => chain === id) || known[id.toUpperCase()])
    faults.push(fault('id', 'is the name of a gateway or a currency already: use another one'));
  if (earlier.some((each) => each.id === id)) faults.push(fault('id', 'is there twice: use another one'));
  const taken = takenIds.get(chain_id);
  if (taken !== undefined)
    faults.push(
      fault('chain_id', `${chain_id} is that of ${taken}, which is built in: add gateways to that`),
    );
  const twin = earlier.find((each) => each.chain_id === chain_id);
  if (twin)
    faults.push(fault('chain_id', `${chain_id} is that of ${twin.id} already: a network may be there once`));
  if (final_blocks !== undefined && final_blocks < min_confirmations)
    faults.push(fault('final_blocks', `must be at least min_confirmations, ${min_confirmations}`));
  if (!custom_gateways.some(({ blockchain }) => blockchain === id))
    faults.push(fault('id', `nothing is sold on it: name a gateway of it in custom_gateways`));
  return faults;
}

function gatewayFaults(builtIn: Catalogue, custom: Custom, at: number): Fault[] {
  const { custom_blockchains, custom_gateways } = custom;
  const gateway = custom_gateways[at] as CustomGateway;
  const { id, blockchain, currency, token_contract, decimals, payable_decimals } = gateway;
  const own = custom_blockchains.find((each) => each.id === blockchain);
  const family = own ? blockchainOf(own, 'mainnet', []).family : builtIn.find(blockchain)?.family;
  const faults: Fault[] = [];
  if (builtIn.values.some(({ chain }) => chain === id))
    faults.push(fault('id', 'is built in, and cannot be replaced: use another id, or set gateways.<id>'));
  if (custom_gateways.slice(0, at).some((each) => each.id === id))
    faults.push(fault('id', 'is there twice: use another one'));
  if (!family?.contractKey) {
    const takers = builtIn.blockchains.filter((each) => each.family.contractKey).map((each) => each.id);
    const names = [...takers, ...custom_blockchains.map((each) => each.id)];
    const meant = family
      ? `takes no further tokens; use one of ${names.join(', ')}`
      : `is not known: did you mean ${nearest(blockchain, names)}?`;
    return [...faults, fault('blockchain', `${blockchain} ${meant}`)];
  }
  if (token_contract === undefined) faults.push(...coinFaults(gateway, own));
  else {
    if (!id.startsWith(`${blockchain}-`))
      faults.push(fault('id', `must begin with ${blockchain}-, as ids of tokens do`));
    if (decimals === undefined)
      faults.push(fault('decimals', 'must be set: those that the contract itself answers'));
    faults.push(...contractFaults(family, token_contract));
  }
  if (payable_decimals !== undefined && payable_decimals > (decimals ?? COIN_DECIMALS))
    faults.push(fault('payable_decimals', 'must not be more than decimals'));
  const names = [...builtIn.values.map(({ chain }) => chain), ...custom_gateways.map((each) => each.id)];
  const namesake = names.find((each) => each.toUpperCase() === currency && each !== blockchain);
  if (!known[currency] && namesake)
    faults.push(
      fault(
        'currency',
        `${currency} is the name of gateway ${namesake}: an entry of currencies would mean both`,
      ),
    );
  return faults;
}

function coinFaults(
  { id, blockchain, currency, decimals }: CustomGateway,
  own: CustomBlockchain | undefined,
): Fault[] {
  if (!own)
    return [
      fault('token_contract', 'must be set: a coin can be added on a blockchain of custom_blockchains only'),
    ];
  const faults: Fault[] = [];
  if (id !== blockchain)
    faults.push(fault('id', `must be ${blockchain}, as it is the coin; or set token_contract`));
  if (currency !== own.coin)
    faults.push(fault('currency', `must be ${own.coin}, the coin of ${blockchain}; or set token_contract`));
  if (decimals !== undefined && decimals !== COIN_DECIMALS)
    faults.push(fault('decimals', `must be ${COIN_DECIMALS}, as those of every coin of such a network`));
  return faults;
}

function contractFaults({ contractKey }: Family, token_contract: string): Fault[] {
  try {
    contractKey?.(token_contract);
    return [];
  } catch (error) {
    if (error instanceof AddressError) return [fault('token_contract', error.message)];
    throw error;
  }
}

function priceFaults(
  { custom_gateways }: Custom,
  at: number,
  has_figure: (ticker: string) => boolean,
): Fault[] {
  const { currency, priced_as, market } = custom_gateways[at] as CustomGateway;
  const tickers = Object.keys(known).join(', ');
  if (known[currency])
    return priced_as !== undefined || market
      ? [fault(market ? 'market' : 'priced_as', `the price of ${currency} is known: leave this out`)]
      : [];
  if (priced_as !== undefined && market)
    return [fault('priced_as', 'and market are two prices: leave one of them out')];
  if (priced_as !== undefined && !known[priced_as])
    return [fault('priced_as', `no price is known for ${priced_as}: use one of ${tickers}`)];
  if (priced_as === undefined && !market && !has_figure(currency))
    return [
      fault(
        'priced_as',
        `no price is known for ${currency}: set it to one of ${tickers}, or set market to what markets call it`,
      ),
    ];
  const other = custom_gateways
    .slice(0, at)
    .find(
      (each) =>
        each.currency === currency &&
        (each.priced_as !== priced_as || JSON.stringify(each.market) !== JSON.stringify(market)),
    );
  return other
    ? [fault('priced_as', `${currency} has another price in ${other.id}: they must be the same`)]
    : [];
}

/** Contracts of tokens that are misspelt in `gateways`, and those that two gateways of one blockchain name. */
export function contractFaultsOf(
  { blockchains, values }: Catalogue,
  network: Network,
  overrides: Overrides,
): Fault[] {
  const faults: Fault[] = [];
  for (const { id, family } of blockchains) {
    const seen = new Map<string, string>();
    for (const { chain, token_contract } of values.filter(({ blockchain }) => blockchain === id)) {
      const text = token_contract && (overrides[chain]?.token_contract ?? token_contract[network]);
      if (!text) continue;
      if (overrides[chain]?.token_contract !== undefined)
        for (const { says } of contractFaults(family, text))
          faults.push(fault(`gateways.${chain}.token_contract`, says));
      const key = contractKey(family, text) ?? text;
      const other = seen.get(key);
      if (other !== undefined)
        faults.push(
          fault(
            `gateways.${chain}.token_contract`,
            `is the contract of ${other}: one contract may have one gateway only`,
          ),
        );
      seen.set(key, chain);
    }
  }
  return faults;
}
