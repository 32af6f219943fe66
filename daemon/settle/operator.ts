// What an operator's confirmation books: the transfers of the transaction it names, or those the invoice already has.
import { noteContradiction } from '../../data/contradictions.ts';
import { Overtaken } from '../../data/db/failures.ts';
import { releaseDust } from '../../data/dust.ts';
import { releaseInvoicePayment } from '../../data/invoices.ts';
import { dismissedAmong, insertLog, UNDISMISSED, updatePayment } from '../../data/payments.ts';
import type { InvoiceRow, LoggedStatus, TransferRow } from '../../data/schema/tables.ts';
import {
  findTransfer,
  insertManualTransfer,
  lockTransaction,
  MANUAL_INDEX,
  transfersOfPayment,
} from '../../data/transfers.ts';
import { seconds } from '../clock.ts';
import type { SettleDeps, Step } from './step.ts';
import { unappliedParts } from './unapplied.ts';

/**
 * The transfers to book; `booked` when the transaction pays another invoice, `unknown` where no transfer of it was read
 * and that is not forced. What the invoice has received already counts together with the transaction that is named.
 */
export async function manualTransfers(
  step: Step,
  { txid, force }: { txid: string | null; force: boolean },
): Promise<TransferRow[] | 'booked' | 'unknown'> {
  const { deps, tx, invoice } = step;
  if (invoice.status === 'confirmed') return [];
  const free = step.own.filter((row) => isFree(row) && row.chain === invoice.chain);
  // What a person has closed is booked only where its transaction is named.
  const closed = await dismissedAmong(
    tx,
    free.flatMap(({ payment_id }) => payment_id ?? []),
  );
  const own = free.filter(({ payment_id }) => payment_id === null || !closed.has(payment_id));
  if (txid === null && own.length === 0) {
    if (!force) return 'unknown';
    await noteForced(step, { subject: invoice.id, txid, booked_atomic: invoice.amount_atomic });
  }
  if (txid === null) return claimTransfers(step, own);
  const { blockchain, address_key, chain } = invoice;
  const manual = await findTransfer(tx, blockchain, txid, MANUAL_INDEX);
  if (manual?.address_key === address_key) return 'booked';
  const credits = await lockTransaction(deps.db, tx, { blockchain, txid, address_key });
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
  if (named.length > 0) return claimTransfers(step, [...received, ...named]);
  if (manual || rows.some((row) => row.state !== 'gone' || row.booked_invoice_id !== null)) return 'booked';
  if (!force) return 'unknown';
  const made = await insertManual(step, txid, received);
  if (!made) return 'booked';
  await noteForced(step, { subject: made.id, txid, booked_atomic: made.amount_atomic });
  return [...received, made];
}

/** What is booked only because an operator says so is listed until the chain has it, or a person closes it. */
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
async function claimTransfers(step: Step, rows: TransferRow[]): Promise<TransferRow[]> {
  const { deps, tx, invoice, now, actor } = step;
  await releaseDust(tx, deps.db.dialect, rows, now);
  for (const row of rows) {
    if (row.payment_id === null || row.payment_id === invoice.payment_id) continue;
    const left = (await transfersOfPayment(tx, row.payment_id)).filter(
      (other) => isFree(other) && !rows.some(({ id }) => id === other.id),
    );
    const taken = left.length === 0;
    if (taken && row.invoice_id !== null) await releaseInvoicePayment(tx, row.invoice_id, row.payment_id);
    // What the operator did not name of it stays listed.
    const values = taken
      ? { status: 'confirmed' as const, invoice_id: invoice.id, owner_id: invoice.owner_id, main: null }
      : { ...unappliedParts(left), ...UNDISMISSED };
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

/**
 * A row for a transaction that was never read, over what is missing: it makes a second booking of it impossible.
 * Undefined where another booked it at this moment.
 */
function insertManual(
  { tx, invoice, now }: Step,
  txid: string,
  received: readonly TransferRow[],
): Promise<TransferRow | undefined> {
  const sum = received.reduce((total, row) => total + BigInt(row.amount_atomic), 0n);
  const missing = BigInt(invoice.amount_atomic) - sum;
  return insertManualTransfer(tx, invoice, { txid, amount_atomic: missing > 0n ? missing : 0n, now });
}

/** The log row of an operator's action that moved nothing: that it was requested stays on record all the same. */
export async function noteAction(
  { db, clock }: SettleDeps,
  action: {
    payment_id: string | null;
    invoice_id: string | null;
    at: { status: LoggedStatus; txid: string | null; confirmations: number };
    note: string;
    actor: string;
  },
): Promise<void> {
  const { payment_id, invoice_id, at, note, actor } = action;
  await db.transaction((tx) =>
    insertLog(tx, {
      payment_id,
      invoice_id,
      from_status: at.status,
      to_status: at.status,
      txid: at.txid,
      confirmations: at.confirmations,
      note,
      actor,
      created_at: seconds(clock),
    }),
  );
}
