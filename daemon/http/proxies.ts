// Who calls when proxies stand in between: the setting, and what the headers that proxies add are believed.
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** More than any real chain of proxies. */
const MAX_HOPS = 20;

/** Off, on (one proxy), how many proxies stand in front, or the networks that they are in. */
export type TrustedProxies = boolean | number | string[];

/** Whether an address is a proxy whose word is taken; `hop` counts them from the daemon on, beginning with 0. */
export type Trust = (address: string, hop: number) => boolean;

/** What the setting says, as text or as a value of JSON; a sentence for the operator where it says nothing of use. */
export function readProxies(value: unknown): TrustedProxies | { error: string } {
  if (typeof value === 'boolean') return value;
  const given = typeof value === 'string' ? value.split(/[\s,]+/).filter((each) => each !== '') : value;
  const [first] = Array.isArray(given) ? given : [given];
  const hops = typeof first === 'string' && /^\d{1,3}$/.test(first) ? Number(first) : first;
  if (typeof hops === 'number' && (!Array.isArray(given) || given.length === 1))
    return Number.isInteger(hops) && hops >= 0 && hops <= MAX_HOPS
      ? hops
      : { error: `must be at most ${MAX_HOPS} proxies` };
  if (!Array.isArray(given) || given.length === 0)
    return { error: 'must be true, false, a number of proxies, or networks such as 10.0.0.0/8' };
  const wrong = given.find((each) => typeof each !== 'string' || !networkOf(each));
  return wrong === undefined ? given.map(String) : { error: `${wrong} is no address or network` };
}

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = ipaddr.isValid(text) ? ipaddr.process(text) : null;
  return address && [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** The setting in the form in which each call is judged; null where no proxy is believed. */
export function trustOf(proxies: TrustedProxies): Trust | null {
  if (proxies === false || proxies === 0) return null;
  if (!Array.isArray(proxies)) return (_, hop) => hop < Number(proxies);
  const networks = proxies.map(networkOf).filter((network) => network !== null);
  return (address) => {
    const parsed = ipaddr.process(address);
    return networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network as never, bits),
    );
  };
}

/**
 * The caller's address: the peer's own, or what trusted proxies say in `X-Forwarded-For` or `Forwarded` (RFC 7239), read from
 * the last entry on, which the nearest of them added. Where both headers are there and disagree, one of them is from the
 * caller, and neither is believed. In-process calls have no peer; they come from this very machine.
 */
export function callerAddress(
  peer: string | undefined,
  headers: Pick<Headers, 'get'>,
  trust: Trust | null,
): string {
  const from = peerAddress(peer);
  if (!trust) return from;
  const named = [headers.get('x-forwarded-for')?.split(','), forwardedFor(headers.get('forwarded'))].filter(
    (entries) => entries !== undefined,
  );
  const [caller = from, other = caller] = named.map((entries) => walk(from, entries, trust));
  return caller === other ? caller : from;
}

/** Of a socket; what has none comes from this very machine. */
export const peerAddress = (peer: string | undefined): string => plain(peer) ?? '127.0.0.1';

/** From the daemon outward as long as each is trusted; ends before an entry that is no address. */
function walk(peer: string, entries: readonly (string | undefined)[], trust: Trust): string {
  let caller = peer;
  for (let hop = 0; hop < Math.min(entries.length, MAX_HOPS) && trust(caller, hop); hop++) {
    const next = plain(entries.at(-1 - hop));
    if (next === undefined) return caller;
    caller = next;
  }
  return caller;
}

/** An address without port and brackets, IPv4 as such; undefined where it is none. */
function plain(text: string | undefined): string | undefined {
  if (text !== undefined && isIPv4(text)) return text;
  const [, bracketed, v4 = text?.trim()] =
    /^\s*(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)\s*$/i.exec(text ?? '') ?? [];
  const address = bracketed ?? v4;
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  return isIPv4(address) ? address : ipaddr.process(address).toString();
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const PAIR = `${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
/** The grammar is held strictly: an open quote that a caller sends must not swallow what the proxy appends. */
const ELEMENTS = new RegExp(`^\\s*${PAIR}(?:\\s*[;,]\\s*${PAIR})*\\s*$`);

/** The `for` of each element; undefined where there is no such header, and no entry where it is malformed. */
function forwardedFor(header: string | null): (string | undefined)[] | undefined {
  if (header === null) return undefined;
  if (!ELEMENTS.test(header)) return [];
  const elements = header.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [];
  return elements.map((element) => {
    const [, value] = /(?:^|;)\s*for=("[^"]*"|[^;\s]+)/i.exec(element) ?? [];
    return value?.replaceAll('"', '');
  });
}
