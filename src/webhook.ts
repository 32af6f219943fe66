// What a webhook is on the wire: its body, its key and its signature, after Standard Webhooks 1.0.
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base64 } from '@scure/base';
import { Refusal } from './errors.ts';
import type { EventType } from './event-types.ts';

/** Raised when a member of the body changes its meaning; adding one does not. */
const WEBHOOK_API_VERSION = 'v1';

/** A secret beginning so holds its key in base64. */
const SECRET_PREFIX = 'whsec_';

/** What happened, as the API shows it. `created_at` in Unix seconds. */
export interface WebhookEvent {
  type: EventType;
  created_at: number;
  invoice: object | null;
  payment: object | null;
}

/** The JSON text of an event. It is stored, signed and sent as it is: a second rendering could differ by a byte. */
export function webhookBody(event: WebhookEvent): string {
  return JSON.stringify({
    type: event.type,
    timestamp: new Date(event.created_at * 1000).toISOString(),
    api_version: WEBHOOK_API_VERSION,
    data: { invoice: event.invoice, payment: event.payment },
  });
}

/**
 * The HMAC key a webhook secret stands for: `whsec_` and base64, or any other text as its UTF-8 bytes.
 * Refuses (`bad_request`) an empty key and what is not base64 after `whsec_`, which no receiver could verify.
 */
export function webhookKey(secret: string): Uint8Array {
  const key = secret.startsWith(SECRET_PREFIX)
    ? decodeBase64(secret.slice(SECRET_PREFIX.length))
    : new TextEncoder().encode(secret);
  if (key.length === 0) throw new Refusal('bad_request', { detail: 'webhook_secret must not be empty' });
  return key;
}

/** Whether webhooks can be signed with it. */
export function isWebhookSecret(secret: string): boolean {
  try {
    return webhookKey(secret).length > 0;
  } catch {
    return false; // Who asks reports what is wrong with it.
  }
}

function decodeBase64(text: string): Uint8Array {
  try {
    return base64.decode(text);
  } catch {
    throw new Refusal('bad_request', {
      detail: 'webhook_secret must be base64 after whsec_, with its padding',
    });
  }
}

/** One message to sign; `timestamp` in Unix seconds, `secret` as the merchant set it. */
export interface WebhookMessage {
  id: string;
  timestamp: number;
  body: string;
  secret: string;
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Throws what `webhookKey` throws. */
export function signWebhook({ id, timestamp, body, secret }: WebhookMessage): string {
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  return `v1,${base64.encode(hmac(sha256, webhookKey(secret), content))}`;
}

/** The three headers of Standard Webhooks: a signature for each secret, with spaces between; without one it goes unsigned. */
export function webhookHeaders({
  secrets,
  ...message
}: Omit<WebhookMessage, 'secret'> & { secrets: readonly string[] }): Record<string, string> {
  const signatures = secrets.map((secret) => signWebhook({ ...message, secret }));
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}
