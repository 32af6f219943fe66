// Deciding: what becomes of an invoice under every fact, time, limit and set of transfers.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addUp,
  decide,
  type Fact,
  GRACE_SECONDS,
  type InvoiceState,
  type InvoiceStatus,
  type Knowledge,
  type SeenTransfer,
} from '../../src/invoice.ts';
import { covers } from '../../src/ledger.ts';
import { verifies } from '../requirements.ts';

const EXPIRY = 1_000_000;

const statuses: InvoiceStatus[] = ['created', 'confirmed', 'expired', 'cancelled', 'failed'];
const state: fc.Arbitrary<InvoiceState> = fc.record({
  status: fc.constantFrom(...statuses),
  amount_atomic: fc.bigInt({ min: 1n, max: 30n }),
  expires_at: fc.constant(EXPIRY),
  min_confirmations: fc.integer({ min: 1, max: 32 }),
});
const seen: fc.Arbitrary<SeenTransfer> = fc.record({
  amount_atomic: fc.bigInt({ min: 1n, max: 20n }),
  confirmations: fc.integer({ min: 0, max: 3 }),
  final: fc.boolean(),
  txid: fc.constantFrom('a', 'b', 'c'),
});
/** Around the two moments that matter, and anywhere. */
const moment = fc.oneof(
  fc.integer({ min: EXPIRY - 2, max: EXPIRY + 2 }),
  fc.integer({ min: EXPIRY + GRACE_SECONDS - 2, max: EXPIRY + GRACE_SECONDS + 2 }),
  fc.integer({ min: 0, max: EXPIRY + 2 * GRACE_SECONDS }),
);
const known: fc.Arbitrary<Knowledge> = fc.record({
  now: moment,
  read_through: moment,
  clock_trusted: fc.boolean(),
  may_end_unread: fc.boolean(),
  has_payment: fc.boolean(),
  transfers: fc.array(seen, { maxLength: 5 }),
  prepaid: fc.option(
    fc.record({
      balance_micros: fc.bigInt({ min: 0n, max: 20n }),
      volume_micros: fc.bigInt({ min: 1n, max: 2_000n }),
    }),
    { nil: null },
  ),
});
const facts: Fact[] = [
  { kind: 'evaluate' },
  { kind: 'cancel' },
  { kind: 'simulate' },
  { kind: 'resolve', action: 'expire' },
  { kind: 'resolve', action: 'fail' },
  { kind: 'resolve', action: 'confirm' },
];
const fact = fc.constantFrom(...facts);
const request = fc.constantFrom(...facts.slice(0, 3));
const RUNS = { numRuns: 3_000 };

const total = (transfers: readonly SeenTransfer[]) =>
  transfers.reduce((sum, { amount_atomic }) => sum + amount_atomic, 0n);
const finalOf = ({ transfers }: Knowledge) => total(transfers.filter(({ final }) => final));
const isCovered = ({ prepaid }: Knowledge) =>
  prepaid === null || covers(prepaid.balance_micros, prepaid.volume_micros);
/** What becomes of the payment of an invoice that ends without being paid. */
const endedPayment = ({ transfers, has_payment }: Knowledge) =>
  transfers.length > 0 ? 'late' : has_payment ? 'orphaned' : null;
/** Past the grace, by a clock that is believed, and with time to read since the start. */
const isOverdue = ({ now, clock_trusted, may_end_unread }: Knowledge) =>
  clock_trusted && may_end_unread && now >= EXPIRY + GRACE_SECONDS;
const created = (invoice: InvoiceState): InvoiceState => ({ ...invoice, status: 'created' });

describe('an invoice that has ended', () => {
  test('is moved by nothing but an operator', () => {
    verifies('state-terminal', 'ended-check', 'ended-cancel', 'ended-simulate');
    fc.assert(
      fc.property(state, request, known, (invoice, fact, knowledge) => {
        if (invoice.status === 'created') return;
        const same =
          fact.kind === 'evaluate' ||
          (fact.kind === 'cancel' && invoice.status === 'cancelled') ||
          (fact.kind === 'simulate' && invoice.status === 'confirmed');
        const expected = same ? { verdict: 'unchanged' } : { verdict: 'refused', code: 'invoice_ended' };
        expect(decide(invoice, fact, knowledge)).toEqual(expected);
      }),
      RUNS,
    );
  });

  test('is never taken back once it is confirmed, not even by an operator', () => {
    verifies('resolve-end', 'resolve-confirm');
    fc.assert(
      fc.property(state, fact, known, (invoice, fact, knowledge) => {
        const verdict = decide({ ...invoice, status: 'confirmed' }, fact, knowledge);
        expect(['unchanged', 'refused']).toContain(verdict.verdict);
      }),
      RUNS,
    );
  });
});

describe('an open invoice that is evaluated', () => {
  const evaluate = (invoice: InvoiceState, knowledge: Knowledge) =>
    decide(created(invoice), { kind: 'evaluate' }, knowledge);

  test('is confirmed exactly when enough final money is there, in time and covered by the limit', () => {
    verifies('state-confirm', 'sum-of-transfers', 'expire-before-limit');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = evaluate(invoice, knowledge);
        const due =
          finalOf(knowledge) >= invoice.amount_atomic && !isOverdue(knowledge) && isCovered(knowledge);
        expect(verdict.verdict === 'moved' && verdict.to === 'confirmed').toBe(due);
      }),
      RUNS,
    );
  });

  test('expires when its account is read through its time and nothing is awaited, and a day later in any case', () => {
    verifies('state-expire', 'expire-not-while-paid', 'expire-not-while-blind');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const { now, read_through, transfers, clock_trusted } = knowledge;
        const verdict = evaluate(invoice, knowledge);
        const awaited = transfers.some(({ final }) => !final) || finalOf(knowledge) >= invoice.amount_atomic;
        const isOver = !awaited && now >= EXPIRY && read_through >= EXPIRY;
        const due = isOverdue(knowledge) || (clock_trusted && isOver);
        expect(verdict.verdict === 'moved' && verdict.to === 'expired').toBe(due);
      }),
      RUNS,
    );
  });

  test('is never refused, cancelled or failed', () => {
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = evaluate(invoice, knowledge);
        expect(['moved', 'waiting']).toContain(verdict.verdict);
        if (verdict.verdict === 'moved') expect(['confirmed', 'expired']).toContain(verdict.to);
      }),
      RUNS,
    );
  });

  test('tells what it received, and how that compares', () => {
    verifies('amount-match', 'underpaid', 'overpaid');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = evaluate(invoice, knowledge);
        if (verdict.verdict !== 'moved' && verdict.verdict !== 'waiting') throw new Error(verdict.verdict);
        const { received_atomic, amount_match, confirmations } = verdict.sum;
        const counted =
          verdict.verdict === 'moved' && verdict.to === 'confirmed'
            ? knowledge.transfers.filter(({ final }) => final)
            : knowledge.transfers;
        expect(received_atomic).toBe(total(counted));
        const words = received_atomic > invoice.amount_atomic ? 'over' : 'under';
        expect(amount_match).toBe(
          received_atomic === 0n ? 'none' : received_atomic === invoice.amount_atomic ? 'exact' : words,
        );
        for (const transfer of counted) expect(transfer.confirmations).toBeGreaterThanOrEqual(confirmations);
      }),
      RUNS,
    );
  });

  test('has a payment that says what it waits for', () => {
    verifies('payment-statuses', 'limit-held');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = evaluate(invoice, knowledge);
        if (verdict.verdict !== 'waiting') return;
        const { transfers } = knowledge;
        const held = finalOf(knowledge) >= invoice.amount_atomic;
        const expected =
          transfers.length === 0
            ? 'orphaned'
            : held
              ? 'held'
              : transfers.every(({ confirmations }) => confirmations === 0)
                ? 'detected'
                : 'confirming';
        expect(verdict.payment).toBe(expected);
        expect(verdict.limit_exhausted ?? false).toBe(held);
      }),
      RUNS,
    );
  });
});

describe('requests about an open invoice', () => {
  test('give way to money: what is confirmed or expired by evaluating is so whatever is requested', () => {
    fc.assert(
      fc.property(state, request, known, (invoice, fact, knowledge) => {
        const evaluated = decide(created(invoice), { kind: 'evaluate' }, knowledge);
        if (evaluated.verdict === 'moved')
          expect(decide(created(invoice), fact, knowledge)).toEqual(evaluated);
      }),
      RUNS,
    );
  });

  test('cancel it only where no payment was seen', () => {
    verifies('state-cancel', 'cancel-detected-409');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = decide(created(invoice), { kind: 'cancel' }, knowledge);
        if (verdict.verdict === 'moved' && verdict.to === 'cancelled')
          expect(knowledge.transfers).toEqual([]);
        else if (verdict.verdict === 'refused') expect(verdict.code).toBe('payment_detected');
        else expect(verdict.verdict).toBe('moved');
      }),
      RUNS,
    );
  });

  test('simulate it as paid exactly, whatever the limit, unless it is paid already', () => {
    verifies('state-simulate', 'simulate-demo-credit');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = decide(created(invoice), { kind: 'simulate' }, knowledge);
        if (verdict.verdict !== 'moved') throw new Error(verdict.verdict);
        if (verdict.simulated)
          expect(verdict).toMatchObject({
            to: 'confirmed',
            credit_missing: true,
            sum: { received_atomic: invoice.amount_atomic, amount_match: 'exact' },
          });
        else if (verdict.credit_missing) {
          const final = knowledge.transfers.filter((transfer) => transfer.final);
          expect(isCovered(knowledge)).toBe(false);
          expect(verdict).toMatchObject({ to: 'confirmed', sum: addUp(invoice, final) });
          expect(verdict.sum.received_atomic).toBeGreaterThanOrEqual(invoice.amount_atomic);
        }
      }),
      RUNS,
    );
  });
});

test('a clock that is not believed ends nothing, whatever it shows', () => {
  fc.assert(
    fc.property(state, known, (invoice, knowledge) => {
      const verdict = decide(created(invoice), { kind: 'evaluate' }, { ...knowledge, clock_trusted: false });
      if (verdict.verdict === 'moved') expect(verdict.to).toBe('confirmed');
    }),
    RUNS,
  );
});

test('a payment of which nothing is left is orphaned when its invoice ends', () => {
  fc.assert(
    fc.property(state, known, (invoice, knowledge) => {
      const gone = { ...knowledge, transfers: [], has_payment: true };
      for (const kind of ['evaluate', 'cancel'] as const) {
        const verdict = decide(created(invoice), { kind }, gone);
        if (verdict.verdict === 'moved') expect(verdict.payment).toBe('orphaned');
      }
    }),
    RUNS,
  );
});

describe('an operator', () => {
  test('confirms any invoice that is not, unless the limit is too low', () => {
    verifies('resolve-confirm', 'resolve-pays-fee');
    fc.assert(
      fc.property(state, known, (invoice, knowledge) => {
        const verdict = decide(invoice, { kind: 'resolve', action: 'confirm' }, knowledge);
        if (invoice.status === 'confirmed') expect(verdict).toEqual({ verdict: 'unchanged' });
        else if (isCovered(knowledge)) expect(verdict).toMatchObject({ verdict: 'moved', to: 'confirmed' });
        else expect(verdict).toEqual({ verdict: 'refused', code: 'limit_exhausted' });
      }),
      RUNS,
    );
  });

  test('ends created, failed and expired invoices, and leaves their money listed as late', () => {
    verifies('resolve-end', 'late-listed');
    const endings = [
      ['expire', 'expired'],
      ['fail', 'failed'],
    ] as const;
    fc.assert(
      fc.property(state, known, fc.constantFrom(...endings), (invoice, knowledge, [action, to]) => {
        const verdict = decide(invoice, { kind: 'resolve', action }, knowledge);
        if (invoice.status === to) expect(verdict).toEqual({ verdict: 'unchanged' });
        else if (['confirmed', 'cancelled'].includes(invoice.status))
          expect(verdict).toEqual({ verdict: 'refused', code: 'invoice_ended' });
        else
          expect(verdict).toMatchObject({
            to,
            payment: invoice.status === 'created' ? endedPayment(knowledge) : null,
          });
      }),
      RUNS,
    );
  });
});

test('deciding is a function: the same again for the same, and nothing given is changed', () => {
  fc.assert(
    fc.property(state, fact, known, (invoice, fact, knowledge) => {
      const before = structuredClone({ invoice, knowledge });
      expect(decide(invoice, fact, knowledge)).toEqual(decide(invoice, fact, knowledge));
      expect({ invoice, knowledge }).toEqual(before);
    }),
  );
});
