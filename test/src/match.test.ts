// Matching: a transfer pays the invoice it names exactly, or none; in time or late.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MatchableInvoice, type MatchableTransfer, match, placeAt } from '../../src/match.ts';
import { verifies } from '../requirements.ts';

const chain = fc.constantFrom('coin', 'token');
const address_key = fc.constantFrom('a', 'b');
const time = fc.integer({ min: 0, max: 20 });
const status = fc.constantFrom('created', 'confirmed', 'expired', 'cancelled', 'failed');

const invoice: fc.Arbitrary<MatchableInvoice> = fc.record({
  id: fc.constantFrom('1', '2', '3'),
  chain,
  address_key,
  memo: fc.constant('MEMO'),
  reference: fc.constant(null),
  amount_atomic: fc.constant('100'),
  status,
  created_at: time,
  expires_at: time,
});
/** Made at some moment of an interval. */
const interval = fc
  .tuple(time, time)
  .map(([a, b]) => ({ earliest_at: Math.min(a, b), latest_at: Math.max(a, b) }));
const transfer: fc.Arbitrary<MatchableTransfer> = fc
  .record({
    chain,
    address_key,
    amount_atomic: fc.bigInt({ min: 1n, max: 200n }),
    memo: fc.constantFrom(null, 'MEMO', 'OTHER'),
    references: fc.constant([]),
    made: interval,
    ambiguous: fc.constantFrom(null, null, null, 'two memos'),
  })
  .map(({ made, ...rest }) => ({ ...rest, ...made }));
const maybe = fc.option(invoice, { nil: undefined });
const found = fc.record({
  by_memo: maybe,
  by_reference: maybe,
  by_amount: fc.array(invoice, { maxLength: 3 }),
});
const all = ({
  by_memo,
  by_reference,
  by_amount,
}: {
  by_memo: MatchableInvoice | undefined;
  by_reference: MatchableInvoice | undefined;
  by_amount: MatchableInvoice[];
}) => [by_memo, by_reference, ...by_amount];

test('what is matched went to the invoice’s own address in its own asset', () => {
  verifies('memo-exact', 'amount-exact-only');
  fc.assert(
    fc.property(transfer, found, (of, candidates) => {
      const result = match(of, candidates);
      if (result.disposition === 'unmatched') return;
      expect(all(candidates)).toContain(result.invoice);
      expect([result.invoice.chain, result.invoice.address_key]).toEqual([of.chain, of.address_key]);
      expect(result.disposition).toBe(placeAt(of, result.invoice));
    }),
    { numRuns: 1000 },
  );
});

test('a transfer that names nothing is unmatched, always with a reason', () => {
  verifies('memo-unknown');
  fc.assert(
    fc.property(transfer, found, (of, candidates) => {
      const result = match(of, candidates);
      const fits = (one: MatchableInvoice | undefined) =>
        one?.chain === of.chain && one.address_key === of.address_key;
      if (!all(candidates).some(fits)) expect(result.disposition).toBe('unmatched');
      if (result.disposition === 'unmatched') expect(result.reason).not.toBe('');
    }),
    { numRuns: 1000 },
  );
  expect(match({ ...base, memo: 'X' }, {})).toEqual({ disposition: 'unmatched', reason: 'unknown memo' });
});

const base: MatchableTransfer = {
  chain: 'coin',
  address_key: 'a',
  amount_atomic: 100n,
  memo: null,
  references: [],
  earliest_at: 5,
  latest_at: 5,
};
const open: MatchableInvoice = {
  id: '1',
  chain: 'coin',
  address_key: 'a',
  memo: 'MEMO',
  reference: 'ref',
  amount_atomic: '100',
  status: 'created',
  created_at: 1,
  expires_at: 10,
};

test('an ambiguous transfer is left to a person, whatever it names', () => {
  verifies('unmatched-listed');
  const result = match({ ...base, ambiguous: 'two memos' }, { by_memo: open, by_amount: [open] });
  expect(result).toEqual({ disposition: 'unmatched', reason: 'two memos' });
});

test('a memo and a reference that name two invoices match neither', () => {
  const other = { ...open, id: '2' };
  expect(match(base, { by_memo: open, by_reference: other }).disposition).toBe('unmatched');
  expect(match(base, { by_memo: open, by_reference: open })).toEqual({
    disposition: 'matched',
    invoice: open,
  });
});

test('a memo goes before an amount that is another invoice’s', () => {
  const other = { ...open, id: '2' };
  expect(match(base, { by_memo: open, by_amount: [other] })).toMatchObject({ invoice: { id: '1' } });
});

test('a memo of an invoice in another asset is named as the reason, whatever the amount would mean', () => {
  const other = { ...open, id: '2' };
  const result = match(base, { by_memo: { ...open, chain: 'token' }, by_amount: [other] });
  expect(result).toEqual({
    disposition: 'unmatched',
    reason: 'names an invoice of token, but coin was sent',
  });
});

test('a transfer is in time where its interval meets that of the invoice, late after it, and never paid before it', () => {
  verifies('late-listed', 'time-interval');
  fc.assert(
    fc.property(status, interval, interval, (status, made, { earliest_at, latest_at }) => {
      const place = placeAt(made, { status, created_at: earliest_at, expires_at: latest_at });
      const meets = made.earliest_at <= latest_at && made.latest_at >= earliest_at;
      if (made.latest_at < earliest_at) expect(place).toBe('before');
      else expect(place).toBe(status === 'created' && meets ? 'matched' : 'late');
    }),
  );
});

test('what was made before an invoice is no one’s, by memo and by amount alike', () => {
  const early = { ...base, earliest_at: 0, latest_at: 0 };
  for (const candidates of [{ by_memo: open }, { by_amount: [open] }, { by_reference: open }])
    expect(match(early, candidates).disposition).toBe('unmatched');
});

test('of several accounts at one address that reserved the amount, the first that waits for it is paid', () => {
  const mine = { ...open, id: '1' };
  const theirs = { ...open, id: '2' };
  expect(match(base, { by_amount: [mine, theirs] })).toMatchObject({ invoice: { id: '1' } });
  const ended = { ...mine, status: 'expired' as const };
  expect(match(base, { by_amount: [ended, theirs] })).toMatchObject({
    disposition: 'matched',
    invoice: { id: '2' },
  });
});
