// Invoices: created once, moved only by compare-and-set on their status; and the addresses that are watched for them.
import { type Insertable, sql, type Updateable } from 'kysely';
import type { InvoiceStatus } from '../src/invoice.ts';
import { lookup } from './lookup.ts';
import type { Db, Executor, Tx } from './open.ts';
import type { InvoiceRow, Tables } from './tables.ts';

export type NewInvoice = Insertable<Tables['invoices']>;

/** Most candidates that one question about free amounts asks for. */
const AMOUNTS_PER_QUERY = 500;

/** False when id, memo, reference or reserved amount is taken already, so that the caller draws another. */
export async function insertInvoice(tx: Executor, invoice: NewInvoice): Promise<boolean> {
  const written = await tx
    .insertInto('invoices')
    .values(invoice)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return written !== undefined;
}

export function getInvoice(query: Executor, id: string): Promise<InvoiceRow | undefined> {
  return query.selectFrom('invoices').selectAll().where('id', '=', id).executeTakeFirst();
}

/** What may change of an invoice that its buyer is shown, as one text: equal for equal contents. */
export const invoiceState = lookup((query, id: string) =>
  query
    .selectFrom('invoices')
    .select(
      sql<string>`status || ' ' || coalesce(payment_id, '-') || ' ' || amount_match || ' ' ||
        coalesce(received_atomic, '-') || ' ' || coalesce(txid, '-') || ' ' || cast(confirmations as text) || ' ' ||
        coalesce(cast(paid_at as text), '-')`.as('state'),
    )
    .where('id', '=', id),
);

/** The same of a row. */
export const stateOf = (row: InvoiceRow): string =>
  [
    row.status,
    row.payment_id ?? '-',
    row.amount_match,
    row.received_atomic ?? '-',
    row.txid ?? '-',
    row.confirmations,
    row.paid_at ?? '-',
  ].join(' ');

/** Loads for change: on PostgreSQL the row is locked until the transaction ends, SQLite's writer is alone anyway. */
export function lockInvoice(db: Db, tx: Tx, id: string): Promise<InvoiceRow | undefined> {
  const select = tx.selectFrom('invoices').selectAll().where('id', '=', id);
  return (db.dialect === 'postgres' ? select.forNoKeyUpdate() : select).executeTakeFirst();
}

/** Compare-and-set on the status; false when it was moved meanwhile. */
export async function updateInvoice(
  tx: Tx,
  id: string,
  from: InvoiceStatus,
  values: Updateable<Tables['invoices']>,
): Promise<boolean> {
  const result = await tx
    .updateTable('invoices')
    .set(values)
    .where('id', '=', id)
    .where('status', '=', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Invoices of a blockchain whose time came at or before `horizon`, oldest first. */
export function dueInvoices(
  query: Executor,
  blockchain: string,
  horizon: number,
  limit: number,
): Promise<Pick<InvoiceRow, 'id' | 'due_at'>[]> {
  return query
    .selectFrom('invoices')
    .select(['id', 'due_at'])
    .where('blockchain', '=', blockchain)
    .where('due_at', '<=', horizon)
    .orderBy('due_at')
    .limit(limit)
    .execute();
}

/** Invoices that are still open though their time and the grace are over: no provider's trouble keeps them longer. */
export async function overdueInvoices(
  query: Executor,
  now: number,
  grace_seconds: number,
  limit: number,
): Promise<string[]> {
  const rows = await query
    .selectFrom('invoices')
    .select('id')
    // Only open ones are due; said as their index says it, because one on the status alone looks as good to SQLite.
    .where('due_at', 'is not', null)
    .where('expires_at', '<=', now - grace_seconds)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Asks the clock to look at an invoice at once. */
export async function makeDue(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('invoices')
    .set({ due_at: 0 })
    .where('id', '=', id)
    .where('status', '=', 'created')
    .execute();
}

/** Gives back the amounts of invoices that are no longer watched; returns how many. */
export async function releaseAmounts(query: Executor, now: number): Promise<number> {
  const result = await query
    .updateTable('invoices')
    .set({ reserved: null })
    .where('reserved', '=', 1)
    .where('watch_until', '<', now)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Which of these amounts are reserved at the address. */
export async function reservedAmounts(
  query: Executor,
  slot: { blockchain: string; address_key: string; chain: string },
  amounts: readonly string[],
): Promise<Set<string>> {
  const taken = new Set<string>();
  for (let start = 0; start < amounts.length; start += AMOUNTS_PER_QUERY) {
    const rows = await query
      .selectFrom('invoices')
      .select('amount_atomic')
      .where('blockchain', '=', slot.blockchain)
      .where('address_key', '=', slot.address_key)
      .where('chain', '=', slot.chain)
      .where('reserved', '=', 1)
      .where('amount_atomic', 'in', amounts.slice(start, start + AMOUNTS_PER_QUERY))
      .execute();
    for (const row of rows) taken.add(row.amount_atomic);
  }
  return taken;
}

/** The invoice with this memo at this address; memos are unique there for ever. */
export function invoiceByMemo(
  query: Executor,
  blockchain: string,
  address_key: string,
  memo: string,
): Promise<InvoiceRow | undefined> {
  return query
    .selectFrom('invoices')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('memo', '=', memo)
    .executeTakeFirst();
}

/** The invoices that these references name, at most two: more than one leaves the payment to a person. */
export async function invoicesByReference(
  query: Executor,
  references: readonly string[],
): Promise<InvoiceRow[]> {
  if (references.length === 0) return [];
  return query.selectFrom('invoices').selectAll().where('reference', 'in', references).limit(2).execute();
}

/** The open or watched invoice that has reserved exactly this amount. */
export function invoiceByAmount(
  query: Executor,
  slot: { blockchain: string; address_key: string; chain: string; amount_atomic: string },
): Promise<InvoiceRow | undefined> {
  return query
    .selectFrom('invoices')
    .selectAll()
    .where('blockchain', '=', slot.blockchain)
    .where('address_key', '=', slot.address_key)
    .where('chain', '=', slot.chain)
    .where('amount_atomic', '=', slot.amount_atomic)
    .where('reserved', '=', 1)
    .executeTakeFirst();
}

/** How far back invoices are looked for whose addresses may still be watched. */
const WATCHED_SINCE_SECONDS = 7 * 24 * 3600;

/** Until when payments of each of these gateways may come, Unix seconds; `open`: of invoices that are still open only. */
export async function chainsWatchedUntil(
  query: Executor,
  asked: { blockchain: string; chains: readonly string[]; open: boolean; now: number },
): Promise<Map<string, number>> {
  let select = query
    .selectFrom('invoices')
    .select((of) => ['chain', of.fn.max('watch_until').as('until')])
    .where('blockchain', '=', asked.blockchain)
    .where('chain', 'in', asked.chains);
  // Open ones are told by their index, however old; of the others only the newest can matter.
  select = asked.open
    ? select.where('due_at', 'is not', null)
    : select.where('created_at', '>=', asked.now - WATCHED_SINCE_SECONDS);
  const rows = await select.groupBy('chain').execute();
  return new Map(rows.map((row) => [row.chain, Number(row.until)]));
}

export interface InvoiceFilter {
  owner_id: string | null;
  status?: string | undefined;
  external_ref?: string | undefined;
  /** Id of the last invoice of the page before. */
  after?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function listInvoices(query: Executor, filter: InvoiceFilter): Promise<InvoiceRow[]> {
  let select = query
    .selectFrom('invoices')
    .selectAll()
    .where('owner_id', filter.owner_id === null ? 'is' : '=', filter.owner_id);
  if (filter.status !== undefined) select = select.where('status', '=', filter.status);
  if (filter.external_ref !== undefined) select = select.where('external_ref', '=', filter.external_ref);
  if (filter.after !== undefined) {
    const last = await getInvoice(query, filter.after);
    if (!last || last.owner_id !== filter.owner_id) return [];
    select = select.where((where) =>
      where(where.refTuple('created_at', 'id'), '<', where.tuple(last.created_at, last.id)),
    );
  }
  return select.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(filter.limit).execute();
}

export interface Watch {
  blockchain: string;
  address_key: string;
  address: string;
  since: number;
  open_until: number;
  watch_until: number;
}

/** Watches an address at least this long; a lapsed watch begins anew at `since`. */
export async function watchAddress(tx: Executor, watch: Watch): Promise<void> {
  await tx
    .insertInto('watches')
    .values(watch)
    .onConflict((conflict) =>
      conflict.columns(['blockchain', 'address_key']).doUpdateSet((update) => ({
        since: update
          .case()
          .when('watches.watch_until', '<', watch.since)
          .then(watch.since)
          .else(update.ref('watches.since'))
          .end(),
        open_until: update
          .case()
          .when('watches.open_until', '<', watch.open_until)
          .then(watch.open_until)
          .else(update.ref('watches.open_until'))
          .end(),
        watch_until: update
          .case()
          .when('watches.watch_until', '<', watch.watch_until)
          .then(watch.watch_until)
          .else(update.ref('watches.watch_until'))
          .end(),
      })),
    )
    .execute();
}

/** The addresses of a blockchain that are watched now. */
export function watchedAddresses(query: Executor, blockchain: string, now: number): Promise<Watch[]> {
  return query
    .selectFrom('watches')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('watch_until', '>=', now)
    .orderBy('address_key')
    .execute();
}
