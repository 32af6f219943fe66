// `gw listen`: forwards the merchant's events to a server on this machine, signed as webhooks are.
import { randomBytes } from 'node:crypto';
import { listEvents } from '../../src/api/endpoints/merchant.ts';
import { eventTypes } from '../../src/event-types.ts';
import { webhookHeaders } from '../../src/webhook.ts';
import type { Command, Context } from '../engine/command.ts';
import { GwError, usage } from '../engine/errors.ts';
import { timeoutAfter } from '../engine/timeout.ts';
import { type Io, paint, print, printJsonLine, say } from '../output/io.ts';
import { coins } from '../output/money.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import { pick, printObject } from '../output/view.ts';
import { followEvents, type GwEvent } from './parts/events.ts';
import { receiverAt } from './parts/receiver.ts';

/** What webhooks send, of sales; other kinds are forwarded when they are asked for. */
const DEFAULT_EVENTS = 'invoice.confirmed';
const ALL = 'all';
/** As long as the service waits for a webhook. */
const DELIVERY_TIMEOUT_MS = 15_000;
const SECRET_BYTES = 32;

export const command: Command = {
  endpoints: [listEvents],
  args: ['forward_to'],
  flags: [
    {
      field: 'forward_to',
      name: 'forward-to',
      place: 'own',
      kind: 'text',
      value: 'url',
      help: 'where to post events: 4242, localhost:3000/hooks or a full URL; without it they are only printed',
    },
    {
      field: 'events',
      name: 'events',
      place: 'own',
      kind: 'list',
      value: 'a,b',
      choices: [...eventTypes, ALL, '*'],
      help: `kinds of event, or ${ALL} (default: ${DEFAULT_EVENTS} of sales when forwarding, else ${ALL})`,
    },
    {
      field: 'after',
      name: 'after',
      place: 'own',
      kind: 'text',
      value: 'id',
      names: 'event',
      help: 'start after this event',
    },
    {
      field: 'replay',
      name: 'replay',
      place: 'own',
      kind: 'text',
      value: 'file',
      help: 'post the events of a recording of gw trigger --record, with a new signature, and exit; needs no service',
    },
    {
      field: 'print_secret',
      name: 'print-secret',
      place: 'own',
      kind: 'boolean',
      help: 'print the signing secret and exit',
    },
  ],
  about:
    'Posts each event with webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks), signed with a secret of this profile that stays the same. Prints status and latency of each. Together with gw invoice simulate this is a whole payment without leaving the terminal.',
  fields: ['event', 'delivery', 'secret'],
  examples: [
    'gw listen localhost:3000/hooks',
    'gw listen --forward-to http://localhost:3000/hooks --events all --json',
    'gw listen localhost:3000/hooks --replay fixtures/payment.late.json',
    'gw listen --print-secret',
  ],
  stream: true,
  async run(context) {
    const { own } = await context.input();
    const { io, signal } = context;
    const secret = await listenSecret(context);
    if (own.print_secret === true) return io.json === false ? print(io, secret) : printObject(io, { secret });
    const url = own.forward_to === undefined ? undefined : receiverAt(String(own.forward_to));
    // A recording is posted whole; else as the account's own webhook has it unless it asks for refills.
    const usual = url !== undefined && own.replay === undefined;
    const wanted = wantedKinds((own.events as string[] | undefined) ?? [usual ? DEFAULT_EVENTS : ALL]);
    const sales_only = usual && own.events === undefined;
    const onOpen = () => {
      say(io, url ? `forwarding ${[...(wanted ?? [ALL])].join(', ')} to ${url}` : 'listening; Ctrl-C ends');
      say(io, `secret ${secret}`);
    };
    const posts = { url, secret, wanted, sales_only };
    if (own.replay !== undefined) return replay(io, await recorded(String(own.replay), url), posts);
    for await (const event of followEvents(context, { after: own.after as string, signal, onOpen }))
      await post(io, event, posts);
  },
};

const wantedKinds = (kinds: readonly string[]): Set<string> | undefined =>
  kinds.includes(ALL) || kinds.includes('*') ? undefined : new Set(kinds);

interface Posts {
  /** Without it events are only printed. */
  url: string | undefined;
  secret: string;
  /** All of them by default. */
  wanted: Set<string> | undefined;
  sales_only: boolean;
}

/** Posts and prints an event that is wanted; whether the server took it, or had nothing to take. */
async function post(io: Io, event: GwEvent, { url, secret, wanted, sales_only }: Posts): Promise<boolean> {
  if (wanted && !wanted.has(event.type)) return true;
  if (sales_only && event.data.invoice?.kind === 'refill') return true;
  const delivery = url === undefined ? null : await deliver(event, url, secret);
  const members = { event, delivery };
  if (io.json === false) printDelivery(io, event, delivery);
  else printJsonLine(io, Array.isArray(io.json) ? pick(members, io.json, 'none') : members);
  return delivery === null || isTaken(delivery);
}

async function recorded(path: string, url: string | undefined): Promise<GwEvent[]> {
  if (url === undefined)
    throw usage('--replay needs a server', 'gw listen localhost:3000/hooks --replay FILE');
  const { eventsIn } = await import('../sandbox/fixture.ts');
  return eventsIn(path);
}

/** One after the other. Throws GwError where the server did not take all. */
async function replay(io: Io, events: readonly GwEvent[], posts: Posts): Promise<void> {
  say(io, `secret ${posts.secret}`);
  let refused = 0;
  for (const event of events) if (!(await post(io, event, posts))) refused += 1;
  if (refused > 0)
    throw new GwError(
      'general',
      refused === 1 ? 'one event was not taken' : `${refused} events were not taken`,
    );
}

const isTaken = ({ status }: Delivery): boolean => status !== null && status >= 200 && status < 300;

/** The profile's secret; made and stored the first time. */
async function listenSecret(context: Context): Promise<string> {
  const settings = await context.settings();
  const stored = settings.get('listen_secret')?.value;
  if (stored) return stored;
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  await settings.write({ listen_secret: secret });
  return secret;
}

export interface Delivery {
  url: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
}

/** The body and headers that the webhook of this event has, but for the secret. */
async function deliver(event: GwEvent, url: string, secret: string): Promise<Delivery> {
  const { type, timestamp, api_version, data } = event;
  const body = JSON.stringify({ type, timestamp, api_version, data });
  const message = { id: event.id, timestamp: Math.floor(Date.now() / 1000), body, secrets: [secret] };
  const started = performance.now();
  const spent = () => Math.round(performance.now() - started);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'gatewayd', ...webhookHeaders(message) },
      body,
      redirect: 'manual',
      signal: timeoutAfter(DELIVERY_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return { url, status: response.status, error: null, duration_ms: spent() };
  } catch (error) {
    const { message: why, cause } = error as Error & { cause?: { code?: string } };
    return { url, status: null, error: cause?.code ?? why, duration_ms: spent() };
  }
}

function printDelivery(io: Io, event: GwEvent, delivery: Delivery | null): void {
  const { invoice, payment } = event.data;
  const what = [
    event.timestamp,
    event.type,
    invoice?.external_ref ?? '',
    invoice ? `invoice ${shortId(invoice.id)}` : '',
    invoice
      ? coins(invoice.amount, invoice.currency)
      : payment
        ? coins(payment.received_amount, payment.currency)
        : '',
    event.id,
  ].filter((part) => part !== '');
  const line = what.map(clean).join('  ');
  if (!delivery) {
    print(io, line);
    return;
  }
  const ok = isTaken(delivery);
  const outcome =
    delivery.status === null ? `failed: ${clean(delivery.error ?? '')}` : String(delivery.status);
  print(io, `${line}  → ${paint(io, ok ? 'green' : 'red', outcome)}  ${delivery.duration_ms} ms`);
}
