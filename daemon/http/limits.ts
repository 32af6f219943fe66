// How often one address or identity may call: exact sliding windows in bounded memory, or in the database that daemons share.

import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { countCall, forgetCalls } from '../../data/call-windows.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { Refusal } from '../../src/errors.ts';
import { boundedCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import type { App } from '../context.ts';

const WINDOW_MS = 60_000;
/** Beyond this many callers whose counts are not over yet, others are counted together with their neighbours. */
const MAX_CALLERS = 20_000;
/** Counts of such neighbours. */
const MAX_NEIGHBOURHOODS = 4_096;
/** An IPv6 customer has at least a /64: it counts as one address. */
const IPV6_PREFIX_BYTES = 8;
/** Who is counted together where there is no room for each: /16 of IPv4, /32 of IPv6, which a provider has. */
const NEIGHBOUR_BYTES = { ipv4: 2, ipv6: 4 };
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
  /** Pages and pictures that are made anew; evenly, not within exact minutes. */
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

/** Refuses with `rate_limited` where there is something to wait for. */
export function refuseFor(wait_ms: number): undefined {
  if (wait_ms > 0) throw new Refusal('rate_limited', { retry_after: Math.ceil(wait_ms / 1000) });
}

/** What is counted of each caller, in bounded memory: none is forgotten before its count is over, so that no one begins again by bringing others. */
export interface Counts<Count> {
  /** What is counted so far of `caller` (first what is counted, then of whom), or where there is no room for another, of its neighbourhood. */
  get(caller: string, ip: string): Count | undefined;
  set(caller: string, ip: string, count: Count): void;
}

/** `isOver`: whether a count says nothing any more. */
export function openCounts<Count>(
  isOver: (count: Count) => boolean,
  max_callers = MAX_CALLERS,
): Counts<Count> {
  // The one that was set longest ago comes first.
  const counts = new Map<string, Count>();
  const shared = new Map<number, Count>();
  const hasRoom = () => {
    for (const [caller, count] of counts) {
      if (counts.size < max_callers || !isOver(count)) break;
      counts.delete(caller);
    }
    return counts.size < max_callers;
  };
  return {
    get(caller, ip) {
      const count = counts.get(caller);
      if (count !== undefined || hasRoom()) return count;
      return shared.get(neighbourhood(caller, ip));
    },
    set(caller, ip, count) {
      if (!counts.delete(caller) && !hasRoom()) shared.set(neighbourhood(caller, ip), count);
      else counts.set(caller, count);
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

/**
 * Shares of what is taken very often, in a number for each caller: `per_minute` at once, and as many again evenly within each
 * minute. Milliseconds to wait where it has nothing left (then nothing is taken).
 */
export function openShares(clock: Clock): (caller: string, per_minute: number, ip: string) => number {
  /** When all is there again. */
  const whole_at = openCounts<number>((at) => at <= clock.ms() || at > clock.ms() + WINDOW_MS);
  return (caller, per_minute, ip) => {
    const now = clock.ms();
    const at = whole_at.get(caller, ip) ?? now;
    // Where the clock was set back, all is there.
    const next = (at > now + WINDOW_MS ? now : Math.max(now, at)) + Math.floor(WINDOW_MS / per_minute);
    if (next > now + WINDOW_MS) return next - now - WINDOW_MS;
    whole_at.set(caller, ip, next);
    return 0;
  };
}

/** Counts what is under way for each caller: the function returned counts it out; null where `most` are under way already. */
export function openPlaces(): (caller: string, most: number) => (() => void) | null {
  const taken = new Map<string, number>();
  return (caller, most) => {
    const count = taken.get(caller) ?? 0;
    if (count >= most) return null;
    taken.set(caller, count + 1);
    let is_left = false;
    return () => {
      if (is_left) return;
      is_left = true;
      const left = (taken.get(caller) ?? 1) - 1;
      if (left > 0) taken.set(caller, left);
      else taken.delete(caller);
    };
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

/** What counts as one caller: an IPv4 address, or the /64 of an IPv6 one. */
export function network(ip: string): string {
  const address = ipaddr.parse(ip);
  return address.kind() === 'ipv4' ? ip : address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.');
}

/** Of what is counted, which the first word of a caller names. */
function neighbourhood(caller: string, ip: string): number {
  const address = ipaddr.parse(ip);
  const prefix = address.toByteArray().slice(0, NEIGHBOUR_BYTES[address.kind()]).join('.');
  const name = `${caller.slice(0, caller.indexOf(' '))} ${prefix}`;
  return Number.parseInt(hash('sha256', name).slice(0, 8), 16) % MAX_NEIGHBOURHOODS;
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

/** Counts what one address takes of this daemon; refuses with `rate_limited`. */
export function shareOfAddress(
  { config, clock }: Pick<App, 'config'> & { clock: Clock },
  name: 'pages_per_address',
): (ip: string) => void {
  const most = config.limits[name];
  const take = openShares(clock);
  return (ip) => {
    if (most === 0 || (config.demo && isLoopback(ip))) return;
    refuseFor(take(`${name} ${network(ip)}`, most, ip));
  };
}

export const isLoopback = (ip: string): boolean => ipaddr.parse(ip).range() === 'loopback';

/** Who calls without credentials, as a keyed hash that distinguishes callers and shows no address; null where it is exempt. */
export function callerOf({ config, secrets }: Pick<App, 'config' | 'secrets'>, ip: string): string | null {
  if (config.demo && isLoopback(ip)) return null;
  return secrets.digest(network(ip), 'invoices.caller');
}
