// Exchange rates, refreshed in the background: live from several markets, fixed by the configuration, or the demo's own.
import type { Logger } from 'pino';
import { type PricedAsset, pricedAssets } from '../../src/chains/assets.ts';
import { Refusal } from '../../src/errors.ts';
import { parseDecimal, RATE_DECIMALS } from '../../src/money.ts';
import type { RateSourceId } from '../../src/rate-sources.ts';
import { ONE_USD } from '../../src/rates.ts';
import { type Clock, seconds } from '../clock.ts';
import { repeat } from '../loop.ts';
import { type Runtime, systemRuntime } from '../process/runtime.ts';
import { createBook, type Rate, rateOf } from './book.ts';
import { openSources, type SourceStatus } from './sources.ts';

const REFRESH_MS = 60_000;
/** The next round where the last one brought nothing. */
const RETRY_MS = 15_000;
const MAX_RETRY_AFTER_SECONDS = 60;

export type { Rate } from './book.ts';

interface CurrencyStatus {
  usd: string | null;
  source: Rate['source'] | null;
  /** Unix seconds. */
  updated_at: number | null;
  /** Whether invoices in it are refused. */
  stale: boolean;
}

export interface RatesStatus {
  /** `demo`: no market could be reached, the built-in figures are used. */
  source: Rate['source'];
  /** Unix seconds of the last round that brought a rate; null before, and where there are no rounds. */
  updated_at: number | null;
  /** Whether any currency has no rate. */
  stale: boolean;
  currencies: Record<string, CurrencyStatus>;
  sources: SourceStatus[];
}

export interface Rates {
  /** Returns at once; the first round runs in the background. */
  start(): void;
  stop(): Promise<void>;
  /** Throws Refusal `no_rate` (503, with `retry_after`) where there is none of at most five minutes, or it jumped. */
  rate(currency: string): Rate;
  status(): RatesStatus;
}

export interface RatesOptions {
  config: { demo: boolean; rates: { source: 'live' | 'fixed'; usd: Record<string, string | undefined> } };
  /** Tickers of the enabled gateways. */
  currencies: readonly string[];
  /** Theirs, where one is not built in. */
  assets?: readonly PricedAsset[];
  clock: Clock;
  log: Logger;
  /** Scheme and host of sources, for tests; then only those named are asked. */
  bases?: Partial<Record<RateSourceId, string>>;
  refresh_ms?: number;
  runtime?: Runtime;
}

export function openRates(options: RatesOptions): Rates {
  const own = (options.assets ?? []).filter((asset, at, all) =>
    [...pricedAssets, ...all.slice(0, at)].every(({ currency }) => currency !== asset.currency),
  );
  const known = [...pricedAssets, ...own];
  const assets = known.filter(({ currency }) => options.currencies.includes(currency));
  return options.config.rates.source === 'fixed'
    ? fixedRates(options, assets)
    : liveRates(options, assets, known);
}

function fixedRates({ config, clock }: RatesOptions, assets: readonly PricedAsset[]): Rates {
  const figures = new Map<string, bigint>();
  for (const { currency, stable } of assets) if (stable) figures.set(currency, ONE_USD);
  for (const [currency, text] of Object.entries(config.rates.usd)) {
    const figure = text === undefined ? null : parseDecimal(text, RATE_DECIMALS);
    if (figure !== null && figure > 0n) figures.set(currency, figure);
  }
  const find = (currency: string): Rate | null => {
    const nanos = figures.get(currency);
    return nanos === undefined ? null : rateOf(nanos, 'fixed', seconds(clock));
  };
  return {
    start() {},
    stop: async () => {},
    rate(currency) {
      const rate = find(currency);
      if (rate) return rate;
      throw new Refusal('no_rate', {
        detail: `No rate is configured for ${currency}`,
        retry_after: MAX_RETRY_AFTER_SECONDS,
      });
    },
    status: () => statusOf(assets, find, { source: 'fixed', updated_at: null, sources: [] }),
  };
}

function liveRates(
  options: RatesOptions,
  assets: readonly PricedAsset[],
  known: readonly PricedAsset[],
): Rates {
  const { config, clock, log, bases, refresh_ms = REFRESH_MS, runtime = systemRuntime } = options;
  // Stablecoins are asked for even where no one accepts them: some markets quote in them.
  const priced = known.filter((asset) => asset.stable || assets.includes(asset));
  const sources = openSources({
    clock,
    bases,
    runtime,
    onChange(source, error) {
      if (error === null) log.info({ source }, 'price source responds again');
      else log.warn({ source, error }, 'price source failed');
    },
  });
  const configured = sources.status().length;
  const book = createBook(priced, { demo: config.demo, configured, clock, log });
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let next_at_ms = 0;

  async function refresh(): Promise<number> {
    const answers = await sources.ask(priced);
    book.record(answers);
    const pause_ms = answers.length > 0 ? refresh_ms : Math.min(refresh_ms, RETRY_MS);
    next_at_ms = clock.ms() + pause_ms;
    return pause_ms;
  }

  return {
    start() {
      running ??= repeat(refresh, { runtime, signal: stopping.signal });
    },
    async stop() {
      stopping.abort();
      await sources.close();
      await running;
    },
    rate(currency) {
      const rate = book.find(currency);
      if (rate) return rate;
      const left = Math.ceil((next_at_ms - clock.ms()) / 1000);
      const retry_after = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, left));
      const detail = book.hasJumped(currency)
        ? `The price of ${currency} moved by more than 20 % at once: it is used once a third source agrees`
        : `No up-to-date exchange rate for ${currency}`;
      throw new Refusal('no_rate', { detail, retry_after });
    },
    status: () =>
      statusOf(assets, book.find, {
        source: book.isDemo() ? 'demo' : 'live',
        updated_at: book.updatedAt(),
        sources: sources.status(),
      }),
  };
}

function statusOf(
  assets: readonly PricedAsset[],
  find: (currency: string) => Rate | null,
  whole: Pick<RatesStatus, 'source' | 'updated_at' | 'sources'>,
): RatesStatus {
  const currencies = Object.fromEntries(
    assets.map(({ currency }): [string, CurrencyStatus] => {
      const rate = find(currency);
      const { usd = null, source = null, at = null } = rate ?? {};
      return [currency, { usd, source, updated_at: at, stale: rate === null }];
    }),
  );
  return { ...whole, stale: Object.values(currencies).some(({ stale }) => stale), currencies };
}
