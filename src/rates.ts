// The rate that several markets agree on: exact integers, USD × 10^9 per whole coin.
import type { PricedAsset } from './chains/assets.ts';
import { RATE_DECIMALS, tenTo } from './money.ts';

/** One USD as a rate. */
export const ONE_USD: bigint = tenTo(RATE_DECIMALS);
/** No coin costs 100 million USD: such a figure is an error, as is zero. */
export const MAX_RATE: bigint = 100_000_000n * ONE_USD;
/** Quotes further from the median are dropped, in percent. */
const OUTLIER_PERCENT = 3n;
/** A stablecoin counts as one USD up to this distance, in percent. */
const PEG_PERCENT = 1n;
/** How many must say that a peg is off, and how many must agree on a price where so many could. */
const MIN_WITNESSES = 2;
/** How far a price may move in a minute, in percent, … */
const JUMP_PERCENT = 20n;
/** … unless so many sources agree on it. */
const JUMP_WITNESSES = 3;

/** Longer figures are no prices; also bounds the work on a hostile answer. */
const MAX_FIGURE_CHARS = 64;
const MAX_EXPONENT = 30;
const FIGURE = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** What one source reported. */
export interface SourceQuotes {
  source: string;
  /** What its prices are in: USD, or a stablecoin that is converted at its own rate. */
  quoted_in: string;
  /** By our ticker. */
  quotes: ReadonlyMap<string, bigint>;
}

/** A price as text or JSON number (read through its shortest text); null unless above zero and below `MAX_RATE`. */
export function readPrice(value: unknown): bigint | null {
  const figure = readFigure(value);
  return figure && plausible(scale(figure.digits, RATE_DECIMALS - figure.decimals));
}

/** The price in USD where the figure says how many coins one USD buys. */
export function invertPrice(value: unknown): bigint | null {
  const figure = readFigure(value);
  if (!figure || figure.digits === 0n) return null;
  const exponent = RATE_DECIMALS + figure.decimals;
  return exponent < 0 ? null : plausible(tenTo(exponent) / figure.digits);
}

/** The middle value, or the mean of the two middle ones, rounded down; null of none. */
export function median(values: readonly bigint[]): bigint | null {
  const [lower, upper] = middlePair(values);
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2n;
}

/** The two middle values, the same one twice where their number is odd. */
function middlePair(values: readonly bigint[]): [bigint | undefined, bigint | undefined] {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
}

/** What sources agree on. */
export interface Agreement {
  usd_nanos: bigint;
  /** How many sources agree. */
  sources: number;
}

/**
 * The median of the quotes without those over 3 % off. Null where fewer than `min_sources` remain, or fewer than half
 * (and than two) of several, or where the two in the middle are further apart than that themselves: then the markets
 * contradict each other, and which is right cannot be known.
 */
export function agreedRate(quotes: readonly bigint[], min_sources: number): Agreement | null {
  const middle = median(quotes);
  if (middle === null) return null;
  const agreeing = quotes.filter((quote) => within(quote, middle, OUTLIER_PERCENT));
  const needed = quotes.length === 1 ? 1 : Math.max(MIN_WITNESSES, quotes.length / 2);
  const usd_nanos = median(agreeing);
  if (usd_nanos === null || agreeing.length < Math.max(needed, min_sources)) return null;
  return middleAgrees(agreeing) ? { usd_nanos, sources: agreeing.length } : null;
}

/** Two quotes 5 % apart are both within 3 % of their mean: that is a mean of two contradictions. */
function middleAgrees(quotes: readonly bigint[]): boolean {
  const [lower, upper] = middlePair(quotes);
  return lower !== undefined && upper !== undefined && within(upper, lower, OUTLIER_PERCENT);
}

/** One USD, unless at least two quotes are over 1 % off it: then what they agree on, null if nothing. */
export function peggedRate(quotes: readonly bigint[]): Agreement | null {
  const off = quotes.filter((quote) => !within(quote, ONE_USD, PEG_PERCENT));
  if (off.length >= MIN_WITNESSES) return agreedRate(quotes, MIN_WITNESSES);
  return { usd_nanos: ONE_USD, sources: quotes.length - off.length };
}

/**
 * The rates of one round, by ticker; an asset on which nothing can be known is null. `configured` is how many sources are
 * asked: where there are several, one alone sets no price.
 */
export function decideRates(
  assets: readonly PricedAsset[],
  answers: readonly SourceQuotes[],
  configured: number,
): Map<string, Agreement | null> {
  const quotesOf = (currency: string, rate_of: (quoted_in: string) => bigint | null) =>
    answers.flatMap(({ quoted_in, quotes }) => {
      const quote = quotes.get(currency);
      const rate = rate_of(quoted_in);
      return quote === undefined || rate === null ? [] : (plausible((quote * rate) / ONE_USD) ?? []);
    });
  const inUsd = (quoted_in: string) => (quoted_in === 'USD' ? ONE_USD : null);
  const decided = new Map<string, Agreement | null>();
  for (const { currency, stable } of assets) {
    if (stable) decided.set(currency, peggedRate(quotesOf(currency, inUsd)));
  }
  const converted = (quoted_in: string) => inUsd(quoted_in) ?? decided.get(quoted_in)?.usd_nanos ?? null;
  for (const { currency, stable, symbols } of assets) {
    const min_sources = symbols.length > 1 ? MIN_WITNESSES : Math.min(MIN_WITNESSES, configured);
    if (!stable) decided.set(currency, agreedRate(quotesOf(currency, converted), min_sources));
  }
  return decided;
}

/** Whether a price moved by more than 20 % in each minute since the last that was agreed on, and too few say so. */
export function isJump(last_nanos: bigint, found: Agreement, elapsed_seconds: number): boolean {
  const minutes = BigInt(Math.max(1, Math.floor(elapsed_seconds / 60)));
  return found.sources < JUMP_WITNESSES && !within(found.usd_nanos, last_nanos, JUMP_PERCENT * minutes);
}

const within = (value: bigint, of: bigint, percent: bigint): boolean =>
  (value > of ? value - of : of - value) * 100n <= of * percent;

const plausible = (rate: bigint): bigint | null => (rate > 0n && rate <= MAX_RATE ? rate : null);

/** `digits` × 10^`exponent`, rounded down. */
const scale = (digits: bigint, exponent: number): bigint =>
  exponent >= 0 ? digits * tenTo(exponent) : digits / tenTo(-exponent);

/** `digits` × 10^-`decimals`; null for whatever is no plain non-negative number. */
function readFigure(value: unknown): { digits: bigint; decimals: number } | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value);
  const match = text.length <= MAX_FIGURE_CHARS ? FIGURE.exec(text) : null;
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) return null;
  return { digits: BigInt(whole + fraction), decimals: fraction.length - Number(exponent) };
}
