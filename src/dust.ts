// What is below any price worth asking: it is counted by address and day, and no one is shown each of them.
import type { Gateway } from './chains/family.ts';
import { tenTo } from './money.ts';
import { uniqueStep } from './quote.ts';
import { ONE_USD } from './rates.ts';

/** A cent: who is shown so little has lost more by reading it. */
const WORTH_ASKING_NANOS = ONE_USD / 100n;
/** Where no rate is known, so many of the smallest steps that wallets keep. */
const STEPS_WITHOUT_RATE = 10n;
const DAY_SECONDS = 86_400;

/** Below so many atomic units a transfer that pays nothing is dust; `usd_nanos`: USD × 10^9 for a whole coin, where that is known. */
export function dustBelow(gateway: Gateway, usd_nanos: bigint | null): bigint {
  if (usd_nanos === null) return STEPS_WITHOUT_RATE * uniqueStep(gateway);
  return (WORTH_ASKING_NANOS * tenTo(gateway.decimals) + usd_nanos - 1n) / usd_nanos;
}

/** The day that a moment is of, in days since 1970, UTC. */
export const dayOf = (unix_seconds: number): number => Math.floor(unix_seconds / DAY_SECONDS);

/** Such a day as `YYYY-MM-DD`. */
export const dateOf = (day: number): string => new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
