// What a return to a shop carries in its query, signed so that the shop can verify it.
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base64urlnopad } from '@scure/base';
import type { InvoiceStatus } from './invoice.ts';
import { webhookKey } from './webhook.ts';

/** Signs nothing but returns: no webhook's content begins so. */
const SIGNED_PREFIX = 'return.v1';

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
