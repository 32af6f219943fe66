// What is counted and logged of each answer.
import type { App } from '../context.ts';
import { NO_ENDPOINT } from '../metrics/metrics.ts';

export interface Answered {
  request_id: string;
  /** Null where no endpoint has the path. */
  endpoint_id: string | null;
  method: string;
  status: number;
  took_ms: number;
  /** The caller's address, asked for where it is logged. */
  ip(): string;
}

export function recordAnswer({ metrics, log, config }: App, answered: Answered): void {
  const { request_id, endpoint_id, method, status, took_ms } = answered;
  const label = endpoint_id ?? NO_ENDPOINT;
  metrics.requests.add([label, String(status)]);
  metrics.request_seconds.observe([label], took_ms / 1000);
  log.info(
    {
      request_id,
      // Never the URL: keys may stand in it.
      endpoint: endpoint_id,
      method,
      status,
      ms: Math.round(took_ms),
      ...(config.log_callers && { ip: answered.ip() }),
    },
    'request',
  );
}
