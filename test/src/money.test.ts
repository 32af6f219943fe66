// Decimals and integers: what is read is what is written, exactly, at any size.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  divideHalfUp,
  divideUp,
  formatDecimal,
  formatUsd,
  parseDecimal,
  roundUpTo,
} from '../../src/money.ts';
import { verifies } from '../requirements.ts';

/** Far beyond 64 bits: 18 decimals of a large amount pass them. */
const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const natural = fc.bigInt({ min: 0n, max: 10n ** 40n });
const positive = fc.bigInt({ min: 1n, max: 10n ** 20n });
const decimals = fc.integer({ min: 0, max: 24 });

describe('a decimal', () => {
  test('that was written is read back as the same integer', () => {
    verifies('money-integers');
    fc.assert(
      fc.property(integer, decimals, (value, scale) => {
        expect(parseDecimal(formatDecimal(value, scale), scale)).toBe(value);
      }),
    );
  });

  test('is written plainly: no exponent, no trailing zero, a digit before the point', () => {
    verifies('money-wire');
    fc.assert(
      fc.property(integer, decimals, (value, scale) => {
        expect(formatDecimal(value, scale)).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
    expect([0n, 5n, -5n, 1_500_000n, 10n ** 30n].map(formatUsd)).toEqual([
      '0',
      '0.000005',
      '-0.000005',
      '1.5',
      '1000000000000000000000000',
    ]);
  });

  test('with more digits than remain is read rounded to the nearest, halves away from zero', () => {
    verifies('money-usd-nearest');
    fc.assert(
      fc.property(natural, decimals, fc.integer({ min: 0, max: 12 }), (value, digits_left, dropped) => {
        const text = formatDecimal(value, digits_left + dropped);
        const read = parseDecimal(text, digits_left) as bigint;
        expect(read).toBe(divideHalfUp(value, 10n ** BigInt(dropped)));
        expect(parseDecimal(`-${text}`, digits_left)).toBe(-read);
      }),
    );
  });

  test.each([
    '',
    '.',
    '-',
    '+1',
    '1e3',
    '1_000',
    '٣',
    ' 1',
    '1 ',
    '0x10',
    'NaN',
    '1.2.3',
    '.5',
    '--1',
    '1,5',
  ])('%j is none', (text) => {
    verifies('money-input');
    expect(parseDecimal(text, 6)).toBeNull();
  });
});

describe('rounding', () => {
  test('up gives the smallest integer that is not less', () => {
    fc.assert(
      fc.property(natural, positive, (value, by) => {
        const up = divideUp(value, by);
        expect(up * by >= value && (up === 0n || (up - 1n) * by < value)).toBe(true);
      }),
    );
  });

  test('to the nearest is off by half a unit at most, and halves go up', () => {
    fc.assert(
      fc.property(natural, positive, (value, by) => {
        const twice = 2n * (divideHalfUp(value, by) * by - value);
        expect(twice > -by && twice <= by).toBe(true);
      }),
    );
    expect([divideHalfUp(5n, 10n), divideHalfUp(4n, 10n), divideHalfUp(15n, 10n)]).toEqual([1n, 0n, 2n]);
  });

  test('to a precision gives its nearest multiple above, and leaves what has no more digits', () => {
    verifies('money-rounds-up');
    fc.assert(
      fc.property(natural, decimals, decimals, (value, scale, digits_left) => {
        const rounded = roundUpTo(value, scale, digits_left);
        const step = 10n ** BigInt(scale - Math.min(digits_left, scale));
        expect(rounded % step).toBe(0n);
        expect(rounded >= value && rounded - value < step).toBe(true);
        expect(roundUpTo(rounded, scale, digits_left)).toBe(rounded);
      }),
    );
  });
});
