// Solana without a chain: addresses, payment links, cursors, and odd transactions.
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressError, type Gateway, type PaymentOrder } from '../../src/chains/chain.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import {
  associatedTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/address.ts';
import {
  type AccountCursor,
  advance,
  newCursor,
  parseCursor,
  settle,
} from '../../src/chains/solana/cursor.ts';
import { solana } from '../../src/chains/solana.ts';
import { verifies } from '../requirements.ts';

const WALLET = '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

describe('a Solana address', () => {
  it('is taken as it is, without the blanks around it', () => {
    expect(solana.normalizeAddress(` ${WALLET}\n`, 'mainnet')).toEqual({ address: WALLET, key: WALLET });
  });

  it.each([
    ['nothing', ''],
    ['a character that base58 has not', `${WALLET.slice(0, -1)}0`],
    ['31 bytes', base58.encode(new Uint8Array(31).fill(7))],
    ['33 bytes', base58.encode(new Uint8Array(33).fill(7))],
    ['a mint', USDC],
    ['the mint of wrapped SOL', 'So11111111111111111111111111111111111111112'],
    ['the system program', '11111111111111111111111111111111'],
    ['a token program', TOKEN_PROGRAM],
    ['a token account', associatedTokenAccount(WALLET, TOKEN_PROGRAM, USDC)],
    ['a token account of Token-2022', associatedTokenAccount(WALLET, TOKEN_2022_PROGRAM, USDC)],
    ['a payment link', `solana:${WALLET}`],
    ['an address of another chain', 'UQBvI0aFLnw2QbZgjMPCLRdtRHxhUyinQudg6sdiohIwg5jL'],
  ])('is not %s', (_, text) => {
    expect(() => solana.normalizeAddress(text, 'mainnet')).toThrow(AddressError);
  });

  it('with one character lost or changed is refused nearly always', () => {
    verifies('wallet-validated');
    const damaged = [...WALLET].flatMap((character, index) => [
      WALLET.slice(0, index) + WALLET.slice(index + 1),
      WALLET.slice(0, index) + (character === 'z' ? 'y' : 'z') + WALLET.slice(index + 1),
    ]);
    const accepted = damaged.filter((text) => {
      try {
        return solana.normalizeAddress(text, 'mainnet');
      } catch {
        return false;
      }
    });
    expect(accepted.length).toBeLessThan(damaged.length / 8);
  });
});

describe('a Solana payment link', () => {
  const gateway = (chain: string) => gatewaysOf('mainnet').find((each) => each.chain === chain) as Gateway;
  const order = (chain: string, changed: Partial<PaymentOrder> = {}): PaymentOrder => ({
    gateway: gateway(chain),
    address: WALLET,
    amount_atomic: 1_500_000n,
    memo: 'K7M2Q9XWPA',
    reference: null,
    label: 'Café & Söhne',
    expires_at: 0,
    ...changed,
  });

  it('pays the wallet itself, in whole units, with everything encoded', () => {
    verifies('exits-documented');
    const reference = base58.encode(new Uint8Array(32).fill(9));
    const { uri, exits } = solana.paymentLinks(order('solana-usdc', { reference }));
    expect(uri).toBe(
      `solana:${WALLET}?amount=1.5&spl-token=${USDC}&reference=${reference}&label=Caf%C3%A9%20%26%20S%C3%B6hne&memo=K7M2Q9XWPA`,
    );
    expect(exits).toEqual({ wallet: uri });
  });

  it('in SOL names no token, and no memo where there is none', () => {
    const { uri } = solana.paymentLinks(order('solana', { amount_atomic: 1n, memo: null, label: '' }));
    expect(uri).toBe(`solana:${WALLET}?amount=0.000000001`);
  });

  it('gives any amount back exactly, without an exponent', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n }), (amount_atomic) => {
        const { uri } = solana.paymentLinks(order('solana', { amount_atomic }));
        const amount = new URL(uri).searchParams.get('amount') ?? '';
        expect(amount).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const [whole = '', fraction = ''] = amount.split('.');
        expect(BigInt(whole + fraction.padEnd(9, '0'))).toBe(amount_atomic);
      }),
    );
  });

  it('has a reference of 32 bytes', () => {
    const random = new Uint8Array(32).fill(3);
    expect(base58.decode(solana.makeReference?.(random) ?? '')).toEqual(random);
    expect(() => solana.makeReference?.(random.slice(1))).toThrow(RangeError);
  });
});

describe('the cursor of a Solana account', () => {
  const entry = (signature: string, slot: number) => ({ signature, slot, err: null });
  const names = (cursor: AccountCursor) => cursor.recent.map(([signature]) => signature);

  it('remembers by name what a node may still list in another order', () => {
    const cursor = advance(newCursor, [entry('a', 100), entry('b', 130), entry('c', 190)]);
    expect(names(cursor)).toEqual(['b', 'c']);
    expect(cursor).toMatchObject({ anchor: 'a', floor: 126 });
    const later = advance(cursor, [entry('d', 1000)]);
    expect(names(later)).toEqual(['d']);
    expect(later).toMatchObject({ anchor: 'c', floor: 936 });
  });

  it('never forgets what it does not stop the list at, however it was read', () => {
    const entries = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 400 });
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 50 }), (steps, size) => {
        let slot = 0;
        const read = steps.map((step, index) => {
          slot += step;
          return entry(`s${index}`, slot);
        });
        let cursor = newCursor;
        for (let start = 0; start < read.length; start += size) {
          cursor = advance(cursor, read.slice(start, start + size));
        }
        const anchor = read.findIndex(({ signature }) => signature === cursor.anchor);
        const open = read.slice(anchor + 1).filter((each) => each.slot >= cursor.floor);
        expect(names(cursor)).toEqual(expect.arrayContaining(open.map((each) => each.signature)));
        expect(cursor.recent.length).toBeLessThanOrEqual(200);
      }),
    );
  });

  it('believes a balance that nothing explains only after asking again', () => {
    const steps = [1, 2, 3].reduce<AccountCursor[]>(
      (all) => [
        ...all,
        settle(all.at(-1) ?? newCursor, { held: undefined, observed: '50', listed: false }, 1000),
      ],
      [],
    );
    expect(steps.map(({ amount, time }) => [amount, time])).toEqual([
      ['0', null],
      ['0', null],
      ['50', 1000],
    ]);
    const failed = { held: undefined, observed: '50', listed: true };
    expect(settle(newCursor, failed, 1000)).toMatchObject({ amount: '50', asked: 0, time: 1000 });
    const newer = { held: '70', observed: '50', listed: true };
    expect(settle(newCursor, newer, 1000)).toMatchObject({ amount: '70', asked: 0, time: 1000 });
  });

  it('survives JSON, and counts as none if it is something else', () => {
    const cursor = settle(advance(newCursor, [entry('a', 5)]), { held: '7', observed: '7', listed: true }, 9);
    expect(parseCursor(JSON.parse(JSON.stringify(cursor)))).toEqual(cursor);
    for (const odd of [undefined, null, 5, {}, { ...newCursor, recent: [['a']] }]) {
      expect(parseCursor(odd as never)).toBeUndefined();
    }
  });
});
