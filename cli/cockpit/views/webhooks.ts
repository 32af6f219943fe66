// The attempts to deliver events to webhooks: of all accounts, or one's own, newest event first.
import { listAdminEvents } from '../../../src/api/endpoints/admin.ts';
import { listEvents } from '../../../src/api/endpoints/merchant.ts';
import { screenColor } from '../../output/status.ts';
import { relative, shortId } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import type { From, Page, Source } from '../rows.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { type AccountEvent, factsOf, orderOf, placeOf, resending, textOf } from './events.ts';

interface Delivery {
  event: AccountEvent;
  delivery: AccountEvent['deliveries'][number];
}

/** Pages of events without any delivery that are passed over at once. */
const MAX_EMPTY_PAGES = 5;

/** Attempts, latest first: all of each event, or the one that says whether someone still waits for it. */
const rowsOf = (events: readonly AccountEvent[], latest: boolean): Delivery[] =>
  events.flatMap((event) =>
    event.deliveries
      .toReversed()
      .slice(0, latest ? 1 : undefined)
      .map((delivery) => ({ event, delivery })),
  );

/** Events as rows of their deliveries; those that were never to be sent have none. */
const deliveries = (
  read: (page: { after: string | undefined; limit: number }) => Promise<{
    data: readonly AccountEvent[];
    has_more: boolean;
  }>,
  latest = false,
): Source<Delivery> => ({
  keyOf: ({ delivery }) => delivery.id,
  async read({ after: last, limit }: From<Delivery>): Promise<Page<Delivery>> {
    let after = last?.event.id;
    for (let pages = 1; ; pages += 1) {
      const { data, has_more } = await read({ after, limit });
      const rows = rowsOf(data, latest);
      if (rows.length > 0 || !has_more || pages === MAX_EMPTY_PAGES) return { rows, has_more };
      after = data.at(-1)?.id;
    }
  },
});

const hostOf = ({ delivery: { url } }: Delivery): string => (URL.canParse(url) ? new URL(url).host : url);

const columns: readonly Column<Delivery>[] = [
  {
    title: 'AGE',
    right: true,
    width: 8,
    value: ({ delivery }, now_s) => relative(delivery.created_at, now_s),
    by: ({ delivery }) => -delivery.created_at,
  },
  {
    title: 'STATUS',
    width: 9,
    value: ({ delivery }) => delivery.status,
    color: ({ delivery }) => screenColor(delivery.status),
  },
  { title: 'HTTP', right: true, width: 4, value: ({ delivery }) => String(delivery.http_status ?? '–') },
  { title: 'EVENT', rank: 4, width: 20, value: ({ event }) => event.type },
  {
    title: 'TOOK',
    right: true,
    rank: 7,
    width: 9,
    value: ({ delivery }) => (delivery.duration_ms === null ? '–' : `${delivery.duration_ms} ms`),
    by: ({ delivery }) => delivery.duration_ms ?? -1,
  },
  { title: 'TO', rank: 5, width: 32, value: hostOf },
  { title: 'KIND', rank: 8, width: 9, value: ({ delivery }) => delivery.kind },
  {
    title: 'INVOICE',
    rank: 6,
    width: 8,
    value: ({ event }) => (event.data.invoice ? shortId(event.data.invoice.id) : '–'),
  },
  { title: 'ERROR', rank: 9, width: 60, isText: true, value: ({ delivery }) => delivery.error ?? '' },
  { title: 'REFERENCE', extra: true, width: 32, value: ({ event }) => orderOf(event) },
];

const common = {
  name: 'webhooks',
  textOf: (row: Delivery) =>
    [
      textOf(row.event),
      row.delivery.status,
      row.delivery.http_status,
      row.delivery.error,
      row.delivery.url,
    ].join(' '),
  facts: (row: Delivery, now_s: number) => factsOf(row.event, now_s),
  open: (row: Delivery) => placeOf(row.event),
  copies: ({ event, delivery }: Delivery) => [
    { key: 'e', what: 'event id', text: event.id },
    { key: 'u', what: 'address', text: delivery.url },
    { key: 'i', what: 'invoice id', text: event.data.invoice?.id },
  ],
};

export const webhooks = (desk: Desk, { owner }: Place): ListSpec<Delivery> => ({
  ...common,
  choices: ['', 'undelivered'],
  source: (choice) => {
    const undelivered = choice === 'undelivered';
    return deliveries((page) => {
      // Of those that no one accepted the service lists the latest, without further pages.
      const after = undelivered ? undefined : page.after;
      const query = { ...page, after, undelivered, owner_id: owner?.id };
      return desk.context
        .call(listAdminEvents, { query })
        .then(({ data, has_more }) =>
          undelivered ? { data: page.after === undefined ? data : [], has_more: false } : { data, has_more },
        );
    }, undelivered);
  },
  columns: [
    ...columns.slice(0, 3),
    { title: 'MERCHANT', rank: 3, width: 20, value: ({ event }) => event.owner_slug ?? 'platform' },
    ...columns.slice(3),
  ],
  actions: resending(desk, ({ event }) => event),
  empty: 'no webhooks yet: merchants set an address with gw account update --webhook-url',
});

export const ownWebhooks = (desk: Desk): ListSpec<Delivery> => ({
  ...common,
  source: () =>
    deliveries((page) => desk.context.call(listEvents, { query: { ...page, order: 'newest' as const } })),
  columns,
  actions: resending(desk, ({ event }) => event),
  empty: 'no webhooks yet: gw account update --webhook-url sets an address',
});
