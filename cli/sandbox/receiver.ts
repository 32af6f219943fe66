// The sandbox's own receiver of webhooks: checks the signature, answers, or hands on to the developer's server.
import { timingSafeEqual } from 'node:crypto';
import { signWebhook } from '../../src/webhook.ts';
import { timeoutAfter } from '../engine/timeout.ts';

/** As long as the service waits for a webhook, and a little less. */
const FORWARD_MS = 14_000;
const REFUSED = 500;
const BAD_GATEWAY = 502;
const UNSIGNED = 401;
const OK = 200;
const TAKEN = 300;
/** So many of the newest are stored. */
const STORED = 500;

/** One webhook, with what it was answered. */
export interface Delivery {
  /** The event's. */
  id: string;
  type: string;
  invoice_id: string | null;
  external_ref: string | null;
  /** Unix milliseconds. */
  at_ms: number;
  status: number;
  duration_ms: number;
  /** Why the developer's server gave no answer. */
  error: string | null;
}

/** One webhook as it was posted. */
export interface Posted {
  headers: Record<string, string>;
  /** The text that is signed. */
  body: string;
  answered: number;
}

export interface Receiver {
  /** The status to answer a webhook with. */
  take(headers: Record<string, string>, body: string): Promise<number>;
  refuseNext(): void;
  /** Whether the next one is refused. */
  refuses(): boolean;
  /** The newest, oldest first. */
  posted(): readonly Posted[];
}

/** `secret` signs what comes; `url` is where it is handed on to. */
export function openReceiver(
  secret: string,
  url: string | undefined,
  onDelivery: (delivery: Delivery) => void,
): Receiver {
  let refused = 0;
  const posted: Posted[] = [];
  const answer = async (headers: Record<string, string>, body: string) => {
    if (!isSigned(headers, body, secret)) return { status: UNSIGNED, error: 'the signature is wrong' };
    if (refused > 0) {
      refused -= 1;
      return { status: REFUSED, error: null };
    }
    return url === undefined ? { status: OK, error: null } : forward(url, headers, body);
  };
  return {
    async take(headers, body) {
      const started = performance.now();
      const at_ms = Date.now();
      const { status, error } = await answer(headers, body);
      const { type = '', invoice_id = null, external_ref = null } = factsOf(body);
      const duration_ms = Math.round(performance.now() - started);
      const id = headers['webhook-id'] ?? '';
      posted.push({ headers: sentHeaders(headers), body, answered: status });
      if (posted.length > STORED) posted.shift();
      onDelivery({ id, type, invoice_id, external_ref, at_ms, status, duration_ms, error });
      return status;
    },
    refuseNext() {
      refused += 1;
    },
    refuses: () => refused > 0,
    posted: () => posted,
  };
}

export const isTaken = ({ status }: Pick<Delivery, 'status'>): boolean => status >= OK && status < TAKEN;

function isSigned(headers: Record<string, string>, body: string, secret: string): boolean {
  const { 'webhook-id': id = '', 'webhook-signature': given = '' } = headers;
  const wanted = Buffer.from(
    signWebhook({ id, timestamp: Number(headers['webhook-timestamp']), body, secret }),
  );
  return given.split(' ').some((one) => {
    const signature = Buffer.from(one);
    return signature.length === wanted.length && timingSafeEqual(signature, wanted);
  });
}

const sentHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(webhook-|content-type$|user-agent$)/.test(name)),
  );

/** The same body and signature, as if the daemon had posted it there. */
async function forward(url: string, headers: Record<string, string>, body: string) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: sentHeaders(headers),
      body,
      redirect: 'manual',
      signal: timeoutAfter(FORWARD_MS),
    });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return { status: BAD_GATEWAY, error: cause?.code ?? message };
  }
}

function factsOf(body: string): { type?: string; invoice_id?: string | null; external_ref?: string | null } {
  try {
    const { type, data } = JSON.parse(body) as {
      type: string;
      data: { invoice: { id: string; external_ref: string | null } | null };
    };
    return { type, invoice_id: data.invoice?.id ?? null, external_ref: data.invoice?.external_ref ?? null };
  } catch {
    return {};
  }
}
