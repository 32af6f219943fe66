// All that waits for a person, longest first: the operator's queue, or a merchant's own.
import { listInbox } from '../../../src/api/endpoints/invoices.ts';
import { inboxOf } from '../../journeys/admin/inbox.ts';
import { shortCommand } from '../../output/explain-card.ts';
import { coins } from '../../output/money.ts';
import { meantBy } from '../../output/payment-card.ts';
import { screenColor } from '../../output/status.ts';
import { moment, relative, shortId } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { whole } from '../source.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, facts, listed, optional } from './parts.ts';

interface Waiting {
  kind: string;
  id: string | null;
  amount: string | null;
  currency: string | null;
  merchant: string | null;
  about: string;
  created_at: number | null;
  /** What it may mean. */
  meant: readonly string[];
  next: readonly string[];
}

async function read({ context, who }: Desk): Promise<readonly Waiting[]> {
  if (who === 'operator') {
    // Next to the list stands the payment, with all that it may mean.
    const { data } = await inboxOf(context, 0);
    return data.map((item) => ({ ...item, meant: [], next: [item.next] }));
  }
  const { data } = await context.call(listInbox);
  return data.map(({ next, external_ref, about, ...item }) => ({
    ...item,
    merchant: null,
    about: [external_ref && `order ${external_ref}`, about].filter(Boolean).join(': '),
    meant: meantBy(item),
    next: next.map(({ command }) => command),
  }));
}

/** Where what waits is dealt with. */
function placeOf({ kind, id }: Waiting, { who }: Desk): Place | undefined {
  if (kind === 'contradiction') return { view: 'contradictions', ...(id === null ? {} : { id }) };
  if (kind === 'blind') return { view: who === 'operator' ? 'observers' : 'gateways' };
  if (kind === 'webhook')
    return who === 'operator'
      ? { view: 'webhooks', choice: 'undelivered' }
      : { view: 'events', ...(id === null ? {} : { id }) };
  if (id === null) return undefined;
  // A payment that came besides, or names no invoice, is no invoice of the merchant.
  const is_story = who === 'merchant' && kind !== 'held';
  return { view: is_story ? 'story' : 'payment', id };
}

export const inbox = (desk: Desk): ListSpec<Waiting> => ({
  name: 'inbox',
  source: () =>
    whole(
      (row) => `${row.kind} ${row.id ?? row.next[0] ?? row.about}`,
      () => read(desk),
    ),
  columns: [
    { title: 'KIND', width: 13, value: (row) => row.kind, color: (row) => screenColor(row.kind) ?? 'yellow' },
    { title: 'ID', rank: 3, width: 8, value: (row) => (row.id === null ? '–' : shortId(row.id)) },
    {
      title: 'AMOUNT',
      right: true,
      rank: 2,
      width: 24,
      value: (row) => coins(row.amount, row.currency ?? ''),
      by: (row) => byAmount(row.amount),
    },
    {
      title: 'SINCE',
      right: true,
      rank: 4,
      width: 8,
      value: (row, now_s) => (row.created_at === null ? '–' : relative(row.created_at, now_s)),
      by: (row) => row.created_at ?? 0,
    },
    ...(desk.who === 'operator'
      ? [{ title: 'MERCHANT', rank: 6, width: 20, value: (row: Waiting) => row.merchant ?? '–' }]
      : []),
    { title: 'ABOUT', rank: 5, width: 60, isText: true, value: (row) => row.about },
    { title: 'NEXT', rank: 7, width: 60, value: (row) => shortCommand(row.next[0] ?? '') },
  ],
  textOf: (row) => [row.kind, row.id, row.amount, row.currency, row.merchant, row.about].join(' '),
  facts: (row, now_s) => [
    facts([
      ['waits', row.kind],
      ...optional('id', row.id),
      ...optional('amount', row.amount === null ? null : coins(row.amount, row.currency ?? '')),
      ...optional('merchant', row.merchant),
      ['about', row.about],
      ...optional('since', row.created_at === null ? null : moment(row.created_at, now_s)),
    ]),
    listed('could be', row.meant),
    listed('next', row.next.map(shortCommand)),
  ],
  open: (row) => placeOf(row, desk),
  copies: (row) => [
    { key: 'i', what: 'id', text: row.id },
    { key: 'n', what: 'command', text: row.next[0] },
  ],
  empty: 'nothing waits for you',
});
