// The vocabulary of inputs: what each field reads, what it refuses and in which words.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { bool, choice, date, decimal, int, list, orNull, text } from '../../../src/api/describe/fields.ts';
import { email, uuid } from '../../../src/api/describe/identifiers.ts';
import { verifies } from '../../requirements.ts';

/** The parsed value, or `type: message` of the first refusal. */
function read(field: z.ZodType, input: unknown): unknown {
  const result = field.safeParse(input);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return issue?.code === 'custom' ? `${issue.params?.type}: ${issue.message}` : issue?.code;
}

describe('text', () => {
  test('counts characters, not code units', () => {
    expect(read(text({ max: 2 }), '😀😀')).toBe('😀😀');
    expect(read(text({ min: 3 }), '😀😀')).toBe('string_too_short: String should have at least 3 characters');
    expect(read(text({ min: 1 }), '')).toBe('string_too_short: String should have at least 1 character');
    expect(read(text({ max: 2 }), 'abc')).toBe('string_too_long: String should have at most 2 characters');
  });

  test('refuses what is no string or cannot be stored', () => {
    for (const value of [1, null, true, [], {}])
      expect(read(text(), value)).toBe('string_type: Input should be a valid string');
    for (const value of ['a\0b', '\ud800', 'x\udc00y'])
      expect(read(text(), value)).toMatch(/^string_unicode: /);
  });

  test('names the pattern it wants', () => {
    expect(read(text({ pattern: /^password$/ }), 'x')).toBe(
      "string_pattern_mismatch: String should match pattern '^password$'",
    );
  });
});

describe('int', () => {
  test('reads integers the lax way', () => {
    expect(['300', ' 7 ', '+5', '3.0', 300.0, '-0', true].map((value) => read(int(), value))).toEqual([
      300, 7, 5, 3, 300, 0, 1,
    ]);
    expect(Object.is(read(int(), '-0'), 0)).toBe(true);
  });

  test('refuses the rest', () => {
    const parsing = 'int_parsing: Input should be a valid integer, unable to parse string as an integer';
    for (const value of ['', 'x', '1_000', '1e3', '3.5', '٣', '0x10'])
      expect(read(int(), value)).toBe(parsing);
    expect(read(int(), 3.5)).toBe(
      'int_from_float: Input should be a valid integer, got a number with a fractional part',
    );
    expect(read(int(), null)).toBe('int_type: Input should be a valid integer');
    expect(read(int(), '9007199254740993')).toMatch(/^int_parsing_size: /);
    expect(read(int(), Infinity)).toBe('finite_number: Input should be a finite number');
    expect(read(int({ gte: 0 }), '-1')).toBe(
      'greater_than_equal: Input should be greater than or equal to 0',
    );
    expect(read(int({ lte: 200 }), 201)).toBe('less_than_equal: Input should be less than or equal to 200');
  });
});

describe('decimal', () => {
  test('reads numbers and plain strings into the shortest decimal without exponent', () => {
    verifies('money-input', 'res-decimal-string');
    const cases: [unknown, string][] = [
      [12.5, '12.5'],
      ['0012.50', '12.5'],
      ['.5', '0.5'],
      ['5.', '5'],
      ['+5', '5'],
      ['-0', '0'],
      ['-3.10', '-3.1'],
      [1e-7, '0.0000001'],
      [1.25e-7, '0.000000125'],
      [-2e-8, '-0.00000002'],
      [0, '0'],
      ['000000000000000000001', '1'],
      ['999999999.999999999999999999', '999999999.999999999999999999'],
    ];
    for (const [input, expected] of cases) expect(read(decimal(), input)).toBe(expected);
  });

  test('refuses exponents, underscores, other digits and what is no number', () => {
    verifies('money-input', 'res-decimal-string');
    for (const value of ['1e3', '1_000', '٣', '', '.', '+', '-.', ' 1', '1 ', '1,5', '0x1', '1'.repeat(65)])
      expect(read(decimal(), value)).toBe('decimal_parsing: Input should be a valid decimal');
    for (const value of ['NaN', 'nan', 'Infinity', '-inf', Infinity])
      expect(read(decimal(), value)).toBe('finite_number: Input should be a finite number');
    for (const value of [true, null, [], {}])
      expect(read(decimal(), value)).toBe(
        'decimal_type: Decimal input should be an integer, float, string or Decimal object',
      );
    expect(read(decimal({ wording: 'float' }), '1e3')).toBe(
      'float_parsing: Input should be a valid number, unable to parse string as a number',
    );
    expect(read(decimal({ wording: 'float' }), null)).toBe('float_type: Input should be a valid number');
  });

  test('keeps its bounds exactly', () => {
    expect(read(decimal({ gt: 0 }), '-0.0')).toBe('greater_than: Input should be greater than 0');
    expect(read(decimal({ gt: 0 }), '0.000000000000000001')).toBe('0.000000000000000001');
    expect(read(decimal({ gt: 0, lte: 1000 }), '1000.00')).toBe('1000');
    expect(read(decimal({ lte: 1000 }), '1000.000000000000000001')).toBe(
      'less_than_equal: Input should be less than or equal to 1000',
    );
    expect(read(decimal(), '1234567890')).toMatch(/^decimal_whole_digits: /);
    expect(read(decimal(), 1e21)).toMatch(/^decimal_whole_digits: /);
    expect(read(decimal(), '0.1234567890123456789')).toMatch(/^decimal_max_places: /);
  });

  test('means the same number that was sent, whatever double it was', () => {
    verifies('money-input');
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 999_999_999, noNaN: true }), (value) => {
        const result = decimal().safeParse(value);
        if (result.success) {
          expect(result.data).toMatch(/^\d+(\.\d*[1-9])?$/);
          expect(Number(result.data)).toBe(value);
        } else expect(read(decimal(), value)).toMatch(/^decimal_max_places/);
      }),
    );
  });

  test('takes time in proportion to a hostile string, not to its square', () => {
    const cost = (length: number) => {
      const before = process.cpuUsage();
      for (let round = 0; round < 20; round++) read(decimal(), `${'0'.repeat(length)}x`);
      return process.cpuUsage(before).user + 1;
    };
    cost(1_000);
    expect(cost(200_000)).toBeLessThan(cost(2_000) * 100 * 30);
  });
});

describe('bool', () => {
  test('reads the words of queries', () => {
    for (const value of [true, 1, '1', 'true', 'ON', 'Yes', 't']) expect(read(bool(), value)).toBe(true);
    for (const value of [false, 0, '0', 'False', 'off', 'no', 'n']) expect(read(bool(), value)).toBe(false);
    for (const value of ['', 'maybe', 2])
      expect(read(bool(), value)).toBe(
        'bool_parsing: Input should be a valid boolean, unable to interpret input',
      );
    expect(read(bool(), null)).toBe('bool_type: Input should be a valid boolean');
  });
});

describe('uuid', () => {
  test('reads any version in any spelling', () => {
    const plain = '6f1c0a52-0e3b-11f0-9cd2-0242ac120002';
    for (const value of [
      plain,
      plain.toUpperCase(),
      plain.replaceAll('-', ''),
      `{${plain}}`,
      `urn:uuid:${plain}`,
    ])
      expect(read(uuid(), value)).toBe(plain);
  });

  test('says what is wrong', () => {
    expect(read(uuid(), 'zoo')).toBe(
      'uuid_parsing: Input should be a valid UUID, invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `z` at 1',
    );
    expect(read(uuid(), 'abc')).toBe(
      'uuid_parsing: Input should be a valid UUID, invalid length: expected length 32 for simple format, found 3',
    );
    expect(read(uuid(), 'ab-cd')).toMatch(/invalid group count: expected 5, found 2$/);
    expect(read(uuid(), '6f1c0a5-0e3b-11f0-9cd2-0242ac120002')).toMatch(/in group 0: expected 8, found 7$/);
    expect(read(uuid(), 5)).toMatch(/^uuid_type: /);
  });
});

describe('email', () => {
  test('reads addresses in lower case', () => {
    expect(read(email(), ' Bob.O+x@Example.COM')).toBe('bob.o+x@example.com');
    expect(read(email(), 'ü@bücher.example')).toBe('ü@bücher.example');
  });

  test('says what is wrong', () => {
    for (const value of [
      'x',
      '',
      '@',
      'a@',
      '@b.c',
      'a@b',
      'a b@c.de',
      'a..b@c.de',
      '.a@b.de',
      'a@-b.de',
      'a@b..de',
    ])
      expect(read(email(), value)).toMatch(/^value_error: value is not a valid email address: .+\.$/);
    expect(read(email(), `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(62)}`)).toBe(
      'string_too_long: String should have at most 255 characters',
    );
    expect(read(email(), 3)).toMatch(/^string_type: /);
  });
});

describe('choice, list, date, null', () => {
  test('a choice lists its words as a sentence', () => {
    expect(read(choice(['usd', 'native']), 'eur')).toBe("literal_error: Input should be 'usd' or 'native'");
    expect(read(choice(['a', 'b', 'c'], 'enum'), 1)).toBe("enum: Input should be 'a', 'b' or 'c'");
    expect(read(choice(['password']), 'x')).toBe("literal_error: Input should be 'password'");
  });

  test('a date is one of the calendar', () => {
    expect(read(date(), '2024-02-29')).toBe('2024-02-29');
    for (const value of [
      '2023-02-29',
      '2023-13-01',
      '2023-00-10',
      '2023-1-1',
      '',
      '2023-01-01T00:00:00',
      '0000-01-01',
    ])
      expect(read(date(), value)).toMatch(/^date_parsing: /);
  });

  test('nothing and null are the same where null is allowed, and nothing else is', () => {
    expect(read(orNull(text()), undefined)).toBe(null);
    expect(read(orNull(text()), null)).toBe(null);
    expect(read(text(), undefined)).toBe('missing: Field required');
    expect(read(text().nullish(), undefined)).toBe(undefined);
    expect(read(list(text(), { min: 1 }), ['a'])).toEqual(['a']);
  });
});
