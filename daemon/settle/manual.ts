// What an operator's confirmation books: the transfers he names, or those the invoice already has.
import { randomUUID } from 'node:crypto';
import { insertLog, updatePayment } from '../../data/payments.ts';
import type { TransferRow } from '../../data/tables.ts';
import { findTransfer, transfersOfInvoice, transfersOfTransaction } from '../../data/transfers.ts';
import type { Step } from '../settle.ts';

/** Index of the row that keeps a transaction the operator names from being booked twice. */
export const MANUAL_INDEX = 'manual';

/** The transfers to book; `booked` when the transaction pays another invoice already. */
export async function manualTransfers(step: Step, txid: string | null): Promise<TransferRow[] | 'booked'> {
  const { tx, invoice } = step;
  if (invoice.status === 'confirmed') return [];
  if (txid === null) return adopt(step, (await transfersOfInvoice(tx, invoice.id)).filter(isFree));
  const { blockchain, address_key, chain } = invoice;
  const named = await transfersOfTransaction(tx, { blockchain, txid, address_key, chain });
  const free = named.filter(isFree);
  if (free.length > 0) return adopt(step, free);
  if (named.some((row) => row.booked_invoice_id !== null)) return 'booked';
  if (await findTransfer(tx, blockchain, txid, MANUAL_INDEX)) return 'booked';
  return [await standIn(step, txid)];
}

const isFree = (row: TransferRow): boolean => row.state !== 'gone' && row.booked_invoice_id === null;

/** Late and unmatched payments that the operator gives to this invoice are closed with a log row. */
async function adopt(step: Step, rows: TransferRow[]): Promise<TransferRow[]> {
  const { tx, invoice, now, actor } = step;
  for (const row of rows) {
    if (row.payment_id === null || row.payment_id === invoice.payment_id) continue;
    const from_status = row.disposition;
    await updatePayment(tx, row.payment_id, { status: 'confirmed', invoice_id: invoice.id, updated_at: now });
    await insertLog(tx, {
      payment_id: row.payment_id,
      invoice_id: invoice.id,
      from_status,
      to_status: 'confirmed',
      txid: row.txid,
      confirmations: row.confirmations,
      note: 'given to this invoice by the operator',
      actor,
      created_at: now,
    });
  }
  return rows;
}

/** A row for a transaction that was never read: it makes a second booking of it impossible. */
async function standIn({ tx, invoice, now }: Step, txid: string): Promise<TransferRow> {
  return tx
    .insertInto('transfers')
    .values({
      id: randomUUID(),
      blockchain: invoice.blockchain,
      txid,
      idx: MANUAL_INDEX,
      chain: invoice.chain,
      address_key: invoice.address_key,
      amount_atomic: invoice.amount_atomic,
      memo: null,
      reference_keys: '[]',
      sender: null,
      ambiguous: null,
      height: null,
      block_hash: null,
      chain_time: now,
      confirmations: 0,
      state: 'final',
      disposition: 'matched',
      invoice_id: invoice.id,
      payment_id: null,
      booked_invoice_id: null,
      first_seen_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
