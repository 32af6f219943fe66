// Where a buyer returns to from a checkout page: which addresses may be, and the query that the shop can verify.
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base64urlnopad } from '@scure/base';
import type { InvoiceStatus } from './invoice.ts';
import { webhookKey } from './webhook.ts';

export const MAX_RETURN_URL = 2048;
/** Signs nothing but returns: no webhook's content begins so. */
const SIGNED_PREFIX = 'return.v1';
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Which addresses may be linked to. */
export interface LinkRules {
  /** Whether `http` to this machine is allowed: where no real money moves. */
  loopback: boolean;
}

/** An address of a web page as it may stand in a link, or why it may not. */
export function webAddress(text: string, { loopback }: LinkRules): URL | string {
  if (text.length > MAX_RETURN_URL) return `it is longer than ${MAX_RETURN_URL} characters`;
  if (!URL.canParse(text)) return 'it is not a complete URL';
  const url = new URL(text);
  const plain = loopback && url.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (url.protocol !== 'https:' && !plain)
    return loopback ? 'only https is allowed, and http to this machine' : 'only https is allowed';
  if (url.username !== '' || url.password !== '') return 'it holds a user name or a password';
  if (url.href.length > MAX_RETURN_URL) return `it is longer than ${MAX_RETURN_URL} characters`;
  return url;
}

/** A host as it is compared, `shop.example` or `shop.example:8443`; null for what is none. */
export function hostEntry(text: string): string | null {
  const address = `https://${text}/`;
  if (/[\s/\\?#@*]/.test(text) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return url.host === '' || url.pathname !== '/' ? null : url.host;
}

/** The address in its normal form if its host is one of these, or why a buyer may not be led there. */
export function returnAddress(
  text: string,
  { hosts, ...rules }: LinkRules & { hosts: readonly string[] },
): { href: string; host: string } | string {
  const url = webAddress(text, rules);
  if (typeof url === 'string') return url;
  if (!hosts.includes(url.host)) return `its host ${url.host} is not one of return_hosts`;
  return { href: url.href, host: url.host };
}

/** What is signed of a return. */
export interface Return {
  invoice_id: string;
  status: InvoiceStatus;
}

/** The base64url HMAC-SHA256 of `return.v1.{invoice_id}.{status}`, under the key of a webhook secret. */
export function signReturn({ invoice_id, status }: Return, secret: string): string {
  const content = new TextEncoder().encode(`${SIGNED_PREFIX}.${invoice_id}.${status}`);
  return base64urlnopad.encode(hmac(sha256, webhookKey(secret), content));
}

/**
 * The address with the return in its query: `invoice_id`, `invoice_status`, and `signature`, which has one for each secret
 * with a dot between, and is left out without secrets. What the address had under these names is replaced.
 */
export function returnUrl(href: string, about: Return, secrets: readonly string[]): string {
  const url = new URL(href);
  url.searchParams.delete('signature');
  url.searchParams.set('invoice_id', about.invoice_id);
  url.searchParams.set('invoice_status', about.status);
  if (secrets.length > 0)
    url.searchParams.set('signature', secrets.map((secret) => signReturn(about, secret)).join('.'));
  return url.href;
}
