// The vocabulary of inputs: each field validates like pydantic in lax mode and says what it takes as JSON Schema.
import { z } from 'zod';
import { cleanText } from '../../clean.ts';
import { formatDecimal, parseDecimal, tenTo, USD_DECIMALS } from '../../money.ts';
import { coerced, FieldError } from './field-error.ts';

/** Members whose value is never echoed, logged or shown. */
export const secretNames: ReadonlySet<string> = new Set([
  'password',
  'new_password',
  'current_password',
  'client_secret',
  'id_token',
  'hash',
  'token',
  'webhook_secret',
  'api_key',
  'invite',
]);

/** NUL cannot be stored as text everywhere, and a lone surrogate is not text. */
const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

const characters = (count: number): string => `${count} character${count === 1 ? '' : 's'}`;

/** Length in characters (code points), as JSON Schema and Python count. */
const lengthOf = (text: string): number => [...text].length;

/** The text of a value, or why it is none. */
export function readText(input: unknown): string | FieldError {
  if (typeof input !== 'string') return new FieldError('string_type', 'Input should be a valid string');
  if (UNSTORABLE.test(input))
    return new FieldError(
      'string_unicode',
      'Input should be a valid string, unable to parse raw data as a unicode string',
    );
  return input;
}

export interface TextOptions {
  min?: number;
  max?: number;
  pattern?: RegExp;
  /** The value must not be shown; its name must be one of `secretNames`. */
  secret?: true;
  /** It names something, and was perhaps pasted: characters that no one sees are dropped. */
  named?: true;
  /** The same of a URL, which is one line: a break within it would leave another URL than was meant. */
  url?: true;
}

/** Line ends, tabs and other control characters: what reads URLs drops some of them, and encodes the others. */
const BREAK = /[\p{Cc}\u2028\u2029]/u;

/** Too long or too short; null where the length is fine. */
export function lengthFault(text: string, min = 0, max = Infinity): FieldError | null {
  const length = lengthOf(text);
  if (length < min)
    return new FieldError('string_too_short', `String should have at least ${characters(min)}`, {
      min_length: min,
    });
  if (length > max)
    return new FieldError('string_too_long', `String should have at most ${characters(max)}`, {
      max_length: max,
    });
  return null;
}

/** A string; lengths are in characters. */
export function text({ min, max, pattern, secret, named, url }: TextOptions = {}): z.ZodType<string, string> {
  const schema = {
    type: 'string',
    ...(min === undefined ? {} : { minLength: min }),
    ...(max === undefined ? {} : { maxLength: max }),
    ...(pattern ? { pattern: pattern.source } : {}),
    ...(secret ? { format: 'password' } : {}),
  };
  return coerced(schema, (input) => {
    const given = readText(input);
    if (given instanceof FieldError) return given;
    if (url && BREAK.test(given.trim()))
      return new FieldError('url_syntax_violation', 'URL should be one line, without control characters');
    const value = named || url ? cleanText(given) : given;
    const fault = lengthFault(value, min, max);
    if (fault) return fault;
    if (pattern && !pattern.test(value))
      return new FieldError('string_pattern_mismatch', `String should match pattern '${pattern.source}'`, {
        pattern: pattern.source,
      });
    return value;
  });
}

const DURATION = /^(\d{1,9})([smhd]?)$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds, as a number or as text with a unit: `3600`, `90s`, `1h`, `7d`. */
export function duration({ max_seconds }: { max_seconds: number }): z.ZodType<number, string> {
  return coerced({ type: 'string', pattern: DURATION.source }, (input) => {
    const text = typeof input === 'string' || typeof input === 'number' ? String(input) : '';
    const [, digits, unit = ''] = DURATION.exec(text) ?? [];
    if (digits === undefined)
      return new FieldError(
        'duration_parsing',
        'Input should be a number of seconds, or such as 90s, 1h or 7d',
      );
    const value = Number(digits) * (UNIT_SECONDS[unit] ?? 1);
    return boundsFault({ lte: max_seconds }, (limit) => value - limit) ?? value;
  });
}

export interface Bounds {
  gt?: number;
  gte?: number;
  lte?: number;
}

/** The first bound that is broken; `compare(limit)` is negative below the limit, positive above. */
function boundsFault({ gt, gte, lte }: Bounds, compare: (limit: number) => number): FieldError | null {
  if (gt !== undefined && compare(gt) <= 0)
    return new FieldError('greater_than', `Input should be greater than ${gt}`, { gt });
  if (gte !== undefined && compare(gte) < 0)
    return new FieldError('greater_than_equal', `Input should be greater than or equal to ${gte}`, {
      ge: gte,
    });
  if (lte !== undefined && compare(lte) > 0)
    return new FieldError('less_than_equal', `Input should be less than or equal to ${lte}`, { le: lte });
  return null;
}

const boundsSchema = ({ gt, gte, lte }: Bounds): Record<string, number> => ({
  ...(gt === undefined ? {} : { exclusiveMinimum: gt }),
  ...(gte === undefined ? {} : { minimum: gte }),
  ...(lte === undefined ? {} : { maximum: lte }),
});

/** Longest text read as a number; nothing sensible is longer. */
const MAX_NUMBER_TEXT = 64;
const INTEGER_TEXT = /^\s*[+-]?\d+(?:\.0*)?\s*$/;
const TOO_LARGE = 'Unable to parse input string as an integer, exceeded maximum size';

function readInteger(input: unknown): number | FieldError {
  if (typeof input === 'boolean') return Number(input);
  if (typeof input === 'number') {
    if (!Number.isFinite(input)) return new FieldError('finite_number', 'Input should be a finite number');
    if (!Number.isInteger(input))
      return new FieldError(
        'int_from_float',
        'Input should be a valid integer, got a number with a fractional part',
      );
    return Number.isSafeInteger(input) ? input : new FieldError('int_parsing_size', TOO_LARGE);
  }
  if (typeof input !== 'string') return new FieldError('int_type', 'Input should be a valid integer');
  if (input.length > MAX_NUMBER_TEXT) return new FieldError('int_parsing_size', TOO_LARGE);
  if (!INTEGER_TEXT.test(input))
    return new FieldError(
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    );
  const value = Number(input);
  return Number.isSafeInteger(value) ? value + 0 : new FieldError('int_parsing_size', TOO_LARGE);
}

/** An integer that a double holds exactly; `"300"` and `300.0` are integers, `"1e3"` and `"1_000"` are not. */
export function int(bounds: Bounds = {}): z.ZodType<number, number> {
  return coerced({ type: 'integer', ...boundsSchema(bounds) }, (input) => {
    const value = readInteger(input);
    if (value instanceof FieldError) return value;
    return boundsFault(bounds, (limit) => value - limit) ?? value;
  });
}

/** What the specification calls a decimal string. */
export const DECIMAL_PATTERN = '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$';
/** Most digits before the point of an amount that is sent to us. */
export const MAX_WHOLE_DIGITS = 9;
/** Most digits after it: no coin has more. */
export const MAX_DECIMAL_PLACES = 18;
/** Most digits that a binary float is written with; behind zeros (`0.0030000000000000001`) they reach further than a coin's. */
const FLOAT_DIGITS = 17;
const MAX_FLOAT_PLACES = 24;
// Says the same as DECIMAL_PATTERN without its backtracking, which takes cubic time on long input.
const DECIMAL_TEXT = /^([+-]?)(\d*)(?:\.(\d*))?$/;
const NOT_FINITE = /^[+-]?(?:s?nan|inf(?:inity)?)$/i;

/** Digits of a double without exponent: 1e-7 → `0.0000001`. */
function plainNumber(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const plain = point <= 0 ? `0.${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0').slice(0, point);
  return `${value < 0 ? '-' : ''}${plain}`;
}

function readDecimal(input: unknown, wording: 'decimal' | 'float'): string | FieldError {
  const notFinite = new FieldError('finite_number', 'Input should be a finite number');
  if (typeof input === 'number' && !Number.isFinite(input)) return notFinite;
  if (typeof input !== 'string' && typeof input !== 'number')
    return wording === 'float'
      ? new FieldError('float_type', 'Input should be a valid number')
      : new FieldError('decimal_type', 'Decimal input should be an integer, float, string or Decimal object');
  const raw = typeof input === 'number' ? plainNumber(input) : input;
  if (NOT_FINITE.test(raw)) return notFinite;
  const match = raw.length > MAX_NUMBER_TEXT && typeof input === 'string' ? null : DECIMAL_TEXT.exec(raw);
  const [, sign = '', whole = '', fraction = ''] = match ?? [];
  if (!match || whole + fraction === '')
    return wording === 'float'
      ? new FieldError('float_parsing', 'Input should be a valid number, unable to parse string as a number')
      : new FieldError('decimal_parsing', 'Input should be a valid decimal');
  const digits = whole.replace(/^0+/, '');
  const places = fraction.replace(/0+$/, '');
  const value = `${digits || '0'}${places ? `.${places}` : ''}`;
  return sign === '-' && value !== '0' ? `-${value}` : value;
}

function digitsFault(value: string): FieldError | null {
  const [whole = '', places = ''] = value.replace('-', '').split('.');
  const is_float = (whole + places).replace(/^0+/, '').length <= FLOAT_DIGITS;
  if (places.length > (is_float ? MAX_FLOAT_PLACES : MAX_DECIMAL_PLACES))
    return new FieldError(
      'decimal_max_places',
      `Decimal input should have no more than ${MAX_DECIMAL_PLACES} decimal places`,
      { decimal_places: MAX_DECIMAL_PLACES },
    );
  if (whole.length > MAX_WHOLE_DIGITS)
    return new FieldError(
      'decimal_whole_digits',
      `Decimal input should have no more than ${MAX_WHOLE_DIGITS} digits before the decimal point`,
      { whole_digits: MAX_WHOLE_DIGITS },
    );
  return null;
}

/**
 * An amount: a JSON number or a plain decimal string, read as the shortest decimal string without exponent
 * (`"0012.50"` → `"12.5"`), rounded to the nearest with `places` decimals where they are given.
 * `wording` chooses between the messages of pydantic's Decimal and float.
 */
export function decimal({
  wording = 'decimal',
  places = MAX_FLOAT_PLACES,
  ...bounds
}: Bounds & { wording?: 'decimal' | 'float'; places?: number } = {}): z.ZodType<string, string | number> {
  const schema = {
    anyOf: [
      { type: 'number', ...boundsSchema(bounds) },
      { type: 'string', pattern: DECIMAL_PATTERN },
    ],
  };
  return coerced(schema, (input) => {
    const value = readDecimal(input, wording);
    if (value instanceof FieldError) return value;
    const scaled = parseDecimal(value, places) ?? 0n;
    return (
      boundsFault(bounds, (limit) => Number(scaled - BigInt(limit) * tenTo(places))) ??
      digitsFault(value) ??
      formatDecimal(scaled, places)
    );
  });
}

/** An amount that is always in USD. */
export const usd = (
  bounds: Bounds & { wording?: 'decimal' | 'float' } = {},
): z.ZodType<string, string | number> => decimal({ ...bounds, places: USD_DECIMALS });

const TRUE = new Set(['true', '1', 'on', 't', 'yes', 'y']);
const FALSE = new Set(['false', '0', 'off', 'f', 'no', 'n']);

/** A boolean: JSON true and false, 1 and 0, or their words in any case. */
export function bool(): z.ZodType<boolean, boolean> {
  return coerced({ type: 'boolean' }, (input) => {
    if (typeof input === 'boolean') return input;
    if (typeof input !== 'string' && typeof input !== 'number')
      return new FieldError('bool_type', 'Input should be a valid boolean');
    const word = String(input).toLowerCase();
    if (TRUE.has(word)) return true;
    if (FALSE.has(word)) return false;
    return new FieldError('bool_parsing', 'Input should be a valid boolean, unable to interpret input');
  });
}

/** One of a few words. `type` is pydantic's name for the kind of choice. */
export function choice<const Value extends string>(
  values: readonly Value[],
  type: 'literal_error' | 'enum' = 'literal_error',
): z.ZodType<Value, Value> {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.at(-1) ?? '';
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${last}` : last;
  return coerced({ type: 'string', enum: values }, (input) => {
    const value = values.find((candidate) => candidate === input);
    return value ?? new FieldError(type, `Input should be ${expected}`, { expected });
  });
}

/** A text that is usually one of these words, in any case; another is taken too, and finds nothing. */
export function word(
  known: readonly string[],
  { min, max }: Pick<TextOptions, 'min' | 'max'> = {},
): z.ZodType<string, string> {
  const schema = {
    type: 'string',
    ...(min === undefined ? {} : { minLength: min }),
    ...(max === undefined ? {} : { maxLength: max }),
    examples: [...new Set(known)],
  };
  return coerced(schema, (input) => {
    const value = readText(input);
    return value instanceof FieldError ? value : (lengthFault(value, min, max) ?? value);
  });
}

/** Most items a list may have by default. */
export const MAX_ITEMS = 100;

/** A list of `item`; its faults are converted in validation.ts. */
export const list = <Item extends z.ZodType>(
  item: Item,
  { min = 0, max = MAX_ITEMS }: { min?: number; max?: number } = {},
): z.ZodArray<Item> => {
  const items = z.array(item).max(max);
  return min > 0 ? items.min(min) : items;
};

/** A value, null, or nothing, which then means null. For updates, where nothing means unchanged, use `.nullish()`. */
export const orNull = <Field extends z.ZodType>(field: Field): z.ZodDefault<z.ZodNullable<Field>> =>
  field.nullable().default(null as never) as z.ZodDefault<z.ZodNullable<Field>>;

/** A calendar day, `YYYY-MM-DD`. */
export function date(): z.ZodType<string, string> {
  const fault = (error: string): FieldError =>
    new FieldError('date_parsing', `Input should be a valid date in the format YYYY-MM-DD, ${error}`, {
      error,
    });
  return coerced({ type: 'string', format: 'date' }, (input) => {
    if (typeof input !== 'string') return new FieldError('date_type', 'Input should be a valid date');
    const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(input);
    if (!match) return fault('expected four digits, two digits and two digits');
    const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
    if (year < 1) return fault('year value is outside expected range of 1-9999');
    if (month < 1 || month > 12) return fault('month value is outside expected range of 1-12');
    if (day < 1 || new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day)
      return fault('day value is outside expected range');
    return input;
  });
}

/** Whether a list says how many it has in all. */
export const counted = () =>
  bool().default(false).describe('Say in `total` how many there are on all pages, counted up to 10,000');
