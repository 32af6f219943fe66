// Solana without a chain: addresses, payment links, cursors, and odd transactions.
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AddressError,
  type Gateway,
  type PaymentOrder,
  ProviderError,
  type Rpc,
} from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import {
  associatedTokenAccount,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/chains/solana/address.ts';
import { composeSolana } from '../../../src/chains/solana/compose.ts';
import {
  type AccountCursor,
  explain,
  fold,
  follow,
  type Known,
  newCursor,
  parseCursor,
  readAgain,
  watchedSince,
  withRead,
} from '../../../src/chains/solana/cursor.ts';
import { solana } from '../../../src/chains/solana/family.ts';
import { verifies } from '../../requirements.ts';

const WALLET = '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9';
const MERCHANT = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
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

describe('a transaction made for a wallet to sign', () => {
  const BLOCKHASH = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';
  const [coin, usdc] = ['solana', 'solana-usdc'].map((id) =>
    gatewaysOf('mainnet').find(({ chain }) => chain === id),
  ) as [Gateway, Gateway];
  const answering = (blockhash: string, lamports: unknown, amount: string) => {
    const account = (owner: string, parsed: unknown) => ({ owner, lamports, data: { parsed } });
    const clock = account(SYSTEM_PROGRAM, { info: { unixTimestamp: 1 } });
    const mint = account(TOKEN_PROGRAM, { type: 'mint', info: { decimals: usdc.decimals } });
    const wallet = account(SYSTEM_PROGRAM, null);
    const tokens = account(TOKEN_PROGRAM, { type: 'account', info: { tokenAmount: { amount } } });
    const call = async (method: string, [keys]: [string[]]) => {
      if (method === 'getLatestBlockhash') return { value: { blockhash } };
      const value = keys.length === 2 ? [clock, mint] : [wallet, tokens, tokens].slice(0, keys.length);
      return { context: { slot: 1 }, value };
    };
    return { provider: 'liar', call } as unknown as Rpc;
  };
  const order = {
    address: MERCHANT,
    amount_atomic: 5n,
    memo: 'M',
    reference: null,
    label: '',
    expires_at: 9,
    now: 0,
  };
  const compose = (gateway: Gateway, blockhash: string, lamports: unknown = 1e9, amount = '9') =>
    composeSolana(answering(blockhash, lamports, amount), { ...order, gateway, payer: WALLET });

  it('has nothing of what a node answers but 32 bytes of a blockhash', async () => {
    verifies('compose-alone');
    for (const gateway of [coin, usdc]) {
      const composed = await compose(gateway, BLOCKHASH);
      expect(
        composed.kind === 'transaction' && Buffer.from(composed.transaction, 'base64').length,
      ).toBeLessThan(500);
      // In letters, each is as a key may be; in bytes, what follows it would be read as something else.
      for (const blockhash of ['z'.repeat(32), 'z'.repeat(44), '1'.repeat(44)])
        await expect(compose(gateway, blockhash)).rejects.toThrow(ProviderError);
    }
    await expect(compose(coin, BLOCKHASH, 1e9 + 0.5)).rejects.toThrow(ProviderError);
    for (const amount of ['many', '0x99', '-9', ''])
      await expect(compose(usdc, BLOCKHASH, 1e9, amount)).rejects.toThrow(ProviderError);
  });
});

describe('the cursor of a Solana account', () => {
  const END = Number.POSITIVE_INFINITY;
  const LATE = { overlap: 512, settled: 0 };
  const based: AccountCursor = { ...newCursor, base: [10, '0'] };
  const names = ({ recent }: AccountCursor) => recent.map(([signature]) => signature);
  /** Transactions of ten each, one in each of these slots. */
  const chain = (slots: readonly number[]): Known[] =>
    slots.map((slot, at): Known => [`s${at}`, slot, `${at * 10}`, `${at * 10 + 10}`]);

  it('follows from balance to balance, in whatever order those of one slot are listed', () => {
    const read: Known[] = [
      ['a', 20, '0', '5'],
      ['d', 30, '9', '5'],
      ['c', 30, '5', '9'],
      ['b', 30, '5', '5'],
      ['e', 40, '5', '0'],
      ['failed', 35, null],
    ];
    const orders = fc.shuffledSubarray(read, { minLength: read.length });
    fc.assert(
      fc.property(orders, (order) => {
        const cursor = withRead(based, order);
        expect(follow(cursor)).toMatchObject({ start: '0', broken_slot: null });
        expect(follow(cursor).slots).toEqual([
          [20, '5'],
          [30, '5'],
          [40, '0'],
        ]);
        expect(explain(cursor, { amount: '5', slot: 35 }).is_explained).toBe(true);
        expect(explain(cursor, { amount: '0', slot: 45 }).is_explained).toBe(true);
        expect(explain(cursor, { amount: '5', slot: 45 })).toEqual({ held: '0', is_explained: false });
      }),
    );
  });

  it('finds that any one of them is missing, unless it changed nothing', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -5, max: 5 })), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(steps, fc.nat(), (moves, chosen) => {
        let [slot, held] = [20, 100];
        const read = moves.map(([step, by], at): Known => {
          slot += step;
          held += by;
          return [`s${at}`, slot, `${held - by}`, `${held}`];
        });
        const whole = withRead({ ...newCursor, base: [10, '100'] }, read);
        const observed = { amount: `${held}`, slot };
        expect(explain(whole, observed).is_explained).toBe(true);
        const missing = read[chosen % read.length] as Known;
        const part = { ...whole, recent: whole.recent.filter((each) => each !== missing) };
        expect(explain(part, observed).is_explained).toBe(missing[2] === missing[3]);
        // And what is missing is not forgotten: it is still listed from the cursor that is stored.
        const folded = fold(part, END, LATE);
        if (missing[2] !== missing[3]) expect(folded.floor).toBeLessThanOrEqual(missing[1]);
        expect(explain(withRead(folded, [missing]), observed).is_explained).toBe(true);
      }),
    );
  });

  it('begins with the balance observed first, which what is listed later leads up to', () => {
    const begun: AccountCursor = { ...newCursor, base: [30, '20'] };
    const read = chain([10, 20, 40]);
    expect(explain(withRead(begun, read), { amount: '30', slot: 50 }).is_explained).toBe(true);
    // One of before it is missing, or one of after it.
    for (const amount of ['15', '25'])
      expect(explain({ ...begun, base: [30, amount] }, { amount: '20', slot: 50 }).is_explained).toBe(false);
    const gap = withRead(begun, [
      ['a', 10, '0', '10'],
      ['c', 40, '20', '30'],
    ]);
    expect(explain(gap, { amount: '30', slot: 50 }).is_explained).toBe(false);
    expect(fold(gap, END, LATE).floor).toBeLessThanOrEqual(10);
    // Transactions that follow on across it outweigh it.
    const wrong = withRead({ ...newCursor, base: [30, '999'] }, read);
    expect(explain(wrong, { amount: '30', slot: 50 }).is_explained).toBe(true);
  });

  it('records by name what a node may still list late, and what it held before that', () => {
    const cursor = fold(withRead(based, chain([100, 400, 800])), END, LATE);
    expect(names(cursor)).toEqual(['s1', 's2']);
    expect(cursor).toMatchObject({ anchor: 's0', floor: 288, held: '10' });
    const later = fold(withRead(cursor, [['d', 3000, '30', '40']]), END, LATE);
    expect(names(later)).toEqual(['d']);
    expect(later).toMatchObject({ anchor: 's2', floor: 2488, held: '30' });
    expect(explain(later, { amount: '40', slot: 3100 }).is_explained).toBe(true);
  });

  it('never forgets what it does not stop the list at, however it was read', () => {
    const entries = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 800 });
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 50 }), (steps, size) => {
        let slot = 20;
        const slots = steps.map((step) => {
          slot += step;
          return slot;
        });
        const read = chain(slots);
        let cursor = based;
        for (let start = 0; start < read.length; start += size)
          cursor = fold(
            withRead(cursor, read.slice(start, start + size)),
            read[start + size]?.[1] ?? END,
            LATE,
          );
        const anchor = read.findIndex(([signature]) => signature === cursor.anchor);
        const open = read.slice(anchor + 1).filter((each) => each[1] >= cursor.floor);
        expect(names(cursor)).toEqual(open.map(([signature]) => signature));
        expect(cursor.recent.length).toBeLessThanOrEqual(600);
        expect(explain(cursor, { amount: `${read.length * 10}`, slot }).is_explained).toBe(true);
      }),
    );
  });

  it('stops at what is missing or unread; with too much behind it, it continues and proves nothing', () => {
    const read = chain(Array.from({ length: 3_000 }, (_, at) => 1_000 + at * 10));
    const missing = read.slice(0, 100).concat(read.slice(101));
    const late = fold(withRead(based, missing), END, LATE);
    expect(late).toMatchObject({ skipped: false });
    expect(late.floor).toBeLessThanOrEqual(2_000);
    const passed = fold(withRead(based, missing), END, { ...LATE, settled: 100_000 });
    expect(passed).toMatchObject({ skipped: true });
    expect(passed.recent.length).toBeLessThanOrEqual(1_000);
    expect(follow(passed).broken_slot).toBeNull();
    const unread = fold({ ...withRead(based, read), unread: [['x', 1_500, null]] }, END, LATE);
    expect(unread.floor).toBeLessThanOrEqual(1_500);
    const again = readAgain(passed, 77);
    expect(again).toMatchObject({ floor: 0, skipped: false, reread_at: 77, base: [10, '0'], recent: [] });
  });

  it('of an address that is watched once more asks for nothing that happened in between', () => {
    const cursor = fold(withRead({ ...based, since: 5 }, chain([100, 800])), END, LATE);
    expect(watchedSince(cursor, 5)).toBe(cursor);
    const again = watchedSince(cursor, 9);
    expect(again).toMatchObject({ since: 9, base: null, held: null, floor: cursor.floor, through: null });
    expect(names(again)).toEqual(names(cursor));
    expect(watchedSince(cursor, 3)).toEqual({ ...newCursor, since: 3 });
  });

  it('survives JSON, and counts as none if it is something else', () => {
    const cursor: AccountCursor = {
      ...fold(withRead(based, [...chain([5, 900]), ['f', 901, null], ['g', 902]]), END, LATE),
      unread: [['u', 903, 1]],
    };
    expect(parseCursor(JSON.parse(JSON.stringify(cursor)))).toEqual(cursor);
    for (const odd of [undefined, null, 5, {}, { ...newCursor, recent: [['a']] }])
      expect(parseCursor(odd as never)).toBeUndefined();
  });

  it('of before balances were compared keeps its place', () => {
    const recent = [['a', 190]];
    const former = { amount: '7', asked: 0, time: 9, floor: 126, anchor: 'x', recent };
    expect(parseCursor(former as never)).toEqual({
      ...newCursor,
      seen: '7',
      floor: 126,
      anchor: 'x',
      recent,
    });
  });
});
