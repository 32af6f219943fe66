// Payment links of Ethereum's relatives and of TRON: which wallet gets which link, and what a code holds.
import { describe, expect, test } from 'vitest';
import { contractKeys } from '../../../src/chains/evm/contracts.ts';
import { AddressError, type Gateway, type Network, type PaymentOrder } from '../../../src/chains/family.ts';
import { findBlockchain, gatewayIds, gatewaysOf } from '../../../src/chains/gateways.ts';
import { verifies } from '../../requirements.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TRON_ADDRESS = 'TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV';
const enabled = (settings: object = {}) =>
  Object.fromEntries(gatewayIds.map((id) => [id, { enabled: true, ...settings }]));
const gatewayOf = (chain: string, network: Network = 'mainnet'): Gateway =>
  gatewaysOf(network, enabled()).find((each) => each.chain === chain) ?? expect.fail(chain);

const linksOf = (chain: string, amount_atomic: bigint, order: Partial<PaymentOrder> = {}) => {
  const gateway = order.gateway ?? gatewayOf(chain);
  const address = gateway.blockchain === 'tron' ? TRON_ADDRESS : ADDRESS;
  return gateway.family.paymentLinks({
    gateway,
    address,
    amount_atomic,
    memo: null,
    reference: null,
    label: 'Books & more',
    expires_at: 1_800_000_000,
    ...order,
  });
};

describe('the link of a coin', () => {
  test('is ERC-681 with the chain id, and the code is the same', () => {
    const uri = `ethereum:${ADDRESS}@137?value=4100000000000000`;
    expect(linksOf('polygon', 4_100_000_000_000_000n)).toEqual({
      uri,
      exits: {
        wallet: uri,
        metamask: `https://link.metamask.io/send/${ADDRESS}@137?value=4100000000000000`,
        trust: `https://link.trustwallet.com/send?asset=c966&address=${ADDRESS}&amount=0.0041`,
      },
    });
  });

  test('writes whole numbers, never an exponent, however large or small', () => {
    for (const amount of [1n, 10n ** 18n, 10n ** 27n, 123_456_789_012_345_678_901n]) {
      const { uri, exits } = linksOf('polygon', amount);
      expect(uri).toBe(`ethereum:${ADDRESS}@137?value=${amount}`);
      for (const link of Object.values(exits)) expect(link).not.toMatch(/=[\d.]*e\d/i);
    }
  });
});

describe('the link of a token', () => {
  test('is only behind the button: the code is the bare address', () => {
    verifies('code-address');
    const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
    expect(linksOf('ethereum-usdt', 12_345_600n)).toEqual({
      uri: ADDRESS,
      exits: {
        wallet: `ethereum:${usdt}@1/transfer?address=${ADDRESS}&uint256=12345600`,
        metamask: `https://link.metamask.io/send/${usdt}@1/transfer?address=${ADDRESS}&uint256=12345600`,
        trust: `https://link.trustwallet.com/send?asset=c60_t${usdt}&address=${ADDRESS}&amount=12.3456`,
      },
    });
  });

  test('counts with the decimals of its own network', () => {
    const { exits } = linksOf('bsc-usdt', 12_345_600_000_000_000_000n);
    expect(exits.wallet).toMatch(/@56\/transfer\?.*uint256=12345600000000000000$/);
    expect(exits.trust).toMatch(/asset=c20000714_t0x55d3.*&amount=12\.3456$/);
  });

  test.each([
    ['base-usdc', 8453, 8453],
    ['polygon-usdc', 137, 966],
    ['arbitrum-usdt', 42_161, 10_042_221],
  ])('%s names chain %i, and Trust its coin %i', (chain, chain_id, coin) => {
    const { exits } = linksOf(chain, 1_000_000n);
    expect(exits.wallet).toContain(`@${chain_id}/`);
    expect(exits.metamask).toContain(`@${chain_id}/`);
    expect(exits.trust).toContain(`asset=c${coin}_t0x`);
  });
});

test('a test network has its own chain id, and no link of a wallet that has no test networks', () => {
  const gateway = gatewayOf('base-usdc', 'testnet');
  const { uri, exits } = linksOf('base-usdc', 1_000_000n, { gateway });
  expect(uri).toBe(ADDRESS);
  expect(Object.keys(exits)).toEqual(['wallet', 'metamask']);
  expect(exits.wallet).toContain('@84532/');
  const tron = gatewayOf('tron-usdt', 'testnet');
  expect(linksOf('tron-usdt', 1n, { gateway: tron }).exits).toEqual({});
});

test('TRON has no URI: the code is the address, and one wallet documents a link', () => {
  verifies('exits-documented');
  expect(linksOf('tron-usdt', 12_345_600n)).toEqual({
    uri: TRON_ADDRESS,
    exits: {
      trust: `https://link.trustwallet.com/send?asset=c195_tTR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t&address=${TRON_ADDRESS}&amount=12.3456`,
    },
  });
});

test('offers no kind of link that its gateway does not', () => {
  for (const network of ['mainnet', 'testnet'] as const)
    for (const gateway of gatewaysOf(network, enabled())) {
      if (!['ethereum', 'base', 'polygon', 'bsc', 'arbitrum', 'tron'].includes(gateway.blockchain)) continue;
      const { exits } = linksOf(gateway.chain, 1_000_000n, { gateway });
      for (const kind of Object.keys(exits)) expect(gateway.exits).toContain(kind);
      expect(linksOf(gateway.chain, 1_000_000n, { gateway: { ...gateway, exits: [] } }).exits).toEqual({});
    }
});

test('every token contract is spelled with its checksum, and refused as a wallet on all networks of its family', () => {
  for (const network of ['mainnet', 'testnet'] as const)
    for (const { blockchain, chain, token_contract } of gatewaysOf(network, enabled())) {
      const family = findBlockchain(blockchain)?.family ?? expect.fail(blockchain);
      if (token_contract === null || !family.providers.some(({ kind }) => kind === 'evm' || kind === 'tron'))
        continue;
      expect(() => family.normalizeAddress(token_contract, network), chain).toThrow(/contract of a token/);
      if (blockchain === 'tron') continue;
      const other = findBlockchain('ethereum')?.family ?? expect.fail();
      expect(() => other.normalizeAddress(token_contract.toLowerCase(), network)).toThrow(AddressError);
      expect(contractKeys).toContain(token_contract.toLowerCase());
    }
});
