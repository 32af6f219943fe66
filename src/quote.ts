// What a buyer has to send: price, surcharge and coin amounts at a frozen rate.
import type { Gateway } from './chains/family.ts';
import {
  divideHalfUp,
  divideUp,
  parseDecimal,
  RATE_DECIMALS,
  roundUpTo,
  tenTo,
  USD_DECIMALS,
} from './money.ts';

export interface Quote {
  amount_usd_micros: bigint;
  amount_usd_fee_micros: bigint;
  amount_merchant_atomic: bigint;
  amount_fee_atomic: bigint;
  /** Always the sum of the two. */
  amount_atomic: bigint;
}

export interface QuoteRequest {
  gateway: Gateway;
  /** A plain decimal above zero. */
  amount: string;
  amount_unit: 'usd' | 'native';
  /** USD × 10^9 per whole coin, above zero. */
  rate_usd_nanos: bigint;
  /** Surcharge on the price, a plain decimal of percent. */
  service_fee_percent: string;
}

/**
 * Decimals of an amount in coins that count at most: 10^-9 of the dearest coin is worth less than a cent's hundredth, and
 * what a binary float adds to `0.3` must not become a payable step of a coin with 18 decimals.
 */
const COIN_DECIMALS = 9;
/** Decimals of the surcharge's percentage that count. */
const PERCENT_DECIMALS = 6;

/** Largest price: nine integer digits of USD, so that every sum stays far inside 64 bits. */
export const MAX_USD_MICROS = 999_999_999n * tenTo(USD_DECIMALS);

/** Quotes an amount, which is rounded to the nearest as it is read; what is asked for in coins rounds up to the gateway's payable precision. `too_small` and `too_large` are verdicts. */
export function quote(request: QuoteRequest): Quote | 'too_small' | 'too_large' {
  const { gateway, rate_usd_nanos: rate } = request;
  const inCoin = (usd_micros: bigint): bigint =>
    roundUpTo(
      divideUp(usd_micros * tenTo(gateway.decimals + RATE_DECIMALS - USD_DECIMALS), rate),
      gateway.decimals,
      gateway.payable_decimals,
    );
  const native = request.amount_unit === 'native';
  const amount = native
    ? coinsOf(request.amount, gateway.decimals)
    : parseDecimal(request.amount, USD_DECIMALS);
  if (amount === null || amount <= 0n) return 'too_small';
  const usd = native
    ? divideHalfUp(amount * rate, tenTo(gateway.decimals + RATE_DECIMALS - USD_DECIMALS))
    : amount;
  if (usd <= 0n) return 'too_small';
  if (usd > MAX_USD_MICROS) return 'too_large';
  const merchant = native ? roundUpTo(amount, gateway.decimals, gateway.payable_decimals) : inCoin(usd);
  const percent = parseDecimal(request.service_fee_percent, PERCENT_DECIMALS) ?? 0n;
  const usdFee = divideUp(usd * percent, 100n * tenTo(PERCENT_DECIMALS));
  const fee = usdFee > 0n ? inCoin(usdFee) : 0n;
  return {
    amount_usd_micros: usd,
    amount_usd_fee_micros: usdFee,
    amount_merchant_atomic: merchant,
    amount_fee_atomic: fee,
    amount_atomic: merchant + fee,
  };
}

function coinsOf(text: string, decimals: number): bigint | null {
  const counted = Math.min(decimals, COIN_DECIMALS);
  const amount = parseDecimal(text, counted);
  return amount === null ? null : amount * tenTo(decimals - counted);
}

/** At most this many distinct amounts stand at one price. */
const MAX_SLOTS = 10_000n;

/** How many distinct amounts stand at a price: the plain one and tails of at most 1 % of it. */
export function uniqueSlots(gateway: Gateway, amount_atomic: bigint): bigint {
  const slots = amount_atomic / 100n / uniqueStep(gateway) + 1n;
  return slots < MAX_SLOTS ? slots : MAX_SLOTS;
}

/** At most so many amounts an unforeseeable one is drawn from: then one of them is as good as never guessed. */
const MOST_DRAWN = 1_000_000n;
/** At least so many for a refill, though their tails may be more than 1 % of a very small one. */
export const LEAST_FOR_REFILLS = 100n;

/**
 * From how many distinct amounts one is drawn that no one foresees: those within 1 % of the price, and of a large sum, for
 * which it pays to try more often, all within a thousandth. What a try wins on average is so a thousand steps at most.
 */
export function drawnSlots(gateway: Gateway, amount_atomic: bigint, kind: 'sale' | 'refill'): bigint {
  const near = uniqueSlots(gateway, amount_atomic);
  const within = amount_atomic / 1000n / uniqueStep(gateway) + 1n;
  const wide = within < MOST_DRAWN ? within : MOST_DRAWN;
  const slots = near > wide ? near : wide;
  return kind === 'refill' && slots < LEAST_FOR_REFILLS ? LEAST_FOR_REFILLS : slots;
}

/** The smallest step wallets keep, in atomic units. */
export const uniqueStep = (gateway: Gateway): bigint => tenTo(gateway.decimals - gateway.payable_decimals);
