// A request as a handler sees it, and the answers that are more than the described reply.
import type { Db } from '../../data/db/open.ts';
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
  /** Aborts when the daemon stops. */
  closing: AbortSignal;
  /** Sends another request through the same checks, as this caller. */
  dispatch(request: Request): Promise<Response>;
}

/** Whom a key stands for: one merchant, or the operator's own deployment. */
export type Owner = { kind: 'merchant'; merchant: MerchantRow } | { kind: 'platform' };

/** Where the pieces of a feed go. */
export interface Sink {
  /** False where its reader leaves too much unread: then nothing more is sent. */
  write(piece: Uint8Array): boolean;
  end(): void;
}

/** Pieces that are sent when there are any. Thousands may be open: one takes a few hundred bytes besides its connection. */
export class Feed {
  readonly #start: (sink: Sink) => () => void;
  /** Lets go of a feed that no one opens. */
  readonly cancel: () => void;
  constructor(start: (sink: Sink) => () => void, cancel: () => void) {
    this.#start = start;
    this.cancel = cancel;
  }

  /** Sends to `sink` from now on, until it is ended or the function returned is called. */
  open(sink: Sink): () => void {
    return this.#start(sink);
  }

  /** The same as a stream, for who has no connection. */
  stream(): ReadableStream<Uint8Array> {
    let leave = this.cancel;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          leave = this.open({
            write(piece) {
              controller.enqueue(piece);
              return (controller.desiredSize ?? 0) > -MAX_UNREAD_BYTES;
            },
            end: () => controller.close(),
          });
        },
        cancel: () => leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
  }
}

/** A reader that leaves more than this unread is cut off; it connects again when it can. */
export const MAX_UNREAD_BYTES = 16 * 1024;

/** A body sent piece by piece in place of the described reply: server-sent events. */
export class Streamed<Pieces extends ReadableStream<Uint8Array> | Feed = ReadableStream<Uint8Array> | Feed> {
  readonly body: Pieces;
  readonly headers: Record<string, string>;
  /** `headers` replace the defaults (`text/event-stream`, no buffering by proxies). */
  constructor(body: Pieces, headers: Record<string, string> = {}) {
    this.body = body;
    this.headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...headers };
  }
}

/** Bytes in place of the described reply, made beforehand or by another library: documents, their 304, MCP. */
export class Prepared {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** Whether it may be given again, to anyone who asks for the same path with the same preferences; asks without waiting. */
  readonly again?: (() => boolean) | undefined;
  constructor(answer: Pick<Prepared, 'status' | 'headers' | 'body' | 'again'>) {
    this.again = answer.again;
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = answer.body;
  }
}

/** A JSON reply that may be given again as long as `again` says so. */
export const repeatable = (value: unknown, again: Prepared['again']): Prepared =>
  new Prepared({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
    again,
  });

/**
 * Whether what the database says is still so, by a question that is asked only where something was written since it was asked last.
 * Undefined where the database cannot answer without waiting, or others write to it.
 */
export function whileSame(db: Pick<Db, 'firstNow' | 'commits'>, isSame: () => boolean): Prepared['again'] {
  const { commits } = db;
  if (!db.firstNow || !commits) return undefined;
  let asked_at = -1;
  return () => {
    const now = commits();
    if (now === asked_at) return true;
    if (!isSame()) return false;
    asked_at = now;
    return true;
  };
}
