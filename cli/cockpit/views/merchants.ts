// The merchants of the deployment, and one with what belongs to it.

import type { CallReply } from '../../../src/api/client/call.ts';
import { creditMerchant, getAdminMerchant, listAdminMerchants } from '../../../src/api/endpoints/admin.ts';
import { cleanText } from '../../../src/clean.ts';
import { amountOf, coins, dollars } from '../../output/money.ts';
import { moment, relative, SHORT_ID, shortId } from '../../output/value.ts';
import type { DetailSpec } from '../detail.ts';
import type { ListSpec } from '../list.ts';
import type { Copy } from '../menus.ts';
import { bySkip } from '../source.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, listed, optional } from './parts.ts';

type Merchant = CallReply<typeof listAdminMerchants>['data'][number];
type MerchantDetail = CallReply<typeof getAdminMerchant>;

const AMOUNT = /^\d+(\.\d{1,6})?$/;

const factsOf = (row: Merchant, now_s: number) =>
  facts([
    ['slug', row.slug],
    ['email', row.email],
    ['user id', row.user_id],
    ...optional('name', row.full_name),
    ['active', row.is_active ? 'yes' : 'no'],
    ...optional('house', row.house ? 'yes: neither limit nor fee' : null),
    ['prepaid', dollars(row.prepaid_usd)],
    ['limit', row.house ? 'none' : dollars(row.limit_of_payments)],
    ['confirmed', `${dollars(row.confirmed_usd)}   ${row.confirmed_invoices} of ${row.invoices} invoices`],
    ['fees', dollars(row.fees_usd)],
    ['units', String(row.units)],
    ['wallets', row.wallets.join(', ') || 'none'],
    ['created', moment(row.created_at, now_s)],
    ...optional('last invoice', row.last_invoice_at === null ? null : moment(row.last_invoice_at, now_s)),
  ]);

const copiesOf = (row: Merchant): readonly Copy[] => [
  { key: 'i', what: 'user id', text: row.user_id },
  { key: 's', what: 'slug', text: row.slug },
  { key: 'm', what: 'mail address', text: row.email },
];

export const merchants = (desk: Desk): ListSpec<Merchant> => ({
  name: 'merchants',
  source: () =>
    bySkip(
      (row) => row.user_id,
      async ({ skip, limit }) => {
        const { data, count } = await desk.context.call(listAdminMerchants, { query: { skip, limit } });
        return { rows: data, has_more: skip + data.length < count && data.length > 0 };
      },
    ),
  columns: [
    { title: 'SLUG', width: 24, value: (row) => row.slug },
    {
      title: 'LIMIT',
      right: true,
      rank: 2,
      width: 16,
      value: (row) => (row.house ? 'house' : dollars(row.limit_of_payments)),
      by: (row) => byAmount(row.limit_of_payments),
    },
    {
      title: 'PREPAID',
      right: true,
      rank: 5,
      width: 14,
      value: (row) => dollars(row.prepaid_usd),
      by: (row) => byAmount(row.prepaid_usd),
    },
    {
      title: 'CONFIRMED',
      right: true,
      rank: 3,
      width: 16,
      value: (row) => dollars(row.confirmed_usd),
      by: (row) => byAmount(row.confirmed_usd),
    },
    {
      title: 'INVOICES',
      right: true,
      rank: 4,
      width: 9,
      value: (row) => String(row.invoices),
      by: (row) => row.invoices,
    },
    {
      title: 'LAST',
      right: true,
      rank: 6,
      width: 8,
      value: (row, now_s) => (row.last_invoice_at === null ? '–' : relative(row.last_invoice_at, now_s)),
      by: (row) => -(row.last_invoice_at ?? 0),
    },
    { title: 'UNITS', right: true, width: 5, value: (row) => String(row.units), by: (row) => row.units },
    { title: 'EMAIL', width: 32, value: (row) => row.email },
    { title: 'WALLETS', width: 30, value: (row) => row.wallets.join(', ') || 'none' },
    {
      title: 'ACTIVE',
      width: 6,
      value: (row) => (row.is_active ? 'yes' : 'no'),
      color: (row) => (row.is_active ? undefined : 'red'),
    },
    { title: 'ID', extra: true, width: SHORT_ID, value: (row) => shortId(row.user_id) },
  ],
  textOf: (row) => [row.slug, row.email, row.full_name, row.user_id, row.wallets.join(' ')].join(' '),
  facts: (row, now_s) => [factsOf(row, now_s)],
  isWhole: true,
  open: (row) => ({ view: 'merchant', id: row.user_id }),
  copies: copiesOf,
  empty: 'no merchants yet: gw signup makes the first',
});

export function merchantDetail(desk: Desk, { id = '' }: Place): DetailSpec<MerchantDetail> {
  const ownerOf = ({ merchant }: MerchantDetail) => ({ id: merchant.user_id, name: merchant.slug });
  const lists = ['payments', 'units', 'events', 'ledger', 'webhooks'] as const;
  return {
    title: `merchant ${shortId(id)}`,
    load: () => desk.context.call(getAdminMerchant, { params: { user_id: id } }),
    headline: ({ merchant }) => ({
      text: `${merchant.slug}   ${merchant.house ? 'house' : dollars(merchant.limit_of_payments)}`,
      status: merchant.is_active ? 'ok' : 'failed',
    }),
    sections: ({ ledger: bookings, ...data }, now_s) => [
      factsOf(data.merchant, now_s),
      facts([
        ...optional('webhook', data.webhook_url),
        ...optional('currencies', data.enabled_currencies?.join(', ')),
      ]),
      listed(
        'balances',
        data.balances.map(({ currency, amount }) =>
          currency === 'USD' ? `prepaid ${dollars(amount)}` : coins(amount, currency),
        ),
      ),
      facts(
        data.wallets.map((wallet) => [wallet.blockchain, wallet.address]),
        'wallets',
      ),
      listed(
        'units',
        data.units.map((unit) => `${dollars(unit.amount_usd)}  ${unit.title}${unit.active ? '' : '  off'}`),
      ),
      listed(
        'latest bookings',
        bookings.map(
          (entry) =>
            `${moment(entry.created_at, now_s)}  ${entry.kind}  ${dollars(entry.amount_usd)}  balance ${dollars(entry.balance_usd)}  ${entry.note ?? ''}`,
        ),
      ),
      listed(
        'latest payments',
        data.payments.map(
          (row) =>
            `${shortId(row.id)}  ${row.status}  ${coins(amountOf(row), row.currency)}  ${relative(row.created_at, now_s)}  ${row.external_ref ?? ''}`,
        ),
      ),
    ],
    copies: ({ merchant }) => copiesOf(merchant),
    actions: [
      ...lists.map((view) => ({
        key: view.slice(0, 1),
        label: view,
        run: (data: MerchantDetail) => desk.go({ view, owner: ownerOf(data) }),
      })),
      {
        key: 'c',
        label: 'credit',
        writes: true,
        run: (data: MerchantDetail, again: () => void) => askCredit(desk, data, again),
      },
    ],
  };
}

/** No crypto moves: prepaid balance by hand, after the slug was typed. */
function askCredit(desk: Desk, { merchant }: MerchantDetail, again: () => void): void {
  desk.ask({
    label: `credit ${merchant.slug} how many USD of prepaid balance: `,
    onDone: (typed) => {
      const prepaid_usd = cleanText(typed).replace(/^\$/, '');
      if (!AMOUNT.test(prepaid_usd)) return desk.say('that is no amount; nothing was done', 'bad');
      desk.confirm(`credit ${dollars(prepaid_usd)} to ${merchant.slug}`, merchant.slug, async () => {
        const params = { user_id: merchant.user_id };
        const reply = await desk.context.call(creditMerchant, { params, body: { prepaid_usd } });
        again();
        return `prepaid ${dollars(reply.prepaid_usd)}, limit ${dollars(reply.limit_of_payments)}`;
      });
    },
  });
}
