// What a scenario was, as a file: the requests that began it, the events that the daemon wrote, the webhooks that it posted.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallReply, Send } from '../../src/api/client/call.ts';
import { listEvents } from '../../src/api/endpoints/merchant.ts';
import { decodeText } from '../../src/clean.ts';
import type { EventType } from '../../src/event-types.ts';
import { usage } from '../engine/errors.ts';
import { fetchService } from '../engine/transport.ts';
import type { TriggerKind } from './kinds.ts';
import type { Posted, Receiver } from './receiver.ts';
import type { Ground, Invoice, Outcome } from './scenarios.ts';

/** The only event that a webhook is posted of without being asked for. */
const POSTED: EventType = 'invoice.confirmed';
/** The newest are read; a scenario writes a few. */
const EVENTS_READ = 100;
const ASK_MS = 100;
/** Longer than a server may take to answer. */
const WEBHOOK_MS = 20_000;

type GwEvent = CallReply<typeof listEvents>['data'][number];

/** One call that changed something, without what signs it in. */
interface Request {
  method: string;
  path: string;
  body: unknown;
  status: number;
  reply: unknown;
}

export interface Fixture {
  kind: TriggerKind;
  recorded_at: string;
  requests: Request[];
  invoice: Invoice | null;
  txids: string[];
  /** As the API lists them, oldest first. */
  events: GwEvent[];
  /** Headers and body as they were posted; signed with `webhook_secret`. */
  webhooks: Posted[];
  webhook_secret: string;
}

/** Sends, and writes down the calls that change something. */
export function recordingFetch(requests: Request[]): Send {
  return async (url, sent) => {
    const answer = await fetchService(url, sent);
    if (sent.method === 'GET') return answer;
    const parsed = (text: string | undefined) => (text ? JSON.parse(text) : null);
    requests.push({
      method: sent.method,
      path: new URL(url).pathname,
      body: parsed(sent.body),
      status: answer.status,
      reply: parsed(await answer.text()),
    });
    return answer;
  };
}

/** Waits for the webhook of a confirmation, and puts everything of the scenario together. */
export async function fixtureOf(
  { call, signal }: Ground,
  outcome: Outcome,
  { requests, receiver, webhook_secret }: { requests: Request[]; receiver: Receiver; webhook_secret: string },
): Promise<Fixture> {
  const ids = outcome.events.map(({ id }) => id);
  const { data } = await call(listEvents, { query: { order: 'newest', limit: EVENTS_READ } });
  const events = data.filter(({ id }) => ids.includes(id)).reverse();
  const awaited = events.filter(({ type }) => type === POSTED).map(({ id }) => id);
  const webhooks = () => receiver.posted().filter(({ headers }) => ids.includes(headers['webhook-id'] ?? ''));
  const missing = () => awaited.some((id) => !webhooks().some(({ headers }) => headers['webhook-id'] === id));
  for (const end = Date.now() + WEBHOOK_MS; missing() && Date.now() < end; )
    await sleep(ASK_MS, undefined, { signal });
  const { kind, invoice, txids } = outcome;
  const recorded_at = new Date().toISOString();
  return { kind, recorded_at, requests, invoice, txids, events, webhooks: webhooks(), webhook_secret };
}

/** Writes it into the directory under the name of its kind, in place of an older one; returns the path. */
export function writeFixture(dir: string, fixture: Fixture): string {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `${fixture.kind}.json`);
  writeFileSync(path, `${JSON.stringify(fixture, null, 2)}\n`);
  return path;
}

/** The events of such a file. Throws GwError (usage) where it is none. */
export function eventsIn(path: string): GwEvent[] {
  let text: string;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    throw usage(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const { events } = JSON.parse(text) as Partial<Fixture>;
    if (events?.every(({ id, type, data }) => id && type && data)) return events;
  } catch {
    // The refusal is below.
  }
  throw usage(`${path} is no recording`, 'record one: gw trigger invoice.confirmed --record fixtures');
}
