// The list of gateways: which are on, which can be, and what each must agree with.
import { describe, expect, test } from 'vitest';
import {
  blockchains,
  disabledGatewaysOf,
  gatewayIds,
  gatewaysOf,
  withoutContract,
} from '../../../src/chains/gateways.ts';
import { sampleBlockchains, sampleIds, sampleName, sampleTicker } from '../../../src/chains/samples.ts';
import { verifies } from '../../requirements.ts';

const ids = (gateways: readonly { chain: string }[]) => gateways.map(({ chain }) => chain);
const all = Object.fromEntries(gatewayIds.map((id) => [id, { enabled: true }]));

describe('a gateway that is off by default', () => {
  test('is not listed until the settings switch it on, and is switched off like any other', () => {
    verifies('gateway-off');
    expect(ids(gatewaysOf('mainnet'))).toEqual([
      'ton',
      'ton-usdt',
      'solana',
      'solana-usdc',
      'solana-usdt',
      'bitcoin',
      'litecoin',
    ]);
    expect(ids(gatewaysOf('mainnet', { 'base-usdc': { enabled: true } }))).toContain('base-usdc');
    expect(ids(gatewaysOf('mainnet', { 'base-usdc': { min_confirmations: 3 } }))).not.toContain('base-usdc');
  });

  test('is one of those whose open invoices are still read, and each gateway is in one list alone', () => {
    for (const overrides of [{}, all, { 'tron-usdt': { enabled: true }, ton: { enabled: false } }]) {
      const on = ids(gatewaysOf('mainnet', overrides));
      const off = ids(disabledGatewaysOf('mainnet', overrides));
      expect([...on, ...off].toSorted()).toEqual([...gatewayIds].toSorted());
    }
    expect(ids(disabledGatewaysOf('mainnet'))).toContain('tron-usdt');
  });
});

describe('a token without a known contract on a network', () => {
  test('exists there only with the contract that the settings name', () => {
    expect(ids(gatewaysOf('testnet', all))).not.toContain('ethereum-usdt');
    expect(ids(disabledGatewaysOf('testnet'))).not.toContain('ethereum-usdt');
    const token_contract = '0x1111111111111111111111111111111111111111';
    const [found] = gatewaysOf('testnet', { 'ethereum-usdt': { enabled: true, token_contract } }).filter(
      ({ chain }) => chain === 'ethereum-usdt',
    );
    expect(found).toMatchObject({ token_contract, is_token: true });
    const missing = ['ethereum-usdt', 'polygon-usdt', 'arbitrum-usdt'];
    expect(withoutContract('testnet', all)).toEqual(missing);
    expect(withoutContract('testnet', {})).toEqual([]);
    expect(withoutContract('mainnet', all)).toEqual([]);
  });
});

test('ids follow from blockchain and ticker, and numbers agree with each other', () => {
  for (const network of ['mainnet', 'testnet'] as const)
    for (const gateway of gatewaysOf(network, all)) {
      const { chain, blockchain, currency, is_token, decimals, payable_decimals } = gateway;
      expect(chain).toBe(is_token ? `${blockchain}-${currency.toLowerCase()}` : blockchain);
      expect(payable_decimals).toBeLessThanOrEqual(decimals);
      expect(gateway.unique_amount || gateway.supports_memo).toBe(true);
      const coin = blockchains.find(({ id }) => id === blockchain)?.coin;
      if (!is_token) expect(currency).toBe(coin);
    }
});

test('what descriptions show of ids are ids', () => {
  const [coin, token, elsewhere] = sampleIds;
  const found = gatewaysOf('mainnet').filter(({ chain }) =>
    [coin, token, elsewhere].includes(chain as never),
  );
  expect(found).toMatchObject([
    { chain: coin, is_token: false, blockchain_name: sampleName },
    { chain: token, is_token: true, currency: sampleTicker },
    { chain: elsewhere, is_token: false },
  ]);
  expect(found[1]?.blockchain).toBe(found[0]?.blockchain);
  expect(found.map(({ blockchain }) => blockchain)).toContain(sampleBlockchains[0]);
  expect(blockchains.map(({ id }) => id)).toEqual(expect.arrayContaining([...sampleBlockchains]));
});

test('two public providers of a blockchain are of two operators', () => {
  for (const { id, providers, family } of blockchains)
    for (const list of Object.values(providers)) {
      const operators = list.map(({ url }) => new URL(url).hostname.split('.').slice(-2).join('.'));
      expect([id, new Set(operators).size]).toEqual([id, operators.length]);
      for (const { provider } of list) expect(family.providers.map(({ kind }) => kind)).toContain(provider);
    }
});
