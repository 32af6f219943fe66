// A merchant's own payments: his invoices, and one with what was seen for it.
import type { CallReply } from '../../../src/api/client/call.ts';
import { cancelInvoice, getInvoicePayment } from '../../../src/api/endpoints/buyer.ts';
import {
  checkInvoice,
  getInvoice,
  listInvoices,
  simulateInvoice,
} from '../../../src/api/endpoints/invoices.ts';
import type { Section } from '../../output/card.ts';
import { type Invoice, invoiceCard } from '../../output/invoice-card.ts';
import { coins, dollars } from '../../output/money.ts';
import { screenColor, statusStep } from '../../output/status.ts';
import { moment, relative, SHORT_ID, shortId } from '../../output/value.ts';
import type { DetailSpec } from '../detail.ts';
import type { Action, ListSpec } from '../list.ts';
import { byLast } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk, Place } from '../view.ts';
import { byAmount, listed } from './parts.ts';
import { paymentCopies, paymentLinks } from './payments.ts';

type Seen = CallReply<typeof getInvoicePayment>;

const STATUSES = ['', 'created', 'confirmed', 'expired', 'cancelled', 'failed'] as const;

const columns: readonly Column<Invoice>[] = [
  { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
  { title: 'STATUS', width: 9, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'AMOUNT',
    right: true,
    rank: 2,
    width: 30,
    value: (row) => coins(row.amount, row.currency),
    by: (row) => byAmount(row.amount),
  },
  {
    title: 'USD',
    right: true,
    rank: 3,
    width: 14,
    value: (row) => dollars(row.amount_usd),
    by: (row) => byAmount(row.amount_usd),
  },
  {
    title: 'RECEIVED',
    right: true,
    rank: 7,
    width: 24,
    value: (row) => coins(row.received_amount ?? null, row.currency),
    by: (row) => byAmount(row.received_amount),
  },
  {
    title: 'CREATED',
    right: true,
    rank: 4,
    width: 8,
    value: (row, now_s) => relative(row.created_at, now_s),
    by: (row) => -row.created_at,
  },
  { title: 'CHAIN', rank: 6, width: 14, value: (row) => row.chain },
  { title: 'REFERENCE', rank: 5, width: 40, value: (row) => row.external_ref ?? '' },
  { title: 'MEMO', extra: true, width: 16, value: (row) => row.memo ?? '–' },
  { title: 'TXID', extra: true, width: 64, value: (row) => row.txid ?? '–' },
];

const ended = (row: Invoice): string | undefined =>
  row.status === 'created' ? undefined : `it is ${row.status}`;

/** What a merchant can do with one of his invoices, or with all that are marked. */
const actions = (desk: Desk): readonly Action<Invoice>[] => [
  {
    key: 'r',
    label: 'check',
    refuses: ended,
    run: (row) => desk.context.call(checkInvoice, { params: { invoice_id: row.id } }),
  },
  {
    key: 'x',
    label: 'cancel',
    destroys: true,
    refuses: ended,
    run: (row) => desk.context.call(cancelInvoice, { params: { invoice_id: row.id } }),
  },
  {
    key: 'p',
    label: 'simulate',
    refuses: ended,
    run: (row) => desk.context.call(simulateInvoice, { params: { invoice_id: row.id } }),
  },
];

export const invoices = (desk: Desk): ListSpec<Invoice> => ({
  name: 'payments',
  choices: STATUSES,
  source: (choice) =>
    byLast(
      (row) => row.id,
      async ({ after, limit }) => {
        const status = STATUSES.find((one) => one === choice && one !== '');
        const query = { after: after?.id, limit, ...(status ? { status } : {}) };
        const { data, has_more } = await desk.context.call(listInvoices, { query });
        return { rows: data, has_more };
      },
    ),
  columns,
  textOf: (row) =>
    [
      ...[row.id, row.status, row.chain, row.currency, row.external_ref, row.memo, row.txid],
      ...[row.amount, row.received_amount, row.amount_usd, row.title],
    ].join(' '),
  facts: (row, now_s) => invoiceCard(row, now_s).sections,
  isWhole: true,
  open: (row) => ({ view: 'payment', id: row.id }),
  copies: (row) => paymentCopies(row, row.address),
  links: (row) => paymentLinks(desk, row, row),
  actions: actions(desk),
  empty: 'no payments yet: gw invoice create makes the first invoice',
});

interface Whole {
  invoice: Invoice;
  seen: Seen;
}

const logsOf = ({ seen }: Whole, now_s: number): Section =>
  listed(
    'log',
    seen.logs.map(
      (log) =>
        `${moment(log.created_at, now_s)}  ${statusStep(log.from_status, log.to_status)}  ${log.note ?? ''}`,
    ),
  );

export function invoiceDetail(desk: Desk, { id = '' }: Place): DetailSpec<Whole> {
  const { context } = desk;
  const params = { invoice_id: id };
  return {
    title: `payment ${shortId(id)}`,
    load: async () => {
      const [invoice, seen] = await Promise.all([
        context.call(getInvoice, { params }),
        context.call(getInvoicePayment, { params }),
      ]);
      return { invoice, seen };
    },
    headline: ({ invoice, seen }, now_s) => {
      const { headline, status } = invoiceCard(invoice, now_s);
      const money = seen.payment?.status;
      // That it is held or late is what a merchant opens it for.
      return money === undefined || money === invoice.status
        ? { text: headline, status }
        : { text: `${headline}   payment ${money}`, status: money };
    },
    sections: (data, now_s) => [...invoiceCard(data.invoice, now_s).sections, logsOf(data, now_s)],
    copies: ({ invoice }) => paymentCopies(invoice, invoice.address),
    links: ({ invoice }) => paymentLinks(desk, invoice, invoice),
    actions: actions(desk).map(({ key, label, destroys, refuses, run }) => ({
      key,
      label,
      writes: true as const,
      run: ({ invoice }: Whole, again: () => void) => {
        const why = refuses?.(invoice);
        if (why !== undefined) return desk.say(`${label}: ${why}`, 'bad');
        desk.confirm(`${label} ${shortId(id)}`, destroys ? shortId(id) : undefined, async () => {
          await run(invoice);
          again();
          return `${label}: done`;
        });
      },
    })),
  };
}
