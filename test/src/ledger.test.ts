// The prepaid ledger: its fold is the balance, it never falls below zero, and no change of it goes unnoticed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  covers,
  GENESIS_HASH,
  hashEntry,
  type LedgerEntry,
  type LedgerHead,
  type LedgerKind,
  limitOf,
  missingPrepaid,
  nextEntry,
  platformFee,
} from '../../src/ledger.ts';
import { verifies } from '../requirements.ts';

type Written = LedgerEntry & { hash: string };
const KEY = new Uint8Array(32).fill(1);

const kind = fc.constantFrom<LedgerKind>('refill', 'fee', 'credit', 'demo_credit');
const amount = fc.bigInt({ min: 1n, max: 10n ** 15n });
const requests = fc.array(fc.record({ kind, amount }), { minLength: 1, maxLength: 40 });

/** Posts one after another, as `data/ledger.ts` does; what would overdraw is left out. */
function book(wanted: { kind: LedgerKind; amount: bigint }[]): { entries: Written[]; head: LedgerHead } {
  let head: LedgerHead = { prepaid_micros: 0n, ledger_seq: 0, ledger_hash: GENESIS_HASH };
  const entries: Written[] = [];
  for (const [at, { kind, amount }] of wanted.entries()) {
    const request = {
      id: `id-${at}`,
      merchant_id: 'm',
      kind,
      amount_micros: amount,
      invoice_id: at % 2 ? `invoice-${at}` : null,
      note: at % 3 ? 'a note' : null,
      actor: 'test',
      created_at: 1_800_000_000 + at,
    };
    const entry = nextEntry(head, request, KEY);
    if (!entry) continue;
    entries.push(entry);
    head = { prepaid_micros: entry.balance_micros, ledger_seq: entry.seq, ledger_hash: entry.hash };
  }
  return { entries, head };
}

/** The first entry that does not follow from those before it; -1 where all do. */
function firstFault(entries: readonly Written[], head: LedgerHead): number {
  let [hash, balance] = [GENESIS_HASH, 0n];
  for (const [at, { hash: claimed, ...entry }] of entries.entries()) {
    balance += entry.kind === 'fee' ? -entry.amount_micros : entry.amount_micros;
    const follows =
      entry.seq === at + 1 &&
      entry.previous_hash === hash &&
      entry.balance_micros === balance &&
      hashEntry(entry, KEY) === claimed;
    if (!follows) return at;
    hash = claimed;
  }
  const ends =
    head.ledger_hash === hash && head.prepaid_micros === balance && head.ledger_seq === entries.length;
  return ends ? -1 : entries.length;
}

describe('a chain of entries', () => {
  test('folds to the balance, which is never below zero', () => {
    verifies('ledger-double-entry', 'limit-never-negative');
    fc.assert(
      fc.property(requests, (wanted) => {
        const { entries, head } = book(wanted);
        expect(firstFault(entries, head)).toBe(-1);
        for (const { balance_micros } of entries) expect(balance_micros >= 0n).toBe(true);
      }),
    );
  });

  test('moves each amount from one account to another, so that all of them sum to zero', () => {
    verifies('ledger-double-entry');
    fc.assert(
      fc.property(requests, (wanted) => {
        const { entries, head } = book(wanted);
        const accounts = new Map<string, bigint>();
        const add = (name: string, by: bigint) => accounts.set(name, (accounts.get(name) ?? 0n) + by);
        for (const { debit_account, credit_account, amount_micros } of entries) {
          expect(debit_account).not.toBe(credit_account);
          add(debit_account, -amount_micros);
          add(credit_account, amount_micros);
        }
        expect([...accounts.values()].reduce((sum, one) => sum + one, 0n)).toBe(0n);
        expect(accounts.get('merchant:m:prepaid') ?? 0n).toBe(head.prepaid_micros);
      }),
    );
  });

  test('shows any field of any entry that was changed', () => {
    verifies('ledger-hash-chain');
    const other: Partial<{ [Field in keyof Written]: (value: Written[Field]) => Written[Field] }> = {
      id: (value) => `${value}x`,
      merchant_id: (value) => `${value}x`,
      seq: (value) => value + 1,
      kind: (value) => (value === 'credit' ? 'refill' : 'credit'),
      debit_account: (value) => `${value}x`,
      credit_account: (value) => `${value}x`,
      amount_micros: (value) => value + 1n,
      balance_micros: (value) => value + 1n,
      invoice_id: (value) => (value === null ? 'x' : null),
      note: (value) => (value === null ? '' : null),
      actor: (value) => `${value}x`,
      created_at: (value) => value + 1,
      previous_hash: () => 'f'.repeat(64),
      hash_version: () => 1,
      hash: () => 'f'.repeat(64),
    };
    fc.assert(
      fc.property(requests, fc.nat(), (wanted, which) => {
        const { entries, head } = book(wanted);
        fc.pre(entries.length > 0);
        const at = which % entries.length;
        const entry = entries[at] as Written;
        expect(Object.keys(other).sort()).toEqual(Object.keys(entry).sort());
        for (const [field, change] of Object.entries(other) as [
          keyof Written,
          (value: unknown) => unknown,
        ][]) {
          const changed = entries.with(at, { ...entry, [field]: change(entry[field]) } as Written);
          expect(firstFault(changed, head), field).not.toBe(-1);
        }
      }),
    );
  });

  test('cannot be rewritten without the key, though every hash follows from the one before', () => {
    verifies('ledger-keyed');
    fc.assert(
      fc.property(requests, fc.constantFrom<1 | 2>(1, 2), (wanted, hash_version) => {
        fc.pre(book(wanted).entries.length > 0);
        let previous_hash = GENESIS_HASH;
        const forged = book(wanted).entries.map(({ hash: _, ...entry }) => {
          const rewritten = { ...entry, note: 'rewritten', previous_hash, hash_version };
          previous_hash = hashEntry(rewritten, new Uint8Array(32).fill(2));
          return { ...rewritten, hash: previous_hash };
        });
        const { head } = book(wanted);
        // Who reads an old chain also asks for its seal; see the laws.
        expect(firstFault(forged, { ...head, ledger_hash: previous_hash }) === -1).toBe(hash_version === 1);
      }),
    );
  });

  test('shows an entry that was taken out, added or moved, and a changed head', () => {
    verifies('ledger-hash-chain');
    fc.assert(
      fc.property(requests, fc.nat(), (wanted, which) => {
        const { entries, head } = book(wanted);
        fc.pre(entries.length > 1);
        const at = which % (entries.length - 1);
        const [one, two] = entries.slice(at, at + 2) as [Written, Written];
        expect(firstFault(entries.toSpliced(at, 1), head)).not.toBe(-1);
        expect(firstFault(entries.slice(0, -1), head)).not.toBe(-1);
        expect(firstFault(entries.toSpliced(at, 0, one), head)).not.toBe(-1);
        expect(firstFault(entries.with(at, two).with(at + 1, one), head)).not.toBe(-1);
        expect(firstFault(entries, { ...head, prepaid_micros: head.prepaid_micros + 1n })).not.toBe(-1);
      }),
    );
  });
});

describe('the limit', () => {
  const micros = fc.bigInt({ min: 0n, max: 10n ** 15n });
  const volume = fc.bigInt({ min: 1n, max: 10n ** 15n });

  test('is a hundred times what is prepaid, and an invoice lowers it by its volume', () => {
    verifies('limit-is-prepaid-times-100', 'limit-multiplier', 'limit-fee-rate');
    fc.assert(
      fc.property(micros, volume, (prepaid, cents) => {
        const sold = cents * 100n;
        expect(limitOf(prepaid + platformFee(sold)) - limitOf(prepaid)).toBe(sold);
      }),
    );
    expect([platformFee(50n), platformFee(49n), platformFee(1_000_000n)]).toEqual([1n, 0n, 10_000n]);
  });

  test('covers an invoice exactly when the fee can be debited and the limit reaches its volume', () => {
    fc.assert(
      fc.property(micros, volume, (prepaid, sold) => {
        expect(covers(prepaid, sold)).toBe(prepaid * 100n >= sold && prepaid >= platformFee(sold));
      }),
    );
  });

  test('covers an invoice after what is missing was credited, and not with a micro less', () => {
    verifies('simulate-demo-credit');
    fc.assert(
      fc.property(micros, volume, (prepaid, sold) => {
        const missing = missingPrepaid(prepaid, sold);
        expect(covers(prepaid + missing, sold)).toBe(true);
        if (missing > 0n) expect(covers(prepaid + missing - 1n, sold)).toBe(false);
      }),
    );
  });
});
