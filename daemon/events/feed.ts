// A merchant's events: a page of them, or a stream that continues.
import type { z } from 'zod';
import {
  countEvents,
  eventsAfter,
  eventsBefore,
  getEvent,
  lastPosition,
  positionOf,
} from '../../data/events.ts';
import { removedThrough } from '../../data/retention.ts';
import type { EventRow, UserRow } from '../../data/schema/tables.ts';
import { getUser } from '../../data/users.ts';
import type { EventList, EventPublic } from '../../src/api/schemas/event.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { type RequestInfo, Streamed } from '../http/exchange.ts';
import { presentEvents } from './present.ts';

interface Pace {
  /** How soon after its commit an event is sent at the latest, where no one says that it is there … */
  poll_ms: number;
  /** … and where that is announced: then a poll is a net. */
  net_ms: number;
  /** A silent connection is left open by proxies for longer than this; the token is checked as often. */
  heartbeat_ms: number;
}
const PACE: Pace = { poll_ms: 500, net_ms: 5_000, heartbeat_ms: 15_000 };
/** How soon a reader comes back that lost its connection. */
const RETRY_MS = 2_000;
/** Events sent at once. */
const BATCH = 100;
export interface EventQuery {
  after?: string | undefined;
  type?: string | undefined;
  /** `oldest` by default. */
  order?: 'oldest' | 'newest' | undefined;
  limit: number;
  /** Whether all are counted. */
  count?: boolean | undefined;
}

/** EventList. Refuses `event_not_found` where `after` is no event of this merchant, `event_removed` where it is no longer stored. */
export async function eventPage(
  app: App,
  merchant_id: string,
  query: EventQuery,
): Promise<z.input<typeof EventList>> {
  const { after, type, order, limit } = query;
  const position = after === undefined ? undefined : await positionAt(app, merchant_id, after);
  const rows =
    order === 'newest'
      ? await eventsBefore(app.db, merchant_id, position, limit + 1, type)
      : await eventsAfter(app.db, merchant_id, position ?? 0, limit + 1, type);
  // Back in time whatever is no longer stored is the end.
  if (position !== undefined && order !== 'newest') await refuseOvertaken(app, merchant_id, position);
  const page = rows.slice(0, limit);
  return {
    data: await presentEvents(app, page),
    has_more: rows.length > limit,
    next: page.at(-1)?.id ?? after ?? null,
    ...(query.count ? await countEvents(app.db.query, merchant_id, type) : {}),
  };
}

/**
 * Sends an event of this merchant again, for an operator one of any; returns it with all its deliveries. Refuses with
 * `event_not_found`, and as `Webhooks.resend` does.
 */
export async function resendEvent(
  app: App,
  user: Pick<UserRow, 'id' | 'is_superuser'>,
  event_id: string,
): Promise<z.input<typeof EventPublic>> {
  const event = await getEvent(app.db.query, event_id);
  if (!event || (event.merchant_id !== user.id && !user.is_superuser))
    throw await whyMissing(app, user.id, event);
  await app.webhooks.resend(event.id);
  const [shown] = await presentEvents(app, [event]);
  if (!shown) throw new Refusal('event_not_found');
  return shown;
}

async function positionAt(app: App, merchant_id: string, event_id: string): Promise<number> {
  const position = await positionOf(app.db, merchant_id, event_id);
  if (position !== undefined) return position;
  throw await whyMissing(app, merchant_id, await getEvent(app.db.query, event_id));
}

/** Of an id that is in no table it is not known whose it was, or whether it ever was: where events were removed, it may be one. */
async function whyMissing({ db }: App, merchant_id: string, other: EventRow | undefined): Promise<Refusal> {
  const is_removed = other === undefined && (await removedThrough(db, merchant_id)) > 0;
  return new Refusal(is_removed ? 'event_removed' : 'event_not_found');
}

/** For a reader whose next events were removed before it came to them: it must not be led past them silently. */
async function refuseOvertaken({ db }: App, merchant_id: string, position: number): Promise<void> {
  if ((await removedThrough(db, merchant_id)) > position) throw new Refusal('event_removed');
}

/** Server-sent events, from `after`, `Last-Event-ID` or now on, until the reader, its token or the daemon ends. */
export async function eventStream(
  app: App,
  user: UserRow,
  query: EventQuery,
  request: Pick<RequestInfo, 'headers' | 'signal'>,
  pace = PACE,
): Promise<Streamed<ReadableStream<Uint8Array>>> {
  const after = query.after ?? request.headers.get('last-event-id') ?? undefined;
  const begin =
    after === undefined ? await lastPosition(app.db, user.id) : await positionAt(app, user.id, after);
  const { signal } = request;
  const leave = app.event_streams.enter(user.id);
  const encoder = new TextEncoder();
  const texts = messages(app, user, { position: begin, type: query.type, signal, pace });
  let ended = false;
  const end = () => {
    if (!ended) leave();
    ended = true;
  };
  return new Streamed(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
          if (!done) return controller.enqueue(encoder.encode(value));
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel() {
        end();
        await texts.return();
      },
    }),
  );
}

interface Follow {
  position: number;
  type: string | undefined;
  signal: AbortSignal;
  pace: Pace;
}

async function* messages(app: App, user: UserRow, follow: Follow): AsyncGenerator<string, void> {
  let { position } = follow;
  const { type, signal, pace } = follow;
  const { runtime, signals } = app;
  // Before the first reading: what is written from then on wakes it.
  const watch = signals.watch('events', user.id);
  try {
    let spoke_at_ms = runtime.elapsed_ms();
    let asked_at_ms = spoke_at_ms;
    // One that has everything cannot be overtaken: the newest event is never removed.
    let is_behind = true;
    yield `retry: ${RETRY_MS}\n\n`;
    while (!signal.aborted) {
      // However much there is to send: a token that ended is shown nothing more.
      if (runtime.elapsed_ms() - asked_at_ms >= pace.heartbeat_ms) {
        asked_at_ms = runtime.elapsed_ms();
        if (!(await mayFollow(app, user))) return;
      }
      const rows = await eventsAfter(app.db, user.id, position, BATCH, type);
      // Ended: it comes back with the last event that it has, and is refused.
      if (is_behind && position > 0 && (await removedThrough(app.db, user.id)) > position) return;
      is_behind = rows.length === BATCH;
      position = rows.at(-1)?.position ?? position;
      if (rows.length > 0) {
        spoke_at_ms = runtime.elapsed_ms();
        const shown = await presentEvents(app, rows);
        yield shown.map(messageOf).join('');
        if (rows.length === BATCH) continue;
      }
      if (runtime.elapsed_ms() - spoke_at_ms >= pace.heartbeat_ms) {
        spoke_at_ms = runtime.elapsed_ms();
        yield ': still here\n\n';
      }
      const wait_ms = signals.areHeard() ? pace.net_ms : pace.poll_ms;
      await watch.changed(Math.min(wait_ms, pace.heartbeat_ms), signal);
    }
  } finally {
    watch.close();
  }
}

const messageOf = (event: z.input<typeof EventPublic>): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Whether the token that opened the stream still stands. */
async function mayFollow(app: App, { id, token_version }: UserRow): Promise<boolean> {
  const user = await getUser(app.db.query, id);
  return user?.is_active === 1 && user.token_version === token_version;
}
