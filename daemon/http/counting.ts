// Counting by caller in bounded memory, for everything that has a share: who is one caller, and how much each has had.
import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { Refusal } from '../../src/errors.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../settings/config.ts';

export const WINDOW_MS = 60_000;
/** Beyond this many callers whose counts are not over yet, others are counted together with their neighbours. */
export const MAX_CALLERS = 20_000;
/** Counts of such neighbours. */
const MAX_NEIGHBOURHOODS = 4_096;
/** An IPv6 customer has at least a /64: it counts as one address. */
const IPV6_PREFIX_BYTES = 8;
/** Who is counted together where there is no room for each: /16 of IPv4, /32 of IPv6, which a provider has. */
const NEIGHBOUR_BYTES = { ipv4: 2, ipv6: 4 };

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

/** Counts what one address takes of this daemon; refuses with `rate_limited`. */
export function shareOfAddress(
  { config, clock }: { config: Pick<Config, 'demo' | 'limits'>; clock: Clock },
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
