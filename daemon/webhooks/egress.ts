// Outgoing HTTP to addresses that others choose: connects only to public addresses, follows nothing, waits 15 s.
import { lookup as lookupHost, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Refusal } from '../../src/errors.ts';
import type { OutClient } from '../process/network.ts';
import { openSender, type Sender } from '../process/outgoing.ts';
import { type Runtime, systemRuntime } from '../process/runtime.ts';

/** Name resolution, connecting, TLS, sending and reading together. */
export const TOTAL_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long one of several addresses may take before the next is tried as well. */
const ADDRESS_ATTEMPT_MS = 1_000;
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;
const MAX_ADDRESSES = 16;
const MAX_URL_LENGTH = 2048;
/** The answer is read so that the receiver may finish it, never stored. */
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Below it only 80 and 443: mail, shells and databases of others are no webhooks. */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Translated IPv4 (RFC 6052): what a resolver of an IPv6-only network answers. Public when its last 32 bits are. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');
/** The only IPv6 space that is given out (RFC 4291); all else is special or unassigned. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)$/;

/** Whether packets to this address (text, IPv4 or IPv6) leave for the public internet. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.match(NAT64)) return isPublicAddress(address.toByteArray().slice(12).join('.'));
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

/**
 * Whether a URL may be sent to, as far as its text tells; names are checked when connecting. Returns it parsed.
 * Throws Refusal `url_not_allowed`, the detail says why.
 */
export function checkWebhookUrl(text: string, options: { allow_private: boolean }): URL {
  const refuse = (why: string) =>
    new Refusal('url_not_allowed', { detail: `This URL is not allowed: ${why}` });
  if (text.length > MAX_URL_LENGTH) throw refuse(`it is longer than ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) throw refuse('it is not a complete URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('only http and https are allowed');
  if (url.username !== '' || url.password !== '') throw refuse('it holds a user name or a password');
  if (options.allow_private) return url;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (port < FIRST_UNPRIVILEGED_PORT && port !== 80 && port !== 443)
    throw refuse(`ports are 80, 443 and ${FIRST_UNPRIVILEGED_PORT} up`);
  // URL has already turned 127.1, 0x7f.1, 2130706433 and full-width digits into plain dotted form.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const is_public = isIP(host) === 0 ? host.includes('.') && !LOCAL_NAMES.test(host) : isPublicAddress(host);
  if (!is_public) throw refuse('its host is not public');
  return url;
}

export interface HttpOutOptions {
  allow_private: boolean;
  /** For tests. */
  timeout_ms?: number;
  /** Whom to ask for names instead of the system's servers; `address:port`. For tests. */
  dns_servers?: string[];
  runtime?: Runtime;
}

/**
 * `failed`: no answer, and why in words that hold no address and no URL. `interrupted`: by the caller's signal; `sent` where
 * the receiver may have something of it.
 */
export type HttpOutcome =
  | { kind: 'answered'; http_status: number; text?: string }
  | { kind: 'failed'; error: string }
  | { kind: 'interrupted'; sent: boolean };

export interface HttpPost {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  /** Whether the answer says what is of use: its beginning comes with the status then. */
  reads_answer?: boolean;
}

export interface HttpOut {
  /** Sends once and never again. Throws nothing that the network can cause. */
  post(url: string, request: HttpPost): Promise<HttpOutcome>;
}

export function openHttpOut(options: HttpOutOptions): HttpOut {
  const { allow_private, timeout_ms = TOTAL_TIMEOUT_MS, runtime = systemRuntime } = options;
  const resolve = resolverFor(options);
  // A connection of its own: one that is reused may be closed under the request, and there is no second attempt.
  const sender = openSender({
    connect_ms: CONNECT_TIMEOUT_MS,
    address_attempt_ms: ADDRESS_ATTEMPT_MS,
    max_header_bytes: MAX_HEADER_BYTES,
    lookup: guardedLookup(allow_private, resolve),
    proxyOf: runtime.proxyOf,
  });
  const open = (origin: string, onConnect: () => void): OutClient => {
    const stand_in = runtime.network?.toReceiver(origin);
    if (!stand_in) return clientOf(sender, origin, onConnect);
    // How far it came is not known.
    onConnect();
    return stand_in;
  };
  return {
    async post(text, { headers, body, signal, reads_answer }) {
      let url: URL;
      try {
        url = checkWebhookUrl(text, { allow_private });
      } catch (error) {
        if (error instanceof Refusal) return { kind: 'failed', error: error.message };
        throw error;
      }
      if (signal.aborted) return { kind: 'interrupted', sent: false };
      let sent = false;
      const client = open(url.origin, () => {
        sent = true;
      });
      let expired = false;
      const expire = async () => {
        // After a time in which this process stood still, an answer may have come that it has not read yet.
        await runtime.turn();
        expired = true;
        await client.destroy();
      };
      const interrupt = () => client.destroy();
      const callOff = runtime.after(timeout_ms, () => void expire());
      signal.addEventListener('abort', interrupt);
      try {
        if (!allow_private && runtime.proxyOf?.(url)) await assertPublic(url.hostname, resolve);
        const path = url.pathname + url.search;
        const answer = await client.request({ method: 'POST', path, headers, body });
        const read = await readSome(answer.body);
        const answered = { kind: 'answered', http_status: answer.statusCode } as const;
        return reads_answer ? { ...answered, text: read.toString() } : answered;
      } catch (error) {
        if (signal.aborted) return { kind: 'interrupted', sent };
        if (expired) return { kind: 'failed', error: `no answer within ${timeout_ms / 1000} s` };
        return { kind: 'failed', error: describeError(error) };
      } finally {
        callOff();
        signal.removeEventListener('abort', interrupt);
        await client.destroy(OVER);
      }
    },
  };
}

/** Why a connection ends that has done its work: one error for all, because the text of where it was made costs more than signing. */
const OVER = new Error('the attempt is over');

/** Reads to the end, to the limit or to the deadline; by then the status says how it went. */
async function readSome(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes >= MAX_BODY_BYTES) break;
    }
  } catch {
    // A body that breaks off does not take back a status that was received.
  }
  return Buffer.concat(chunks);
}

/** All addresses of a name, in text form. */
type Resolve = (hostname: string) => Promise<string[]>;

class NotPublic extends Error {
  readonly code = 'NOT_PUBLIC';
}

/** Checks the addresses of a name: those checked are those connected to. A literal address is checked as a part of its URL. */
function guardedLookup(allow_private: boolean, resolve: Resolve): LookupFunction {
  const allowed = (address: string) => allow_private || isPublicAddress(address);
  return (hostname, { all }, callback) => {
    const answer = async () => {
      const addresses = await resolve(hostname);
      if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
      // One private address among public ones is an attempt, or a network whose answers cannot be trusted.
      if (!addresses.every(allowed)) throw new NotPublic();
      return addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
    };
    answer().then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error) => callback(error, ''),
    );
  };
}

/**
 * A proxy asks for the address itself, so that from where it stands counts. What is known here to be private is refused all
 * the same; where no name can be resolved, the guard is the proxy's.
 */
async function assertPublic(hostname: string, resolve: Resolve): Promise<void> {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return;
  const addresses = await resolve(hostname).catch(() => []);
  if (!addresses.every(isPublicAddress)) throw new NotPublic();
}

/** One request, which may be ended at any stage. */
function clientOf(sender: Sender, origin: string, onConnect: () => void): OutClient {
  const ended = new AbortController();
  return {
    request: ({ path, ...sent }) =>
      sender.send(new URL(origin + path), { ...sent, signal: ended.signal, onConnect }),
    destroy: async (reason) => ended.abort(reason),
  };
}

/**
 * Where private addresses are allowed the system is asked, its hosts file included. Otherwise DNS itself: the
 * system's lookup blocks one of Node's four worker threads, which a name that never resolves could use up.
 */
function resolverFor({ allow_private, dns_servers }: HttpOutOptions): Resolve {
  if (allow_private)
    return async (hostname) => (await lookupHost(hostname, { all: true })).map(({ address }) => address);
  const dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (dns_servers) dns.setServers(dns_servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

const sentences: [code: RegExp, sentence: string][] = [
  [/^NOT_PUBLIC$/, 'the host has an address that is not public'],
  [/^(ENOTFOUND|ENODATA)$/, 'the host name does not exist'],
  [/^(EAI_AGAIN|ETIMEOUT|ESERVFAIL|EREFUSED|EBADNAME|EBADRESP)$/, 'the host name cannot be resolved'],
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^PROXY_REFUSED$/, 'the way out of the daemon does not lead there'],
  [/^PROXY_UNREACHABLE$/, 'the way out of the daemon is closed'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'the host cannot be reached'],
  [/^(CONNECT_TIMEOUT|ETIMEDOUT)$/, `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`],
  [/^(ECONNRESET|EPIPE)$/, 'the connection was closed before an answer came'],
  [/^HPE_HEADER_OVERFLOW$/, `the answer has more than ${MAX_HEADER_BYTES / 1024} kB of headers`],
  [/^HPE_/, 'the answer is not HTTP'],
  [/(CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/, 'the TLS connection cannot be trusted'],
];

/** A sentence for the merchant. Never the error's own text: it names addresses inside the network. */
function describeError(error: unknown): string {
  const { code: own, name } = error as { code?: string; name: string };
  const code = own ?? name;
  const sentence = sentences.find(([pattern]) => pattern.test(code))?.[1] ?? 'the request failed';
  return /^[A-Z0-9_]{1,50}$/.test(code) ? `${sentence} (${code})` : sentence;
}
