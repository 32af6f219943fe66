// What an operator's confirmation books: the transfers he names, or those the invoice already has.
import { noteContradiction } from '../../data/contradictions.ts';
import { Overtaken } from '../../data/db/failures.ts';
import { newId } from '../../data/db/ids.ts';
import type { Tx } from '../../data/db/open.ts';
import { insertLog, updatePayment } from '../../data/payments.ts';
import { toJson } from '../../data/schema/json.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import {
  findTransfer,
  lockTransaction,
  transfersOfInvoice,
  transfersOfPayment,
} from '../../data/transfers.ts';
import type { Step } from './settle.ts';
import { strayParts } from './unapplied.ts';

/** Index of the row that keeps a transaction the operator names from being booked twice. */
export const MANUAL_INDEX = 'manual';

/**
 * The transfers to book; `booked` when the transaction pays another invoice, `unknown` where no transfer of it was read
 * and that is not forced. What the invoice has received already counts beside the transaction that is named.
 */
export async function manualTransfers(
  step: Step,
  { txid, force }: { txid: string | null; force: boolean },
): Promise<TransferRow[] | 'booked' | 'unknown'> {
  const { app, tx, invoice } = step;
  if (invoice.status === 'confirmed') return [];
  const own = (await transfersOfInvoice(tx, invoice.id)).filter(isFree);
  if (txid === null && own.length === 0) {
    if (!force) return 'unknown';
    await noteForced(step, { subject: invoice.id, txid, booked_atomic: invoice.amount_atomic });
  }
  if (txid === null) return adopt(step, own);
  const { blockchain, address_key, chain } = invoice;
  const manual = await findTransfer(tx, blockchain, txid, MANUAL_INDEX);
  if (manual?.address_key === address_key) return 'booked';
  const credits = await lockTransaction(app.db, tx, { blockchain, txid, address_key });
  for (const { invoice_id } of credits)
    if (invoice_id !== null && !step.locked.has(invoice_id))
      throw new Overtaken(`another gave it to ${invoice_id}`);
  const rows = credits.filter((row) => row.chain === chain);
  // What brought only another asset, for another invoice, cannot pay this one too.
  const isSpent = credits.some((row) => row.booked_invoice_id !== null || paysAnother(row, invoice));
  if (rows.length === 0 && isSpent) return 'booked';
  const named = rows.filter((row) => isFree(row) && !paysAnother(row, invoice));
  const received = own.filter(
    (row) => row.disposition === 'matched' && step.counts(row) && row.txid !== txid,
  );
  if (named.length > 0) return adopt(step, [...received, ...named]);
  if (manual || rows.some((row) => row.state !== 'gone' || row.booked_invoice_id !== null)) return 'booked';
  if (!force) return 'unknown';
  const made = await standIn(step, txid, received);
  if (!made) return 'booked';
  await noteForced(step, { subject: made.id, txid, booked_atomic: made.amount_atomic });
  return [...received, made];
}

/** What is booked on an operator's word alone is listed until the chain has it, or a person closes it. */
async function noteForced(
  { tx, invoice, now }: Step,
  { subject, txid, booked_atomic }: { subject: string; txid: string | null; booked_atomic: string },
): Promise<void> {
  const { blockchain, id: invoice_id } = invoice;
  const details = { booked_atomic, read_atomic: null };
  await noteContradiction(
    tx,
    { blockchain, kind: 'booking_differs', subject, txid, invoice_id, details },
    now,
  );
}

/** Of another invoice that still waits for it. */
const paysAnother = (row: TransferRow, invoice: InvoiceRow): boolean =>
  row.disposition === 'matched' && row.invoice_id !== invoice.id;

const isFree = (row: TransferRow): boolean => row.state !== 'gone' && row.booked_invoice_id === null;

/** Late and unmatched payments that the operator gives to this invoice are closed with a log row. */
async function adopt(step: Step, rows: TransferRow[]): Promise<TransferRow[]> {
  const { tx, invoice, now, actor } = step;
  for (const row of rows) {
    if (row.payment_id === null || row.payment_id === invoice.payment_id) continue;
    const left = (await transfersOfPayment(tx, row.payment_id)).filter(
      (other) => isFree(other) && !rows.some(({ id }) => id === other.id),
    );
    const taken = left.length === 0;
    if (taken && row.invoice_id !== null) await releasePayment(tx, row.invoice_id, row.payment_id);
    // What the operator did not name of it stays listed.
    const values = taken
      ? { status: 'confirmed' as const, invoice_id: invoice.id, main: null }
      : strayParts(left);
    await updatePayment(tx, row.payment_id, { ...values, updated_at: now });
    await insertLog(tx, {
      payment_id: row.payment_id,
      invoice_id: invoice.id,
      from_status: row.disposition,
      to_status: taken ? 'confirmed' : row.disposition,
      txid: row.txid,
      confirmations: row.confirmations,
      note: taken ? 'given to this invoice by the operator' : 'a part given to this invoice by the operator',
      actor,
      created_at: now,
    });
  }
  return rows;
}

/** An invoice whose own payment is given to another has none to show. */
async function releasePayment(tx: Tx, invoice_id: string, payment_id: string): Promise<void> {
  await tx
    .updateTable('invoices')
    .set({ payment_id: null })
    .where('id', '=', invoice_id)
    .where('payment_id', '=', payment_id)
    .execute();
}

/**
 * A row for a transaction that was never read, over what is missing: it makes a second booking of it impossible.
 * Undefined where another booked it at this moment.
 */
function standIn(
  { tx, invoice, now }: Step,
  txid: string,
  received: readonly TransferRow[],
): Promise<TransferRow | undefined> {
  const sum = received.reduce((total, row) => total + BigInt(row.amount_atomic), 0n);
  const missing = BigInt(invoice.amount_atomic) - sum;
  return tx
    .insertInto('transfers')
    .values({
      id: newId(),
      blockchain: invoice.blockchain,
      txid,
      idx: MANUAL_INDEX,
      chain: invoice.chain,
      address_key: invoice.address_key,
      amount_atomic: (missing > 0n ? missing : 0n).toString(),
      memo: null,
      reference_keys: toJson([]),
      sender: null,
      ambiguous: null,
      height: null,
      block_hash: null,
      earliest_at: now,
      latest_at: now,
      inputs: toJson([]),
      confirmations: 0,
      state: 'final',
      disposition: 'matched',
      invoice_id: invoice.id,
      payment_id: null,
      booked_invoice_id: null,
      first_seen_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['blockchain', 'txid', 'idx']).doNothing())
    .returningAll()
    .executeTakeFirst();
}
