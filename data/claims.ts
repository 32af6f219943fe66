// What payers say that they have paid: one row for each transaction that is named for an invoice, with what was found last.
import { type Insertable, sql } from 'kysely';
import type { InvoiceStatus } from '../src/invoice.ts';
import type { Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import type { ClaimRow, Tables } from './schema/tables.ts';
import { COUNT_LIMIT, countRows, type Total } from './totals.ts';

/** Transactions that are stored as named for one invoice: further ones that are not found are not. */
export const CLAIMS_PER_INVOICE = 20;
/** Most claims that the detail of one payment shows. */
const CLAIMS_SHOWN = 20;

export type NewClaim = Omit<Insertable<Tables['claims']>, 'id' | 'times' | 'created_at' | 'updated_at'>;

/**
 * Stores a claim, or what became of it; returns the payment that it named before, undefined where it is new. Of
 * those of one invoice that found nothing, the oldest make room; null where there is none for it.
 */
export async function putClaim(
  tx: Tx,
  claim: NewClaim,
  now: number,
): Promise<{ before: string | null | undefined } | null> {
  const { invoice_id, txid, owner_id: _, ...values } = claim;
  const rows = await tx
    .selectFrom('claims')
    .select(['id', 'txid', 'found', 'payment_id'])
    .where('invoice_id', '=', invoice_id)
    .orderBy('id')
    .execute();
  const known = rows.find((row) => row.txid === txid);
  if (!known && rows.length >= CLAIMS_PER_INVOICE) {
    const oldest = rows.find(({ found }) => found === 'not_found');
    if (!oldest) return null;
    await tx.deleteFrom('claims').where('id', '=', oldest.id).execute();
  }
  await tx
    .insertInto('claims')
    .values({ ...claim, id: newId(), times: 1, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['invoice_id', 'txid'])
        .doUpdateSet((row) => ({ ...values, times: row('claims.times', '+', 1), updated_at: now })),
    )
    .execute();
  return { before: known?.payment_id };
}

/** A claim with what its reader knows of its invoice. */
export interface ListedClaim extends ClaimRow {
  invoice_status: InvoiceStatus;
  external_ref: string | null;
  owner_slug: string | null;
  /** Whose list the payment stands in; null without one, and where it is the operator's alone. */
  payment_owner_id: string | null;
}

export interface ClaimFilter {
  /** Absent: of all; null: of the platform key. */
  owner_id?: string | null;
  /** The last one of the page before. */
  after?: string | undefined;
  limit: number;
}

const listed = (query: Executor) =>
  query
    .selectFrom('claims')
    .innerJoin('invoices', 'invoices.id', 'claims.invoice_id')
    .leftJoin('merchants', 'merchants.id', 'claims.owner_id')
    .leftJoin('payments', 'payments.id', 'claims.payment_id')
    .selectAll('claims')
    .select([
      'invoices.status as invoice_status',
      'invoices.external_ref',
      'merchants.slug as owner_slug',
      'payments.owner_id as payment_owner_id',
    ]);

/** Newest first. */
export function listClaims(query: Executor, { owner_id, after, limit }: ClaimFilter): Promise<ListedClaim[]> {
  let select = listed(query);
  if (owner_id !== undefined)
    select = select.where('claims.owner_id', owner_id === null ? 'is' : '=', owner_id);
  if (after !== undefined) select = select.where('claims.id', '<', after);
  return select.orderBy('claims.id', 'desc').limit(limit).execute();
}

/** How many there are; `after` and `limit` aside. */
export function countClaims(query: Executor, { owner_id }: Pick<ClaimFilter, 'owner_id'>): Promise<Total> {
  const owned =
    owner_id === undefined
      ? sql``
      : owner_id === null
        ? sql` where owner_id is null`
        : sql` where owner_id = ${owner_id}`;
  return countRows(query, sql`select 1 from claims${owned} limit ${COUNT_LIMIT}`);
}

/** Those made for an invoice, or that name a payment, oldest first. */
export function claimsOf(
  query: Executor,
  subject: { invoice_id: string } | { payment_id: string },
): Promise<ListedClaim[]> {
  const [column, id] =
    'invoice_id' in subject
      ? (['claims.invoice_id', subject.invoice_id] as const)
      : (['claims.payment_id', subject.payment_id] as const);
  return listed(query).where(column, '=', id).orderBy('claims.id').limit(CLAIMS_SHOWN).execute();
}
