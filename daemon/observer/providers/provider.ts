// One provider as an Rpc: pace, a few retries in place, JSON and JSON-RPC on top of its HTTP.
import { ProviderError, type RequestOptions, type Rpc } from '../../../src/chains/family.ts';
import { readJsonBytes, TooMuchJson } from '../../../src/chains/json.ts';
import { type HostLimits, knownHost } from '../../../src/chains/known-hosts.ts';
import { TOO_LARGE } from '../../../src/chains/or-failed.ts';
import type { Clock } from '../../clock.ts';
import { inTurns } from '../../process/in-turns.ts';
import type { HttpLimits } from '../../process/network.ts';
import { type Runtime, systemRuntime } from '../../process/runtime.ts';
import { type Answer, createHttpProvider, type HttpProvider, RateLimited, TimedOut, textOf } from './http.ts';
import { createJsonRpc } from './jsonrpc.ts';
import { createPace } from './pace.ts';

export interface ProviderConfig {
  /** Its kind, as the family names it. */
  provider: string;
  /** May carry `user:password@`, sent as basic authorization. */
  url: string;
  api_key?: string;
  /** What it is sent at most; absent: as much as the blockchain's others. */
  requests_per_second?: number;
  /** Whether a refusal (429) slows it down for a while; absent: it is only paused. */
  adapts?: boolean;
}

/** What the operator is shown of a provider. Times are Unix milliseconds; texts hold no secret. */
export interface ProviderCounters {
  /** Sent, retries included. A JSON-RPC batch is one. */
  requests: number;
  /** Those that the provider failed; a refusal of the question itself (404, an RPC error) is none. */
  failures: number;
  last_error: string | null;
  last_error_at: number | null;
  last_ok_at: number | null;
}

export interface Provider {
  label: string;
  rpc: Rpc;
  counters: ProviderCounters;
  /** How many requests, one after the other, it takes a second: the pace now, or fewer where its answers take longer. */
  requestsPerSecond(): number;
  /** Ends what is under way and refuses what comes later with `reason`. */
  close(reason: ProviderError): Promise<void>;
}

/** Tries of one request: only failures that are likely to pass at once are tried again here. */
const MAX_ATTEMPTS = 3;
const RETRY_BASE_MS = 250;
/** How much the newest answer counts in the mean time of an answer. */
const NEWEST_SHARE = 0.2;
/** A provider that asks to be left alone for longer is left to the back-off, and the next provider takes over. */
const MAX_WAIT_IN_PLACE_MS = 3_000;

export function createProvider(
  config: ProviderConfig,
  options: {
    requests_per_second: number;
    /** The header that carries `api_key`, in lower case. */
    key_header?: string | undefined;
    limits: HttpLimits;
    clock: Clock;
    random: () => number;
    runtime?: Runtime;
    /** Limits that it was found to have, stored over restarts. */
    learnt?: ((label: string) => HostLimits) | undefined;
  },
): Provider {
  const { clock, random, runtime = systemRuntime } = options;
  const http = createHttpProvider({
    ...config,
    key_header: options.key_header,
    limits: options.limits,
    clock,
    runtime,
  });
  const { label } = http;
  const known = knownHost(http.host);
  const learnt = options.learnt?.(label);
  const { requests_per_second = options.requests_per_second, adapts } = config;
  const per_second = Math.min(requests_per_second, known?.per_second ?? requests_per_second);
  const pace = createPace({ requests_per_second: per_second, adapts }, runtime);
  let answer_ms = 0;
  const counters: ProviderCounters = {
    requests: 0,
    failures: 0,
    last_error: null,
    last_error_at: null,
    last_ok_at: null,
  };
  const inOurTurns: NonNullable<Rpc['inTurns']> = (steps) => inTurns(steps, runtime);
  const jsonrpc = createJsonRpc(http, inOurTurns);
  let closed: ProviderError | undefined;

  /** Sends until `read` can use the answer. Pauses hold everyone: the trouble is the provider's, not the question's. */
  async function ask<T>(
    path: string,
    request: RequestOptions | undefined,
    read: (answer: Answer) => T | Promise<T>,
    counts_as = 1,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const sent_at_ms = await pace.turn(counts_as);
      counters.requests++;
      try {
        const answer = await http.send(path, request);
        const took_ms = runtime.elapsed_ms() - sent_at_ms;
        answer_ms += (took_ms - answer_ms) * (answer_ms === 0 ? 1 : NEWEST_SHARE);
        const value = await readAs(answer, read);
        counters.last_ok_at = clock.ms();
        return value;
      } catch (error) {
        if (closed) throw closed;
        if (!(error instanceof ProviderError)) throw error;
        note(error);
        if (error instanceof RateLimited) pace.refused(sent_at_ms);
        const pause_ms = pauseBeforeRetry(error, attempt, random);
        if (pause_ms === null || attempt === MAX_ATTEMPTS) throw error;
        pace.hold(pause_ms);
      }
    }
  }

  /** Whatever is wrong with an answer, also what makes reading it throw, is a failure of who gave it. */
  async function readAs<T>(answer: Answer, read: (answer: Answer) => T | Promise<T>): Promise<T> {
    try {
      return await read(answer);
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw unreadable(label, error);
    }
  }

  function note(error: ProviderError): void {
    if (error.kind === 'rpc') {
      counters.last_ok_at = clock.ms(); // It answered; the answer is no.
      return;
    }
    counters.failures++;
    counters.last_error = error.message;
    counters.last_error_at = clock.ms();
  }

  const rpc: Rpc = {
    provider: config.provider,
    json: (path, request) =>
      ask(path, request, (answer) => jsonOf(bodyOf(answer, http), path, { ...http, inTurns: inOurTurns })),
    text: (path, request) => ask(path, request, (answer) => textOf(bodyOf(answer, http))),
    bytes: (path, request) => ask(path, request, (answer) => bodyOf(answer, http)),
    call(method, params, options) {
      const body = jsonrpc.envelope(method, params);
      return ask('', { ...options, body }, (answer) => jsonrpc.result(answer, body));
    },
    async batch(calls, options) {
      if (calls.length === 0) return [];
      const body = calls.map(({ method, params }) => jsonrpc.envelope(method, params));
      const began_at_ms = runtime.elapsed_ms();
      const counts_as = known?.counts_calls ? calls.length : 1;
      const results = await ask(
        '',
        { ...options, body },
        (answer) => jsonrpc.results(answer, body),
        counts_as,
      );
      const limited = results.find((each) => each instanceof RateLimited);
      if (limited) {
        note(limited);
        pace.refused(began_at_ms);
        pace.hold(pauseBeforeRetry(limited, 1, random) ?? 0);
      }
      return results;
    },
    inTurns: inOurTurns,
    limits: {
      get: (name) => learnt?.get(name) ?? known?.begins[name],
      learn: (name, value) => learnt?.learn(name, value),
    },
  };

  return {
    label,
    rpc,
    counters,
    requestsPerSecond: () => Math.min(pace.requestsPerSecond(), 1000 / answer_ms),
    async close(reason) {
      closed = reason;
      pace.close(reason);
      await http.close();
    },
  };
}

/** How long all callers pause before the next try; null where a try at once would be of no use. */
function pauseBeforeRetry(error: ProviderError, attempt: number, random: () => number): number | null {
  const jittered_ms = RETRY_BASE_MS * 2 ** (attempt - 1) * (1 + random());
  if (error instanceof RateLimited) {
    const pause_ms = error.retry_after_ms ?? jittered_ms;
    return pause_ms <= MAX_WAIT_IN_PLACE_MS ? pause_ms : null;
  }
  const refused = error.code === 401 || error.code === 403;
  return error.kind === 'unreachable' && !(error instanceof TimedOut) && !refused ? jittered_ms : null;
}

/**
 * Of a server that answered and could not answer this: a query that took an indexer too long for one account, or a contract
 * whose result it cannot show. The others from 500 on are of a server that answers no one.
 */
const QUESTION_STATUSES: ReadonlySet<number> = new Set([500, 501, 533]);

/** The body of an answer to a path; an HTTP error is an error here. */
function bodyOf({ status, bytes }: Answer, { label, excerpt }: HttpProvider): Uint8Array {
  if (status < 400) return bytes;
  const kind = status >= 500 && !QUESTION_STATUSES.has(status) ? 'unreachable' : 'rpc';
  throw new ProviderError(kind, `${label}: HTTP ${status}: ${excerpt(textOf(bytes))}`, status);
}

async function jsonOf(
  bytes: Uint8Array,
  path: string,
  { label, excerpt, inTurns }: HttpProvider & Required<Pick<Rpc, 'inTurns'>>,
): Promise<unknown> {
  try {
    return await inTurns(readJsonBytes(bytes));
  } catch (error) {
    if (error instanceof TooMuchJson) throw unreadable(label, error);
    throw new ProviderError(
      'bad_answer',
      `${label}: ${path} did not answer with JSON: ${excerpt(textOf(bytes))}`,
    );
  }
}

/** What an error that is not the provider's own makes of its answer. */
export function unreadable(label: string, error: unknown): ProviderError {
  const { name, message } = error as Error;
  const code = error instanceof TooMuchJson ? TOO_LARGE : null;
  return new ProviderError('bad_answer', `${label}: an answer cannot be read: ${name}: ${message}`, code);
}
