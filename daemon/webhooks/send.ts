// One attempt at one receiver: sign, send once, judge the answer.
import type { DeliveryStatus } from '../../data/deliveries.ts';
import { Refusal } from '../../src/errors.ts';
import { webhookHeaders } from '../../src/webhook.ts';
import type { HttpOut, HttpOutcome } from './egress.ts';

export interface Attempt {
  event_id: string;
  url: string;
  /** The stored text, sent byte for byte. */
  body: string;
  /** As they were set, each of them signs; none sends unsigned. */
  secrets: readonly string[];
  /** Unix seconds. */
  timestamp: number;
  user_agent: string;
  signal: AbortSignal;
}

/** `error` is for the merchant: null when it arrived. `unsent`: interrupted before the receiver could have any of it. */
export interface AttemptResult {
  status: DeliveryStatus | 'unsent';
  http_status: number | null;
  error: string | null;
}

export async function sendWebhook(http: HttpOut, attempt: Attempt): Promise<AttemptResult> {
  const { event_id: id, timestamp, body, secrets, signal } = attempt;
  let headers: Record<string, string>;
  try {
    headers = webhookHeaders({ id, timestamp, body, secrets });
  } catch (error) {
    if (error instanceof Refusal) return { status: 'failed', http_status: null, error: error.message };
    throw error;
  }
  const request = {
    headers: { 'content-type': 'application/json', 'user-agent': attempt.user_agent, ...headers },
    body,
    signal,
  };
  return judge(await http.post(attempt.url, request));
}

function judge(outcome: HttpOutcome): AttemptResult {
  if (outcome.kind === 'interrupted') {
    const error = 'interrupted before the answer';
    return { status: outcome.sent ? 'unknown' : 'unsent', http_status: null, error };
  }
  if (outcome.kind === 'failed') return { status: 'failed', http_status: null, error: outcome.error };
  const { http_status } = outcome;
  if (http_status >= 200 && http_status < 300) return { status: 'delivered', http_status, error: null };
  const redirected = http_status >= 300 && http_status < 400;
  const error = `answered HTTP ${http_status}${redirected ? '; redirects are not followed' : ''}`;
  return { status: 'failed', http_status, error };
}
