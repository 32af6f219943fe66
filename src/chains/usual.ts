// How long payments usually take, in which order coins are offered, and whether a chain keeps its usual pace.
import type { Wait } from '../confirmations.ts';
import { parseDecimal, USD_DECIMALS } from '../money.ts';
import type { Blockchain } from './catalogue.ts';
import type { Gateway, Pace } from './family.ts';

/** A payment is seen, and a page shows it, within about this. */
const SEEN_SECONDS = 1;
/** So many blocks may pass until one by luck has come. */
const UNLUCKY_BLOCKS = 5;
/** A pace that differs from the usual one by a larger share is reported. */
const OFF_SHARE = 0.3;

export interface UsualTime {
  seconds: number;
  /** Longer it takes seldom: the same as `seconds` where blocks come evenly. */
  at_most: number;
}

type Paced = Pick<Blockchain, 'block_seconds' | 'final_seconds' | 'is_found_by_luck'>;

/** From sending to confirmed, where a block takes so many seconds now. */
export function usualTime(usual: Paced, wait: Wait, block_seconds: number): UsualTime {
  if (wait.confirm_seconds !== null) return evenly(wait.confirm_seconds);
  const seconds = block_seconds * Math.max(1, wait.min_confirmations);
  if (usual.is_found_by_luck) return { seconds, at_most: seconds + UNLUCKY_BLOCKS * block_seconds };
  // What the chain itself calls final counts, and comes the sooner the faster its blocks do.
  const final_seconds = usual.final_seconds ?? Number.POSITIVE_INFINITY;
  return evenly(Math.min(seconds, (final_seconds * block_seconds) / usual.block_seconds));
}

const evenly = (seconds: number): UsualTime => ({
  seconds: seconds + SEEN_SECONDS,
  at_most: seconds + SEEN_SECONDS,
});

/** What is not known counts as dear. */
const UNKNOWN_FEE = 10n ** 18n;
const feeOf = ({ usual_fee_usd }: Gateway): bigint =>
  parseDecimal(usual_fee_usd ?? '', USD_DECIMALS) ?? UNKNOWN_FEE;

/** The cheapest first; of those that cost the same, the one that takes the fewest seconds. */
export const byCost =
  (secondsOf: (gateway: Gateway) => number) =>
  (a: Gateway, b: Gateway): number => {
    const [cheaper, dearer] = [feeOf(a), feeOf(b)];
    if (cheaper !== dearer) return cheaper < dearer ? -1 : 1;
    return secondsOf(a) - secondsOf(b);
  };

/** How far a chain is from its usual pace, as one sentence without its full stop; null where it keeps it, or nothing was measured. */
export function offPace(
  { block_seconds }: Pick<Blockchain, 'block_seconds'>,
  pace: Pace | null,
): string | null {
  if (!pace) return null;
  // What lasts an hour is no hiccup; before an hour was read, some minutes have to do.
  const seconds = pace.hour_seconds ?? pace.recent_seconds;
  if (Math.abs(seconds - block_seconds) <= OFF_SHARE * block_seconds) return null;
  return `a block each ${shownPace(seconds)}, usually ${shownPace(block_seconds)}`;
}

/** Such a share less than is usual is no difference that is worth a word. */
const SHORT_SHARE = 0.1;

export interface ShortDepth {
  /** One sentence without its full stop, and what to do about it. */
  says: string;
  remedy: string;
}

/**
 * Where the settings have a gateway wait for blocks, and these take less time at this pace than is usual there: by an upgrade
 * of the chain they protect less, without any error. Null where they do not; `usual_seconds` is absent where blocks decide.
 */
export function shortDepth(
  { chain, blockchain, min_confirmations, confirm_seconds, confirmations_by_value: steps }: Gateway,
  usual_seconds: number | undefined,
  block_seconds: number,
): ShortDepth | null {
  if (confirm_seconds !== undefined || usual_seconds === undefined) return null;
  const seconds = min_confirmations * block_seconds;
  if (seconds >= (1 - SHORT_SHARE) * usual_seconds) return null;
  const own = `gateways.${chain}`;
  return {
    says: `${min_confirmations} blocks of ${chain} take ${shownPace(seconds)}, and ${usual_seconds} s are usual there`,
    remedy: steps
      ? `use seconds, ${usual_seconds} or more, instead of blocks in blockchains.${blockchain}.confirmations`
      : `set ${own}.confirm_seconds to ${usual_seconds} instead of ${own}.min_confirmations`,
  };
}

/** Three digits tell any difference that is reported. */
const shownPace = (seconds: number): string => `${Number(seconds.toPrecision(3))} s`;
