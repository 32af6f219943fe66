// Invoices: created once, moved only by compare-and-set on their status; and the addresses that are watched for them.
import { type Insertable, sql } from 'kysely';
import type { InvoiceStatus } from '../src/invoice.ts';
import type { Db, Dialect, Executor, Tx } from './db/database.ts';
import { gathered } from './db/gather.ts';
import { inOrder, lockInOrder } from './db/lock-order.ts';
import { lookup, question, writer } from './db/prepared.ts';
import { eventColumns, eventToInsert, insertEvent, type NewEvent } from './events.ts';
import { toJson } from './schema/json.ts';
import type { InvoiceRow, Tables, WatchRow } from './schema/tables.ts';
import { formerChainsWatched } from './terms.ts';
import { COUNT_LIMIT, countRows, type Total } from './totals.ts';

export type NewInvoice = Omit<Insertable<Tables['invoices']>, 'exits' | 'shop' | 'payable_with'> &
  Pick<InvoiceRow, 'exits' | 'shop' | 'payable_with'>;

/** More accounts than one Solana transaction can name. */
const REFERENCES_READ = 256;
/** Most invoices that one amount is taken to mean: one of each account that uses the address. */
const RESERVED_READ = 100;

type InvoiceValues = Insertable<Tables['invoices']>;

/** All of them. */
const columns = Object.keys({
  id: true,
  owner_id: true,
  kind: true,
  unit_id: true,
  chain: true,
  blockchain: true,
  currency: true,
  network: true,
  decimals: true,
  min_confirmations: true,
  confirm_seconds: true,
  until_final: true,
  amount_usd_micros: true,
  amount_usd_fee_micros: true,
  rate_usd_nanos: true,
  amount_merchant_atomic: true,
  amount_fee_atomic: true,
  amount_atomic: true,
  address: true,
  address_key: true,
  memo: true,
  reference: true,
  qr_payload: true,
  exits: true,
  status: true,
  payment_id: true,
  amount_match: true,
  received_atomic: true,
  txid: true,
  confirmations: true,
  external_ref: true,
  callback_url: true,
  created_at: true,
  expires_at: true,
  paid_at: true,
  ended_at: true,
  due_at: true,
  reserved: true,
  reserved_until: true,
  caller: true,
  buyer: true,
  request_id: true,
  watch_until: true,
  shop: true,
  customer_email: true,
  receipt_due_at: true,
  offered_at: true,
  first_expires_at: true,
  prolonged_at: true,
  switches: true,
  payable_with: true,
} satisfies Record<keyof InvoiceValues, true>) as (keyof InvoiceValues)[];

const insertion = (query: Pick<Executor, 'insertInto'>, ...invoices: InvoiceValues[]) =>
  query
    .insertInto('invoices')
    .values(
      invoices.map(
        (values) =>
          Object.fromEntries(columns.map((name) => [name, values[name]])) as unknown as InvoiceValues,
      ),
    )
    .onConflict((conflict) => conflict.doNothing());

const insert = writer(columns, (query, place: InvoiceValues) => insertion(query, place).returning('id'));
/** As a part of a batch, which counts what was written: to return a row costs SQLite a table of its own. */
const insertCounted = writer(columns, (query, place: InvoiceValues) => insertion(query, place));

/** False when id, memo, reference or reserved amount is taken already, so that the caller draws another. */
export async function insertInvoice(on: Executor, invoice: NewInvoice): Promise<boolean> {
  return (await insert(on, written(invoice))).length > 0;
}

/** The invoice of this purchase, whatever became of it; there is one at most. */
export function invoiceOfBuyer(query: Executor, buyer: string): Promise<InvoiceRow | undefined> {
  return query.selectFrom('invoices').selectAll().where('buyer', '=', buyer).executeTakeFirst();
}

/** From now on it is shown to no one again, so that its buyer may begin another. */
export async function forgetBuyer(
  query: Executor,
  { id, buyer }: Pick<InvoiceRow, 'id' | 'buyer'>,
): Promise<void> {
  await query
    .updateTable('invoices')
    .set({ buyer: null })
    .where('id', '=', id)
    .where('buyer', '=', buyer)
    .execute();
}

/** One after the other for one buyer until the transaction ends, so that two requests at once make one; SQLite's writer is alone anyway. */
export async function lockBuyer({ dialect }: Pick<Db, 'dialect'>, tx: Tx, buyer: string): Promise<void> {
  if (dialect !== 'postgres') return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`buyer ${buyer}`}, 0))`.execute(tx);
}

/** As it is written. */
const written = (invoice: NewInvoice): InvoiceValues => ({
  ...invoice,
  exits: toJson(invoice.exits),
  shop: invoice.shop && toJson(invoice.shop),
  payable_with: invoice.payable_with && toJson(invoice.payable_with),
});

/** An invoice, and the event that says so. */
interface Opened {
  invoice: NewInvoice;
  event: NewEvent;
}

/** Most that one statement writes. */
const OPENED_AT_ONCE = 16;
/** Most watched addresses that one statement answers. */
export const WATCHED_PAGE = 20_000;

/** Values of one of several rows stand under names of their own, and those of events too: both have some columns of the same name. */
const nameIn = (row: number, table: 'invoice' | 'event', name: string) => `${table}_${row}_${name}`;
const namesIn = (row: number): string[] => [
  ...columns.map((name) => nameIn(row, 'invoice', name)),
  ...eventColumns.map((name) => nameIn(row, 'event', name)),
];

/** PostgreSQL writes so many in one statement. Values that stand in no row of their own are cast: they would be texts. */
function writerOf(count: number) {
  const rows = Array.from({ length: count }, (_, row) => row);
  return writer<Record<string, unknown>, { invoice_id: string | null }>(
    rows.flatMap(namesIn),
    (query, place) => {
      const invoices = rows.map((row) =>
        Object.fromEntries(columns.map((name) => [name, place[nameIn(row, 'invoice', name)]])),
      );
      const events = rows.map((row) => {
        const values = eventColumns.map((name) => {
          const type = sql.raw(name === 'created_at' ? 'bigint' : 'text');
          return sql`cast(${place[nameIn(row, 'event', name)]} as ${type})`;
        });
        return sql`(${sql.join(values)})`;
      });
      const names = sql.join(eventColumns.map((name) => sql.ref(name)));
      return query
        .with('opened', (step) =>
          insertion(step, ...(invoices as unknown as InvoiceValues[])).returning('id'),
        )
        .insertInto('events')
        .columns(eventColumns)
        .expression(
          sql`select made.* from (values ${sql.join(events)}) as made (${names})
          join opened on opened.id = made.invoice_id` as never,
        )
        .returning('invoice_id');
    },
  );
}

const writers: ReturnType<typeof writerOf>[] = [];

/** Which of them were written. The sums by owner are locked in one order by all who write several. */
async function insertTogether(on: Executor, opened: readonly Opened[]): Promise<boolean[]> {
  const values: Record<string, unknown> = {};
  const sorted = inOrder(opened, ({ invoice }) => invoice.owner_id ?? '');
  for (const [row, { invoice, event }] of sorted.entries()) {
    const invoice_values = written(invoice);
    for (const name of columns) values[nameIn(row, 'invoice', name)] = invoice_values[name];
    for (const name of eventColumns) values[nameIn(row, 'event', name)] = event[name];
  }
  const write = writers[opened.length] ?? writerOf(opened.length);
  writers[opened.length] = write;
  const ids = new Set((await write(on, values)).map(({ invoice_id }) => invoice_id));
  return opened.map(({ invoice }) => ids.has(invoice.id));
}

/**
 * Writes an invoice and the event that says so, or neither: false where its id, memo, reference or reserved amount is
 * taken. On PostgreSQL it is one statement.
 */
export async function insertOpened(
  dialect: Dialect,
  on: Executor,
  invoice: NewInvoice,
  event: NewEvent,
): Promise<boolean> {
  if (dialect === 'postgres') return (await insertTogether(on, [{ invoice, event }]))[0] === true;
  if (!(await insertInvoice(on, invoice))) return false;
  await insertEvent(on, event);
  return true;
}

const insertGathered = gathered(OPENED_AT_ONCE, (db, opened: readonly Opened[]) =>
  db.statement((on) => insertTogether(on, opened)),
);

/** The same as a transaction of its own, durable when it resolves; on PostgreSQL with those that are written at the same time. */
export function insertOpenedAlone(db: Db, invoice: NewInvoice, event: NewEvent): Promise<boolean> {
  const { dialect, query } = db;
  if (db.batch) return db.batch([insertCounted.bound(query, written(invoice)), eventToInsert(query, event)]);
  if (dialect === 'postgres') return insertGathered(db, { invoice, event });
  return db.statement((on) => insertOpened(dialect, on, invoice, event));
}

const selectInvoice = (query: Executor, { id }: { id: string }) =>
  query.selectFrom('invoices').selectAll().where('id', '=', id);

const read = question(['id'], selectInvoice);

export async function getInvoice(query: Executor, id: string): Promise<InvoiceRow | undefined> {
  return (await read(query, { id }))[0];
}

const account = question(['id'], (query, { id }: { id: string }) =>
  query.selectFrom('invoices').select(['owner_id', 'blockchain', 'address_key']).where('id', '=', id),
);

/** Whose it is, which never changes, and where it is paid, which may while it is not locked. */
export async function accountOfInvoice(
  query: Executor,
  id: string,
): Promise<Pick<InvoiceRow, 'owner_id' | 'blockchain' | 'address_key'> | undefined> {
  return (await account(query, { id }))[0];
}

/** Several, in no order. */
export async function getInvoices(query: Executor, ids: readonly string[]): Promise<InvoiceRow[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('invoices').selectAll().where('id', 'in', ids).execute();
}

/** The newest open ones of an owner. */
export function openOfOwner(query: Executor, owner_id: string, limit: number): Promise<InvoiceRow[]> {
  return query
    .selectFrom('invoices')
    .selectAll()
    .where('owner_id', '=', owner_id)
    .where('status', '=', sql.lit('created'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Whose each of these invoices is; null for the platform's. */
export async function ownersOf(query: Executor, ids: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await query.selectFrom('invoices').select(['id', 'owner_id']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, owner_id }) => [id, owner_id]));
}

export const STATE = sql<string>`invoices.status || ' ' || coalesce(invoices.payment_id, '-') || ' ' || invoices.amount_match || ' ' ||
  coalesce(invoices.received_atomic, '-') || ' ' || coalesce(invoices.txid, '-') || ' ' ||
  cast(invoices.confirmations as text) || ' ' || coalesce(cast(invoices.paid_at as text), '-') || ' ' ||
  invoices.chain || ' ' || cast(invoices.expires_at as text)`;

/** What may change of an invoice that its buyer is shown, as one text: equal for equal contents. */
export const invoiceState = lookup((query, id: string) =>
  query.selectFrom('invoices').select(STATE.as('state')).where('id', '=', id),
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
    row.chain,
    row.expires_at,
  ].join(' ');

const lock = {
  sqlite: read,
  postgres: question(['id'], (query, place: { id: string }) => selectInvoice(query, place).forNoKeyUpdate()),
};

/** Loads for change: on PostgreSQL the row is locked until the transaction ends, SQLite's writer is alone anyway. */
export async function lockInvoice(db: Db, tx: Tx, id: string): Promise<InvoiceRow | undefined> {
  return (await lock[db.dialect](tx, { id }))[0];
}

/** Several, by id. */
export async function lockInvoices(db: Db, tx: Tx, ids: readonly string[]): Promise<Map<string, InvoiceRow>> {
  const [id, ...others] = new Set(ids);
  if (id !== undefined && others.length === 0) {
    const row = await lockInvoice(db, tx, id);
    return new Map(row && [[id, row]]);
  }
  return lockInOrder(db, ids, (some) =>
    tx.selectFrom('invoices').selectAll().where('id', 'in', some).orderBy('id'),
  );
}

const shownColumns = [
  'payment_id',
  'amount_match',
  'received_atomic',
  'txid',
  'confirmations',
  'due_at',
  'watch_until',
] as const;
const movedColumns = [...shownColumns, 'status', 'paid_at', 'ended_at', 'reserved_until'] as const;

const move = writer(
  ['id', 'from', ...movedColumns],
  (
    query,
    { id, from, ...values }: Pick<InvoiceRow, 'id' | (typeof movedColumns)[number]> & { from: InvoiceStatus },
  ) =>
    query.updateTable('invoices').set(values).where('id', '=', id).where('status', '=', from).returning('id'),
);

/**
 * Writes what ends or confirms an invoice: its status, what it shows of its payment, and its times. Compare-and-set on the
 * status; false when it was moved meanwhile.
 */
export async function moveInvoice(tx: Tx, from: InvoiceStatus, moved: InvoiceRow): Promise<boolean> {
  return (await move(tx, { ...moved, from })).length > 0;
}

const progress = writer(
  ['id', ...shownColumns],
  (query, { id, ...values }: Pick<InvoiceRow, 'id' | (typeof shownColumns)[number]>) =>
    query
      .updateTable('invoices')
      .set(values)
      .where('id', '=', id)
      .where('status', '=', sql.lit('created'))
      .returning('id'),
);

/** Writes what an open invoice shows of its payment, and until when it waits; false when it is not open any more. */
export async function updateOpenInvoice(tx: Tx, seen: InvoiceRow): Promise<boolean> {
  return (await progress(tx, seen)).length > 0;
}

/** The payment that an invoice shows from now on; its status stays. */
export async function setInvoicePayment(tx: Tx, id: string, payment_id: string): Promise<void> {
  await tx.updateTable('invoices').set({ payment_id }).where('id', '=', id).execute();
}

/** An invoice whose own payment is given to another has none to show. */
export async function releaseInvoicePayment(tx: Tx, id: string, payment_id: string): Promise<void> {
  await tx
    .updateTable('invoices')
    .set({ payment_id: null })
    .where('id', '=', id)
    .where('payment_id', '=', payment_id)
    .execute();
}

/** A place among the invoices that are due. */
export interface DuePosition {
  due_at: number;
  id: string;
}

/** Before every invoice that is due. */
export const DUE_BEGIN: DuePosition = { due_at: Number.MIN_SAFE_INTEGER, id: '' };

export interface DueInvoice extends DuePosition {
  address_key: string;
  chain: string;
  /** Whether everything that was paid to its account before `due_at` is stored. */
  proved: boolean;
}

/** Invoices of a blockchain whose time came at or before `horizon` (Unix seconds), in their order, after a position. */
export async function dueInvoices(
  query: Executor,
  blockchain: string,
  { horizon, after, limit }: { horizon: number; after: DuePosition; limit: number },
): Promise<DueInvoice[]> {
  const rows = await query
    .selectFrom('invoices')
    .leftJoin('cursors', 'cursors.blockchain', 'invoices.blockchain')
    .leftJoin('account_proofs', (join) =>
      join
        .onRef('account_proofs.blockchain', '=', 'invoices.blockchain')
        .onRef('account_proofs.address_key', '=', 'invoices.address_key')
        .onRef('account_proofs.chain', '=', 'invoices.chain'),
    )
    .leftJoin('unreadable_assets', (join) =>
      join
        .onRef('unreadable_assets.blockchain', '=', 'invoices.blockchain')
        .onRef('unreadable_assets.chain', '=', 'invoices.chain'),
    )
    .select([
      'invoices.id',
      'invoices.due_at',
      'invoices.address_key',
      'invoices.chain',
      'cursors.read_through',
      'account_proofs.account',
      'account_proofs.read_through as own',
      'unreadable_assets.reason',
    ])
    .where('invoices.blockchain', '=', blockchain)
    .where('invoices.due_at', '<=', horizon)
    .where((where) =>
      where(where.refTuple('invoices.due_at', 'invoices.id'), '>', where.tuple(after.due_at, after.id)),
    )
    .orderBy('invoices.due_at')
    .orderBy('invoices.id')
    .limit(limit)
    .execute();
  return rows.map(({ id, due_at, address_key, chain, read_through, account, own, reason }) => ({
    id,
    due_at: due_at ?? 0,
    address_key,
    chain,
    proved: reason === null && ((account === null ? read_through : own) ?? 0) >= (due_at ?? 0),
  }));
}

/** A place among the invoices that are open. */
export interface OpenPosition {
  created_at: number;
  id: string;
}

/** Before every invoice that is open. */
export const OPEN_BEGIN: OpenPosition = { created_at: Number.MIN_SAFE_INTEGER, id: '' };

/** Invoices that are still open though their time and the grace are over, in the order in which they were made, after a position. */
export async function overdueInvoices(
  query: Executor,
  { before, after, limit }: { before: number; after: OpenPosition; limit: number },
): Promise<OpenPosition[]> {
  return (
    query
      .selectFrom('invoices')
      .select(['created_at', 'id'])
      .where('status', '=', sql.lit('created'))
      .where('expires_at', '<=', before)
      // None expires before it is made: newer ones need not be read.
      .where('created_at', '<=', before)
      .where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.created_at, after.id)),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
      .execute()
  );
}

const due = writer(['id'], (query, { id }: { id: string }) =>
  query
    .updateTable('invoices')
    .set({ due_at: sql.lit(0) })
    .where('id', '=', id)
    .where('status', '=', sql.lit('created')),
);

/** Asks the clock to evaluate an invoice at once. */
export async function makeDue(tx: Tx, id: string): Promise<void> {
  await due(tx, { id });
}

const byMemo = question(
  ['blockchain', 'address_key', 'memo'],
  (query, { blockchain, address_key, memo }: { blockchain: string; address_key: string; memo: string }) =>
    query
      .selectFrom('invoices')
      .selectAll()
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('memo', '=', memo),
);

/** The invoice with this memo at this address; memos are unique there for ever. */
export async function invoiceByMemo(
  query: Executor,
  blockchain: string,
  address_key: string,
  memo: string,
): Promise<InvoiceRow | undefined> {
  return (await byMemo(query, { blockchain, address_key, memo }))[0];
}

/** The invoices that the references of one transaction name, at whatever address. */
export async function invoicesByReference(
  query: Executor,
  references: readonly string[],
): Promise<InvoiceRow[]> {
  if (references.length === 0) return [];
  return query
    .selectFrom('invoices')
    .selectAll()
    .where('reference', 'in', references)
    .limit(REFERENCES_READ)
    .execute();
}

interface AmountSlot {
  blockchain: string;
  address_key: string;
  chain: string;
  amount_atomic: string;
}

const byAmount = question(
  ['blockchain', 'address_key', 'chain', 'amount_atomic'],
  (query, slot: AmountSlot) =>
    query
      .selectFrom('invoices')
      .selectAll()
      .where('blockchain', '=', slot.blockchain)
      .where('address_key', '=', slot.address_key)
      .where('chain', '=', slot.chain)
      .where('amount_atomic', '=', slot.amount_atomic)
      .where('reserved', '=', sql.lit(1))
      .limit(RESERVED_READ),
);

/** The open or watched invoices that have reserved exactly this amount, at most one of each owner. */
export const invoicesByAmount = (query: Executor, slot: AmountSlot): Promise<InvoiceRow[]> =>
  byAmount(query, slot);

/** How far back invoices are searched whose addresses may still be watched. */
const WATCHED_SINCE_SECONDS = 7 * 24 * 3600;
const ended = ['confirmed', 'expired', 'cancelled', 'failed'] as const satisfies InvoiceStatus[];

/** Until when payments of each of these gateways may come, Unix seconds; `open`: of invoices that are still open only. */
export async function chainsWatchedUntil(
  query: Executor,
  asked: { blockchain: string; chains: readonly string[]; open: boolean; now: number },
): Promise<Map<string, number>> {
  const select = query
    .selectFrom('invoices')
    .select((of) => ['chain', of.fn.max('watch_until').as('until')])
    .where('blockchain', '=', asked.blockchain)
    .where('chain', 'in', asked.chains)
    .groupBy('chain');
  // Open ones are found by their index, however old; of the others only the newest can matter.
  const rows = await select.where('due_at', 'is not', null).execute();
  if (!asked.open)
    for (const status of ended)
      rows.push(
        ...(await select
          .where('status', '<>', sql.lit('created'))
          .where('status', '=', sql.lit(status))
          .where('kind', 'in', [sql.lit('sale' as const), sql.lit('refill' as const)])
          .where('created_at', '>=', asked.now - WATCHED_SINCE_SECONDS)
          .execute()),
      );
  const former = await formerChainsWatched(query, asked.now);
  return latestOf([...rows, ...asked.chains.map((chain) => ({ chain, until: former.get(chain) ?? null }))]);
}

function latestOf(rows: readonly { chain: string; until: number | null }[]): Map<string, number> {
  const until = new Map<string, number>();
  for (const row of rows)
    if (row.until !== null) until.set(row.chain, Math.max(until.get(row.chain) ?? 0, Number(row.until)));
  return until;
}

/** Every gateway through which payments may still come, and until when, Unix seconds. */
export async function awaitedChains(query: Executor, now: number): Promise<Map<string, number>> {
  const select = query
    .selectFrom('invoices')
    .select((of) => ['chain', of.fn.max('watch_until').as('until')])
    .groupBy('chain');
  const open = await select.where('due_at', 'is not', null).execute();
  const past: typeof open = [];
  for (const status of ended)
    past.push(
      ...(await select
        .where('status', '<>', sql.lit('created'))
        .where('status', '=', sql.lit(status))
        .where('kind', 'in', [sql.lit('sale' as const), sql.lit('refill' as const)])
        .where('created_at', '>=', now - WATCHED_SINCE_SECONDS)
        .execute()),
    );
  const former = [...(await formerChainsWatched(query, now))].map(([chain, until]) => ({ chain, until }));
  return latestOf([...open, ...past.filter(({ until }) => Number(until) >= now), ...former]);
}

export interface InvoiceFilter {
  owner_id: string | null;
  status?: InvoiceStatus | undefined;
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
  // Written out, so that the index of what is open is seen to serve.
  if (filter.status !== undefined) select = select.where('status', '=', sql.lit(filter.status));
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

/** How many there are, as the filter has it; `after` and `limit` aside. */
export function countInvoices(
  query: Executor,
  { owner_id, status, external_ref }: Omit<InvoiceFilter, 'limit' | 'after'>,
): Promise<Total> {
  const owned = owner_id === null ? sql`owner_id is null` : sql`owner_id = ${owner_id}`;
  const of_status = status === undefined ? sql`` : sql` and status = ${sql.lit(status)}`;
  const of_ref = external_ref === undefined ? sql`` : sql` and external_ref = ${external_ref}`;
  return countRows(
    query,
    sql`select 1 from invoices where ${owned}${of_status}${of_ref} limit ${COUNT_LIMIT}`,
  );
}

/** Watches an address at least from `since` on and at least this long; a lapsed watch begins again at `since`. */
export async function watchAddress(tx: Executor, watch: WatchRow): Promise<void> {
  await tx
    .insertInto('watches')
    .values(watch)
    .onConflict((conflict) =>
      conflict.columns(['blockchain', 'address_key']).doUpdateSet((update) => ({
        since: update
          .case()
          .when('watches.watch_until', '<', watch.since)
          .then(watch.since)
          // A clock that was ahead began it later than an invoice that is made once the clock is right.
          .when('watches.since', '>', watch.since)
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

/** Begins a watch at another moment, where it still begins at `since`; Unix seconds. */
export async function moveWatch(
  query: Executor,
  { blockchain, address_key, since }: Pick<WatchRow, 'blockchain' | 'address_key' | 'since'>,
  moved: number,
): Promise<void> {
  await query
    .updateTable('watches')
    .set({ since: moved })
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('since', '=', since)
    .execute();
}

/** The addresses of a blockchain that are watched now. */
export const watchedAddresses = (query: Executor, blockchain: string, now: number): Promise<WatchRow[]> =>
  watchedOn(query, [blockchain], now);

/**
 * The same of several blockchains, one after the other; an address may be there for each of them. Asked for in pages, so that the
 * time a statement takes does not grow with how many there are.
 */
export async function watchedOn(
  query: Executor,
  blockchains: readonly string[],
  now: number,
): Promise<WatchRow[]> {
  const found: WatchRow[] = [];
  for (const blockchain of blockchains)
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await watchedAfter(query, blockchain, after, now);
      for (const row of page) found.push(row);
      after = page.length < WATCHED_PAGE ? undefined : page.at(-1)?.address_key;
    }
  return found;
}

const watchedAfter = (query: Executor, blockchain: string, after: string, now: number): Promise<WatchRow[]> =>
  query
    .selectFrom('watches')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '>', after)
    .where('watch_until', '>=', now)
    .orderBy('address_key')
    .limit(WATCHED_PAGE)
    .execute();
