// How often one address or identity may call: exact sliding windows in bounded memory, or in the database that daemons share.

import { countCall, forgetCalls } from '../../data/call-windows.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { boundedCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import type { App } from '../context.ts';
import { isLoopback, MAX_CALLERS, network, openCounts, refuseFor, WINDOW_MS } from './counting.ts';

const MAX_IDENTITY_LENGTH = 255;
/** Of the calls counted in the database, one in so many also removes what is over. */
const FORGET_EACH = 50;

/** Calls per minute; 0 turns a limit off. */
export interface LimitSettings {
  login_per_address: number;
  /** From one address: what a stranger tries elsewhere locks no one out here. */
  login_per_identity: number;
  /** From all addresses together: far above what one person tries, far below what guessing takes. */
  login_per_identity_total: number;
  recovery_per_address: number;
  /** As sign-ins are. */
  recovery_per_identity: number;
  recovery_per_identity_total: number;
  signup_per_address: number;
  checkout_per_address: number;
  claim_per_address: number;
  claim_per_invoice: number;
  /** Of all callers together, and as many again, one for each address. */
  claim_per_blockchain: number;
  compose_per_address: number;
  /** As claims are. */
  compose_per_blockchain: number;
  explain_per_address: number;
  /** Pages and pictures that are made for it; evenly, not within exact minutes. */
  pages_per_address: number;
  /** Live streams that are open at once. */
  streams_per_address: number;
}

export interface Limits {
  /** Counts a call by its address before anything else is done; throws `rate_limited`. */
  byAddress(limit: Endpoint['limit'], ip: string): Promise<void> | undefined;
  /** Counts a call by the identity it names, or by who calls, once that is known; throws `rate_limited`. */
  byIdentity(
    limit: Endpoint['limit'],
    ip: string,
    input: unknown,
    caller?: string,
  ): Promise<void> | undefined;
}

/**
 * Counts one call; milliseconds to wait where `most` calls were made within the last minute (then it is not counted). `ip` is
 * from where it comes: by that it is counted where there is no room for another caller.
 */
type Window<Wait> = (caller: string, most: number, ip: string) => Wait;

export interface LimitOptions {
  clock: Clock;
  /** Frees calls from this very machine, for demo mode. */
  exempt_loopback: boolean;
  max_callers?: number;
  /** Where daemons count together; absent: each counts in its memory. */
  shared?: Window<Promise<number>>;
}

/** What is counted in memory throws at once; what is counted in a database returns a promise. */
export function createLimits(settings: LimitSettings, options: LimitOptions): Limits {
  const max_callers = options.max_callers ?? MAX_CALLERS;
  const window = options.shared
    ? notingRefusals(options.shared, options.clock, max_callers)
    : slidingWindow(options.clock, max_callers);
  const exempt = (ip: string) => options.exempt_loopback && isLoopback(ip);
  const count = (name: keyof LimitSettings, caller: string, ip: string) => {
    const per_minute = settings[name];
    if (per_minute === 0) return;
    const wait_ms = window(`${name} ${caller}`, per_minute, ip);
    return typeof wait_ms === 'number' ? refuseFor(wait_ms) : wait_ms.then(refuseFor);
  };
  return {
    byAddress(limit, ip) {
      return limit && !exempt(ip) ? count(`${limit}_per_address`, network(ip), ip) : undefined;
    },
    byIdentity(limit, ip, input, caller) {
      if (!limit || exempt(ip)) return undefined;
      if (limit === 'claim') return count('claim_per_invoice', claimedIn(input), ip);
      if (limit !== 'login' && limit !== 'recovery') return undefined;
      const identity = identityIn(input) ?? caller;
      if (identity === undefined) return undefined;
      const here = count(`${limit}_per_identity`, `${identity} ${network(ip)}`, ip);
      const inAll = () => count(`${limit}_per_identity_total`, identity, ip);
      return here === undefined ? inAll() : here.then(inAll);
    },
  };
}

function slidingWindow(clock: Clock, max_callers: number): Window<number> {
  const isRecent = (at: number): boolean => {
    const now = clock.ms();
    return at > now - WINDOW_MS && at <= now;
  };
  const calls = openCounts<number[]>((times) => !isRecent(times.at(-1) ?? 0), max_callers);
  return (caller, most, ip) => {
    const now = clock.ms();
    const recent = (calls.get(caller, ip) ?? []).filter(isRecent);
    if (recent.length >= most) return (recent[recent.length - most] ?? now) + WINDOW_MS - now;
    calls.set(caller, ip, [...recent, now]);
    return 0;
  };
}

/** The window of all daemons: one statement for a call that may count, none for one that is known to be refused. */
export function sharedWindow({
  db,
  clock,
  secrets,
}: Pick<App, 'db' | 'clock' | 'secrets'>): Window<Promise<number>> {
  let calls = 0;
  return async (name, most) => {
    const now_ms = clock.ms();
    if (++calls % FORGET_EACH === 0) await forgetCalls(db.query, now_ms);
    // Addresses and identities are stored as hashes.
    const caller = secrets.digest(name, 'limits.caller');
    return countCall(db.query, { caller, most, now_ms, window_ms: WINDOW_MS });
  };
}

/** A caller that was refused is refused until its wait is over, without asking again. */
function notingRefusals(
  shared: Window<Promise<number>>,
  clock: Clock,
  max_callers: number,
): Window<Promise<number> | number> {
  const refused_until = boundedCache<string, number>(max_callers);
  return (caller, most, ip) => {
    const left_ms = (refused_until.get(caller) ?? 0) - clock.ms();
    if (left_ms > 0 && left_ms <= WINDOW_MS) return left_ms;
    return shared(caller, most, ip).then((wait_ms) => {
      if (wait_ms > 0) refused_until.set(caller, clock.ms() + wait_ms);
      return wait_ms;
    });
  };
}

/** Whom a sign-in or recovery is about, as sign-in finds him: the first named of these fields. */
function identityIn(input: unknown): string | undefined {
  const { params, body } = input as { params?: Record<string, unknown>; body?: Record<string, unknown> };
  const named = body?.username ?? body?.email ?? body?.id ?? params?.email;
  if (typeof named !== 'string' && typeof named !== 'number') return undefined;
  return normalizeEmail(String(named)).slice(0, MAX_IDENTITY_LENGTH);
}

/** The invoice that a claim is made for. */
const claimedIn = (input: unknown): string =>
  String((input as { params?: { invoice_id?: unknown } }).params?.invoice_id);

/**
 * Counts what has one blockchain asked, by all callers together; milliseconds to wait where this minute's are used up. Then
 * each address has one more, of as many again: to keep others from theirs takes as many addresses as that.
 */
export function limitOfBlockchain(
  app: Pick<App, 'config' | 'db' | 'clock' | 'secrets'>,
  name: 'claim_per_blockchain' | 'compose_per_blockchain',
): (blockchain: string, ip: string) => Promise<number> {
  const most = app.config.limits[name];
  const window = app.db.dialect === 'postgres' ? sharedWindow(app) : slidingWindow(app.clock, MAX_CALLERS);
  return async (blockchain, ip) => {
    if (most === 0) return 0;
    const wait_ms = await window(`${name} ${blockchain}`, most, ip);
    if (wait_ms === 0) return 0;
    const has_had = (await window(`${name} ${blockchain} ${network(ip)}`, 1, ip)) > 0;
    return has_had ? wait_ms : window(`${name} ${blockchain} reserve`, most, ip);
  };
}

/** Who calls without credentials, as a keyed hash that distinguishes callers and shows no address; null where it is exempt. */
export function callerOf({ config, secrets }: Pick<App, 'config' | 'secrets'>, ip: string): string | null {
  if (config.demo && isLoopback(ip)) return null;
  return secrets.digest(network(ip), 'invoices.caller');
}
