// An invoice for a person: what to send where, next to its QR code.

import type { CallReply } from '../../src/api/client/call.ts';
import type { getInvoicePayment, getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import { type Explorer, explorerOfGateway } from '../../src/chains/explorers.ts';
import type { Card } from './card.ts';
import { type Io, paint, print, terminalWidth } from './io.ts';
import { coins, deep, dollars } from './money.ts';
import { fittingQr, tint } from './qr.ts';
import { statusStep } from './status.ts';
import { clean } from './text.ts';
import { moment, relative } from './value.ts';
import { pad, shorten, widthOf } from './width.ts';

export type Invoice = CallReply<typeof getPublicInvoice>;

const GAP = '  ';
const FALLBACK_ROWS = 24;
/** Narrower than this, the text stands above the code instead of next to it. */
const MIN_SIDE_BY_SIDE = 30;

/** Label and value of what a payer must know; a long value is cut into lines of `room` cells. */
export function invoiceFacts(invoice: Invoice, room: number, now_s: number): [string, string][] {
  const facts: [string, string][] = [
    ['status', invoice.status],
    ['send', coins(invoice.amount, invoice.currency)],
    ['chain', invoice.chain],
    ['worth', dollars(invoice.amount_usd)],
    ['to', invoice.address],
    ...(invoice.memo === null ? [] : ([['memo', `${invoice.memo}  (required)`]] as [string, string][])),
    ...(invoice.status === 'created'
      ? ([['expires', relative(invoice.expires_at, now_s)]] as [string, string][])
      : []),
    ...(invoice.external_ref
      ? ([['ref', shorten(clean(invoice.external_ref), room)]] as [string, string][])
      : []),
    ...(invoice.txid ? ([['txid', invoice.txid]] as [string, string][]) : []),
    ['id', invoice.id],
    ['page', invoice.pay_url],
  ];
  return facts.flatMap(([label, value]) =>
    pieces(clean(value), room).map((piece, index): [string, string] => [index === 0 ? label : '', piece]),
  );
}

/** What to know about a code that wallets read no amount from; null where the code holds the whole payment. */
export const codeNote = ({ qr_payload, address, amount, currency, chain }: Invoice): string | null =>
  qr_payload === address
    ? `The code holds only the address: send ${amount} ${currency} on ${chain}, chosen in the wallet.`
    : null;

const pieces = (text: string, room: number): string[] =>
  widthOf(text) <= room ? [text] : (text.match(new RegExp(`.{1,${Math.max(8, room)}}`, 'gu')) ?? [text]);

/** An invoice that was made before: what became of it first, then what it asked for. */
export function invoiceCard(invoice: Invoice, now_s: number): Card {
  const { status, amount, currency, amount_usd, received_amount, amount_match, confirmations } = invoice;
  const optional = (label: string, text: string | null): [string, string][] =>
    text === null || text === '' ? [] : [[label, text]];
  const isOpen = status === 'created';
  const received =
    received_amount === null
      ? null
      : `${coins(received_amount, currency)}   ${amount_match}   ${deep(confirmations)}`;
  const explorer = explorerOfGateway(invoice.chain, invoice.network);
  return {
    headline: `${status}   ${coins(amount, currency)}   ${dollars(amount_usd)}`,
    status,
    sections: [
      {
        title: '',
        rows: [
          ['id', invoice.id],
          ...optional('order', invoice.external_ref),
          ['chain', `${invoice.chain}, ${invoice.network}`],
          ...optional('received', received),
          [
            'address',
            invoice.address,
            explorer?.address.replace('{id}', encodeURIComponent(invoice.address)),
          ],
          ...optional(
            'memo',
            invoice.memo === null ? null : `${invoice.memo}${isOpen ? '  (required)' : ''}`,
          ),
          ...(invoice.txid === null
            ? []
            : [['txid', invoice.txid, explorer && transactionPage(explorer, invoice.txid)] as const]),
          ['created', moment(invoice.created_at, now_s)],
          ...optional('expires', isOpen ? moment(invoice.expires_at, now_s) : null),
          ...optional('paid', invoice.paid_at === null ? null : moment(invoice.paid_at, now_s)),
          ['page', invoice.pay_url],
        ],
      },
      { title: 'asked for before', rows: rowsBefore(invoice, now_s) },
      { title: 'pay with', rows: isOpen ? Object.entries(invoice.exits) : [] },
    ],
  };
}

/** What was simulated is on no chain. */
const transactionPage = ({ transaction }: Explorer, txid: string): string | undefined =>
  txid.startsWith('simulated-') ? undefined : transaction.replace('{id}', encodeURIComponent(txid));

/** What it asked for in other coins, which counts as well until the end. */
export const rowsBefore = (
  { asked_before = [] }: Pick<Invoice, 'asked_before'>,
  now_s: number,
): [string, string][] =>
  asked_before.map(({ chain, currency, amount, from, until, reserved }) => [
    chain,
    `${coins(amount, currency)}   from ${moment(from, now_s)} until ${moment(until, now_s)}${reserved ? '   reserved' : ''}`,
  ]);

/** What has come for an invoice, and its log. */
export function receivedCard({ payment, logs }: CallReply<typeof getInvoicePayment>, now_s: number): Card {
  const log: [string, string][] = logs.map(({ created_at, from_status, to_status, note }) => [
    '',
    [moment(created_at, now_s), statusStep(from_status, to_status), note ?? ''].filter(Boolean).join('  '),
  ]);
  if (payment === null)
    return { headline: 'nothing has come yet', status: '', sections: [{ title: 'log', rows: log }] };
  const { status, currency, amount, amount_match, confirmations, min_confirmations } = payment;
  const asked = amount === null ? '' : ` of ${coins(amount, currency)}   ${amount_match}`;
  return {
    headline: `${status}   ${coins(payment.received_amount, currency)}${asked}`,
    status,
    sections: [
      {
        title: '',
        rows: [
          ['id', payment.id],
          ['chain', payment.chain],
          ['depth', `${confirmations} of ${min_confirmations} confirmations`],
          ...(payment.txid === null ? [] : [['txid', payment.txid] as [string, string]]),
          ['seen', moment(payment.created_at, now_s)],
        ],
      },
      { title: 'log', rows: log },
    ],
  };
}

const LABEL = 8;
const PAGE_NOTE =
  'The code opens the payment page: a code of the whole payment is too large for this window.';

/** Prints the card; with the code next to it where the terminal is wide enough, below it otherwise. */
export async function printInvoice(io: Io, invoice: Invoice, options: { qr: boolean }): Promise<void> {
  const columns = terminalWidth(io) - 1;
  const rows = io.stdout.rows || FALLBACK_ROWS;
  const none = { lines: [] as string[], encodes: 'none' as const };
  const code = options.qr
    ? await fittingQr({ payload: invoice.qr_payload, page_url: invoice.pay_url }, { columns, rows })
    : none;
  const width = code.lines[0]?.length ?? 0;
  const remaining = columns - width - GAP.length;
  const isSideBySide = width > 0 && remaining >= MIN_SIDE_BY_SIDE;
  const room = (isSideBySide ? remaining : columns) - LABEL;
  const text = invoiceFacts(invoice, room, Math.floor(Date.now() / 1000)).map(
    ([label, value]) => paint(io, 'dim', pad(label, LABEL)) + value,
  );
  const note = code.encodes === 'page' ? PAGE_NOTE : code.encodes === 'payload' ? codeNote(invoice) : null;
  if (note !== null) text.push('', ...pieces(note, room + LABEL));
  if (!isSideBySide) {
    for (const line of text) print(io, line);
    for (const line of code.lines) print(io, tint(io, line));
    return;
  }
  const height = Math.max(text.length, code.lines.length);
  for (let index = 0; index < height; index += 1) {
    const left = code.lines[index];
    print(io, `${left === undefined ? ' '.repeat(width) : tint(io, left)}${GAP}${text[index] ?? ''}`);
  }
}
