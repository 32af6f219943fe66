// How often one address or identity may call: exact sliding windows in bounded memory.

import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { Refusal } from '../../src/errors.ts';
import type { Clock } from '../clock.ts';
import type { App } from '../context.ts';

const WINDOW_MS = 60_000;
/** Beyond this many callers the longest silent one is forgotten. */
const MAX_CALLERS = 20_000;
/** An IPv6 customer has at least a /64: it counts as one address. */
const IPV6_PREFIX_BYTES = 8;
const MAX_IDENTITY_LENGTH = 255;

/** Calls per minute; 0 turns a limit off. */
export interface LimitSettings {
  login_per_address: number;
  login_per_identity: number;
  recovery_per_address: number;
  recovery_per_identity: number;
  signup_per_address: number;
  checkout_per_address: number;
}

export interface Limits {
  /** Counts a call by its address before anything else is done; throws `rate_limited`. */
  byAddress(limit: Endpoint['limit'], ip: string): void;
  /** Counts a call by the identity it names, once that is parsed; throws `rate_limited`. */
  byIdentity(limit: Endpoint['limit'], ip: string, input: unknown): void;
}

/** `exempt_loopback` frees calls from this very machine, for demo mode. */
export function createLimits(
  settings: LimitSettings,
  options: { clock: Clock; exempt_loopback: boolean; max_callers?: number },
): Limits {
  const window = slidingWindow(options.clock, options.max_callers ?? MAX_CALLERS);
  const exempt = (ip: string) => options.exempt_loopback && ipaddr.parse(ip).range() === 'loopback';
  const count = (name: keyof LimitSettings, caller: string) => {
    const per_minute = settings[name];
    if (per_minute === 0) return;
    const wait_ms = window(`${name} ${caller}`, per_minute);
    if (wait_ms > 0) throw new Refusal('rate_limited', { retry_after: Math.ceil(wait_ms / 1000) });
  };
  return {
    byAddress(limit, ip) {
      if (limit && !exempt(ip)) count(`${limit}_per_address`, network(ip));
    },
    byIdentity(limit, ip, input) {
      if ((limit !== 'login' && limit !== 'recovery') || exempt(ip)) return;
      const identity = identityIn(input);
      if (identity) count(`${limit}_per_identity`, identity);
    },
  };
}

/** Counts one call; milliseconds to wait where `most` calls were made within the last minute (then it is not counted). */
function slidingWindow(clock: Clock, max_callers: number): (caller: string, most: number) => number {
  const calls = new LRUCache<string, number[]>({ max: max_callers });
  return (caller, most) => {
    const now = clock.ms();
    const recent = (calls.get(caller) ?? []).filter((at) => at > now - WINDOW_MS && at <= now);
    const refused = recent.length >= most;
    if (!refused) recent.push(now);
    calls.set(caller, recent);
    return refused ? (recent[recent.length - most] ?? now) + WINDOW_MS - now : 0;
  };
}

/** What counts as one caller: an IPv4 address, or the /64 of an IPv6 one. */
function network(ip: string): string {
  const address = ipaddr.parse(ip);
  return address.kind() === 'ipv4' ? ip : address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.');
}

/** Whom a sign-in or recovery is about: the first named of these fields. */
function identityIn(input: unknown): string | undefined {
  const { params, body } = input as { params?: Record<string, unknown>; body?: Record<string, unknown> };
  const named = body?.username ?? body?.email ?? body?.id ?? params?.email;
  if (typeof named !== 'string' && typeof named !== 'number') return undefined;
  return String(named).trim().toLowerCase().slice(0, MAX_IDENTITY_LENGTH);
}

/** Who calls without credentials, as a keyed hash that distinguishes callers and shows no address; null where it is exempt. */
export function callerOf({ config, secrets }: Pick<App, 'config' | 'secrets'>, ip: string): string | null {
  if (config.demo && ipaddr.parse(ip).range() === 'loopback') return null;
  return secrets.digest(network(ip), 'invoices.caller');
}
