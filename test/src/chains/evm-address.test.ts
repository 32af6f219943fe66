// Addresses of Ethereum and its relatives, and of TRON: published vectors, every spelling, and everything that must be refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeAddress as evm, withChecksum } from '../../../src/chains/evm/address.ts';
import { AddressError } from '../../../src/chains/family.ts';
import { showAddress, normalizeAddress as tron } from '../../../src/chains/tron/address.ts';

const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const TRON_USDT = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
const contracts = new Set([USDT, TRON_USDT]);
const bytes20 = fc.uint8Array({ minLength: 20, maxLength: 20 });
const keyOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const isReserved = (key: string) => /^0x(0{36}|420{34}|e{40}|f{39}e|dead0{32}dead)/.test(key);

const refusal = (normalize: typeof evm, text: string): string => {
  try {
    return `accepted: ${normalize(text, contracts).key}`;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return error.message;
  }
};

describe('addresses with the checksum in their case', () => {
  // EIP-55's own, and contracts whose spelling is printed by those who made them.
  test.each([
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  ])('%s is shown as it is', (address) => {
    const key = address.toLowerCase();
    expect(evm(address, contracts)).toEqual({ address, key });
    expect(evm(` ${key}\n`, contracts)).toEqual({ address, key });
    expect(evm(`0x${key.slice(2).toUpperCase()}`, contracts)).toEqual({ address, key });
    expect(evm(key.toUpperCase(), contracts)).toEqual({ address, key });
  });

  test('every address has one key and one display, whatever its spelling', () => {
    fc.assert(
      fc.property(bytes20, (bytes) => {
        const key = keyOf(bytes);
        fc.pre(!isReserved(key) && !contracts.has(key));
        const shown = withChecksum(key);
        expect(shown.toLowerCase()).toBe(key);
        for (const text of [key, shown]) expect(evm(text, contracts)).toEqual({ address: shown, key });
      }),
    );
  });

  test('a slip in one letter of a mixed-case address is found, in its case too', () => {
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const wrong_case = address.replace('5aA', '5AA');
    expect(refusal(evm, wrong_case)).toMatch(/misspelt: the case of its letters, its checksum, is wrong/);
    expect(refusal(evm, address.replace('F3E9', 'F3E8'))).toMatch(/misspelt/);
  });

  test.each([
    ['', /is empty/],
    ['   ', /is empty/],
    ['vitalik.eth', /name: give the 0x… address/],
    ['shop.base.eth', /name/],
    ['XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS', /ICAP/],
    ['XE60HAMICDXSV5QXVJA7TJW47Q9CHWKJD', /ICAP/],
    ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', /TRON address: give the 0x…/],
    ['ethereum:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed@1', /alone, without what stands before it/],
    ['eth:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /alone/],
    ['5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /0x at the beginning is missing/],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', /misspelt or of another coin/],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0', /misspelt or of another coin/],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg', /misspelt or of another coin/],
    [`0x${'ab'.repeat(32)}`, /private key, which must never be given/],
    ['ab'.repeat(32), /private key/],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', /another coin/],
    ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', /another coin/],
  ])('refuses %j and says what to give', (text, why) => {
    expect(refusal(evm, text)).toMatch(why);
    expect(refusal(evm, text)).toMatch(/; expected 0x and 40 hexadecimal digits/);
  });

  test('a private key is not repeated in the refusal', () => {
    const secret = `${'c0ffee'.repeat(10)}beef`;
    for (const normalize of [evm, tron]) expect(refusal(normalize, secret)).not.toContain('c0ffee');
  });

  test.each([
    `0x${'0'.repeat(40)}`,
    `0x${'0'.repeat(39)}1`,
    `0x${'0'.repeat(37)}100`,
    '0x0000000000000000000000000000000000001010',
    '0x000000000000000000000000000000000000dEaD',
    '0x4200000000000000000000000000000000000006',
    '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    `0x${'f'.repeat(39)}e`,
  ])('refuses %s, which is no wallet', (text) => {
    expect(refusal(evm, text)).toMatch(/no wallet/);
    expect(refusal(tron, showAddress(text.toLowerCase()))).toMatch(/no wallet/);
  });

  test('refuses the contract of a token', () => {
    expect(refusal(evm, withChecksum(USDT))).toMatch(/contract of a token, not a wallet/);
    expect(refusal(tron, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toMatch(/contract of a token/);
  });
});

describe('addresses that begin with T', () => {
  test.each([
    ['11'.repeat(20), 'TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV'],
    ['ff'.repeat(20), 'TZJozAg1ruapycCicgz31GxvYJ1FraLjZa'],
    ['eca9bc828a3005b9a3b909f2cc5c2a54794de05f', 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf'],
  ])('%s is %s', (hex, address) => {
    expect(tron(` ${address} `, contracts)).toEqual({ address, key: `0x${hex}` });
    expect(showAddress(`0x${hex}`)).toBe(address);
  });

  test('the zero address and the token contract read as published, and are refused', () => {
    expect(showAddress(`0x${'00'.repeat(20)}`)).toBe('T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb');
    expect(showAddress(TRON_USDT)).toBe('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
  });

  test('every key is shown as the address that it is read from', () => {
    fc.assert(
      fc.property(bytes20, (bytes) => {
        const key = keyOf(bytes);
        fc.pre(!isReserved(key) && !contracts.has(key));
        const address = showAddress(key);
        expect(address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
        expect(tron(address, contracts)).toEqual({ address, key });
      }),
    );
  });

  const good = 'TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV';
  test.each([
    ['', /is empty/],
    [`0x${'11'.repeat(20)}`, /hexadecimal form, which has no checksum: give the T… address/],
    [`41${'11'.repeat(20)}`, /give the T… address/],
    [`0x41${'11'.repeat(20)}`, /give the T… address/],
    ['11'.repeat(20), /give the T… address/],
    [good.slice(0, -1), /checksum is wrong/],
    [good.replace(/V$/, 'W'), /checksum is wrong/],
    [good.replace('TBX', 'TBx'), /checksum is wrong/],
    [good.toLowerCase(), /checksum is wrong/],
    [good.repeat(3), /checksum is wrong/],
    ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', /another coin/],
    ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', /another coin/],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', /checksum is wrong/],
  ])('refuses %j and says what to give', (text, why) => {
    expect(refusal(tron, text)).toMatch(why);
    expect(refusal(tron, text)).toMatch(/; expected an address that begins with T/);
  });
});
