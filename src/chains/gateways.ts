// The list of blockchains and gateways that are built in: one value each, with all its numbers.
import { assets } from './assets.ts';
import { type Blockchain, catalogueOf, type GatewayValue, tickersOf } from './catalogue.ts';
import { tokens } from './evm/contracts.ts';
import { evm } from './evm/family.ts';
import { networks } from './evm/networks.ts';
import { type Explorer, explorers } from './explorers.ts';
import type { Family, Network, ProviderKind } from './family.ts';
import { solana } from './solana/family.ts';
import { ton } from './ton/family.ts';
import { MASTERCHAIN_SECONDS } from './ton/pace.ts';
import { USDT as usdtOnTron } from './tron/contracts.ts';
import { tronNetwork, tronProvider } from './tron/network.ts';
import { utxo } from './utxo/family.ts';
import { coins } from './utxo/networks.ts';

/** What gateways of Ethereum's relatives have in common: payments from exchanges take minutes, and there is no memo. */
const evmValue = {
  payment_ttl_seconds: 1200,
  supports_memo: false,
  exits: ['wallet', 'metamask', 'trust'],
  is_off_by_default: true,
} satisfies Partial<GatewayValue>;
/** Exchanges that pay out the fewest decimals of a stablecoin pay out four. */
const evmStable = { ...evmValue, payable_decimals: 4 } satisfies Partial<GatewayValue>;

export const blockchains: readonly Blockchain[] = [
  {
    id: 'ton',
    name: 'TON',
    family: ton,
    coin: 'TON',
    block_seconds: MASTERCHAIN_SECONDS,
    requests_per_second: 1,
    providers: {
      mainnet: [{ provider: 'toncenter', url: 'https://toncenter.com/api/v3' }],
      testnet: [{ provider: 'toncenter', url: 'https://testnet.toncenter.com/api/v3' }],
    },
    address_hint: { mainnet: 'UQ… or EQ…', testnet: '0Q… or kQ…' },
  },
  {
    id: 'solana',
    name: 'Solana',
    family: solana,
    coin: 'SOL',
    block_seconds: 0.2,
    final_seconds: 0.2,
    requests_per_second: 4,
    providers: {
      mainnet: [
        { provider: 'solana', url: 'https://api.mainnet.solana.com' },
        { provider: 'solana', url: 'https://solana-rpc.publicnode.com' },
      ],
      // No one else runs a node of this one that answers without a key.
      testnet: [{ provider: 'solana', url: 'https://api.devnet.solana.com' }],
    },
    address_hint: { mainnet: '32 to 44 base58 characters', testnet: '32 to 44 base58 characters' },
  },
  {
    id: 'bitcoin',
    name: 'Bitcoin',
    family: utxo('bitcoin'),
    coin: 'BTC',
    block_seconds: coins.bitcoin.block_seconds,
    is_found_by_luck: true,
    requests_per_second: 2,
    providers: {
      mainnet: [
        { provider: 'esplora', url: 'https://mempool.space/api' },
        { provider: 'esplora', url: 'https://blockstream.info/api' },
      ],
      testnet: [{ provider: 'esplora', url: 'https://mempool.space/testnet4/api' }],
    },
    address_hint: { mainnet: 'bc1…, 1… or 3…', testnet: 'tb1…, bcrt1…, m…, n… or 2…' },
  },
  {
    id: 'litecoin',
    name: 'Litecoin',
    family: utxo('litecoin'),
    coin: 'LTC',
    block_seconds: coins.litecoin.block_seconds,
    is_found_by_luck: true,
    // Thirteen of its blocks were rewound on 2026-04-25.
    confirmations: [{ below_usd: '100', blocks: 3 }, { below_usd: '1000', blocks: 12 }, { blocks: 24 }],
    requests_per_second: 2,
    providers: {
      mainnet: [{ provider: 'esplora', url: 'https://litecoinspace.org/api' }],
      testnet: [{ provider: 'esplora', url: 'https://litecoinspace.org/testnet/api' }],
    },
    address_hint: { mainnet: 'ltc1…, L… or M…', testnet: 'tltc1…, rltc1…, m…, n… or Q…' },
  },
  {
    id: 'ethereum',
    name: 'Ethereum',
    family: evm(networks.ethereum),
    coin: 'ETH',
    block_seconds: networks.ethereum.block_seconds,
    final_seconds: 900,
    requests_per_second: 4,
    providers: {
      mainnet: [
        { provider: 'evm', url: 'https://ethereum-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://eth.drpc.org' },
      ],
      testnet: [
        { provider: 'evm', url: 'https://ethereum-sepolia-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://public.1rpc.io/sepolia' },
      ],
    },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  },
  {
    id: 'base',
    name: 'Base',
    family: evm(networks.base),
    coin: 'ETH',
    block_seconds: networks.base.block_seconds,
    final_seconds: 1200,
    // Blocks of the one that makes them are worth what it says; what they are made of is on Ethereum once they are final.
    confirmations: [{ below_usd: '1000', seconds: 30 }, { until: 'finalized' }],
    requests_per_second: 4,
    providers: {
      mainnet: [
        { provider: 'evm', url: 'https://base-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://base.gateway.tenderly.co' },
      ],
      testnet: [
        { provider: 'evm', url: 'https://base-sepolia-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://base-sepolia.gateway.tenderly.co' },
      ],
    },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  },
  {
    id: 'polygon',
    name: 'Polygon',
    family: evm(networks.polygon),
    coin: 'POL',
    block_seconds: networks.polygon.block_seconds,
    // Its milestones have been wrong: a block must be as old as that besides.
    final_seconds: 256,
    requests_per_second: 4,
    providers: {
      mainnet: [
        { provider: 'evm', url: 'https://polygon-bor-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://polygon.drpc.org' },
      ],
      testnet: [
        { provider: 'evm', url: 'https://polygon-bor-amoy-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://rpc-amoy.polygon.technology' },
      ],
    },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  },
  {
    id: 'bsc',
    name: 'BNB Chain',
    family: evm(networks.bsc),
    coin: 'BNB',
    block_seconds: networks.bsc.block_seconds,
    final_seconds: 7,
    requests_per_second: 4,
    providers: {
      // The network's own public nodes answer no request for logs.
      mainnet: [
        { provider: 'evm', url: 'https://bsc-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://bsc.drpc.org' },
      ],
      testnet: [
        { provider: 'evm', url: 'https://bsc-testnet-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://bsc-testnet.drpc.org' },
      ],
    },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  },
  {
    id: 'arbitrum',
    name: 'Arbitrum',
    family: evm(networks.arbitrum),
    coin: 'ETH',
    block_seconds: networks.arbitrum.block_seconds,
    final_seconds: 1200,
    requests_per_second: 4,
    providers: {
      mainnet: [
        { provider: 'evm', url: 'https://arb1.arbitrum.io/rpc' },
        { provider: 'evm', url: 'https://arbitrum-one-rpc.publicnode.com' },
      ],
      testnet: [
        { provider: 'evm', url: 'https://arbitrum-sepolia-rpc.publicnode.com' },
        { provider: 'evm', url: 'https://arbitrum-sepolia.drpc.org' },
      ],
    },
    address_hint: { mainnet: '0x…', testnet: '0x…' },
    address_space: 'evm',
  },
  {
    id: 'tron',
    name: 'TRON',
    family: evm(tronNetwork, tronProvider),
    coin: 'TRX',
    block_seconds: tronNetwork.block_seconds,
    final_seconds: 57,
    requests_per_second: 2,
    providers: {
      mainnet: [
        { provider: 'tron', url: 'https://api.trongrid.io/jsonrpc' },
        { provider: 'tron', url: 'https://tron-rpc.publicnode.com/jsonrpc' },
      ],
      testnet: [{ provider: 'tron', url: 'https://nile.trongrid.io/jsonrpc' }],
    },
    address_hint: { mainnet: 'T…', testnet: 'T…' },
  },
];

const gatewayValues: readonly GatewayValue[] = [
  {
    chain: 'ton',
    asset: assets.TON,
    name: 'TON',
    blockchain: 'ton',
    decimals: 9,
    payable_decimals: 6,
    min_confirmations: 1,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 4,
    usual_fee_usd: '0.01',
    supports_memo: true,
    exits: ['wallet', 'web', 'tg'],
  },
  {
    chain: 'ton-usdt',
    asset: assets.USDT,
    name: 'USDT on TON',
    blockchain: 'ton',
    decimals: 6,
    payable_decimals: 6,
    min_confirmations: 1,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 4,
    usual_fee_usd: '0.05',
    supports_memo: true,
    exits: ['wallet', 'web', 'tg'],
    token_contract: {
      mainnet: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
      testnet: 'kQD0GKBM8ZbryVk2aESmzfU6b9b_8era_IkvBSELujFZPsyy',
    },
  },
  {
    chain: 'solana',
    asset: assets.SOL,
    name: 'Solana',
    blockchain: 'solana',
    decimals: 9,
    payable_decimals: 6,
    min_confirmations: 32,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 4,
    usual_fee_usd: '0.01',
    supports_memo: true,
    exits: ['wallet'],
  },
  {
    chain: 'solana-usdc',
    asset: assets.USDC,
    name: 'USDC on Solana',
    blockchain: 'solana',
    decimals: 6,
    payable_decimals: 6,
    min_confirmations: 32,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 4,
    usual_fee_usd: '0.01',
    supports_memo: true,
    exits: ['wallet'],
    token_contract: {
      mainnet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      testnet: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    },
  },
  {
    chain: 'solana-usdt',
    asset: assets.USDT,
    name: 'USDT on Solana',
    blockchain: 'solana',
    decimals: 6,
    payable_decimals: 6,
    min_confirmations: 32,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 4,
    usual_fee_usd: '0.01',
    supports_memo: true,
    exits: ['wallet'],
    token_contract: {
      mainnet: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
      testnet: 'EJwZgeZrdC8TXTQbQBoL6bfuAnFUUy1PVCMB4DYPzVaS',
    },
  },
  {
    chain: 'bitcoin',
    asset: assets.BTC,
    name: 'Bitcoin',
    blockchain: 'bitcoin',
    decimals: 8,
    payable_decimals: 8,
    min_confirmations: 1,
    payment_ttl_seconds: 3600,
    poll_interval_seconds: 15,
    usual_fee_usd: '1',
    supports_memo: false,
    exits: ['wallet'],
  },
  {
    chain: 'litecoin',
    asset: assets.LTC,
    name: 'Litecoin',
    blockchain: 'litecoin',
    decimals: 8,
    payable_decimals: 8,
    min_confirmations: 3,
    payment_ttl_seconds: 3600,
    poll_interval_seconds: 20,
    usual_fee_usd: '0.01',
    supports_memo: false,
    exits: ['wallet'],
  },
  {
    ...evmValue,
    chain: 'ethereum',
    asset: assets.ETH,
    name: 'Ethereum',
    blockchain: 'ethereum',
    decimals: 18,
    payable_decimals: 8,
    confirm_seconds: 144,
    poll_interval_seconds: 12,
    usual_fee_usd: '0.5',
  },
  {
    ...evmStable,
    chain: 'ethereum-usdt',
    asset: assets.USDT,
    name: 'USDT on Ethereum',
    blockchain: 'ethereum',
    decimals: 6,
    confirm_seconds: 144,
    poll_interval_seconds: 12,
    usual_fee_usd: '1',
    token_contract: tokens.ethereum.USDT,
  },
  {
    ...evmStable,
    chain: 'ethereum-usdc',
    asset: assets.USDC,
    name: 'USDC on Ethereum',
    blockchain: 'ethereum',
    decimals: 6,
    confirm_seconds: 144,
    poll_interval_seconds: 12,
    usual_fee_usd: '1',
    token_contract: tokens.ethereum.USDC,
  },
  {
    ...evmValue,
    chain: 'base',
    asset: assets.ETH,
    name: 'Ether on Base',
    blockchain: 'base',
    decimals: 18,
    payable_decimals: 8,
    confirm_seconds: 30,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
  },
  {
    ...evmStable,
    chain: 'base-usdc',
    asset: assets.USDC,
    name: 'USDC on Base',
    blockchain: 'base',
    decimals: 6,
    confirm_seconds: 30,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
    token_contract: tokens.base.USDC,
  },
  {
    ...evmValue,
    chain: 'polygon',
    asset: assets.POL,
    name: 'Polygon',
    blockchain: 'polygon',
    decimals: 18,
    payable_decimals: 4,
    confirm_seconds: 128,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
  },
  {
    ...evmStable,
    chain: 'polygon-usdt',
    asset: assets.USDT,
    name: 'USDT on Polygon',
    blockchain: 'polygon',
    decimals: 6,
    confirm_seconds: 128,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
    token_contract: tokens.polygon.USDT,
  },
  {
    ...evmStable,
    chain: 'polygon-usdc',
    asset: assets.USDC,
    name: 'USDC on Polygon',
    blockchain: 'polygon',
    decimals: 6,
    confirm_seconds: 128,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
    token_contract: tokens.polygon.USDC,
  },
  {
    ...evmValue,
    chain: 'bsc',
    asset: assets.BNB,
    name: 'BNB Chain',
    blockchain: 'bsc',
    decimals: 18,
    payable_decimals: 8,
    confirm_seconds: 7,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
  },
  {
    ...evmStable,
    chain: 'bsc-usdt',
    asset: assets.USDT,
    name: 'USDT on BNB Chain',
    blockchain: 'bsc',
    decimals: 18,
    confirm_seconds: 7,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
    token_contract: tokens.bsc.USDT,
  },
  {
    ...evmStable,
    chain: 'bsc-usdc',
    asset: assets.USDC,
    name: 'USDC on BNB Chain',
    blockchain: 'bsc',
    decimals: 18,
    confirm_seconds: 7,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
    token_contract: tokens.bsc.USDC,
  },
  {
    ...evmValue,
    chain: 'arbitrum',
    asset: assets.ETH,
    name: 'Ether on Arbitrum',
    blockchain: 'arbitrum',
    decimals: 18,
    payable_decimals: 8,
    confirm_seconds: 30,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
  },
  {
    ...evmStable,
    chain: 'arbitrum-usdt',
    asset: assets.USDT,
    name: 'USDT on Arbitrum',
    blockchain: 'arbitrum',
    decimals: 6,
    confirm_seconds: 30,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
    token_contract: tokens.arbitrum.USDT,
  },
  {
    ...evmStable,
    chain: 'arbitrum-usdc',
    asset: assets.USDC,
    name: 'USDC on Arbitrum',
    blockchain: 'arbitrum',
    decimals: 6,
    confirm_seconds: 30,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.02',
    token_contract: tokens.arbitrum.USDC,
  },
  {
    ...evmValue,
    chain: 'tron',
    asset: assets.TRX,
    name: 'TRON',
    blockchain: 'tron',
    decimals: 6,
    payable_decimals: 4,
    confirm_seconds: 57,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.3',
    exits: ['trust'],
  },
  {
    ...evmStable,
    chain: 'tron-usdt',
    asset: assets.USDT,
    name: 'USDT on TRON',
    blockchain: 'tron',
    decimals: 6,
    confirm_seconds: 57,
    poll_interval_seconds: 6,
    usual_fee_usd: '2',
    exits: ['trust'],
    token_contract: usdtOnTron,
  },
];

/** What every daemon knows, whatever its settings. */
export const builtIn = catalogueOf(blockchains, gatewayValues);
export const {
  find: findBlockchain,
  enabled: gatewaysOf,
  disabled: disabledGatewaysOf,
  withoutContract,
} = builtIn;

export type { Explorer };

/** Where people look up what is on it; the settings may name another. */
export const explorerOf = (blockchain: string, network: Network): Explorer | undefined =>
  explorers[blockchain]?.[network];

export const gatewayIds: readonly string[] = gatewayValues.map((value) => value.chain);
export const tickers: readonly string[] = tickersOf(builtIn);

const families: readonly Family[] = blockchains.map(({ family }) => family);
/** Every kind of provider that some blockchain can be read from, once. */
export const providerKinds: readonly ProviderKind[] = [
  ...new Set(families.flatMap(({ providers }) => providers)),
];
/** Schemes of payment links besides https, without the colon. */
export const uriSchemes: ReadonlySet<string> = new Set(families.flatMap(({ uri_schemes }) => uri_schemes));
