// What happened to an invoice or a payment, moment by moment, as who asks may read it.
import type { z } from 'zod';
import type { ListedClaim } from '../../data/claims.ts';
import type {
  DeliveryRow,
  EventRow,
  InvoiceRow,
  LedgerRow,
  PaymentLogRow,
  TransferRow,
} from '../../data/schema/tables.ts';
import type { ExplainStory } from '../../src/api/schemas/explain.ts';
import { namesAnId } from '../../src/explain.ts';
import { formatDecimal, formatUsd } from '../../src/money.ts';
import { presentPublicLog } from '../invoices/present.ts';

export type Moment = z.output<typeof ExplainStory>['moments'][number];

export interface Asset {
  currency: string;
  decimals: number;
}

export const coins = (atomic: string, { currency, decimals }: Asset): string =>
  `${formatDecimal(BigInt(atomic), decimals)} ${currency}`;

/** In time; those of one second in the order in which they are given. */
export const inTime = (moments: readonly Moment[]): Moment[] =>
  [...moments].sort((one, other) => one.at - other.at);

const moment = (at: number, kind: Moment['kind'], text: string, by: string | null = null): Moment => ({
  at,
  kind,
  text,
  by,
});

/** `offers` as `everyOffer` returns them: it was made with the one that it asked for first. None without an invoice. */
export function ofInvoice(offers: readonly InvoiceRow[]): Moment[] {
  const since = ({ offered_at, created_at }: InvoiceRow): number => offered_at ?? created_at;
  const [invoice] = offers.toSorted((one, other) => since(one) - since(other));
  if (!invoice) return [];
  const asked = `${coins(invoice.amount_atomic, invoice)} on ${invoice.chain}`;
  const order = invoice.external_ref === null ? '' : ` for ${invoice.external_ref}`;
  return [
    moment(
      invoice.created_at,
      'made',
      `${invoice.kind === 'refill' ? 'refill' : 'invoice'} made${order}: ${asked}, $${formatUsd(invoice.amount_usd_micros)}`,
    ),
  ];
}

const arrivals: Record<TransferRow['disposition'], string> = {
  matched: 'seen on the chain',
  late: 'seen on the chain, after the end',
  unmatched: 'seen on the chain, naming no open invoice',
};

/** Each in its own coin, which is one of these; the first is for those that are of none. */
export const ofTransfers = (
  rows: readonly TransferRow[],
  assets: readonly (Asset & { chain: string })[],
  readsAll: boolean,
): Moment[] =>
  rows.flatMap((row) => {
    const asset = assets.find(({ chain }) => chain === row.chain) ?? assets[0];
    if (!asset) return [];
    const memo = row.memo === null ? '' : `, memo ${row.memo}`;
    const gone = row.state === 'gone' ? ', gone since' : '';
    const why = readsAll && row.ambiguous !== null ? ` (${row.ambiguous})` : '';
    return moment(
      row.first_seen_at,
      'seen',
      `${coins(row.amount_atomic, asset)} ${arrivals[row.disposition]}${why}${memo}${gone}: ${row.txid}`,
    );
  });

const words: Partial<Record<PaymentLogRow['to_status'], string>> = {
  detected: 'seen, not confirmed yet',
  confirming: 'in a block, waits for confirmations',
  held: 'held: the prepaid limit does not cover it',
  late: 'late: the invoice had ended',
  unmatched: 'names no open invoice',
  orphaned: 'its transaction left the chain',
};

/** Who is no operator reads neither which of them acted, nor a note that names what may be another's. */
export const ofLogs = (rows: readonly PaymentLogRow[], readsAll: boolean): Moment[] =>
  rows.map((row) => {
    // What the merchant wrote is his own to read.
    const isOwn = row.actor.startsWith('merchant:');
    const { note, to_status } = readsAll || isOwn ? row : presentPublicLog(row);
    const { actor } = readsAll ? row : presentPublicLog(row);
    const shown = note === null || (!readsAll && !isOwn && namesAnId(note)) ? '' : ` (${note})`;
    const kind = to_status === 'confirmed' ? 'booked' : 'status';
    const status = `${words[to_status as PaymentLogRow['to_status']] ?? to_status}${shown}`;
    // Where nothing has moved, its note is all there is.
    const isNote = row.from_status === to_status && shown !== '';
    return moment(row.created_at, kind, isNote ? (note ?? '') : status, actor);
  });

export const ofClaims = (rows: readonly ListedClaim[], readsAll: boolean): Moment[] =>
  rows.map((row) =>
    moment(
      row.updated_at,
      'claim',
      `a payer says to have paid${readsAll ? ` invoice ${row.invoice_id}` : ''}: ${row.found.replaceAll('_', ' ')}${row.times > 1 ? `, ${row.times} times` : ''}`,
      'buyer',
    ),
  );

export const ofLedger = (rows: readonly LedgerRow[]): Moment[] =>
  rows.map((row) =>
    moment(
      row.created_at,
      'booked',
      `${row.kind.replaceAll('_', ' ')} $${formatUsd(row.amount_micros)}, prepaid balance $${formatUsd(row.balance_micros)}`,
    ),
  );

/** How an attempt went. */
export const outcomeOf = ({ status, http_status, error }: DeliveryRow): string =>
  http_status !== null ? `HTTP ${http_status}` : (error ?? status);

export const ofDeliveries = (rows: readonly DeliveryRow[], events: readonly EventRow[]): Moment[] =>
  rows.map((row) => {
    const type = events.find(({ id }) => id === row.event_id)?.type ?? 'event';
    const again = row.kind === 'manual' ? ' again' : '';
    return moment(
      row.finished_at ?? row.created_at,
      'webhook',
      `webhook ${type} sent${again} to ${row.host}: ${row.status}${row.status === 'delivered' || row.http_status !== null || row.error !== null ? `, ${outcomeOf(row)}` : ''}`,
    );
  });

/** That it waits for a time that has not come. */
export const ofEnd = (invoice: InvoiceRow): Moment[] =>
  invoice.status === 'created' ? [moment(invoice.expires_at, 'end', 'it expires, if nothing is seen')] : [];
