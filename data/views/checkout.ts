// What checkout pages show and follow, each in one statement.
import { sql } from 'kysely';
import type { AmountMatch, InvoiceStatus, PaymentStatus } from '../../src/invoice.ts';
import type { MerchantProfile } from '../../src/shop.ts';
import type { Executor } from '../db/database.ts';
import { lookup } from '../db/prepared.ts';
import { STATE, stateOf } from '../invoices.ts';
import { toJson } from '../schema/json.ts';
import type { InvoiceRow } from '../schema/tables.ts';

/** An invoice with whom it pays and for what. */
export interface CheckoutRow extends InvoiceRow {
  payment_status: PaymentStatus | null;
  payment_received: string | null;
  payment_txid: string | null;
  merchant_slug: string | null;
  merchant_name: string | null;
  profile: MerchantProfile | null;
  unit_title: string | null;
  unit_description: string | null;
  unit_language: string | null;
  /** Null where the unit was deleted. */
  unit_slug: string | null;
}

/** An invoice with its main payment, its merchant and its unit. */
const joined = (query: Executor) =>
  query
    .selectFrom('invoices')
    .leftJoin('payments', (join) =>
      // Not bound: a lookup takes nothing but the values of its caller.
      join.onRef('payments.invoice_id', '=', 'invoices.id').on('payments.main', '=', sql.lit(1)),
    )
    .leftJoin('merchants', 'merchants.id', 'invoices.owner_id')
    .leftJoin('users', 'users.id', 'invoices.owner_id')
    .leftJoin('units', 'units.id', 'invoices.unit_id');

/** Columns that may change while an invoice is shown, besides those of the invoice itself. */
const OTHERS = [
  'payments.status as payment_status',
  'payments.received_atomic as payment_received',
  'payments.txid as payment_txid',
  'merchants.slug as merchant_slug',
  'users.full_name as merchant_name',
  'merchants.profile as profile',
  'units.title as unit_title',
  'units.description as unit_description',
  'units.language as unit_language',
  'units.slug as unit_slug',
] as const;
type Other<Column> = Column extends `${string} as ${infer Name}` ? Name : never;
const others = OTHERS.map((column) => {
  const [from, name] = column.split(' as ') as [string, Other<(typeof OTHERS)[number]>];
  return { from, name };
});

export const checkoutRow = lookup((query, id: string) =>
  joined(query).selectAll('invoices').select(OTHERS).where('invoices.id', '=', id),
);

/** What may change of that row, as one text: equal for equal contents. */
export const checkoutState = lookup((query, id: string) =>
  joined(query)
    .select(
      sql<string>`${STATE} || ${sql.join(
        others.map(({ from }) => sql`' ' || coalesce(${sql.ref(from)}, '-')`),
        sql` || `,
      )}`.as('state'),
    )
    .where('invoices.id', '=', id),
);

/** The same of a row. */
export const checkoutStateOf = (row: CheckoutRow): string =>
  [stateOf(row), ...others.map(({ name }) => textOf(row[name]))].join(' ');

/** As it is stored: JSON is written by `toJson` alone, so that the same value has the same text. */
const textOf = (value: string | MerchantProfile | null): string =>
  typeof value === 'object' && value !== null ? toJson(value) : (value ?? '-');

/** What can change of an invoice while its buyer watches. */
export interface LiveRow {
  id: string;
  blockchain: string;
  status: InvoiceStatus;
  amount_match: AmountMatch;
  received_atomic: string | null;
  decimals: number;
  confirmations: number;
  min_confirmations: number;
  txid: string | null;
  expires_at: number;
  ended_at: number | null;
  payment_status: PaymentStatus | null;
}

export function liveRows(query: Executor, ids: readonly string[]): Promise<LiveRow[]> {
  return query
    .selectFrom('invoices')
    .leftJoin('payments', (join) =>
      join.onRef('payments.invoice_id', '=', 'invoices.id').on('payments.main', '=', 1),
    )
    .select([
      'invoices.id',
      'invoices.blockchain',
      'invoices.status',
      'invoices.amount_match',
      'invoices.received_atomic',
      'invoices.decimals',
      'invoices.confirmations',
      'invoices.min_confirmations',
      'invoices.txid',
      'invoices.expires_at',
      'invoices.ended_at',
      'payments.status as payment_status',
    ])
    .where('invoices.id', 'in', ids)
    .execute();
}

/** The position of the latest event; 0 where there is none. */
export async function lastEventSeq(query: Executor): Promise<number> {
  const row = await query
    .selectFrom('events')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

export interface Change {
  seq: number;
  invoice_id: string | null;
}

/** Which invoices have events with higher numbers than this, oldest first. Lower numbers may still commit later. */
export function changesAfter(query: Executor, after_seq: number, limit: number): Promise<Change[]> {
  return query
    .selectFrom('events')
    .select(['seq', 'invoice_id'])
    .where('seq', '>', after_seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Those of these events that are committed by now. */
export async function changesAt(query: Executor, seqs: readonly number[]): Promise<Change[]> {
  if (seqs.length === 0) return [];
  return query.selectFrom('events').select(['seq', 'invoice_id']).where('seq', 'in', seqs).execute();
}
