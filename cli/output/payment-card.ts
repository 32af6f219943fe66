// Everything about an invoice or a payment, for the operator: on the command line and on the screen.
import type { CallReply } from '../../src/api/client/call.ts';
import type { getAdminPayment } from '../../src/api/endpoints/admin.ts';
import { ranked, type Score, SLIP } from '../../src/candidates.ts';
import { formatDecimal, parseDecimal } from '../../src/money.ts';
import type { Card, Section } from './card.ts';
import { rowsBefore } from './invoice-card.ts';
import { amountOf, coins, deep, dollars } from './money.ts';
import { statusStep } from './status.ts';
import { actorName, moment, relative, shortId } from './value.ts';

export type PaymentDetail = CallReply<typeof getAdminPayment>;
type Candidate = PaymentDetail['candidates'][number];

/** Candidates that the service names at most: there may be more. */
const CANDIDATES_NAMED = 20;
/** No coin has more. */
const DECIMALS = 18;

/** By how much an amount differs: `exact`, `+0.1`, `-0.5`. */
function difference(asked: string, received: string | null): string {
  const [one, other] = [parseDecimal(asked, DECIMALS), parseDecimal(received ?? '', DECIMALS)];
  if (one === undefined || other === undefined || one === null || other === null) return '';
  const more = other - one;
  return more === 0n ? 'exact' : `${more > 0n ? '+' : ''}${formatDecimal(more, DECIMALS)}`;
}

/** The invoices that an unmatched payment may mean, scored, the likeliest first. */
export const rankedCandidates = ({ payment, transfers, candidates }: PaymentDetail): (Candidate & Score)[] =>
  ranked(candidates, {
    amount: payment.received_amount,
    memo: transfers[0]?.memo ?? null,
    at: transfers[0]?.first_seen_at ?? payment.created_at,
  });

/** An invoice that an unmatched payment may mean: how near it is in amount and time, and whether its payer claims the payment. */
export const candidateLine = (
  open: Pick<Candidate, 'id'> & {
    amount: string | null;
    currency: string | null;
    created_at: number | null;
    /** Its order. */
    external_ref?: string | null;
    about?: string | null;
    amount_usd?: string;
    memo_distance?: Score['memo_distance'];
  },
  {
    payment,
    claims,
  }: {
    payment: Pick<PaymentDetail['payment'], 'received_amount'>;
    claims: readonly Pick<PaymentDetail['claims'][number], 'invoice_id'>[];
  },
  now_s: number,
): string =>
  [
    shortId(open.id),
    coins(open.amount, open.currency ?? ''),
    `(${difference(open.amount ?? '', payment.received_amount)})`,
    open.amount_usd === undefined ? '' : dollars(open.amount_usd),
    open.created_at === null ? '' : `made ${relative(open.created_at, now_s)}`,
    open.external_ref ?? open.about ?? '',
    open.memo_distance != null && open.memo_distance <= SLIP
      ? open.memo_distance === 0
        ? 'same memo'
        : `memo ${open.memo_distance} off`
      : '',
    claims.some(({ invoice_id }) => invoice_id === open.id) ? 'the payer claims it' : '',
  ]
    .filter(Boolean)
    .join('  ');

/** What a payment of an inbox could mean, a line each. */
export function meantBy({
  amount,
  candidates,
}: {
  amount: string | null;
  candidates: readonly (Parameters<typeof candidateLine>[0] & { claimed: boolean })[];
}): string[] {
  const now_s = Math.floor(Date.now() / 1000);
  return candidates.map((open) =>
    candidateLine(
      open,
      { payment: { received_amount: amount }, claims: open.claimed ? [{ invoice_id: open.id }] : [] },
      now_s,
    ),
  );
}

export const candidatesTitle = (count: number): string =>
  count === 0
    ? ''
    : `could pay (${count >= CANDIDATES_NAMED ? `the nearest ${count}, there may be more` : `all ${count}`})`;

export function paymentCard(detail: PaymentDetail, now_s: number): Card {
  const { payment } = detail;
  const seen =
    payment.payment_status === null || payment.payment_status === payment.status
      ? ''
      : `, payment ${payment.payment_status}`;
  const closed = payment.dismissed ? ', closed' : '';
  return {
    headline: `${payment.status}${seen}${closed}   ${coins(amountOf(payment), payment.currency)}${payment.amount_usd === null ? '' : `   ${dollars(payment.amount_usd)}`}`,
    status: payment.payment_status ?? payment.status,
    sections: [
      { title: '', rows: factsOf(detail, now_s) },
      { title: 'asked for before', rows: rowsBefore(detail.invoice ?? {}, now_s) },
      ...listsOf(detail, now_s),
    ],
  };
}

/** `by operator:1234…, 2m ago: sent back by hand`. */
const closedLine = (
  { by, at, note }: NonNullable<PaymentDetail['payment']['dismissed']>,
  now_s: number,
): string => `by ${actorName(by)}, ${moment(at, now_s)}${note === null ? '' : `: ${note}`}`;

function factsOf({ payment, invoice, transfers }: PaymentDetail, now_s: number): Section['rows'] {
  const isOpen = payment.status === 'created';
  const optional = (label: string, text: string | null | undefined): [string, string][] =>
    text === null || text === undefined || text === '' ? [] : [[label, text]];
  const received =
    payment.received_amount === null ? 'nothing' : coins(payment.received_amount, payment.currency);
  const match = payment.amount_match === 'none' ? '' : `   ${payment.amount_match}`;
  return [
    ['id', payment.id],
    ['merchant', `${payment.owner_slug ?? 'platform'}   ${payment.kind ?? 'no invoice'}   ${payment.chain}`],
    ...optional('order', payment.external_ref),
    ['received', `${received}${match}   ${deep(payment.confirmations)}`],
    ...optional('invoice', payment.invoice_id === payment.id ? null : payment.invoice_id),
    ...optional('address', invoice?.address),
    ...optional('memo', invoice?.memo ?? transfers[0]?.memo),
    ...optional('txid', payment.txid),
    ['created', moment(payment.created_at, now_s)],
    ...optional('closed', payment.dismissed && closedLine(payment.dismissed, now_s)),
    ...optional('expires', isOpen && payment.expires_at !== null ? moment(payment.expires_at, now_s) : null),
    ...optional('paid', payment.paid_at === null ? null : moment(payment.paid_at, now_s)),
  ];
}

function listsOf(detail: PaymentDetail, now_s: number): Section[] {
  const { payment, payments, candidates, claims, transfers, logs, ledger: bookings, income, events } = detail;
  const list = (title: string, texts: readonly string[]): Section => ({
    title,
    rows: texts.map((text) => ['', text]),
  });
  const parts = (...texts: (string | null | undefined)[]) => texts.filter(Boolean).join('  ');
  return [
    list(
      candidatesTitle(candidates.length),
      candidates.map((open) => candidateLine(open, detail, now_s)),
    ),
    list(
      'claimed by payers, which proves nothing',
      claims.map((claim) =>
        parts(
          `for invoice ${shortId(claim.invoice_id)}`,
          claim.external_ref,
          claim.found.replace('_', ' '),
          claim.reason?.replace('_', ' '),
          moment(claim.updated_at, now_s),
          claim.times > 1 ? `${claim.times} times` : '',
        ),
      ),
    ),
    // The one that the facts show is no other.
    list(
      'other payments',
      payments
        .filter(({ id }) => id !== payment.payment_id)
        .map((other) =>
          parts(shortId(other.id), other.status, coins(other.received_amount, other.currency), other.txid),
        ),
    ),
    list(
      'transfers',
      transfers.map((one) =>
        parts(
          coins(one.amount, one.currency),
          one.state,
          one.disposition,
          one.memo && `memo ${one.memo}`,
          one.ambiguous,
          one.txid,
        ),
      ),
    ),
    list(
      'log',
      logs.map((log) =>
        parts(
          moment(log.created_at, now_s),
          statusStep(log.from_status, log.to_status),
          actorName(log.actor),
          log.note,
        ),
      ),
    ),
    list(
      'ledger',
      bookings.map((entry) =>
        parts(
          `#${entry.seq}`,
          entry.kind,
          dollars(entry.amount_usd),
          `balance ${dollars(entry.balance_usd)}`,
          entry.note,
        ),
      ),
    ),
    list(
      'income',
      income === null
        ? []
        : [
            parts(
              coins(income.amount, income.currency),
              `fee ${dollars(income.fee_charged)}`,
              `webhook ${income.webhook_status}`,
            ),
          ],
    ),
    list(
      'events',
      events.map((event) =>
        parts(
          event.timestamp.slice(0, 19).replace('T', ' '),
          event.type,
          event.deliveries
            .map(({ status, http_status, error }) =>
              parts(status, http_status === null ? null : String(http_status), error),
            )
            .join(', '),
        ),
      ),
    ),
  ];
}
