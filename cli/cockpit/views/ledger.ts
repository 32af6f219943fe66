// The bookings on prepaid balances: of all, of one merchant, or one's own.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listLedger } from '../../../src/api/endpoints/merchant.ts';
import { dollars } from '../../output/money.ts';
import { actorName, moment, relative, shortId } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { byLast } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, optional } from './parts.ts';

type Entry = CallReply<typeof listLedger>['data'][number];

const isDebit = ({ amount_usd }: Entry): boolean => amount_usd.startsWith('-');

const columns: readonly Column<Entry>[] = [
  {
    title: 'AGE',
    right: true,
    width: 8,
    value: (row, now_s) => relative(row.created_at, now_s),
    by: (row) => -row.created_at,
  },
  { title: 'KIND', width: 11, value: (row) => row.kind },
  {
    title: 'AMOUNT',
    right: true,
    width: 16,
    value: (row) => dollars(row.amount_usd),
    by: (row) => byAmount(row.amount_usd),
    color: (row) => (isDebit(row) ? 'yellow' : 'green'),
  },
  {
    title: 'BALANCE',
    right: true,
    width: 16,
    value: (row) => dollars(row.balance_usd),
    by: (row) => byAmount(row.balance_usd),
  },
  { title: 'INVOICE', rank: 5, width: 8, value: (row) => (row.invoice_id ? shortId(row.invoice_id) : '–') },
  { title: 'ACTOR', rank: 7, width: 20, value: (row) => actorName(row.actor) },
  { title: '#', right: true, rank: 8, width: 9, value: (row) => String(row.seq), by: (row) => row.seq },
  { title: 'NOTE', rank: 6, width: 40, isText: true, value: (row) => row.note ?? '' },
];

export const ledger = (desk: Desk, { owner }: Place): ListSpec<Entry> => ({
  name: 'ledger',
  source: () =>
    byLast(
      (row) => row.id,
      async ({ after, limit }) => {
        const query = { after: after?.id, limit, owner_id: owner?.id, own: desk.who === 'merchant' };
        const { data, has_more } = await desk.context.call(listLedger, { query });
        return { rows: data, has_more };
      },
    ),
  columns:
    desk.who === 'merchant'
      ? columns
      : [
          ...columns.slice(0, 2),
          { title: 'MERCHANT', rank: 4, width: 24, value: (row) => row.owner_slug ?? '–' },
          ...columns.slice(2),
        ],
  textOf: (row) =>
    [
      row.id,
      row.kind,
      row.owner_slug,
      row.amount_usd,
      row.balance_usd,
      row.invoice_id,
      row.note,
      row.actor,
    ].join(' '),
  facts: (row, now_s) => [
    facts([
      ['entry', `#${row.seq} of ${row.owner_slug ?? '–'}`],
      ['id', row.id],
      ['kind', row.kind],
      ['amount', dollars(row.amount_usd)],
      ['balance', dollars(row.balance_usd)],
      ...optional('invoice', row.invoice_id),
      ...optional('note', row.note),
      ['by', row.actor],
      ['at', moment(row.created_at, now_s)],
      ['hash', row.hash],
    ]),
  ],
  open: (row) => (row.invoice_id === null ? undefined : { view: 'payment', id: row.invoice_id }),
  copies: (row) => [
    { key: 'i', what: 'invoice id', text: row.invoice_id },
    { key: 'e', what: 'entry id', text: row.id },
    { key: 'h', what: 'hash', text: row.hash },
  ],
  empty: 'no bookings yet: the first refill or fee makes one',
});
