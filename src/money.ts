// Exact decimals: text ↔ integer at a scale. Nothing here is ever a float.

/** USD is stored in micros: 10^-6 USD. */
export const USD_DECIMALS = 6;
/** Rates are USD × 10^9 per whole coin. */
export const RATE_DECIMALS = 9;

const PLAIN = /^(-?)(\d+)(?:\.(\d*))?$/;

export const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent);

/** Rounds a quotient of non-negative integers up. */
export const divideUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;

/** Rounds a quotient of non-negative integers to the nearest, halves up. */
export const divideHalfUp = (value: bigint, by: bigint): bigint => (2n * value + by) / (2n * by);

/**
 * Reads a plain decimal (`12.5`, no exponent) as an integer of 10^-`decimals`.
 * Digits beyond `decimals` are rounded to the nearest, halves away from zero: a price that passed through a binary float
 * (`19.990000000000002`) is the price that was meant. Null for anything else.
 */
export function parseDecimal(text: string, decimals: number): bigint | null {
  const match = PLAIN.exec(text);
  if (!match) return null;
  const [, sign, whole = '', fraction = ''] = match;
  const truncated = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const value = /^[5-9]/.test(fraction.slice(decimals)) ? truncated + 1n : truncated;
  return sign ? -value : value;
}

/** Writes an integer of 10^-`decimals` as a plain decimal without trailing zeros. */
export function formatDecimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction ? `.${fraction}` : ''}`;
}

/** A plain decimal with at least so many decimals: `12.5` as `12.50`. */
export function padDecimal(text: string, digits: number): string {
  const [whole = '', fraction = ''] = text.split('.');
  return digits > fraction.length ? `${whole}.${fraction.padEnd(digits, '0')}` : text;
}

/** USD micros as a decimal string. */
export const formatUsd = (micros: bigint): string => formatDecimal(micros, USD_DECIMALS);

/** Rounds up to a multiple of 10^(`decimals` − `precision`): the precision a wallet can enter. */
export function roundUpTo(value: bigint, decimals: number, precision: number): bigint {
  const step = tenTo(decimals - Math.min(precision, decimals));
  return divideUp(value, step) * step;
}
