// Networks and tokens that the settings add: what they become, and every way in which they are refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../../daemon/settings/config.ts';
import { settings } from '../../../daemon/settings/schema.ts';
import { AddressError } from '../../../src/chains/family.ts';
import { gatewayIds } from '../../../src/chains/gateways.ts';
import { verifies } from '../../requirements.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'gatewayd-custom-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const USDC = '0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83';
const EURC = '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const WETH = '0x4200000000000000000000000000000000000006';
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const gnosis = {
  id: 'gnosis',
  name: 'Gnosis',
  chain_id: 100,
  coin: 'XDAI',
  block_seconds: 5,
  min_confirmations: 20,
};
const usdc = { id: 'gnosis-usdc', blockchain: 'gnosis', currency: 'USDC', token_contract: USDC, decimals: 6 };
const eurc = {
  id: 'base-eurc',
  blockchain: 'base',
  currency: 'EURC',
  token_contract: EURC,
  decimals: 6,
  market: { symbol: 'EURC', coingecko_id: 'euro-coin' },
};
const url = { gnosis: { url: 'https://rpc.example' } };

interface Given {
  [name: string]: unknown;
  custom_blockchains?: object[];
  custom_gateways?: object[];
}
function load(given: Given, env: Record<string, string> = {}) {
  const file = join(cwd, `${Math.random().toString(36).slice(2)}.json`);
  const usual = { network: 'mainnet', blockchains: url };
  writeFileSync(file, JSON.stringify({ ...usual, ...given }));
  return loadConfig({ env: { XDG_STATE_HOME: '/state', ...env }, cwd, file });
}

const both: Given = { custom_blockchains: [gnosis], custom_gateways: [usdc, eurc] };
/** The refusal without where the setting is from. */
function refusal(given: Given): string {
  try {
    load(given);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.replaceAll(/ \(\/[^)]*\.json\)/g, '');
  }
  throw new Error('the configuration was accepted');
}
const blockchain = (more: object) => refusal({ ...both, custom_blockchains: [{ ...gnosis, ...more }] });
const gateway = (more: object) => refusal({ ...both, custom_gateways: [usdc, { ...eurc, ...more }] });

describe('what the settings add', () => {
  test('are final by the time that is two hours, or what is set, and never by a number of blocks', () => {
    verifies('pace-seconds');
    const finalOf = (changed: object) => {
      const given = { ...both, custom_blockchains: [{ ...gnosis, ...changed }] };
      return load(given).config.chains.find('gnosis')?.final_seconds;
    };
    for (const block_seconds of [0.2, 5, 60, 600]) {
      const depth_seconds = gnosis.min_confirmations * block_seconds;
      expect(finalOf({ block_seconds })).toBe(Math.max(7200, depth_seconds));
      expect(finalOf({ block_seconds, final_blocks: 100 })).toBe(100 * block_seconds);
    }
  });

  test('is on, and has the settings, wallets and prices that what is built in has', () => {
    verifies('custom-gateways');
    const { config, settings: leaves } = load({
      ...both,
      wallets: { gnosis: '0x52908400098527886E0F7030069857D2E4169EE7' },
      gateways: { 'gnosis-usdc': { min_confirmations: 30 } },
    });
    const gateways = config.chains.enabled('mainnet', config.gateways, config.blockchains);
    const found = (chain: string) => gateways.find((each) => each.chain === chain);
    expect(found('gnosis-usdc')).toMatchObject({
      name: 'USDC on Gnosis',
      currency: 'USDC',
      blockchain: 'gnosis',
      blockchain_name: 'Gnosis',
      decimals: 6,
      payable_decimals: 4,
      min_confirmations: 30,
      unique_amount: true,
      is_token: true,
      token_contract: USDC,
    });
    // As the other tokens of that blockchain.
    expect(found('base-eurc')).toMatchObject({ min_confirmations: 150, blockchain_name: 'Base' });
    expect(found('gnosis')).toBeUndefined();
    expect(config.chains.sharingAddresses('gnosis')).toEqual(
      expect.arrayContaining(['ethereum', 'base', 'polygon', 'bsc', 'arbitrum']),
    );
    expect(config.chains.sameAssetElsewhere('gnosis-usdc').map(({ chain }) => chain)).toContain('base-usdc');
    const names = leaves.map(({ name }) => name);
    for (const name of ['wallets.gnosis', 'blockchains.gnosis.api_key', 'rates.usd.EURC'])
      expect(names).toContain(name);
    expect(names.length).toBeGreaterThan(settings.length);
  });

  test('takes variables like what is built in, and lists as JSON text', () => {
    const { config } = load(
      {},
      {
        GATEWAYD_CUSTOM_BLOCKCHAINS: JSON.stringify([gnosis]),
        GATEWAYD_CUSTOM_GATEWAYS: JSON.stringify([usdc]),
        GATEWAYD_BLOCKCHAINS_GNOSIS_API_KEY: 'key',
        GATEWAYD_GATEWAYS_GNOSIS_USDC_ENABLED: 'false',
      },
    );
    expect(config.blockchains.gnosis).toMatchObject({ ...url.gnosis, api_key: 'key' });
    const list = (gateways: { chain: string }[]) => gateways.map(({ chain }) => chain);
    expect(list(config.chains.enabled('mainnet', config.gateways))).not.toContain('gnosis-usdc');
    expect(list(config.chains.disabled('mainnet', config.gateways))).toContain('gnosis-usdc');
  });

  test('may be a coin, and a token with the price of another asset', () => {
    const coin = { id: 'gnosis', blockchain: 'gnosis', currency: 'XDAI', priced_as: 'USDC' };
    const weth = { ...eurc, id: 'base-weth', currency: 'WETH', priced_as: 'ETH', market: undefined };
    const { config } = load({
      custom_blockchains: [gnosis],
      custom_gateways: [coin, { ...weth, token_contract: WETH, decimals: 18 }],
    });
    const [first, second] = config.chains.enabled('mainnet', config.gateways).slice(-2);
    expect(first).toMatchObject({ chain: 'gnosis', is_token: false, decimals: 18, direct_only: true });
    expect(first?.asset).toMatchObject({ currency: 'XDAI', stable: true, coingecko_id: 'usd-coin' });
    expect(second).toMatchObject({ chain: 'base-weth', payable_decimals: 8 });
    expect(second?.asset).toMatchObject({ currency: 'WETH', stable: false, symbols: ['ETH'] });
  });

  test('changes nothing of what is built in', () => {
    const { config } = load(both);
    expect(config.chains.values.slice(0, gatewayIds.length).map(({ chain }) => chain)).toEqual(gatewayIds);
    expect(load({ blockchains: {} }).config.chains.values.map(({ chain }) => chain)).toEqual(gatewayIds);
  });

  test('has contracts that are no wallets, on any blockchain with the same addresses', () => {
    const { config } = load(both);
    for (const [id, contract] of [
      ['gnosis', USDC],
      ['gnosis', BASE_USDC],
      ['base', EURC.toLowerCase()],
      ['polygon', EURC],
    ] as const)
      expect(() => config.chains.find(id)?.family.normalizeAddress(contract, 'mainnet')).toThrow(
        AddressError,
      );
  });

  test('is recognised by its chain id alone', async () => {
    const family = load(both).config.chains.find('gnosis')?.family;
    const answering = (id: string) => ({ provider: 'evm', call: async () => id }) as never;
    expect(await family?.identify(answering('0x64'))).toBe('mainnet');
    for (const id of ['0x1', '0x27d8'])
      await expect(family?.identify(answering(id))).rejects.toThrow('not Gnosis (chain 100)');
  });
});

describe('a blockchain is refused', () => {
  test.each([
    [{ id: 'Gno sis' }, 'custom_blockchains.0.id: must be 2 to 24 small letters and digits'],
    [{ id: 'base' }, 'custom_blockchains.0.id: base: is built in: leave it out'],
    [{ id: 'usdc' }, 'custom_blockchains.0.id: usdc: is the name of a gateway or a currency already'],
    [{ chain_id: 8453 }, '8453 is that of Base, which is built in'],
    [{ chain_id: 84_532 }, '84532 is that of Base, which is built in'],
    [{ chain_id: 0x2b6653dc }, 'is that of TRON, which is built in'],
    [{ chain_id: 0 }, 'custom_blockchains.0.chain_id: '],
    [
      { final_blocks: 5 },
      'custom_blockchains.0.final_blocks: gnosis: must be at least min_confirmations, 20',
    ],
    [{ colour: 'red' }, 'unknown member custom_blockchains.0.colour'],
    [{ name: '<b>' }, 'custom_blockchains.0.name: must be up to 40 letters'],
  ])('with %o', (more, says) => {
    expect(blockchain(more)).toContain(says);
  });

  test('that is there twice, by its id or by its chain id', () => {
    const named = { ...usdc, id: 'other-usdc', blockchain: 'other' };
    const says = refusal({
      custom_blockchains: [gnosis, gnosis, { ...gnosis, id: 'other' }],
      custom_gateways: [usdc, named],
    });
    expect(says).toContain('custom_blockchains.1.id: gnosis: is there twice');
    expect(says).toContain('custom_blockchains.2.chain_id: other: 100 is that of gnosis already');
  });

  test('without a provider, and without anything to sell', () => {
    expect(refusal({ ...both, blockchains: {} })).toContain('blockchains.gnosis.url: must be set');
    expect(refusal({ custom_blockchains: [gnosis] })).toContain('nothing is sold on it');
  });
});

describe('a gateway is refused', () => {
  test.each([
    [{ id: 'base-usdc' }, 'custom_gateways.1.id: base-usdc: is built in, and cannot be replaced'],
    [{ id: 'gnosis-usdc' }, 'gnosis-usdc: is there twice'],
    [{ id: 'euro' }, 'must begin with base-, as ids of tokens do'],
    [{ id: 'base-EURC' }, 'custom_gateways.1.id: must be small letters and digits'],
    [
      { blockchain: 'bsae' },
      'custom_gateways.1.blockchain: base-eurc: bsae is not known: did you mean base?',
    ],
    [{ blockchain: 'bitcoin' }, 'bitcoin takes no further tokens; use one of ethereum'],
    [{ token_contract: undefined }, 'a coin can be added on a blockchain of custom_blockchains only'],
    [
      { token_contract: EURC.replace('E', 'e') },
      'custom_gateways.1.token_contract: base-eurc: the address is misspelt: the case',
    ],
    [{ token_contract: EURC.slice(0, -1) }, 'the address is misspelt or of another coin'],
    [{ token_contract: '0x0000000000000000000000000000000000001010' }, 'there is no token at this address'],
    [
      { token_contract: BASE_USDC.toLowerCase() },
      'is the contract of base-usdc: one contract may have one gateway only',
    ],
    [{ decimals: undefined }, 'custom_gateways.1.decimals: base-eurc: must be set'],
    [{ decimals: 99 }, 'custom_gateways.1.decimals: '],
    [{ payable_decimals: 7 }, 'must not be more than decimals'],
    [{ currency: 'eurc' }, 'custom_gateways.1.currency: must be 2 to 12 capital letters and digits'],
    [{ currency: 'USDC' }, 'custom_gateways.1.market: base-eurc: the price of USDC is known'],
    [
      { market: undefined },
      'custom_gateways.1.priced_as: base-eurc: no price is known for EURC: set it to one of TON',
    ],
    [{ market: undefined, priced_as: 'EUR' }, 'no price is known for EUR: use one of'],
    [{ priced_as: 'USDC' }, 'and market are two prices'],
    [{ currency: 'ETHEREUM' }, 'ETHEREUM is the name of gateway ethereum'],
  ])('with %o', (more, says) => {
    expect(gateway(more)).toContain(says);
  });

  test('with another price than the same ticker has elsewhere, and with a contract that is there already', () => {
    const other = { ...eurc, id: 'gnosis-eurc', blockchain: 'gnosis', market: undefined, priced_as: 'USDC' };
    const says = (more: object[]) => refusal({ ...both, custom_gateways: [usdc, eurc, ...more] });
    expect(says([other])).toContain('EURC has another price in base-eurc');
    expect(says([{ ...usdc, id: 'gnosis-usdc-2', token_contract: USDC.toLowerCase() }])).toContain(
      'is the contract of gnosis-usdc',
    );
  });

  test('that is a coin of another name, ticker or decimals', () => {
    const coin = { id: 'gnosis', blockchain: 'gnosis', currency: 'XDAI', priced_as: 'USDC' };
    const says = (more: object) => refusal({ ...both, custom_gateways: [{ ...coin, ...more }] });
    expect(says({ id: 'gnosis-xdai' })).toContain('must be gnosis, as it is the coin');
    expect(says({ currency: 'DAI' })).toContain('must be XDAI, the coin of gnosis');
    expect(says({ decimals: 6 })).toContain('must be 18');
  });

  test('without a price only where rates are not fixed', () => {
    const given = { ...both, custom_gateways: [usdc, { ...eurc, market: undefined }] };
    const rates = { source: 'fixed', usd: { EURC: '1.08', TON: '3' } };
    expect(load({ ...given, rates }).config.rates.usd.EURC).toBe('1.08');
    expect(refusal({ ...given, rates: { ...rates, source: 'live' } })).toContain(
      'no price is known for EURC',
    );
  });
});

test('a contract in `gateways` has its checksum, and is of no other gateway of its blockchain', () => {
  const set = (chain: string, token_contract: string) =>
    refusal({ ...both, gateways: { [chain]: { token_contract } } });
  expect(set('base-usdc', BASE_USDC.replace('D', 'd'))).toContain(
    'gateways.base-usdc.token_contract: the address is misspelt',
  );
  expect(set('base-usdc', EURC)).toContain('is the contract of base-usdc');
  expect(set('ethereum-usdc', '0xdAC17F958D2ee523a2206206994597C13D831ec7')).toContain(
    'gateways.ethereum-usdc.token_contract: is the contract of ethereum-usdt',
  );
});

test('lists that are none are refused before anything is made of them', () => {
  expect(refusal({ custom_blockchains: {} as never })).toContain(
    'custom_blockchains: must be a list of objects',
  );
  expect(refusal({ custom_gateways: [{ id: 'x' }] })).toContain('custom_gateways.0.blockchain');
});
