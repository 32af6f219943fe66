// What the dashboard shows, made of what the service answers: of the deployment, or of an account.
import type { CallReply } from '../../src/api/client/call.ts';
import { getAdminDashboard, listAdminEvents } from '../../src/api/endpoints/admin.ts';
import { listInbox, listInvoices } from '../../src/api/endpoints/invoices.ts';
import { getFigures, listEvents } from '../../src/api/endpoints/merchant.ts';
import { GwError } from '../engine/errors.ts';
import { coins, dollars } from '../output/money.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { pad, padLeft } from '../output/width.ts';
import { sparkline } from './sparkline.ts';
import type { Desk, Place } from './view.ts';
import { type AccountEvent, atOf, orderOf, placeOf, statusOf } from './views/events.ts';
import { byAmount } from './views/parts.ts';

/** Something that is shown, and where enter leads from it. */
export interface Item {
  /** What it is known by, whatever it says. */
  name: string;
  text: string;
  color?: string | undefined;
  place?: Place | undefined;
}

export interface Board {
  about: string;
  sections: readonly { label: string; items: readonly Item[]; note?: string }[];
  tape_title: string;
  tape: readonly Item[];
}

type Figures = CallReply<typeof getFigures>;
type Admin = CallReply<typeof getAdminDashboard>;

/** What happened last: enough for the tallest screen. */
const TAPE = 60;
const COUNTED_MOST = 10_000;
/** Sums of periods stand below each other up to this many cells. */
const PERIOD = 15;

export const loadBoard = (desk: Desk): Promise<Board> =>
  desk.who === 'operator' ? adminBoard(desk) : ownBoard(desk);

const fact = (name: string, text: string, color?: string): Item => ({ name, text, color });

const counted = (name: string, count: number, place: Place, color?: string): Item => ({
  name: `${place.view} ${name}`,
  text: `${name.replaceAll('_', ' ')} ${count}`,
  color,
  place,
});

/** The trend of 30 days: bars, and what they come to. */
function trend({ days }: Figures, today?: string): Board['sections'] {
  const volumes = days.map(({ volume_usd }) => byAmount(volume_usd));
  const sales = days.map((day) => day.sales);
  const highest = days[volumes.reduce((most, value, at) => (value > (volumes[most] ?? 0n) ? at : most), 0)];
  const total = sales.reduce((sum, each) => sum + each, 0);
  const best =
    highest && byAmount(highest.volume_usd) > 0n
      ? `most ${dollars(highest.volume_usd)} on ${highest.day}`
      : 'no sales in 30 days';
  return [
    {
      label: 'sales',
      items: [fact('sales trend', sparkline(sales.map(BigInt)), 'cyan')],
      note: `${total} in 30 days, today ${sales.at(-1) ?? 0}`,
    },
    {
      label: 'volume',
      items: [fact('volume trend', sparkline(volumes), 'green')],
      note: today === undefined ? best : `${best}, today ${today}`,
    },
  ];
}

function invoicesOf(counts: Figures['invoices'], is_bounded: boolean): Board['sections'][number] {
  return {
    label: 'invoices',
    items: Object.entries(counts).map(([status, count]) => {
      const item = counted(status, count, { view: 'payments', choice: status }, screenColor(status));
      return is_bounded && count >= COUNTED_MOST ? { ...item, text: `${item.text}+` } : item;
    }),
  };
}

async function adminBoard(desk: Desk): Promise<Board> {
  const { call } = desk.context;
  const [admin, figures, events] = await Promise.all([
    call(getAdminDashboard),
    call(getFigures),
    call(listAdminEvents, { query: { limit: TAPE } }),
  ]);
  const period = (label: string, name: string, sums: Admin['fees_usd']) => ({
    label,
    items: Object.entries(sums).map(([of, usd]) =>
      fact(`${name} ${of}`, pad(`${of} ${dollars(usd)}`, PERIOD)),
    ),
  });
  return {
    about: `version ${admin.version}   ${admin.users} users   prepaid ${dollars(admin.prepaid_usd)}`,
    sections: [
      ...trend(figures),
      period('', 'volume', admin.volume_usd),
      period('fees', 'fees', admin.fees_usd),
      period('refills', 'refills', admin.refills_usd),
      invoicesOf(admin.invoices, false),
      waiting(admin),
      ...warnings(admin),
      {
        label: 'accounts',
        items: [
          counted('merchants', admin.merchants, { view: 'merchants' }),
          counted('units', admin.units, { view: 'units' }),
        ],
      },
      observersOf(admin),
      ratesOf(admin),
      nearLimit(admin),
    ],
    tape_title: 'what happens',
    tape: events.data.map(tapeItem),
  };
}

/** What waits for a person, by the name of its count. */
const queues: Readonly<Record<keyof Admin['attention'], Place>> = {
  held: { view: 'payments', choice: 'held' },
  late: { view: 'payments', choice: 'late' },
  unmatched: { view: 'payments', choice: 'unmatched' },
  orphaned: { view: 'payments', choice: 'orphaned' },
  webhooks_failed: { view: 'webhooks', choice: 'undelivered' },
  webhooks_unknown: { view: 'webhooks', choice: 'undelivered' },
  contradictions: { view: 'contradictions' },
  accounts_behind: { view: 'observers' },
  unreadable_assets: { view: 'observers' },
};

function waiting({ attention }: Admin): Board['sections'][number] {
  const items = Object.entries(attention).flatMap(([name, count]) =>
    count > 0 ? [counted(name, count, queues[name as keyof typeof queues], 'yellow')] : [],
  );
  return {
    label: 'waiting',
    items: items.length > 0 ? items : [fact('nothing', 'nothing needs attention', 'green')],
  };
}

/** What makes figures wrong or keeps buyers from paying: the most pressing of all. */
function warnings(admin: Admin): Board['sections'] {
  const { observers, generated_at, demo_mode, clock, shared_addresses } = admin;
  const blind = observers.filter(({ unavailable_since }) => unavailable_since !== null);
  const what = demo_mode ? 'simulate only' : 'new invoices are refused';
  return [
    ...(blind.length === 0
      ? []
      : [
          {
            label: 'blind',
            items: blind.map(
              ({ blockchain, unavailable_since }): Item => ({
                name: `blind ${blockchain}`,
                text: `${blockchain} (${relative(unavailable_since ?? 0, generated_at)})`,
                color: 'red',
                place: { view: 'observers', id: blockchain },
              }),
            ),
            note: what,
          },
        ]),
    ...(clock.message === null ? [] : [{ label: 'clock', items: [fact('clock', clock.message, 'red')] }]),
    ...(shared_addresses === 0
      ? []
      : [
          {
            label: 'shared',
            items: [counted('addresses', shared_addresses, { view: 'observers' })],
            note: 'used by several accounts',
          },
        ]),
  ];
}

const observersOf = ({ observers }: Admin) => ({
  label: 'observers',
  items: observers.map(
    ({ blockchain, status, lag_seconds }): Item => ({
      name: `observer ${blockchain}`,
      text: `${blockchain} ${status}${lag_seconds === null ? '' : ` ${lag_seconds}s`}`,
      color: screenColor(status),
      place: { view: 'observers', id: blockchain },
    }),
  ),
});

function ratesOf({ rates }: Admin): Board['sections'][number] {
  const bad = rates.currencies.filter(({ stale, usd }) => stale || usd === null).length;
  return {
    label: 'rates',
    items: [
      {
        name: 'rates',
        text: `${rates.source}, ${rates.currencies.length - bad} of ${rates.currencies.length} fresh`,
        color: bad > 0 ? 'yellow' : undefined,
        place: { view: 'rates' },
      },
    ],
  };
}

const nearLimit = ({ near_limit: { merchants, count, below_usd } }: Admin) => ({
  label: 'near limit',
  items:
    count === 0
      ? [fact('near', `no merchant is below ${dollars(below_usd)}`)]
      : merchants.map(
          ({ user_id, slug, limit_of_payments }): Item => ({
            name: `near ${user_id}`,
            text: `${slug} ${dollars(limit_of_payments)}`,
            color: 'yellow',
            place: { view: 'merchant', id: user_id },
          }),
        ),
  note: count > merchants.length ? `and ${count - merchants.length} more` : '',
});

function tapeItem(event: AccountEvent): Item {
  const { invoice, payment } = event.data;
  const money = invoice
    ? coins(invoice.amount, invoice.currency)
    : payment
      ? coins(payment.received_amount, payment.currency)
      : '';
  const parts = [
    new Date(atOf(event) * 1000).toISOString().slice(11, 19),
    pad(event.type, 18),
    padLeft(money, 16),
    event.owner_slug ?? '',
    orderOf(event),
  ];
  return {
    name: event.id,
    text: clean(parts.filter(Boolean).join('  ')),
    color: screenColor(statusOf(event)),
    place: placeOf(event) ?? { view: 'events', id: event.id },
  };
}

async function ownBoard(desk: Desk): Promise<Board> {
  const { call } = desk.context;
  const [figures, inbox, tape] = await Promise.all([
    call(getFigures, { query: { own: true } }),
    call(listInbox),
    ownTape(desk),
  ]);
  const kinds = [...new Set(inbox.data.map(({ kind }) => kind))];
  const waiting = kinds.map((kind) => {
    const count = inbox.data.filter((item) => item.kind === kind).length;
    return counted(kind, count, { view: 'inbox', filter: kind }, kind === 'blind' ? 'red' : 'yellow');
  });
  const { limit_of_payments: limit } = figures;
  const isUsedUp = limit !== null && byAmount(limit) <= 0n;
  return {
    about: limit === null ? 'no limit' : `limit ${dollars(limit)}`,
    sections: [
      ...trend(figures, dollars(figures.days.at(-1)?.volume_usd ?? '0')),
      invoicesOf(figures.invoices, true),
      {
        label: 'waiting',
        items: waiting.length > 0 ? waiting : [fact('nothing', 'nothing needs attention', 'green')],
        note: inbox.has_more ? 'and more' : '',
      },
      {
        label: 'limit',
        items: [
          {
            name: 'limit',
            text: limit === null ? 'none' : `${dollars(limit)} can still be confirmed`,
            color: isUsedUp ? 'red' : undefined,
            place: { view: 'ledger' },
          },
        ],
        note: isUsedUp ? 'gw refill create raises it' : '',
      },
    ],
    ...tape,
  };
}

/** What happened last; with a key alone, which events are not for, the latest invoices. */
async function ownTape({ context: { call } }: Desk): Promise<Pick<Board, 'tape' | 'tape_title'>> {
  try {
    const { data } = await call(listEvents, { query: { order: 'newest', limit: TAPE } });
    return { tape_title: 'what happens', tape: data.map(tapeItem) };
  } catch (failure) {
    if (!(failure instanceof GwError) || failure.details.code !== 'not_signed_in') throw failure;
    const { data } = await call(listInvoices, { query: { limit: TAPE } });
    return {
      tape_title: 'latest invoices',
      tape: data.map((row) => ({
        name: row.id,
        text: clean(
          [
            new Date(row.created_at * 1000).toISOString().slice(11, 19),
            pad(row.status, 10),
            padLeft(coins(row.amount, row.currency), 16),
            row.external_ref ?? '',
          ].join('  '),
        ),
        color: screenColor(row.status),
        place: { view: 'payment', id: row.id },
      })),
    };
  }
}
