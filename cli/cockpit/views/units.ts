// Units: those of all merchants, or one's own.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listAdminUnits } from '../../../src/api/endpoints/admin.ts';
import { listUnits, updateUnit } from '../../../src/api/endpoints/units.ts';
import { dollars } from '../../output/money.ts';
import { moment, relative, SHORT_ID, shortId } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { byLast, whole } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, optional } from './parts.ts';

type AnyUnit = CallReply<typeof listAdminUnits>['data'][number];
type OwnUnit = CallReply<typeof listUnits>['units'][number];
type Unit = Pick<
  AnyUnit,
  | 'id'
  | 'slug'
  | 'title'
  | 'description'
  | 'amount_usd'
  | 'currencies'
  | 'wait_seconds'
  | 'active'
  | 'listed'
  | 'page_url'
  | 'created_at'
  | 'updated_at'
>;

const columns: readonly Column<Unit>[] = [
  { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
  { title: 'TITLE', width: 40, isText: true, value: (row) => row.title },
  {
    title: 'USD',
    right: true,
    width: 14,
    value: (row) => dollars(row.amount_usd),
    by: (row) => byAmount(row.amount_usd),
  },
  {
    title: 'ACTIVE',
    width: 6,
    value: (row) => (row.active ? 'yes' : 'no'),
    color: (row) => (row.active ? 'green' : 'gray'),
  },
  { title: 'CURRENCIES', rank: 6, width: 24, value: (row) => row.currencies.join(', ') },
  {
    title: 'CHANGED',
    right: true,
    rank: 5,
    width: 8,
    value: (row, now_s) => relative(row.updated_at, now_s),
    by: (row) => -row.updated_at,
  },
  { title: 'PAGE', rank: 7, width: 80, value: (row) => row.page_url },
];

const factsOf = (row: Unit, now_s: number, more: [string, string][] = []) => [
  facts([
    ['title', row.title],
    ['id', row.id],
    ...more,
    ['price', dollars(row.amount_usd)],
    ['active', row.active ? 'yes' : 'no'],
    ['listed', row.listed ? 'yes' : 'no'],
    ['currencies', row.currencies.join(', ')],
    ['waits', `${row.wait_seconds} s`],
    ...optional('description', row.description),
    ['page', row.page_url],
    ['created', moment(row.created_at, now_s)],
    ['changed', moment(row.updated_at, now_s)],
  ]),
];

const common = {
  name: 'units',
  copies: (row: Unit) => [
    { key: 'i', what: 'id', text: row.id },
    { key: 'p', what: 'page', text: row.page_url },
  ],
  links: (row: Unit) => [{ key: 'p', what: 'page', url: row.page_url }],
};

export const units = (desk: Desk, { owner }: Place): ListSpec<AnyUnit> => ({
  ...common,
  source: () =>
    byLast(
      (row) => row.id,
      async ({ after, limit }) => {
        const query = { after: after?.id, limit, owner_id: owner?.id };
        const { data, has_more } = await desk.context.call(listAdminUnits, { query });
        return { rows: data, has_more };
      },
    ),
  columns: [
    ...columns.slice(0, 2),
    { title: 'MERCHANT', rank: 4, width: 24, value: (row) => row.owner_slug },
    ...columns.slice(2),
  ],
  textOf: (row) => [row.id, row.title, row.owner_slug, row.slug, row.amount_usd, row.currencies].join(' '),
  facts: (row, now_s) => factsOf(row, now_s, [['merchant', row.owner_slug]]),
  empty: 'no units yet: merchants make them with gw unit create',
});

export const ownUnits = (desk: Desk): ListSpec<OwnUnit> => ({
  ...common,
  source: () =>
    whole(
      (row) => row.id,
      async () => (await desk.context.call(listUnits)).units,
    ),
  columns,
  textOf: (row) => [row.id, row.title, row.slug, row.amount_usd, row.currencies].join(' '),
  facts: (row, now_s) => factsOf(row, now_s, [...optional('coins now', row.chains.join(', '))]),
  actions: [
    {
      key: 'x',
      label: 'switch on or off',
      run: (row) =>
        desk.context.call(updateUnit, { params: { unit_id: row.id }, body: { active: !row.active } }),
    },
  ],
  empty: 'no units yet: gw unit create makes one',
});
