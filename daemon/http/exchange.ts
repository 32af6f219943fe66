// A request as a handler sees it, and the answers that are more than the described reply.
import type { MerchantRow } from '../../data/schema/tables.ts';

/** What a handler may know of the request itself. */
export interface RequestInfo {
  /** The `X-Request-Id` of this answer and of its log lines. */
  id: string;
  /** Id for what a request with an Idempotency-Key makes, the same when it is repeated after a crash; else null. */
  resource_id: string | null;
  /** The caller's address; behind a trusted proxy, the one it names. */
  ip: string;
  headers: Headers;
  /** Aborts when the caller goes away or the daemon stops. */
  signal: AbortSignal;
  /** The request as it came; its body is unread where the endpoint describes none. */
  web: Request;
  /** Sends another request through the same checks, as this caller. */
  dispatch(request: Request): Promise<Response>;
}

/** Whom a key stands for: one merchant, or the operator's own deployment. */
export type Owner = { kind: 'merchant'; merchant: MerchantRow } | { kind: 'platform' };

/** A body sent piece by piece in place of the described reply: server-sent events. */
export class Streamed {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Record<string, string>;
  /** `headers` replace the defaults (`text/event-stream`, no buffering by proxies). */
  constructor(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}) {
    this.body = body;
    this.headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...headers };
  }
}

/** Bytes in place of the described reply, made beforehand or by another library: documents, their 304, MCP. */
export class Prepared {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  constructor(answer: Pick<Prepared, 'status' | 'headers' | 'body'>) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = answer.body;
  }
}
