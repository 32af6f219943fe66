// What a call does whose answer gets lost: it is made again where that is safe, and else the outcome is unknown.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/api/client/call.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { GwError, NetworkError } from './errors.ts';

/** After each of these a call is made again. */
const WAITS_MS = [300, 1_500];
/** How long the service's own `Retry-After` is waited for at most. */
const MAX_WAIT_SECONDS = 15;
/** What a proxy answers where the service's answer did not reach it. */
const LOST_STATUSES = new Set([502, 504]);

/** Whether the call may have been carried out though no answer came. */
function isLost(error: unknown): boolean {
  if (error instanceof ApiError) return LOST_STATUSES.has(error.status);
  if (error instanceof NetworkError) return error.sent;
  return error instanceof Error && error.name === 'TimeoutError';
}

/** One attempt is still being carried out: its answer is there soon. */
const secondsUntilAnswered = (error: unknown): number | null =>
  error instanceof ApiError && error.code === 'idempotency_in_progress'
    ? Math.min(error.retry_after ?? 1, MAX_WAIT_SECONDS)
    : null;

export interface Repeated {
  endpoint: Endpoint;
  /** Under which the service does it once, however often it is asked. */
  idempotency_key: string | undefined;
  /** The command line that asks again under that key. */
  command(key: string): string;
  base_url: string;
  signal: AbortSignal;
}

/**
 * Makes a call, up to three times under its one idempotency key while answers are lost. Throws GwError `unknown` where
 * something may have been changed and no answer says so.
 */
export async function repeated<T>(call: () => Promise<T>, given: Repeated): Promise<T> {
  const { endpoint, idempotency_key, signal } = given;
  let mayBeDone = false;
  for (const wait_ms of [...(idempotency_key === undefined ? [] : WAITS_MS), null]) {
    try {
      return await call();
    } catch (error) {
      const wait_seconds = secondsUntilAnswered(error);
      if (isForeign(error) && changes(endpoint)) throw unknown(given, error.message);
      mayBeDone ||= wait_seconds !== null || isLost(error);
      if (!mayBeDone || isAnswer(error)) throw error;
      if (wait_ms === null) throw changes(endpoint) ? unknown(given) : error;
      await sleep(wait_seconds === null ? wait_ms : wait_seconds * 1000, undefined, { signal });
    }
  }
  throw unknown(given);
}

/** A refusal that tells what came of it: none that says to ask later. */
const isAnswer = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status < 500 &&
  error.status !== 429 &&
  secondsUntilAnswered(error) === null;

/** Whether making it once more would change something more, or something at all; a token that was not received is none. */
const changes = ({ effect, tag }: Endpoint): boolean => effect !== 'read' && tag !== 'login';

/** Something answered, and not as gatewayd does: a proxy may have changed the answer. */
const isForeign = (error: unknown): error is GwError =>
  error instanceof GwError && error.details.code === 'not_gatewayd';

function unknown(
  { endpoint, idempotency_key, command, base_url }: Repeated,
  why = `no answer came from ${new URL(base_url).origin}`,
): GwError {
  const message = `${why}: it is not known whether this was done`;
  if (idempotency_key !== undefined) {
    const again = command(idempotency_key);
    return new GwError('unknown', message, {
      hint: `ask again within a day, and it is done once: ${again}`,
      extra: { idempotency_key, command: again },
    });
  }
  const isSafe = endpoint.method !== 'POST' || endpoint.repeatable === true;
  return new GwError('unknown', message, {
    hint: isSafe ? 'the same command can be repeated safely' : 'see what is there before you repeat it',
  });
}

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell reads it. */
const quoted = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The words of a command with this key; values of secret flags are left out. */
export function withKey(words: readonly string[], key: string, secrets: ReadonlySet<string>): string {
  const shown: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    const [name = ''] = word.split('=', 1);
    const isKey = name === '--idempotency-key';
    if (isKey || secrets.has(name)) {
      if (!isKey) shown.push(`${name}=…`);
      if (!word.includes('=')) index++;
    } else shown.push(quoted(word));
  }
  return ['gw', ...shown, '--idempotency-key', quoted(key)].join(' ');
}
