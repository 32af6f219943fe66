// What was read from the chains: stored once per transaction output, matched or not, and never dropped.
import type { Transfer } from '../src/chains/chain.ts';
import { newId } from './ids.ts';
import type { Db, Executor, Tx } from './open.ts';
import type { TransferRow } from './tables.ts';

export interface TransferPlace {
  disposition: TransferRow['disposition'];
  invoice_id: string | null;
  payment_id: string | null;
  booked_invoice_id?: string | null;
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

/** The same, loaded for change: what another daemon stores of it meanwhile is seen, or waits. */
export function lockTransfer(
  db: Db,
  tx: Tx,
  blockchain: string,
  txid: string,
  index: string,
): Promise<TransferRow | undefined> {
  const select = tx
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('txid', '=', txid)
    .where('idx', '=', index);
  return (db.dialect === 'postgres' ? select.forNoKeyUpdate() : select).executeTakeFirst();
}

/** Stores a transfer; undefined when it was stored before by another reader. */
export function insertTransfer(
  tx: Tx,
  blockchain: string,
  transfer: Transfer,
  state: TransferRow['state'],
  place: TransferPlace,
  now: number,
): Promise<TransferRow | undefined> {
  return tx
    .insertInto('transfers')
    .values({
      id: newId(),
      blockchain,
      txid: transfer.txid,
      idx: transfer.index,
      chain: transfer.chain,
      address_key: transfer.address_key,
      amount_atomic: transfer.amount_atomic.toString(),
      memo: transfer.memo,
      reference_keys: JSON.stringify(transfer.references),
      sender: transfer.sender,
      ambiguous: transfer.ambiguous ?? null,
      height: transfer.height,
      block_hash: transfer.block_hash,
      chain_time: transfer.time,
      confirmations: transfer.confirmations,
      state,
      disposition: place.disposition,
      invoice_id: place.invoice_id,
      payment_id: place.payment_id,
      booked_invoice_id: place.booked_invoice_id ?? null,
      first_seen_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['blockchain', 'txid', 'idx']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export interface TransferProgress {
  state: TransferRow['state'];
  confirmations: number;
  height: number | null;
  block_hash: string | null;
  /** Only ever moves to an earlier time. */
  chain_time?: number;
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

/** Counts transfers in a confirmed invoice; false where one of them is booked already: an output books once, ever. */
export async function bookTransfers(
  tx: Tx,
  ids: readonly string[],
  invoice_id: string,
  now: number,
): Promise<boolean> {
  if (ids.length === 0) return true;
  const booked = await tx
    .updateTable('transfers')
    .set({ disposition: 'matched', invoice_id, booked_invoice_id: invoice_id, updated_at: now })
    .where('id', 'in', ids)
    .where('booked_invoice_id', 'is', null)
    .executeTakeFirst();
  return booked.numUpdatedRows === BigInt(ids.length);
}

/** Transfers that belong to an invoice, oldest first, vanished ones included. */
export function transfersOfInvoice(query: Executor, invoice_id: string): Promise<TransferRow[]> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    .orderBy('chain_time')
    .orderBy('id')
    .execute();
}

/** Transfers that one payment lists, oldest first, vanished ones included. */
export function transfersOfPayment(query: Executor, payment_id: string): Promise<TransferRow[]> {
  return query
    .selectFrom('transfers')
    .selectAll()
    .where('payment_id', '=', payment_id)
    .orderBy('chain_time')
    .orderBy('id')
    .execute();
}

/** All credits of one transaction to one address, in whatever asset, loaded for change: nobody else books them meanwhile. */
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

/** Transfers of blocks that left the chain lose their place in it; returned as they were before. */
export async function orphanBlocks(
  tx: Tx,
  blockchain: string,
  hashes: readonly string[],
  now: number,
): Promise<TransferRow[]> {
  if (hashes.length === 0) return [];
  const rows = await tx
    .selectFrom('transfers')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('block_hash', 'in', hashes)
    .execute();
  if (rows.length > 0)
    await tx
      .updateTable('transfers')
      .set({ state: 'pending', height: null, block_hash: null, confirmations: 0, updated_at: now })
      .where('blockchain', '=', blockchain)
      .where('block_hash', 'in', hashes)
      .execute();
  return rows;
}
