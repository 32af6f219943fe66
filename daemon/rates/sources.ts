// Asks the public price sources, all at once, each within its limits; a source that fails costs only its own quote.
import type { PricedAsset } from '../../src/chains/assets.ts';
import { type RateSourceId, rateSources } from '../../src/rate-sources.ts';
import type { SourceQuotes } from '../../src/rates.ts';
import { type Clock, seconds } from '../clock.ts';
import { createHttpProvider, RateLimited, textOf } from '../observer/providers/http.ts';
import type { Runtime } from '../process/runtime.ts';

const REQUEST_TIMEOUT_MS = 10_000;
/** All pairs of an exchange are about half a megabyte. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** How long a source is left alone that says 429 and not for how long. */
const RATE_LIMITED_PAUSE_MS = 120_000;

/** What the operator is shown of a source. Times are Unix seconds. */
export interface SourceStatus {
  source: string;
  last_ok_at: number | null;
  /** Null after an answer that could be used. */
  last_error: string | null;
}

export interface Sources {
  /** One round; sources without a usable answer are left out. Never rejects. */
  ask(assets: readonly PricedAsset[]): Promise<SourceQuotes[]>;
  status(): SourceStatus[];
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface SourcesOptions {
  clock: Clock;
  /** Scheme and host for the ones named, and then only those are asked. */
  bases?: Partial<Record<RateSourceId, string>>;
  /** `error` is null when a source answers again. Called on change only. */
  onChange(source: string, error: string | null): void;
  runtime?: Runtime;
}

export function openSources({ clock, bases, onChange, runtime }: SourcesOptions): Sources {
  const limits = { timeout_ms: REQUEST_TIMEOUT_MS, response_bytes: MAX_RESPONSE_BYTES };
  const members = rateSources
    .filter(({ id }) => !bases || bases[id] !== undefined)
    .map((source) => ({
      source,
      http: createHttpProvider({
        provider: source.id,
        url: bases?.[source.id] ?? source.base,
        limits,
        clock,
        runtime,
      }),
      paused_until: 0,
      status: { source: source.id, last_ok_at: null, last_error: null } as SourceStatus,
    }));
  type Member = (typeof members)[number];
  let closed = false;

  async function quotes(member: Member, assets: readonly PricedAsset[]): Promise<SourceQuotes[]> {
    const { source, http, status } = member;
    if (clock.ms() < member.paused_until) return [];
    try {
      const answer = await http.send(source.path(assets));
      const text = textOf(answer.bytes);
      if (answer.status >= 400) throw new Error(`HTTP ${answer.status}: ${http.excerpt(text)}`);
      const found = source.parse(parseJson(text), assets, seconds(clock));
      if (found.size === 0) throw new Error(`no price in the answer: ${http.excerpt(text)}`);
      if (status.last_error !== null) onChange(source.id, null);
      Object.assign(status, { last_ok_at: seconds(clock), last_error: null });
      return [{ source: source.id, quoted_in: source.quoted_in, quotes: found }];
    } catch (error) {
      if (closed) return [];
      if (error instanceof RateLimited) {
        member.paused_until = clock.ms() + (error.retry_after_ms ?? RATE_LIMITED_PAUSE_MS);
      }
      const message = error instanceof Error ? error.message : String(error);
      if (status.last_error === null) onChange(source.id, message);
      status.last_error = message;
      return [];
    }
  }

  return {
    ask: async (assets) => (await Promise.all(members.map((member) => quotes(member, assets)))).flat(),
    status: () => members.map(({ status }) => ({ ...status })),
    async close() {
      closed = true;
      await Promise.all(members.map(({ http }) => http.close()));
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No price is found in it.
  }
}
