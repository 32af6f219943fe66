// Addresses of Bitcoin and Litecoin: published vectors, every prefix, and everything that must be refused.
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AddressError, type Network } from '../../../src/chains/family.ts';
import { utxo } from '../../../src/chains/utxo/family.ts';
import { verifies } from '../../requirements.ts';

const bitcoin = utxo('bitcoin');
const litecoin = utxo('litecoin');

describe('addresses', () => {
  // BIP173, BIP350 and addresses known from the chains.
  const valid: [typeof bitcoin, Network, string, string][] = [
    [
      bitcoin,
      'mainnet',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac',
    ],
    [
      bitcoin,
      'mainnet',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      'a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87',
    ],
    [
      bitcoin,
      'mainnet',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      '0014751e76e8199196d454941c45d1b3a323f1433bd6',
    ],
    [
      bitcoin,
      'mainnet',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    ],
    [
      bitcoin,
      'testnet',
      'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
      '76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac',
    ],
    [
      bitcoin,
      'testnet',
      '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
      'a9144e9f39ca4688ff102128ea4ccda34105324305b087',
    ],
    [
      bitcoin,
      'testnet',
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
      '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
    ],
    [
      litecoin,
      'mainnet',
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      '0014751e76e8199196d454941c45d1b3a323f1433bd6',
    ],
  ];
  test.each(valid)(
    '%#: a valid address becomes its script',
    ({ normalizeAddress }, network, address, key) => {
      expect(normalizeAddress(address, network)).toEqual({ address, key });
      expect(normalizeAddress(` ${address}\n`, network)).toEqual({ address, key });
      const other = network === 'mainnet' ? 'testnet' : 'mainnet';
      expect(() => normalizeAddress(address, other)).toThrow(
        /this is a (test|main) network address; expected/,
      );
    },
  );

  test('every base58 version of both coins is accepted on its own network only', () => {
    const encode = (version: number) =>
      createBase58check(sha256).encode(Uint8Array.from([version, ...new Uint8Array(20).fill(7)]));
    const accepted = (family: typeof bitcoin, network: Network) =>
      Array.from({ length: 256 }, (_, version) => version).filter((version) => {
        try {
          return Boolean(family.normalizeAddress(encode(version), network));
        } catch (error) {
          expect(error).toBeInstanceOf(AddressError);
          return false;
        }
      });
    expect(accepted(bitcoin, 'mainnet')).toEqual([0x00, 0x05]);
    expect(accepted(bitcoin, 'testnet')).toEqual([0x6f, 0xc4]);
    expect(accepted(litecoin, 'mainnet')).toEqual([0x05, 0x30, 0x32]);
    expect(accepted(litecoin, 'testnet')).toEqual([0x3a, 0x6f, 0xc4]);
  });

  test('every segwit prefix is accepted for its coin and network only', () => {
    verifies('wallet-validated');
    const encode = (prefix: string) =>
      bech32.encode(prefix, [0, ...bech32.toWords(new Uint8Array(20).fill(7))]);
    const prefixes = ['bc', 'tb', 'bcrt', 'ltc', 'tltc', 'rltc', 'grs'];
    const accepted = (family: typeof bitcoin, network: Network) =>
      prefixes.filter((prefix) => {
        try {
          return Boolean(family.normalizeAddress(encode(prefix), network));
        } catch {
          return false;
        }
      });
    expect(accepted(bitcoin, 'mainnet')).toEqual(['bc']);
    expect(accepted(bitcoin, 'testnet')).toEqual(['tb', 'bcrt']);
    expect(accepted(litecoin, 'mainnet')).toEqual(['ltc']);
    expect(accepted(litecoin, 'testnet')).toEqual(['tltc', 'rltc']);
    expect(() => bitcoin.normalizeAddress(encode('ltc'), 'mainnet')).toThrow(/another coin/);
  });

  test('a segwit address in capitals is the same address, shown in lower case', () => {
    const lower = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    expect(bitcoin.normalizeAddress(lower.toUpperCase(), 'mainnet')).toEqual(
      bitcoin.normalizeAddress(lower, 'mainnet'),
    );
  });

  test.each([
    ['mixed case', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4', /mixes upper and lower case/],
    ['a wrong letter', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', /checksum/],
    ['version 0 with the later checksum', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', /no kind/],
    [
      'version 1 with the old checksum',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
      /no kind/,
    ],
    ['version 16, which anyone could spend', 'bc1sw50qgdz25j', /checksum|no kind/],
    ['a program of one byte', 'bc1pw5dgrnzv', /checksum|no kind/],
    ['no program', 'bc1gmk9yu', /checksum|no kind/],
    ['a pay-to-anchor address', 'bc1pfeessrawgf', /no kind/],
    ['base58 with a wrong letter', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3', /misspelt/],
    ['nothing', '  ', /empty/],
    ['a payment link', 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', /misspelt|another coin/],
    ['something endless', '1'.repeat(5000), /too long/],
    ['an Ethereum address', '0x52908400098527886E0F7030069857D2E4169EE7', /misspelt|another coin/],
    ['a Litecoin address', 'LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz', /another coin/],
  ])('%s is refused with what is expected instead', (_, text, why) => {
    const refused = () => bitcoin.normalizeAddress(text, 'mainnet');
    expect(refused).toThrow(AddressError);
    expect(refused).toThrow(why);
    expect(refused).toThrow(/expected an address like bc1…, 1… or 3…$/);
  });

  test('an MWEB address is refused: no one could see it being paid', () => {
    const mweb = (prefix: string) =>
      bech32.encode(prefix, [0, ...bech32.toWords(new Uint8Array(66).fill(2))], 200);
    for (const address of [mweb('ltcmweb'), mweb('ltcmweb').toUpperCase()]) {
      expect(() => litecoin.normalizeAddress(address, 'mainnet')).toThrow(/MWEB/);
    }
    expect(() => litecoin.normalizeAddress(mweb('tmweb'), 'testnet')).toThrow(/MWEB/);
  });

  test('any text at all is either an address or an AddressError', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom<Network>('mainnet', 'testnet'), (text, network) => {
        try {
          expect(bitcoin.normalizeAddress(text, network).key).toMatch(/^[0-9a-f]+$/);
        } catch (error) {
          expect(error).toBeInstanceOf(AddressError);
        }
      }),
    );
  });
});
