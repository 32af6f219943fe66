// How long payments usually take, and in which order coins are offered: cheapest and fastest first.
import { parseDecimal, USD_DECIMALS } from '../money.ts';
import type { Gateway } from './family.ts';
import { findBlockchain } from './gateways.ts';

/** A payment is seen, and a page shows it, within about this. */
const SEEN_SECONDS = 3;
/** So many blocks may pass until one by luck has come. */
const UNLUCKY_BLOCKS = 5;

export interface UsualTime {
  seconds: number;
  /** Longer it takes seldom: the same as `seconds` where blocks come evenly. */
  at_most: number;
}

/** From sending to confirmed; null where the blockchain is not listed any more. */
export function usualTime(blockchain: string, confirmations: number): UsualTime | null {
  const found = findBlockchain(blockchain);
  if (!found) return null;
  const seconds = found.block_seconds * Math.max(1, confirmations);
  return found.is_found_by_luck
    ? { seconds, at_most: seconds + UNLUCKY_BLOCKS * found.block_seconds }
    : { seconds: seconds + SEEN_SECONDS, at_most: seconds + SEEN_SECONDS };
}

const secondsOf = ({ blockchain, min_confirmations }: Gateway): number =>
  usualTime(blockchain, min_confirmations)?.seconds ?? 0;

/** What is not known counts as dear. */
const UNKNOWN_FEE = 10n ** 18n;
const feeOf = ({ usual_fee_usd }: Gateway): bigint =>
  parseDecimal(usual_fee_usd ?? '', USD_DECIMALS) ?? UNKNOWN_FEE;

/** The cheapest first; of those that cost the same, the fastest. */
export function byCost(a: Gateway, b: Gateway): number {
  const [cheaper, dearer] = [feeOf(a), feeOf(b)];
  if (cheaper !== dearer) return cheaper < dearer ? -1 : 1;
  return secondsOf(a) - secondsOf(b);
}
