// Everything of one merchant, table by table, in pages that continue where the last one ended.
import { type SqlBool, sql } from 'kysely';
import type { exportTables } from '../src/api/schemas/merchant.ts';
import type { Db, Executor } from './db/database.ts';
import { deliveriesOf } from './deliveries.ts';
import { eventsAfter } from './events.ts';
import { balancesOf } from './income.ts';
import { walletsOf } from './merchants.ts';
import { unitsOf } from './units.ts';

export type ExportTable = Exclude<(typeof exportTables)[number], 'account'>;
/** Tables of rows that belong to invoices, the last two to nothing else. */
type OfInvoices = 'payments' | 'transfers' | 'logs' | 'income' | 'former_terms';
type Rows = readonly Record<string, unknown>[];

export interface ExportedRows {
  rows: Rows;
  /** Where the next page begins; null after the last. */
  next: string | null;
}

export interface ExportPlace {
  merchant_id: string;
  /** Null for the beginning. */
  after: string | null;
  limit: number;
}

/** What belongs to an invoice follows it; what fits no invoice follows its payment, after all invoices. */
const OF_NO_INVOICE = 'payment:';

const whole = async (rows: Promise<Rows>): Promise<ExportedRows> => ({ rows: await rows, next: null });

/** One page of a table. Pages are read one after the other: each row that stays as it is comes in exactly one of them. */
export function exportRows(db: Db, table: ExportTable, place: ExportPlace): Promise<ExportedRows> {
  const { query } = db;
  switch (table) {
    case 'wallets':
      return whole(walletsOf(query, place.merchant_id));
    case 'units':
      return whole(unitsOf(query, place.merchant_id));
    case 'balances':
      return whole(balancesOf(query, place.merchant_id));
    case 'invoices':
      return invoicesPage(query, place);
    case 'ledger':
      return ledgerPage(query, place);
    case 'events':
    case 'deliveries':
      return feedPage(db, table, place);
    default:
      return ofInvoices(query, table, place);
  }
}

async function invoicesPage(
  query: Executor,
  { merchant_id, after, limit }: ExportPlace,
): Promise<ExportedRows> {
  const rows = await query
    .selectFrom('invoices')
    .selectAll()
    .where('owner_id', '=', merchant_id)
    .$if(after !== null, (of) =>
      of.where(
        sql<SqlBool>`(created_at, id) > ((select created_at from invoices where id = ${after} and owner_id = ${merchant_id}), ${after})`,
      ),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return { rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
}

async function ledgerPage(
  query: Executor,
  { merchant_id, after, limit }: ExportPlace,
): Promise<ExportedRows> {
  const rows = await query
    .selectFrom('ledger')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .where('seq', '>', positionIn(after))
    .orderBy('seq')
    .limit(limit)
    .execute();
  return { rows, next: rows.length < limit ? null : String(rows.at(-1)?.seq) };
}

async function feedPage(
  db: Db,
  table: 'events' | 'deliveries',
  { merchant_id, after, limit }: ExportPlace,
): Promise<ExportedRows> {
  const events = await eventsAfter(db, merchant_id, positionIn(after), limit);
  const next = events.length < limit ? null : String(events.at(-1)?.position);
  if (table === 'events') return { rows: events.map((event) => ({ ...event })), next };
  return {
    rows: await deliveriesOf(
      db.query,
      events.map(({ id }) => id),
    ),
    next,
  };
}

/** Places in a feed and in a ledger are numbers; any other text is the beginning. */
const positionIn = (after: string | null): number =>
  after !== null && /^\d{1,15}$/.test(after) ? Number(after) : 0;

/** What belongs to the next invoices, `limit` of them; then what belongs to the next payments that fit none. */
async function ofInvoices(query: Executor, table: OfInvoices, place: ExportPlace): Promise<ExportedRows> {
  const { after } = place;
  if (after === null || !after.startsWith(OF_NO_INVOICE)) {
    const { rows, next } = await invoicesPage(query, place);
    const ids = rows.map(({ id }) => String(id));
    const is_of_invoices = table === 'income' || table === 'former_terms';
    const end = is_of_invoices ? null : OF_NO_INVOICE;
    return { rows: await belongingTo(query, table, 'invoice_id', ids), next: next ?? end };
  }
  const payments = await unappliedPayments(query, { ...place, after: after.slice(OF_NO_INVOICE.length) });
  const next = payments.length < place.limit ? null : `${OF_NO_INVOICE}${payments.at(-1)?.id}`;
  if (table === 'payments') return { rows: payments, next };
  return {
    rows: await belongingTo(
      query,
      table,
      'payment_id',
      payments.map(({ id }) => id),
    ),
    next,
  };
}

function unappliedPayments(query: Executor, { merchant_id, after, limit }: ExportPlace & { after: string }) {
  return (
    query
      .selectFrom('payments')
      .selectAll()
      .where('owner_id', '=', merchant_id)
      // Written out, so that the index of what is not confirmed is seen to serve.
      .where(sql<SqlBool>`status <> 'confirmed'`)
      .where('invoice_id', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
  );
}

async function belongingTo(
  query: Executor,
  table: OfInvoices,
  column: 'invoice_id' | 'payment_id',
  ids: readonly string[],
): Promise<Rows> {
  if (ids.length === 0) return [];
  switch (table) {
    case 'payments':
      return query.selectFrom('payments').selectAll().where('invoice_id', 'in', ids).orderBy('id').execute();
    case 'income':
      return query.selectFrom('income').selectAll().where('invoice_id', 'in', ids).orderBy('seq').execute();
    case 'former_terms':
      return query
        .selectFrom('former_terms')
        .selectAll()
        .where('invoice_id', 'in', ids)
        .orderBy('invoice_id')
        .orderBy('chain')
        .execute();
    case 'transfers':
      return query.selectFrom('transfers').selectAll().where(column, 'in', ids).orderBy('id').execute();
    case 'logs':
      return query.selectFrom('payment_logs').selectAll().where(column, 'in', ids).orderBy('seq').execute();
  }
}
