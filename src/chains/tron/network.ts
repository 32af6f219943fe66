// TRON as a network of the EVM family: its JSON-RPC answers like Ethereum's, its addresses and coins do not.
import type { Coins, EvmNetwork } from '../evm/networks.ts';
import type { ProviderKind } from '../family.ts';
import { keyOf, normalizeAddress, showAddress } from './address.ts';
import { MOST_BLOCKS, readBlocks, readExpiries, readPayment } from './blocks.ts';
import { tokenKeys } from './contracts.ts';
import { paymentLinks, walletLinks } from './links.ts';
import { solidCoins } from './solid.ts';

/** Its URL is that of the JSON-RPC; the node's own API stands next to it. */
export const tronProvider: ProviderKind = { kind: 'tron', needs_url: false, key_header: 'tron-pro-api-key' };

const trx: Coins = {
  found_by: 'source',
  source: { blocks: readBlocks, payment: readPayment, solid: solidCoins },
};

export const tronNetwork: EvmNetwork = {
  name: 'TRON',
  // Nile is the test network; Shasta has no USDT that its faucet gives.
  chain_ids: { mainnet: 0x2b6653dc, testnet: 0xcd8690dc },
  block_seconds: 3,
  range_blocks: 1000,
  whole_blocks: 20,
  most_whole_blocks: MOST_BLOCKS,
  coins: { mainnet: trx, testnet: trx },
  // Nineteen of the 27 who make blocks have built on it: what the network itself calls solidified.
  final: { depth_seconds: 57, alone_seconds: 1800 },
  expiries: readExpiries,
  // Its nodes take four million bytes, what stands before them often one; a thousand addresses in a filter are seventy thousand.
  batch: { calls: 40, bytes: 1_000_000 },
  dialect: {
    normalizeAddress: (text) => normalizeAddress(text, tokenKeys),
    shown: showAddress,
    contractKey: keyOf,
    paymentLinks: (_, order) => paymentLinks(order),
    walletLinks: (_, order) => walletLinks(order),
    uri_schemes: [],
    txid_prefix: '',
    has_nonces: false,
    topic_values: 1000,
  },
};
