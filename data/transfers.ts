// What was read from the chains: stored once per transaction output, matched or not, and never dropped.
import { type Insertable, sql } from 'kysely';
import type { Transfer } from '../src/chains/family.ts';
import type { Depth, Wait } from '../src/confirmations.ts';
import type { Db, Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { lockInOrder } from './db/lock-order.ts';
import { question, writer } from './db/prepared.ts';
import { makeDue } from './invoices.ts';
import { toJson } from './schema/json.ts';
import type { InvoiceRow, Tables, TransferRow } from './schema/tables.ts';

/** Most values that one question asks for. */
const ROWS_PER_QUERY = 500;

export interface TransferPlace {
  disposition: TransferRow['disposition'];
  invoice_id: string | null;
  payment_id: string | null;
  booked_invoice_id?: string | null;
  /** 1 where no reading has shown it. */
  unread?: 1 | null;
  dust_day?: number | null;
  placed_version?: number | null;
}

export function findTransfer(
  query: Executor,
  blockchain: string,
  txid: string,
  index: string,
): Promise<TransferRow | undefined> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('txid', '=', txid)
    .where('idx', '=', index)
    .executeTakeFirst();
}

/** Transfers loaded for change, by id: what another daemon stores of them meanwhile is seen, or waits. */
export const lockTransfers = (db: Db, tx: Tx, ids: readonly string[]): Promise<Map<string, TransferRow>> =>
  lockInOrder(db, ids, (some) =>
    tx.selectFrom('transfers').selectAll().where('id', 'in', some).orderBy('id'),
  );

/** Those of these credits that are stored, and what is booked by hand of their transactions; perhaps others of them, too. */
export async function storedTransfers(
  query: Executor,
  blockchain: string,
  credits: readonly { txid: string; index: string }[],
): Promise<TransferRow[]> {
  if (credits.length === 0) return [];
  const indexes = new Set([MANUAL_INDEX, ...credits.map(({ index }) => index)]);
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('txid', 'in', [...new Set(credits.map(({ txid }) => txid))])
    .where('idx', 'in', [...indexes])
    .execute();
}

/** Some of the transfers that were placed in blocks after this version of the cursor, `limit` at most. */
export function transfersPlacedAfter(
  query: Executor,
  blockchain: string,
  version: number,
  limit: number,
): Promise<TransferRow[]> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('placed_version', '>', version)
    .where('state', '<>', 'gone')
    .limit(limit)
    .execute();
}

/** Transfers of these transactions, in whatever asset and to whatever address. */
export async function transfersOfTransactions(
  query: Executor,
  blockchain: string,
  txids: readonly string[],
): Promise<TransferRow[]> {
  const rows: TransferRow[] = [];
  for (let start = 0; start < txids.length; start += ROWS_PER_QUERY)
    rows.push(
      ...(await query
        .selectFrom('transfers')
        .selectAll()
        .where('blockchain', '=', blockchain)
        .where('txid', 'in', txids.slice(start, start + ROWS_PER_QUERY))
        .execute()),
    );
  return rows;
}

export type ReplacedTransfer = Pick<
  TransferRow,
  'txid' | 'amount_atomic' | 'disposition' | 'earliest_at' | 'latest_at'
>;

/**
 * Recent transfers to an address that are not final and spend one of these outputs, those that are gone included: what a new
 * one replaces, also where a node that is behind shows the old one in a block that the others have left. The database
 * compares, so that others to the same address cost little, however many they are.
 */
export function replacedTransfers(
  { dialect }: Db,
  query: Executor,
  {
    blockchain,
    address_key,
    inputs,
    since,
  }: { blockchain: string; address_key: string; inputs: readonly string[]; since: number },
): Promise<ReplacedTransfer[]> {
  const spent = JSON.stringify(inputs);
  const shares =
    dialect === 'postgres'
      ? sql<boolean>`inputs::jsonb ?| array(select jsonb_array_elements_text(${spent}::jsonb))`
      : sql<boolean>`exists (select 1 from json_each(inputs) as own
          where own.value in (select value from json_each(${spent})))`;
  return query
    .selectFrom('transfers')
    .select(['txid', 'amount_atomic', 'disposition', 'earliest_at', 'latest_at'])
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('first_seen_at', '>=', since)
    .where(sql<boolean>`inputs <> '[]'`)
    .where('state', '<>', 'final')
    .where(shares)
    .execute();
}

/** The transfers that these payments are made of. */
export async function transfersOfPayments(query: Executor, ids: readonly string[]): Promise<TransferRow[]> {
  if (ids.length === 0) return [];
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('payment_id', 'in', ids)
    .limit(ROWS_PER_QUERY)
    .execute();
}

/** Transfers that stand in these blocks; of dust the first `dust` ones. */
export async function transfersOfBlocks(
  query: Executor,
  blockchain: string,
  hashes: readonly string[],
  { dust }: { dust: number | null },
): Promise<TransferRow[]> {
  const rows: TransferRow[] = [];
  for (let start = 0; start < hashes.length; start += ROWS_PER_QUERY) {
    const here = query
      .selectFrom('transfers')
      .selectAll()
      .where('blockchain', '=', blockchain)
      .where('block_hash', 'in', hashes.slice(start, start + ROWS_PER_QUERY));
    const select =
      dust === null ? here.where('dust_day', 'is', null) : here.where('dust_day', 'is not', null).limit(dust);
    rows.push(...(await select.execute()));
  }
  return rows;
}

/** All of a transfer. */
const columns = [
  'id',
  'blockchain',
  'txid',
  'idx',
  'chain',
  'address_key',
  'amount_atomic',
  'memo',
  'reference_keys',
  'sender',
  'ambiguous',
  'height',
  'block_hash',
  'earliest_at',
  'latest_at',
  'inputs',
  'blockhash',
  'witness',
  'confirmations',
  'depth_seconds',
  'state',
  'unread',
  'disposition',
  'invoice_id',
  'payment_id',
  'booked_invoice_id',
  'dust_day',
  'placed_version',
  'first_seen_at',
  'updated_at',
] as const satisfies (keyof TransferRow)[];

/** As it is stored: whole seconds, and none of what is in no block. */
export const wholeDepth = ({
  height,
  depth_seconds,
}: Pick<Depth, 'height' | 'depth_seconds'>): number | null =>
  height === null || depth_seconds == null ? null : Math.max(0, Math.floor(depth_seconds));

type TransferValues = Insertable<Tables['transfers']>;

const insert = writer(columns, (query, place: TransferValues) =>
  query
    .insertInto('transfers')
    .values(place)
    .onConflict((conflict) => conflict.columns(['blockchain', 'txid', 'idx']).doNothing())
    .returning('id'),
);

async function insertRow(tx: Tx, row: TransferRow): Promise<TransferRow | undefined> {
  return (await insert(tx, valuesOf(row))).length > 0 ? row : undefined;
}

const valuesOf = (row: TransferRow): TransferValues => ({
  ...row,
  reference_keys: toJson(row.reference_keys),
  inputs: toJson(row.inputs),
});

/** Stores a transfer; undefined when it was stored before by another reader. */
export function insertTransfer(
  tx: Tx,
  blockchain: string,
  transfer: Transfer,
  state: TransferRow['state'],
  place: TransferPlace,
  now: number,
): Promise<TransferRow | undefined> {
  return insertRow(tx, rowOf(blockchain, transfer, state, place, now));
}

function rowOf(
  blockchain: string,
  transfer: Transfer,
  state: TransferRow['state'],
  place: TransferPlace,
  now: number,
): TransferRow {
  return {
    id: newId(),
    blockchain,
    txid: transfer.txid,
    idx: transfer.index,
    chain: transfer.chain,
    address_key: transfer.address_key,
    amount_atomic: transfer.amount_atomic.toString(),
    memo: transfer.memo,
    reference_keys: [...transfer.references],
    sender: transfer.sender,
    ambiguous: transfer.ambiguous ?? null,
    height: transfer.height,
    block_hash: transfer.block_hash,
    earliest_at: transfer.earliest_at,
    latest_at: transfer.latest_at,
    inputs: [...transfer.inputs],
    blockhash: transfer.blockhash ?? null,
    witness: null,
    confirmations: transfer.confirmations,
    depth_seconds: wholeDepth(transfer),
    state,
    unread: place.unread ?? null,
    disposition: place.disposition,
    invoice_id: place.invoice_id,
    payment_id: place.payment_id,
    booked_invoice_id: place.booked_invoice_id ?? null,
    dust_day: place.dust_day ?? null,
    placed_version: place.placed_version ?? null,
    first_seen_at: now,
    updated_at: now,
  };
}

/** Stores transfers that are dust, in one statement; returns those that were not stored before by another reader. */
export async function insertDust(
  tx: Tx,
  blockchain: string,
  transfers: readonly { transfer: Transfer; state: TransferRow['state']; dust_day: number }[],
  { unread, placed_version, now }: Pick<TransferRow, 'unread' | 'placed_version'> & { now: number },
): Promise<TransferRow[]> {
  const place = { disposition: 'unmatched' as const, invoice_id: null, payment_id: null, unread };
  const rows = transfers.map(({ transfer, state, dust_day }) =>
    rowOf(blockchain, transfer, state, { ...place, dust_day, placed_version }, now),
  );
  if (rows.length === 0) return [];
  const inserted = await tx
    .insertInto('transfers')
    .values(rows.map(valuesOf))
    .onConflict((conflict) => conflict.columns(['blockchain', 'txid', 'idx']).doNothing())
    .returning('id')
    .execute();
  const ids = new Set(inserted.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id));
}

/** Index of the row of a transaction that was booked by hand: it makes a second booking of it impossible. */
export const MANUAL_INDEX = 'manual';

/**
 * Stores a transaction that was booked by hand before it was read, as a final transfer to the invoice's address;
 * undefined where there is such a row already. `now` in Unix seconds.
 */
export function insertManualTransfer(
  tx: Tx,
  { id: invoice_id, blockchain, chain, address_key }: InvoiceRow,
  { txid, amount_atomic, now }: { txid: string; amount_atomic: bigint; now: number },
): Promise<TransferRow | undefined> {
  return insertRow(tx, {
    id: newId(),
    blockchain,
    txid,
    idx: MANUAL_INDEX,
    chain,
    address_key,
    amount_atomic: amount_atomic.toString(),
    memo: null,
    reference_keys: [],
    sender: null,
    ambiguous: null,
    height: null,
    block_hash: null,
    earliest_at: now,
    latest_at: now,
    inputs: [],
    blockhash: null,
    witness: null,
    confirmations: 0,
    depth_seconds: null,
    state: 'final',
    unread: null,
    disposition: 'matched',
    invoice_id,
    payment_id: null,
    booked_invoice_id: null,
    dust_day: null,
    placed_version: null,
    first_seen_at: now,
    updated_at: now,
  });
}

export interface TransferProgress {
  state: TransferRow['state'];
  unread: TransferRow['unread'];
  confirmations: number;
  depth_seconds: number | null;
  height: number | null;
  block_hash: string | null;
  placed_version?: number | null;
  /** Only ever moves to an earlier time. */
  earliest_at?: number;
  latest_at?: number;
}

export async function updateTransfer(
  tx: Tx,
  id: string,
  progress: TransferProgress,
  now: number,
): Promise<void> {
  await tx
    .updateTable('transfers')
    .set({ ...progress, updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Gives its place in its transaction to another, which is what the chain has there; it stays stored under its own id. */
export async function freeIndex(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .updateTable('transfers')
    .set({ idx: `stated ${id}`, updated_at: now })
    .where('id', '=', id)
    .execute();
}

export async function placeTransfers(
  tx: Tx,
  ids: readonly string[],
  place: Partial<TransferPlace>,
  now: number,
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('transfers')
    .set({ ...place, updated_at: now })
    .where('id', 'in', ids)
    .execute();
}

interface Booking {
  invoice_id: string;
  /** The payment that lists them from now on. */
  payment_id: string | null;
  /** Unix seconds. */
  now: number;
}

const book = writer(
  ['id', 'invoice_id', 'payment_id', 'now'],
  (query, { id, invoice_id, payment_id, now }: Booking & { id: string }) =>
    query
      .updateTable('transfers')
      .set({
        disposition: sql.lit('matched' as const),
        invoice_id,
        payment_id,
        booked_invoice_id: invoice_id,
        updated_at: now,
      })
      .where('id', '=', id)
      .where('booked_invoice_id', 'is', null)
      .returning('id'),
);

/** Counts transfers in a confirmed invoice; false where one of them is booked already: an output books once, ever. */
export async function bookTransfers(tx: Tx, ids: readonly string[], booking: Booking): Promise<boolean> {
  for (const id of ids) if ((await book(tx, { id, ...booking })).length === 0) return false;
  return true;
}

const ofInvoice = question(['invoice_id'], (query, { invoice_id }: { invoice_id: string }) =>
  query
    .selectFrom('transfers')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    .orderBy('earliest_at')
    .orderBy('id'),
);

/** Transfers that belong to an invoice, oldest first, those that are gone included. */
export const transfersOfInvoice = (query: Executor, invoice_id: string): Promise<TransferRow[]> =>
  ofInvoice(query, { invoice_id });

/** How many transfers belong to an invoice, counted up to `most`. */
export async function countOfInvoice(query: Executor, invoice_id: string, most: number): Promise<number> {
  const rows = await query
    .selectFrom('transfers')
    .select('id')
    .where('invoice_id', '=', invoice_id)
    .limit(most)
    .execute();
  return rows.length;
}

/** Transfers that one payment lists, oldest first, those that are gone included. */
export function transfersOfPayment(query: Executor, payment_id: string): Promise<TransferRow[]> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('payment_id', '=', payment_id)
    .orderBy('earliest_at')
    .orderBy('id')
    .execute();
}

/** The invoices that the credits of a transaction to an address belong to now. */
export async function invoicesOfTransaction(
  query: Executor,
  key: { blockchain: string; txid: string; address_key: string },
): Promise<string[]> {
  const rows = await query
    .selectFrom('transfers')
    .select('invoice_id')
    .where('blockchain', '=', key.blockchain)
    .where('txid', '=', key.txid)
    .where('address_key', '=', key.address_key)
    .execute();
  return rows.flatMap(({ invoice_id }) => invoice_id ?? []);
}

/** All credits of one transaction to one address, in whatever asset, loaded for change: no one else books them meanwhile. */
export function lockTransaction(
  db: Db,
  tx: Tx,
  key: { blockchain: string; txid: string; address_key: string },
): Promise<TransferRow[]> {
  const select = tx
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', key.blockchain)
    .where('txid', '=', key.txid)
    .where('address_key', '=', key.address_key)
    .orderBy('id');
  return (db.dialect === 'postgres' ? select.forNoKeyUpdate() : select).execute();
}

/** Transfers whose fate is open, in a stable order from `after` on. */
export function pendingTransfers(
  query: Executor,
  blockchain: string,
  after: string,
  limit: number,
): Promise<TransferRow[]> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('state', '=', 'pending')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Transfers of blocks that left the chain lose their place in it, and what a second provider reported of them there. */
export async function orphanTransfers(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  for (let start = 0; start < ids.length; start += ROWS_PER_QUERY)
    await tx
      .updateTable('transfers')
      .set({
        state: 'pending',
        height: null,
        block_hash: null,
        confirmations: 0,
        depth_seconds: null,
        witness: null,
        placed_version: null,
        updated_at: now,
      })
      .where('id', 'in', ids.slice(start, start + ROWS_PER_QUERY))
      .execute();
}

/** A second provider has this transfer too: its invoice is due at once. */
export async function witnessTransfer(
  tx: Tx,
  { id, invoice_id }: Pick<TransferRow, 'id' | 'invoice_id'>,
  witness: string,
  now: number,
): Promise<void> {
  if (invoice_id !== null) await makeDue(tx, invoice_id);
  await tx
    .updateTable('transfers')
    .set({ witness, updated_at: now })
    .where('id', '=', id)
    .where('witness', 'is', null)
    .execute();
}

/** A transfer that waits for a second provider, with what its invoice asks. */
export interface UnwitnessedTransfer {
  transfer: TransferRow;
  amount_usd_micros: bigint;
  wait: Wait;
}

const waitColumns = [
  'invoices.min_confirmations',
  'invoices.confirm_seconds',
  'invoices.until_final',
] as const;

/** Transfers of payments that are not confirmed yet, deep enough for their invoice, that no second provider has shown. */
export async function unwitnessedTransfers(
  query: Executor,
  chains: readonly string[],
  limit: number,
): Promise<UnwitnessedTransfer[]> {
  const rows = await query
    .selectFrom('payments')
    .innerJoin('invoices', 'invoices.id', 'payments.invoice_id')
    .innerJoin('transfers', 'transfers.payment_id', 'payments.id')
    .selectAll('transfers')
    .select(['invoices.amount_usd_micros', ...waitColumns])
    .where('payments.chain', 'in', chains)
    .where('payments.status', '=', sql.lit('confirming'))
    .where('invoices.status', '=', 'created')
    .where('transfers.witness', 'is', null)
    .where('transfers.state', '<>', 'gone')
    .where((where) =>
      where.or([
        where('transfers.state', '=', 'final'),
        where.and([
          where('transfers.height', 'is not', null),
          where('invoices.confirm_seconds', 'is', null),
          where('transfers.confirmations', '>=', where.ref('invoices.min_confirmations')),
        ]),
        where.and([
          where('transfers.height', 'is not', null),
          where('invoices.until_final', '=', 0),
          where('transfers.depth_seconds', '>=', where.ref('invoices.confirm_seconds')),
        ]),
      ]),
    )
    .orderBy('invoices.amount_usd_micros', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ amount_usd_micros, min_confirmations, confirm_seconds, until_final, ...transfer }) => ({
    transfer,
    amount_usd_micros,
    wait: { min_confirmations, confirm_seconds, until_final },
  }));
}
