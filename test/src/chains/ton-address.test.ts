// TON addresses and payment links: every spelling of one account, and what is refused.
import { Address } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressError, type Network } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { ton } from '../../../src/chains/ton/family.ts';
import { verifies } from '../../requirements.ts';

const HEX = 'b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe';
const KEY = `0:${HEX.toUpperCase()}`;
const at = Address.parseRaw(`0:${HEX}`);
/** The four forms of one account, as wallets and explorers print them. */
const FORMS = {
  EQ: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
  UQ: 'UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p',
  kQ: at.toString({ bounceable: true, testOnly: true }),
  '0Q': at.toString({ bounceable: false, testOnly: true }),
};

describe('addresses', () => {
  it.each([FORMS.EQ, FORMS.UQ, `0:${HEX}`, KEY, ` ${FORMS.UQ}\n`])(
    'knows %s as one account on mainnet',
    (text) => {
      expect(ton.normalizeAddress(text, 'mainnet')).toEqual({ address: FORMS.UQ, key: KEY });
    },
  );

  it.each([...Object.values(FORMS), KEY])('knows %s as one account on a test network', (text) => {
    expect(ton.normalizeAddress(text, 'testnet')).toEqual({ address: FORMS['0Q'], key: KEY });
  });

  it('knows both base64 alphabets', () => {
    const standard = at.toString({ urlSafe: false, bounceable: false });
    expect(standard).not.toBe(FORMS.UQ);
    expect(ton.normalizeAddress(standard, 'mainnet').key).toBe(KEY);
  });

  it('knows the masterchain', () => {
    const elector = 'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF';
    const { address, key } = ton.normalizeAddress(elector, 'mainnet');
    expect(key).toBe(`-1:${'3'.repeat(64)}`);
    expect(ton.normalizeAddress(address, 'mainnet')).toEqual({ address, key });
  });

  const friendly = (tag: number, workchain: number) => {
    const shown = Buffer.from(FORMS.UQ.replaceAll('-', '+').replaceAll('_', '/'), 'base64');
    shown[0] = tag;
    shown[1] = workchain;
    let crc = 0;
    for (const byte of [...shown.subarray(0, 34)]) {
      crc ^= byte << 8;
      for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1;
    }
    shown.writeUInt16BE(crc, 34);
    return shown.toString('base64url');
  };

  it.each<[string, string, Network, RegExp]>([
    ['a test-only form on mainnet', FORMS['0Q'], 'mainnet', /test networks only; expected UQ… or EQ…/],
    ['a bounceable test-only form on mainnet', FORMS.kQ, 'mainnet', /test networks only/],
    ['a mistyped letter', FORMS.UQ.replace('xE6', 'xE7'), 'mainnet', /checksum/],
    ['a missing letter', FORMS.UQ.slice(0, -1), 'mainnet', /Not a TON address/],
    ['an unknown workchain', friendly(0x51, 5), 'testnet', /workchain 5/],
    ['an unknown tag', friendly(0x33, 0), 'testnet', /Not a TON address/],
    ['a raw address of another workchain', `1:${HEX}`, 'mainnet', /Not a TON address/],
    ['a raw address with a letter too many', `0:${HEX}0`, 'mainnet', /Not a TON address/],
    ['the zero address', `0:${'0'.repeat(64)}`, 'mainnet', /zero address/],
    ['an Ethereum address', '0xdAC17F958D2ee523a2206206994597C13D831ec7', 'mainnet', /Not a TON address/],
    ['nothing', '', 'testnet', /expected 0Q…, kQ…, UQ… or EQ…/],
  ])('refuses %s', (_name, text, network, why) => {
    verifies('wallet-validated');
    expect(() => ton.normalizeAddress(text, network)).toThrow(AddressError);
    expect(() => ton.normalizeAddress(text, network)).toThrow(why);
    expect(() => ton.normalizeAddress(text, network)).not.toThrow(/\.$/);
  });

  it('gives every account one key and a display form that leads back to it', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom(0, -1),
        (hash, workchain) => {
          fc.pre(hash.some((byte) => byte !== 0));
          const raw = new Address(workchain, Buffer.from(hash));
          for (const network of ['mainnet', 'testnet'] as const) {
            const { address, key } = ton.normalizeAddress(raw.toString(), network);
            expect(ton.normalizeAddress(address, network)).toEqual({ address, key });
            expect(ton.normalizeAddress(key, network)).toEqual({ address, key });
          }
        },
      ),
    );
  });
});

describe('payment links', () => {
  const [coin, usdt] = gatewaysOf('mainnet').filter(({ blockchain }) => blockchain === 'ton');
  if (!coin || !usdt) throw new Error('no TON gateways');
  const order = {
    gateway: coin,
    address: FORMS.UQ,
    amount_atomic: 1_250_000_000n,
    memo: 'K7 M2&X',
    reference: null,
    label: 'Shop',
    expires_at: 1_780_000_300,
  };

  it('asks for coins in nano, with the memo and the end of the invoice', () => {
    verifies('exits-documented');
    const query = `${FORMS.UQ}?amount=1250000000&text=K7%20M2%26X&exp=1780000300`;
    expect(ton.paymentLinks(order)).toEqual({
      uri: `ton://transfer/${query}`,
      exits: {
        wallet: `ton://transfer/${query}`,
        web: `https://app.keeperwallet.com/transfer/${query}`,
        tg: 'https://t.me/wallet',
      },
    });
  });

  it('asks for jettons in their own units, naming the master', () => {
    const { uri } = ton.paymentLinks({ ...order, gateway: usdt, amount_atomic: 12_340_001n, memo: 'K7M2X' });
    expect(new URL(uri).searchParams.get('amount')).toBe('12340001');
    expect(new URL(uri).searchParams.get('jetton')).toBe('EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs');
  });

  it('leaves out the memo where there is none, and kinds of link that the gateway does not offer', () => {
    const { uri, exits } = ton.paymentLinks({
      ...order,
      gateway: { ...coin, exits: ['wallet'] },
      memo: null,
    });
    expect(uri).not.toContain('text');
    expect(Object.keys(exits)).toEqual(['wallet']);
  });
});
