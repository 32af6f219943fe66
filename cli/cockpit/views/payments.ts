// The payments of the deployment: a list to filter, sort and act on.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listAdminPayments, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import { amountOf, coins, dollars } from '../../output/money.ts';
import { screenColor } from '../../output/status.ts';
import { moment, relative, SHORT_ID, shortId } from '../../output/value.ts';
import type { Action, ListSpec } from '../list.ts';
import type { Copy, Link } from '../menus.ts';
import { bySkip } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, optional } from './parts.ts';

export type Payment = CallReply<typeof listAdminPayments>['data'][number];

/** What waits for a person first. */
const STATUSES = [
  '',
  'held',
  'late',
  'unmatched',
  'orphaned',
  'dismissed',
  'created',
  'confirmed',
  'expired',
  'cancelled',
  'failed',
];

const columns: readonly Column<Payment>[] = [
  { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
  { title: 'STATUS', width: 9, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'PAYMENT',
    rank: 5,
    width: 10,
    value: (row) => (row.dismissed ? 'closed' : (row.payment_status ?? '–')),
    color: (row) => screenColor(row.payment_status),
  },
  {
    title: 'AMOUNT',
    right: true,
    rank: 2,
    width: 30,
    value: (row) => coins(amountOf(row), row.currency),
    by: (row) => byAmount(amountOf(row)),
  },
  {
    title: 'USD',
    right: true,
    rank: 3,
    width: 14,
    value: (row) => dollars(row.amount_usd),
    by: (row) => byAmount(row.amount_usd),
  },
  { title: 'MERCHANT', rank: 6, width: 20, value: (row) => row.owner_slug ?? 'platform' },
  {
    title: 'CREATED',
    right: true,
    rank: 4,
    width: 8,
    value: (row, now_s) => relative(row.created_at, now_s),
    by: (row) => -row.created_at,
  },
  { title: 'CHAIN', rank: 7, width: 14, value: (row) => row.chain },
  { title: 'REFERENCE', rank: 8, width: 40, value: (row) => row.external_ref ?? '' },
  { title: 'KIND', extra: true, width: 7, value: (row) => row.kind ?? '–' },
  { title: 'MEMO', extra: true, width: 16, value: (row) => row.memo ?? '–' },
  { title: 'TXID', extra: true, width: 64, value: (row) => row.txid ?? '–' },
];

export const paymentCopies = (
  row: Pick<Payment, 'id' | 'txid' | 'memo' | 'external_ref'>,
  address?: string,
): readonly Copy[] => [
  { key: 'i', what: 'id', text: row.id },
  { key: 't', what: 'txid', text: row.txid },
  { key: 'a', what: 'address', text: address },
  { key: 'm', what: 'memo', text: row.memo },
  { key: 'r', what: 'reference', text: row.external_ref },
];

export const paymentLinks = (
  desk: Desk,
  row: Pick<Payment, 'chain' | 'txid'> & { invoice_id?: string | null },
  invoice?: { pay_url: string; address: string } | null,
): readonly Link[] => [
  {
    key: 'p',
    what: 'page',
    url: invoice?.pay_url ?? (row.invoice_id ? desk.payPage(row.invoice_id) : undefined),
  },
  {
    key: 'e',
    what: 'explorer',
    url: row.txid === null ? undefined : desk.explorer(row.chain, 'transaction', row.txid),
  },
  {
    key: 'a',
    what: 'address in explorer',
    url: invoice ? desk.explorer(row.chain, 'address', invoice.address) : undefined,
  },
];

const resolving = (desk: Desk): readonly Action<Payment>[] =>
  (
    [
      ['r', 'recheck', false],
      ['x', 'expire', true],
      ['f', 'fail', true],
    ] as const
  ).map(([key, action, destroys]) => ({
    key,
    label: action,
    ...(destroys ? { destroys } : {}),
    refuses: (row) =>
      action === 'recheck' || (row.invoice_id !== null && row.status !== 'confirmed')
        ? undefined
        : 'it is no invoice that could end so',
    run: (row) => desk.context.call(resolvePayment, { params: { invoice_id: row.id }, body: { action } }),
  }));

export const payments = (
  desk: Desk,
  { owner, query: { skip: _skip, limit: _limit, status: _status, count: _count, ...asked } = {} }: Place,
): ListSpec<Payment> => ({
  name: 'payments',
  choices: STATUSES,
  source: (choice) =>
    bySkip(
      (row) => row.id,
      async (page) => {
        const query = {
          ...asked,
          ...page,
          ...(choice === '' ? {} : { status: choice }),
          ...(owner ? { owner_id: owner.id } : {}),
        };
        const { data, has_more } = await desk.context.call(listAdminPayments, { query });
        return { rows: data, has_more };
      },
    ),
  columns,
  textOf: (row) =>
    [
      ...[row.id, row.status, row.payment_status, row.chain, row.currency, row.owner_slug],
      ...[row.external_ref, row.memo, row.txid, row.amount, row.received_amount, row.amount_usd],
    ].join(' '),
  facts: (row, now_s) => [
    facts([
      ['id', row.id],
      ['status', row.status],
      ...optional('payment', row.payment_status),
      ['merchant', row.owner_slug ?? 'platform'],
      ['asked', coins(row.amount, row.currency)],
      ['received', coins(row.received_amount, row.currency)],
      ...optional('match', row.amount_match === 'none' ? null : row.amount_match),
      ['usd', dollars(row.amount_usd)],
      ['chain', row.chain],
      ['confirmations', String(row.confirmations)],
      ...optional('reference', row.external_ref),
      ...optional('memo', row.memo),
      ...optional('txid', row.txid),
      ...optional('closed', row.dismissed && `by ${row.dismissed.by}: ${row.dismissed.note}`),
      ...optional('could pay', row.candidates > 0 ? `${row.candidates} open invoices` : null),
      ['created', moment(row.created_at, now_s)],
      ...optional(
        'expires',
        row.status === 'created' && row.expires_at !== null ? moment(row.expires_at, now_s) : null,
      ),
      ...optional('paid', row.paid_at === null ? null : moment(row.paid_at, now_s)),
    ]),
  ],
  isWhole: true,
  open: (row) => ({ view: 'payment', id: row.id }),
  copies: (row) => paymentCopies(row),
  links: (row) => paymentLinks(desk, row),
  actions: resolving(desk),
  empty: 'no payments yet: the first comes with the first invoice',
});
