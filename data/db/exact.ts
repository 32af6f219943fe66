// Arithmetic of amounts beyond 64 bits for SQLite, which has none of its own: texts of integers in, texts out.
import type SQLite from 'better-sqlite3';

type Value = string | bigint | null;

const integer = (value: unknown): bigint => BigInt((value as Value) ?? 0n);

const upTo = (value: bigint, divisor: bigint): bigint => (value + divisor - 1n) / divisor;

/** Decimals of USD micros and of a rate in nanos. */
const RATE_SCALE_DECIMALS = 3n;

/**
 * Whether coin amounts are what a price in USD micros is at a rate, within the rounding of the price and of the payable
 * step, and within the tail of 1 %, or of `steps`, that tells amounts apart. The same in SQL: `quoteFits` of db/words.ts.
 */
function quoteFits(...values: unknown[]): bigint {
  const [usd, usd_fee, rate, decimals, payable, merchant, fee, steps] = values.map(integer) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  if (rate <= 0n) return 0n;
  const scale = 10n ** (decimals + RATE_SCALE_DECIMALS);
  const step = 10n ** (decimals - payable);
  const least = upTo((usd - 1n) * scale, rate);
  const most = upTo((usd + 1n) * scale, rate) + step;
  const least_fee = upTo(usd_fee * scale, rate);
  const fits =
    merchant >= least &&
    merchant <= most + larger((most + fee) / 100n, steps * step) &&
    fee >= least_fee &&
    fee <= (usd_fee === 0n ? 0n : least_fee + step);
  return fits ? 1n : 0n;
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Makes `exact_sum`, `exact_plus` and `quote_fits` known to a connection. */
export function registerExact(database: SQLite.Database): void {
  const options = { deterministic: true, safeIntegers: true };
  database.aggregate('exact_sum', {
    ...options,
    start: 0n,
    step: (total: bigint, next: unknown) => total + integer(next),
    result: (total: bigint) => total.toString(),
  });
  database.function('exact_plus', options, (one: unknown, other: unknown) =>
    (integer(one) + integer(other)).toString(),
  );
  database.function('quote_fits', { ...options, varargs: true }, quoteFits);
}
