// The merchant's events as they happen: server-sent events, connected again after a break without a gap.
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { ApiError, type CallReply, requestOf } from '../../../src/api/client/call.ts';
import { listEvents } from '../../../src/api/endpoints/merchant.ts';
import type { Context } from '../../engine/command.ts';
import { GwError, NetworkError, toGwError, unreachable } from '../../engine/errors.ts';
import { timeoutAfter } from '../../engine/timeout.ts';
import { openService, wholeOf } from '../../engine/transport.ts';
import { say } from '../../output/io.ts';

export type GwEvent = CallReply<typeof listEvents>['data'][number];

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 5_000;
/** The largest page the service gives. */
const PAGE = 200;
/** No event is larger; a stream that sends more without an end of message is broken. */
const MAX_MESSAGE = 1_000_000;

export interface FollowOptions {
  after?: string | undefined;
  type?: string | undefined;
  signal: AbortSignal;
  /** Called once, when the first connection stands. */
  onOpen?: () => void;
}

/**
 * Yields events until the signal; connects again after a broken connection, behind the last event, or behind the one that was
 * the newest when it began: nothing that happens meanwhile is passed over.
 */
export async function* followEvents(context: Context, options: FollowOptions): AsyncGenerator<GwEvent, void> {
  let after = options.after ?? (await newestId(context));
  let wait = FIRST_WAIT_MS;
  let opened = false;
  const onOpen = () => {
    if (!opened) options.onOpen?.();
    else say(context.io, 'reconnected');
    opened = true;
    wait = FIRST_WAIT_MS;
  };
  while (!options.signal.aborted) {
    let asked_ms = 0;
    try {
      for await (const event of oneConnection(context, { ...options, after }, onOpen)) {
        after = event.id;
        yield event;
      }
    } catch (error) {
      if (options.signal.aborted) return;
      const known = toGwError(error);
      const passing = known
        ? known.kind === 'retry' || known.kind === 'unreachable'
        : error instanceof NetworkError;
      // A service that was never reached is reported; one that went away is waited for.
      if (!passing || !opened) throw known ?? error;
      asked_ms = (known?.details.retry_after ?? 0) * 1000;
      say(context.io, `${(error as Error).message}; reconnecting in ${Math.max(wait, asked_ms) / 1000} s`);
    }
    await sleep(Math.max(wait, asked_ms), undefined, { signal: options.signal }).catch(() => {});
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

const newestId = async ({ call }: Context): Promise<string | undefined> =>
  (await call(listEvents, { query: { order: 'newest', limit: 1 } })).data[0]?.id;

async function* oneConnection(
  context: Context,
  { after, type, signal }: FollowOptions,
  onOpen: () => void,
): AsyncGenerator<GwEvent, void> {
  const settings = await context.settings();
  const token = settings.credential('token');
  if (!token) throw new GwError('auth', 'not signed in', { code: 'not_signed_in', hint: 'gw login' });
  const { url, headers } = requestOf(
    { base_url: settings.url, token },
    listEvents,
    { query: { after, type } },
    { headers: { accept: 'text/event-stream' } },
  );
  const base_url = settings.url;
  const early = new Set<string>();
  const stream = openStream(context, { url, headers, base_url, signal, onOpen });
  for await (const data of stream) {
    // Where there was no event yet, the stream began with the next one, and some may have come before it.
    if (data === null) {
      if (after !== undefined) continue;
      for await (const event of fromBeginning(context, type)) {
        early.add(event.id);
        yield event;
      }
      continue;
    }
    const event = JSON.parse(data) as GwEvent;
    if (!early.has(event.id)) yield event;
  }
}

async function* fromBeginning({ call }: Context, type: string | undefined): AsyncGenerator<GwEvent, void> {
  for (let after: string | undefined; ; ) {
    const page: CallReply<typeof listEvents> = await call(listEvents, {
      query: { after, type, limit: PAGE },
    });
    yield* page.data;
    if (!page.has_more) return;
    after = page.next ?? undefined;
  }
}

interface Stream {
  url: string;
  headers: Record<string, string>;
  /** For the error where nothing answers. */
  base_url: string;
  signal: AbortSignal;
  onOpen?: () => void;
}

/**
 * Null when one connection stands, then the `data` of each of its messages; it must be answered within the timeout, and then
 * stays open.
 */
export async function* openStream(
  { timeout_ms }: Context,
  { url, headers, base_url, signal, onOpen }: Stream,
): AsyncGenerator<string | null, void> {
  const opening = timeoutAfter(timeout_ms);
  const connection = new AbortController();
  const end = () => connection.abort();
  signal.addEventListener('abort', end);
  opening.addEventListener('abort', end);
  try {
    const response = await openService(url, { headers, signal: connection.signal }).catch(
      (error: unknown) => {
        if (error instanceof GwError) throw error;
        throw unreachable(base_url, opening.aborted ? new Error('no answer in time') : error);
      },
    );
    opening.removeEventListener('abort', end);
    if (!response.ok)
      throw new ApiError(response.status, await refusalOf(response.body, url), response.headers);
    onOpen?.();
    yield null;
    yield* messages(response.body);
  } finally {
    signal.removeEventListener('abort', end);
    connection.abort();
  }
}

async function refusalOf(body: AsyncIterable<Buffer>, url: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse((await wholeOf(body, url)).toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The `data` of each message of an event stream. */
async function* messages(body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const found: string[] = [];
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE,
    onEvent: ({ data }) => found.push(data),
    onError(error) {
      throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* found.splice(0);
  }
}
