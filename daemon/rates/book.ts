// What is known of the live rates: the last that the markets agreed on, for as long as it counts.
import type { Logger } from 'pino';
import type { PricedAsset } from '../../src/chains/assets.ts';
import { formatDecimal, parseDecimal, RATE_DECIMALS } from '../../src/money.ts';
import { type Agreement, decideRates, isJump, ONE_USD, type SourceQuotes } from '../../src/rates.ts';
import { type Clock, seconds } from '../clock.ts';

/** An older rate is no rate. */
const MAX_RATE_AGE_SECONDS = 300;

export interface Rate {
  /** USD × 10^9 per whole coin, above zero. */
  usd_nanos: bigint;
  /** The same as a decimal string. */
  usd: string;
  source: 'live' | 'fixed' | 'demo';
  /** Unix seconds: when the markets reported it; now, for figures that do not age. */
  at: number;
}

export interface Book {
  /** Takes the answers of one round; what they do not contain stays as it was, and ages. */
  record(answers: readonly SourceQuotes[]): void;
  /** Null where no rate may be used. */
  find(currency: string): Rate | null;
  /** Whether the last price found is so far off the one before that it waits for a third source to agree. */
  hasJumped(currency: string): boolean;
  /** Whether the demo's figures stand in for every market. */
  isDemo(): boolean;
  /** Unix seconds of the last round with an answer; null before. */
  updatedAt(): number | null;
}

export function createBook(
  assets: readonly PricedAsset[],
  { demo, configured, clock, log }: { demo: boolean; configured: number; clock: Clock; log: Logger },
): Book {
  const decided = new Map<string, { nanos: bigint; at: number }>();
  const contested = new Set<string>();
  /** Since when a price waits for a third source, Unix seconds. */
  const jumped = new Map<string, number>();
  let updated_at: number | null = null;

  function find(currency: string): Rate | null {
    const asset = assets.find((each) => each.currency === currency);
    // Neither the price before the jump nor the one after it can be believed.
    if (!asset || jumped.has(currency)) return null;
    const now = seconds(clock);
    const known = decided.get(currency);
    if (known && now - known.at <= MAX_RATE_AGE_SECONDS) return rateOf(known.nanos, 'live', known.at);
    // A peg holds until markets say otherwise; once they did, their silence does not restore it.
    if (asset.stable && (known?.nanos ?? ONE_USD) === ONE_USD && !contested.has(currency)) {
      return rateOf(ONE_USD, 'live', now);
    }
    return demo ? rateOf(parseDecimal(asset.demo_usd, RATE_DECIMALS) ?? ONE_USD, 'demo', now) : null;
  }

  /** Whether a new price may replace the last one; since when it waits counts, so that waiting alone proves nothing. */
  function mayReplace(currency: string, found: Agreement, now: number): boolean {
    const last = decided.get(currency);
    const since = jumped.get(currency) ?? now;
    if (!last || !isJump(last.nanos, found, since - last.at)) return true;
    if (!jumped.has(currency)) {
      const { usd_nanos, sources } = found;
      const usd = { last_usd: nanosText(last.nanos), found_usd: nanosText(usd_nanos) };
      log.warn({ currency, sources, ...usd }, 'a price jumped; waiting for a third source to agree');
    }
    jumped.set(currency, since);
    return false;
  }

  return {
    find,
    hasJumped: (currency) => jumped.has(currency),
    updatedAt: () => updated_at,
    isDemo() {
      const found = assets.filter(({ stable }) => !stable).map(({ currency }) => find(currency)?.source);
      return found.includes('demo') && !found.includes('live');
    },
    record(answers) {
      if (answers.length === 0) return;
      updated_at = seconds(clock);
      for (const [currency, found] of decideRates(assets, answers, configured)) {
        if (found !== null) {
          contested.delete(currency);
          if (!mayReplace(currency, found, updated_at)) continue;
          decided.set(currency, { nanos: found.usd_nanos, at: updated_at });
          jumped.delete(currency);
        } else if (!contested.has(currency)) {
          contested.add(currency);
          log.warn(
            { currency, answers: answers.length },
            'too few price sources agree; the last rate is used until it is too old',
          );
        }
      }
    },
  };
}

export const rateOf = (nanos: bigint, source: Rate['source'], at: number): Rate => ({
  usd_nanos: nanos,
  usd: nanosText(nanos),
  source,
  at,
});

const nanosText = (nanos: bigint): string => formatDecimal(nanos, RATE_DECIMALS);
