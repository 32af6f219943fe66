// What this daemon counts as it works, by name; what is read when it is asked for is in read.ts.
import { type Counter, createRegistry, type Histogram } from './registry.ts';

/** Of answers and of the database, seconds. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Of what waits for blocks, seconds; what is measured is dated to the second. */
const SLOW = [0, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 86_400];

/** No label has a value that a caller chooses: an endpoint is one of the list, a blockchain one of those there are. */
export interface Metrics {
  requests: Counter;
  request_seconds: Histogram;
  payment_seen_seconds: Histogram;
  payment_confirmed_seconds: Histogram;
  webhook_delivered_seconds: Histogram;
  webhooks: Counter;
  database_seconds: Histogram;
  hints: Counter;
  /** Requests with an Idempotency-Key that are being worked on. */
  keyed: { count: number };
  /** What was counted, as text. */
  text(): string;
}

/** Labels of a request for a path that no endpoint has. */
export const NO_ENDPOINT = 'none';

export function createMetrics(): Metrics {
  const registry = createRegistry();
  return {
    requests: registry.counter({
      name: 'gatewayd_http_requests_total',
      help: 'Requests answered.',
      labels: ['endpoint', 'status'],
    }),
    request_seconds: registry.histogram({
      name: 'gatewayd_http_request_duration_seconds',
      help: 'Time from a request to its answer; of a stream, to its beginning.',
      labels: ['endpoint'],
      bounds: QUICK,
    }),
    payment_seen_seconds: registry.histogram({
      name: 'gatewayd_payment_seen_seconds',
      help: 'Time from the block or transaction of a payment until this daemon stored it.',
      labels: ['blockchain'],
      bounds: SLOW,
    }),
    payment_confirmed_seconds: registry.histogram({
      name: 'gatewayd_payment_confirmed_seconds',
      help: 'Time from the first sight of a payment until its invoice was confirmed.',
      labels: ['blockchain'],
      bounds: SLOW,
    }),
    webhook_delivered_seconds: registry.histogram({
      name: 'gatewayd_webhook_delivered_seconds',
      help: 'Time from a confirmation until its webhook was accepted.',
      bounds: SLOW,
    }),
    webhooks: registry.counter({
      name: 'gatewayd_webhooks_total',
      help: 'Attempts to deliver a webhook, by how they ended.',
      labels: ['outcome'],
    }),
    database_seconds: registry.histogram({
      name: 'gatewayd_database_duration_seconds',
      help: 'Time of single statements, and of transactions from their first request to their commit.',
      labels: ['kind'],
      bounds: QUICK,
    }),
    hints: registry.counter({
      name: 'gatewayd_hints_total',
      help: 'Hints of providers: connections, those lost, messages received, and readings brought forward.',
      labels: ['blockchain', 'event'],
    }),
    keyed: { count: 0 },
    text: () => registry.text(),
  };
}
