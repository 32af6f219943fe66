// Events: those of all accounts, or one's own, newest first.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listAdminEvents } from '../../../src/api/endpoints/admin.ts';
import { listEvents, resendEvent } from '../../../src/api/endpoints/merchant.ts';
import { amountOf, coins } from '../../output/money.ts';
import { screenColor } from '../../output/status.ts';
import { moment, relative, shortId } from '../../output/value.ts';
import type { Action, ListSpec } from '../list.ts';
import { byLast } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, listed, optional } from './parts.ts';

export type AnyEvent = CallReply<typeof listAdminEvents>['data'][number];
export type OwnEvent = CallReply<typeof listEvents>['data'][number];
export type AccountEvent = OwnEvent & { owner_slug?: string | null };

export const atOf = ({ timestamp }: OwnEvent): number => Math.floor(Date.parse(timestamp) / 1000);

/** What the type says without its noun: `confirmed`, for its colour. */
export const statusOf = ({ type }: OwnEvent): string => type.replace(/^.*\./, '');

const thingOf = ({ data }: OwnEvent) => data.payment ?? data.invoice;
const moneyOf = (event: OwnEvent): string => {
  const thing = thingOf(event);
  return thing ? coins(amountOf(thing), thing.currency) : '–';
};
export const lastOf = ({ deliveries }: OwnEvent) => deliveries.at(-1);
export const orderOf = ({ data }: OwnEvent): string => data.invoice?.external_ref ?? '';

/** Where the payment of an event is shown. */
export const placeOf = ({ data }: OwnEvent): Place | undefined => {
  const id = data.invoice?.id ?? data.payment?.id;
  return id === undefined ? undefined : { view: 'payment', id };
};

const columns: readonly Column<AccountEvent>[] = [
  {
    title: 'AGE',
    right: true,
    width: 8,
    value: (row, now_s) => relative(atOf(row), now_s),
    by: (row) => -atOf(row),
  },
  { title: 'TYPE', width: 20, value: (row) => row.type, color: (row) => screenColor(statusOf(row)) },
  {
    title: 'AMOUNT',
    right: true,
    rank: 2,
    width: 24,
    value: moneyOf,
    by: (row) => byAmount(thingOf(row)?.received_amount ?? thingOf(row)?.amount),
  },
  {
    title: 'INVOICE',
    rank: 5,
    width: 8,
    value: ({ data }) => (data.invoice ? shortId(data.invoice.id) : '–'),
  },
  {
    title: 'WEBHOOK',
    rank: 3,
    width: 10,
    value: (row) => lastOf(row)?.status ?? '–',
    color: (row) => screenColor(lastOf(row)?.status ?? null),
  },
  { title: 'REFERENCE', rank: 6, width: 32, value: orderOf },
  { title: 'ID', extra: true, width: 36, value: (row) => row.id },
];

export const factsOf = (row: AccountEvent, now_s: number) => [
  facts([
    ['event', row.type],
    ['id', row.id],
    ['at', moment(atOf(row), now_s)],
    ...optional('merchant', row.owner_slug),
    ...optional('invoice', row.data.invoice?.id),
    ...optional('status', row.data.invoice?.status),
    ...optional('reference', orderOf(row)),
    ['amount', moneyOf(row)],
    ...optional('payment', row.data.payment?.id),
    ...optional('txid', row.data.payment?.txid ?? row.data.invoice?.txid),
  ]),
  listed(
    'deliveries',
    row.deliveries.map(
      (each) =>
        `${moment(each.finished_at ?? each.created_at, now_s)}  ${each.kind}  ${each.status}  ${each.http_status ?? ''}  ${each.error ?? ''}  ${each.url}`,
    ),
  ),
];

export const textOf = (row: AccountEvent): string =>
  [
    ...[row.id, row.type, row.owner_slug, row.data.invoice?.id, orderOf(row), moneyOf(row)],
    ...[row.data.invoice?.txid, row.data.invoice?.memo, lastOf(row)?.status, lastOf(row)?.url],
  ].join(' ');

const copies = (row: AccountEvent) => [
  { key: 'e', what: 'event id', text: row.id },
  { key: 'i', what: 'invoice id', text: row.data.invoice?.id },
  { key: 't', what: 'txid', text: row.data.invoice?.txid },
  { key: 'a', what: 'address', text: row.data.invoice?.address },
];

const links = (desk: Desk) => (row: AccountEvent) => {
  const { invoice } = row.data;
  const txid = invoice?.txid ?? row.data.payment?.txid;
  const chain = invoice?.chain ?? row.data.payment?.chain;
  return [
    { key: 'p', what: 'page', url: invoice?.pay_url },
    {
      key: 'e',
      what: 'explorer',
      url: txid && chain ? desk.explorer(chain, 'transaction', txid) : undefined,
    },
  ];
};

/** Sends events again to their receiver. */
export const resending = <Row>(desk: Desk, eventOf: (row: Row) => OwnEvent): readonly Action<Row>[] => [
  {
    key: 'r',
    label: 'resend',
    run: async (row) => {
      const { id } = eventOf(row);
      const reply = await desk.context.call(resendEvent, { params: { event_id: id } });
      const last = reply.deliveries.at(-1);
      if (last && last.status !== 'delivered')
        throw new Error(`not accepted: ${last.error ?? last.http_status ?? last.status}`);
    },
  },
];

const common = (desk: Desk) => ({
  name: 'events',
  textOf,
  facts: factsOf,
  open: placeOf,
  copies,
  links: links(desk),
  empty: 'no events yet: the first comes with the first invoice',
});

export const events = (desk: Desk, { owner }: Place): ListSpec<AnyEvent> => ({
  ...common(desk),
  source: () =>
    byLast(
      (row) => row.id,
      async ({ after, limit }) => {
        const query = { after: after?.id, limit, owner_id: owner?.id };
        const { data, has_more } = await desk.context.call(listAdminEvents, { query });
        return { rows: data, has_more };
      },
    ),
  columns: [
    ...columns.slice(0, 3),
    { title: 'MERCHANT', rank: 4, width: 20, value: (row) => row.owner_slug ?? 'platform' },
    ...columns.slice(3),
  ],
  actions: resending(desk, (row) => row),
});

export const ownEvents = (desk: Desk): ListSpec<OwnEvent> => ({
  ...common(desk),
  source: () =>
    byLast(
      (row) => row.id,
      async ({ after, limit }) => {
        const query = { order: 'newest' as const, after: after?.id, limit };
        const { data, has_more } = await desk.context.call(listEvents, { query });
        return { rows: data, has_more };
      },
    ),
  columns,
  actions: resending(desk, (row) => row),
});
