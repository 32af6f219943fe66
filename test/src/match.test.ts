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
  expires_at: time,
});
const transfer: fc.Arbitrary<MatchableTransfer> = fc.record({
  chain,
  address_key,
  amount_atomic: fc.bigInt({ min: 1n, max: 200n }),
  memo: fc.constantFrom(null, 'MEMO', 'OTHER'),
  references: fc.constant([]),
  time,
  ambiguous: fc.constantFrom(null, null, null, 'two memos'),
});
const maybe = fc.option(invoice, { nil: undefined });
const found = fc.record({ by_memo: maybe, by_reference: maybe, by_amount: maybe });

test('what is matched went to the invoice’s own address in its own asset', () => {
  verifies('memo-exact', 'amount-exact-only');
  fc.assert(
    fc.property(transfer, found, (of, candidates) => {
      const result = match(of, candidates);
      if (result.disposition === 'unmatched') return;
      expect(Object.values(candidates)).toContain(result.invoice);
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
      if (!Object.values(candidates).some(fits)) expect(result.disposition).toBe('unmatched');
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
  time: 5,
};
const open: MatchableInvoice = {
  id: '1',
  chain: 'coin',
  address_key: 'a',
  memo: 'MEMO',
  reference: 'ref',
  amount_atomic: '100',
  status: 'created',
  expires_at: 10,
};

test('an ambiguous transfer is left to a person, whatever it names', () => {
  verifies('unmatched-listed');
  const result = match({ ...base, ambiguous: 'two memos' }, { by_memo: open, by_amount: open });
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
  expect(match(base, { by_memo: open, by_amount: other })).toMatchObject({ invoice: { id: '1' } });
});

test('a memo of an invoice in another asset is said so, whatever the amount would mean', () => {
  const other = { ...open, id: '2' };
  const result = match(base, { by_memo: { ...open, chain: 'token' }, by_amount: other });
  expect(result).toEqual({
    disposition: 'unmatched',
    reason: 'names an invoice of token, but coin was sent',
  });
});

test('a transfer is in time up to the second of expiry, and late for an invoice that ended', () => {
  verifies('late-listed');
  fc.assert(
    fc.property(status, time, time, (status, time, expires_at) => {
      expect(placeAt({ time }, { status, expires_at })).toBe(
        status === 'created' && time <= expires_at ? 'matched' : 'late',
      );
    }),
  );
});
