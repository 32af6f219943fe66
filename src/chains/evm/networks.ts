// The networks of this family as data: how each is recognised, read, and when what it holds is final.
import type { ChainAddress, Network, PaymentLinks, PaymentOrder, Rpc, WalletLink } from '../family.ts';
import { contractKeyOf, normalizeAddress, withChecksum } from './address.ts';
import { contractKeys, type LookAlike, lookAlikes } from './contracts.ts';
import type { Held } from './cursor.ts';
import { ETHEREUM_SCHEME, paymentLinks, walletLinks } from './links.ts';

/** A payment in coins, as a block shows it. */
export interface CoinPayment {
  txid: string;
  /** Keys: `0x` and 40 digits in lower case. */
  from: string;
  to: string;
  amount: bigint;
}

/** One whole block of a source of coins. Hashes in lower case, with `0x`. */
export interface CoinBlock {
  height: number;
  hash: string;
  parent: string;
  /** Unix seconds. */
  time: number;
  /** Only of transactions that succeeded, where the source tells; the reader checks the receipt of each in any case. */
  payments: readonly CoinPayment[];
  /** Every transaction of it. */
  spendings: readonly CoinSpending[];
}

/** What a transaction took of the one who made it, beyond its cost: a payment in coins, and whatever else takes some. */
export interface CoinSpending {
  txid: string;
  from: string;
  amount: bigint;
}

export interface SolidBalances {
  /** The block as of which these are the balances. */
  height: number;
  balances: readonly bigint[];
}

/** Balances as of blocks that no branch replaces. Throws ProviderError. */
export interface SolidCoins {
  /** The newest such block. */
  newest(rpc: Rpc): Promise<Held>;
  /** Of these keys, by one question with code, or one by one. */
  balances(rpc: Rpc, keys: readonly string[], by_code: boolean): Promise<SolidBalances>;
  /** By how much a transaction changed what its sender has, beyond what it took: less its cost, and what was given back. */
  change(rpc: Rpc, txid: string): Promise<bigint>;
}

/** Reads coins from whole blocks. Throws ProviderError where an answer is not a whole block. */
export interface CoinSource {
  /**
   * The blocks of these heights, both ends included, in their order and as far as it has them; at least one, each checked to
   * be whole.
   */
  blocks(rpc: Rpc, from: number, to: number): Promise<CoinBlock[]>;
  /** One transaction by its id; null where there is none, or where it pays no coin. */
  payment(rpc: Rpc, txid: string): Promise<CoinPayment | null>;
  solid: SolidCoins;
}

/** A log that the network itself writes for each transfer of its coin, inner ones included. */
export interface CoinLog {
  contract: string;
  /** `transfer`: like that of a token (EIP-7708). `polygon`: `LogTransfer` of Polygon's 0x…1010. */
  layout: 'transfer' | 'polygon';
}

/** How payments in the coin are found. `none`: they are not, so that no gateway offers the coin. */
export type Coins =
  | { found_by: 'none' }
  /** In every block over JSON-RPC: payments that a transaction makes itself. What contracts pay shows in balances. */
  | { found_by: 'blocks' }
  /** The same, in blocks since balances were read last, where one of these has changed. */
  | { found_by: 'balances' }
  | { found_by: 'log'; log: CoinLog }
  | { found_by: 'source'; source: CoinSource };

/** What differs between chains that answer the same JSON-RPC. */
export interface Dialect {
  normalizeAddress(text: string, network: Network): ChainAddress;
  /** How wallets show a key. */
  shown(key: string): string;
  /** The key of a token contract as the list of gateways or the settings name it. Throws AddressError. */
  contractKey(text: string): string;
  paymentLinks(chain_id: number, order: PaymentOrder): PaymentLinks;
  walletLinks(chain_id: number, order: PaymentOrder): readonly WalletLink[];
  uri_schemes: readonly string[];
  /** What a transaction id begins with where people read it. JSON-RPC always has `0x`. */
  txid_prefix: '0x' | '';
  /** Whether a transaction is one of a numbered sequence of its sender, so that another can take its place. */
  has_nonces: boolean;
  /** Values of one topic, and contracts, in one filter. */
  topic_values: number;
}

export interface EvmNetwork {
  /** As messages name it. */
  name: string;
  /** `eth_chainId`. */
  chain_ids: Record<Network, number>;
  /** Seconds between two blocks by what is known of it; what is measured counts from then on. */
  block_seconds: number;
  /** Blocks of one log filter at first; providers that allow fewer say so. */
  range_blocks: number;
  /** Whole blocks in one request at first … */
  whole_blocks: number;
  /** … and at most, where blocks have become faster. Absent where that is the same. */
  most_whole_blocks?: number;
  coins: Record<Network, Coins>;
  /** Tokens of its main network that are read, and never matched. */
  look_alikes?: readonly LookAlike[];
  /**
   * A block is final where the network's own tag `finalized` has passed it and it is so deep; and without the tag, should
   * that stall, at `alone_seconds`. Both are seconds of the chain's own time.
   */
  final: { depth_seconds: number; alone_seconds: number };
  /**
   * Whether one maker makes its blocks, which after a stop makes those of that time at once, with the times that they should
   * have had: a block is no older then than the last look that did not show it.
   */
  is_sequenced?: boolean;
  /**
   * By transaction, as people read its id, of a block that may have left the chain: until when it can be mined again, Unix
   * seconds of the chain. Absent where nothing bounds that. Throws ProviderError.
   */
  expiries?(rpc: Rpc, block_hash: string): Promise<ReadonlyMap<string, number>>;
  /** Calls in one JSON-RPC batch at most, and bytes. */
  batch: { calls: number; bytes: number };
  dialect: Dialect;
}

export const evmDialect: Dialect = {
  normalizeAddress: (text) => normalizeAddress(text, contractKeys),
  shown: withChecksum,
  contractKey: contractKeyOf,
  paymentLinks,
  walletLinks,
  uri_schemes: [ETHEREUM_SCHEME],
  txid_prefix: '0x',
  has_nonces: true,
  topic_values: 1000,
};

/** What networks have in common, those of the settings too. */
export const evmNetwork = {
  range_blocks: 100,
  whole_blocks: 10,
  batch: { calls: 20, bytes: 256_000 },
  dialect: evmDialect,
} satisfies Partial<EvmNetwork>;
const balances: Coins = { found_by: 'balances' };
/** EIP-7708: the system address that logs every transfer of the coin. */
const eip7708: Coins = {
  found_by: 'log',
  log: { contract: '0xfffffffffffffffffffffffffffffffffffffffe', layout: 'transfer' },
};
const polygonLog: Coins = {
  found_by: 'log',
  log: { contract: '0x0000000000000000000000000000000000001010', layout: 'polygon' },
};

export const networks = {
  ethereum: {
    ...evmNetwork,
    name: 'Ethereum',
    chain_ids: { mainnet: 1, testnet: 11_155_111 },
    block_seconds: 12,
    // Live on Sepolia since 2026-10-06; the main network has no date for it.
    coins: { mainnet: { found_by: 'blocks' }, testnet: eip7708 },
    final: { depth_seconds: 144, alone_seconds: 3072 },
  },
  base: {
    ...evmNetwork,
    name: 'Base',
    chain_ids: { mainnet: 8453, testnet: 84_532 },
    // Since 2026-11-05.
    block_seconds: 0.2,
    coins: { mainnet: balances, testnet: balances },
    look_alikes: lookAlikes.base,
    is_sequenced: true,
    final: { depth_seconds: 30, alone_seconds: 7200 },
  },
  polygon: {
    ...evmNetwork,
    name: 'Polygon',
    chain_ids: { mainnet: 137, testnet: 80_002 },
    block_seconds: 1,
    coins: { mainnet: polygonLog, testnet: polygonLog },
    look_alikes: lookAlikes.polygon,
    // Its tag was violated in September 2025.
    final: { depth_seconds: 256, alone_seconds: 2000 },
  },
  bsc: {
    ...evmNetwork,
    name: 'BNB Chain',
    chain_ids: { mainnet: 56, testnet: 97 },
    block_seconds: 0.45,
    coins: { mainnet: balances, testnet: balances },
    final: { depth_seconds: 7, alone_seconds: 450 },
  },
  arbitrum: {
    ...evmNetwork,
    name: 'Arbitrum',
    chain_ids: { mainnet: 42_161, testnet: 421_614 },
    block_seconds: 0.25,
    coins: { mainnet: balances, testnet: balances },
    look_alikes: lookAlikes.arbitrum,
    is_sequenced: true,
    final: { depth_seconds: 30, alone_seconds: 7200 },
  },
} satisfies Record<string, EvmNetwork>;
