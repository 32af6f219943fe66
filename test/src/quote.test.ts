// What a buyer has to send: rounded in the merchant's favour by less than a step, and exact as a sum.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/chains/family.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { divideHalfUp, formatDecimal, parseDecimal, RATE_DECIMALS, USD_DECIMALS } from '../../src/money.ts';
import { drawnSlots, MAX_USD_MICROS, type Quote, quote, uniqueSlots, uniqueStep } from '../../src/quote.ts';
import { verifies } from '../requirements.ts';

const gateways = gatewaysOf('mainnet');
const [first] = gateways as [Gateway];
/** As a chain with 18 decimals would be, of which wallets keep eight. */
const wei: Gateway = { ...first, chain: 'test', decimals: 18, payable_decimals: 8 };

const gateway = fc.constantFrom(...gateways, wei);
/** From a hundredth of a cent to a million USD for a coin. */
const rate = fc.bigInt({ min: 100_000n, max: 10n ** 15n });
const usd = fc.bigInt({ min: 1n, max: MAX_USD_MICROS });
const percent = fc.bigInt({ min: 0n, max: 100_000_000n });

const asked = (of: Partial<Parameters<typeof quote>[0]>): Quote => {
  const request = { gateway: first, amount: '1', amount_unit: 'usd' as const, rate_usd_nanos: 10n ** 9n };
  const quoted = quote({ ...request, service_fee_percent: '0', ...of });
  if (typeof quoted === 'string') throw new Error(quoted);
  return quoted;
};

/** USD micros × coin at a rate, as one exact fraction: `coin × rate` against `usd × this`. */
const scale = (of: Gateway): bigint => 10n ** BigInt(of.decimals + RATE_DECIMALS - USD_DECIMALS);

describe('a price in USD', () => {
  const cases = fc.record({ gateway, usd, rate, percent });
  const quoted = ({
    gateway,
    usd,
    rate,
    percent,
  }: {
    gateway: Gateway;
    usd: bigint;
    rate: bigint;
    percent: bigint;
  }) =>
    asked({
      gateway,
      amount: formatDecimal(usd, USD_DECIMALS),
      rate_usd_nanos: rate,
      service_fee_percent: formatDecimal(percent, 6),
    });

  test('is asked for as the merchant’s amount and the surcharge, exactly', () => {
    verifies('money-sum');
    fc.assert(
      fc.property(cases, (of) => {
        const { amount_atomic, amount_merchant_atomic, amount_fee_atomic, amount_usd_micros } = quoted(of);
        expect(amount_atomic).toBe(amount_merchant_atomic + amount_fee_atomic);
        expect(amount_usd_micros).toBe(of.usd);
      }),
    );
  });

  test('is worth at least the price and less than a payable step more', () => {
    verifies('money-rounds-up');
    fc.assert(
      fc.property(cases, (of) => {
        const { amount_merchant_atomic: coins } = quoted(of);
        const step = uniqueStep(of.gateway);
        expect(coins % step).toBe(0n);
        expect(coins * of.rate >= of.usd * scale(of.gateway)).toBe(true);
        expect((coins - step) * of.rate < of.usd * scale(of.gateway)).toBe(true);
      }),
    );
  });

  test('carries a surcharge of the percentage, rounded up by less than a micro and a step', () => {
    verifies('service-surcharge');
    fc.assert(
      fc.property(cases, (of) => {
        const { amount_usd_fee_micros: fee, amount_fee_atomic: coins } = quoted(of);
        const exact = of.usd * of.percent;
        expect(fee * 10n ** 8n >= exact && fee * 10n ** 8n - exact < 10n ** 8n).toBe(true);
        expect(coins * of.rate >= fee * scale(of.gateway)).toBe(true);
        expect(coins === 0n).toBe(fee === 0n);
      }),
    );
    expect(asked({ amount: '100', service_fee_percent: '2.5' })).toMatchObject({
      amount_usd_fee_micros: 2_500_000n,
      amount_atomic: 102_500_000_000n,
    });
  });

  test('that is higher never asks for less', () => {
    fc.assert(
      fc.property(cases, fc.bigInt({ min: 0n, max: 10n ** 9n }), (of, more) => {
        const higher = of.usd + more;
        if (higher > MAX_USD_MICROS) return;
        expect(quoted({ ...of, usd: higher }).amount_atomic >= quoted(of).amount_atomic).toBe(true);
      }),
    );
  });

  test('adds up exactly over many invoices', () => {
    fc.assert(
      fc.property(fc.array(cases, { minLength: 1, maxLength: 200 }), (many) => {
        const sums = { amount: 0n, merchant: 0n, fee: 0n, wire: 0n };
        for (const of of many) {
          const one = quoted(of);
          sums.amount += one.amount_atomic;
          sums.merchant += one.amount_merchant_atomic;
          sums.fee += one.amount_fee_atomic;
          const text = formatDecimal(one.amount_atomic, of.gateway.decimals);
          sums.wire += parseDecimal(text, of.gateway.decimals) ?? 0n;
        }
        expect(sums.amount).toBe(sums.merchant + sums.fee);
        expect(sums.wire).toBe(sums.amount);
      }),
      { numRuns: 30 },
    );
  });
});

describe('an amount in coins', () => {
  test('is asked for to the nearest billionth, rounded up to what wallets keep, and valued at the rate', () => {
    verifies('post-invoices-amount', 'money-usd-nearest');
    fc.assert(
      fc.property(gateway, fc.bigInt({ min: 1n, max: 10n ** 24n }), rate, (of, written, rate) => {
        const counted = 10n ** BigInt(Math.max(of.decimals - 9, 0));
        const coins = divideHalfUp(written, counted) * counted;
        const usd = (2n * coins * rate + scale(of)) / (2n * scale(of));
        fc.pre(usd > 0n && usd <= MAX_USD_MICROS);
        const one = asked({
          gateway: of,
          amount: formatDecimal(written, of.decimals),
          amount_unit: 'native',
          rate_usd_nanos: rate,
        });
        expect(one.amount_usd_micros).toBe(usd);
        const more = one.amount_merchant_atomic - coins;
        expect(more >= 0n && more < uniqueStep(of)).toBe(true);
      }),
    );
  });
});

test.each([
  ['0', 'too_small'],
  ['0.0000000', 'too_small'],
  ['-1', 'too_small'],
  ['1e9', 'too_small'],
  ['1000000000', 'too_large'],
])('%s USD is %s', (amount, verdict) => {
  expect(
    quote({ gateway: first, amount, amount_unit: 'usd', rate_usd_nanos: 1n, service_fee_percent: '0' }),
  ).toBe(verdict);
});

test('coins that are worth no micro of a USD are too small', () => {
  const request = { gateway: wei, amount: '0.000000000000000001', rate_usd_nanos: 10n ** 9n };
  expect(quote({ ...request, amount_unit: 'native', service_fee_percent: '0' })).toBe('too_small');
});

test('distinct amounts at one price are at most 1 % apart, in steps that wallets keep', () => {
  verifies('amount-tail');
  const percents = fc.oneof(fc.bigInt({ min: 0n, max: 12_000n }), fc.bigInt({ min: 0n, max: 10n ** 20n }));
  fc.assert(
    fc.property(gateway, percents, fc.nat(99), (of, percent, more) => {
      // As many steps as make one percent, and not quite another.
      const amount = (percent * 100n + BigInt(more)) * uniqueStep(of) + uniqueStep(of) - 1n;
      expect(uniqueSlots(of, amount)).toBe(percent < 10_000n ? percent + 1n : 10_000n);
    }),
  );
  expect(uniqueStep(wei)).toBe(10n ** 10n);
});

test('an amount that no one foresees is drawn from so many that what a try wins is little on average', () => {
  verifies('amount-drawn', 'amount-tail');
  const amounts = fc.oneof(
    fc.bigInt({ min: 1n, max: 10n ** 5n }),
    fc.bigInt({ min: 1n, max: 10n ** 9n - 1n }),
  );
  fc.assert(
    fc.property(gateway, amounts, fc.nat(99), (of, steps, more) => {
      const amount = steps * uniqueStep(of) + BigInt(more) * (uniqueStep(of) / 100n);
      const slots = drawnSlots(of, amount, 'sale');
      expect((slots - 1n) * uniqueStep(of) * 100n <= amount).toBe(true);
      expect(amount / slots <= 1000n * uniqueStep(of)).toBe(true);
      expect(slots >= uniqueSlots(of, amount)).toBe(true);
      const refill = drawnSlots(of, amount, 'refill');
      expect(refill).toBe(slots < 100n ? 100n : slots);
    }),
  );
  expect(drawnSlots(wei, 10n ** 30n, 'sale')).toBe(1_000_000n);
});
