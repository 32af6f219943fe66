// Payments that no invoice takes by itself: late and unmatched ones, listed to the operator, never dropped.

import { ownersAt } from '../../data/addresses.ts';
import type { Tx } from '../../data/db/open.ts';
import { lockInvoice } from '../../data/invoices.ts';
import { insertLog, insertPayment, mainPayment, updatePayment } from '../../data/payments.ts';
import type { InvoiceRow, PaymentRow, TransferRow } from '../../data/schema/tables.ts';
import { placeTransfers, transfersOfPayment } from '../../data/transfers.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { writeEvent } from './event.ts';
import type { SettleApp, Step } from './settle.ts';

interface Stray {
  app: SettleApp;
  tx: Tx;
  now: number;
}

/** Books a transfer as a late payment of the step's invoice, which has ended. */
export async function placeLate(step: Step, transfer: TransferRow): Promise<void> {
  const payment = await lateTo(step, step.invoice, transfer, 'the invoice was confirmed without it');
  await placeTransfers(
    step.tx,
    [transfer.id],
    { disposition: 'late', payment_id: payment.id, invoice_id: step.invoice.id },
    step.now,
  );
}

/**
 * The payment row of a late transfer; it becomes the invoice's own where that has ended without one. While the
 * invoice is open its own payment is the one that may still come in time.
 */
async function lateTo(
  stray: Stray,
  invoice: InvoiceRow,
  transfer: TransferRow,
  note: string,
): Promise<PaymentRow> {
  const { app, tx, now } = stray;
  const isBeside = invoice.status === 'created' || (await mainPayment(tx, invoice.id)) !== undefined;
  const payment = await insertPayment(tx, {
    ...strayValues(transfer, now),
    status: 'late',
    invoice_id: invoice.id,
    main: isBeside ? null : 1,
    listed_as: isBeside ? `stray_${invoice.kind}` : invoice.kind,
    listed_at: isBeside ? now : invoice.created_at,
    owner_id: invoice.owner_id,
    currency: invoice.currency,
    decimals: invoice.decimals,
  });
  if (!isBeside)
    await tx.updateTable('invoices').set({ payment_id: payment.id }).where('id', '=', invoice.id).execute();
  await logStray(tx, payment, note, now);
  const shown = isBeside ? invoice : { ...invoice, payment_id: payment.id };
  await writeEvent(app, tx, 'payment.late', { merchant_id: invoice.owner_id, invoice: shown, payment, now });
  return payment;
}

/** Records a transfer that was found late at reading, with why. */
export async function recordLate(
  stray: Stray,
  invoice: InvoiceRow,
  transfer: TransferRow,
  note = lateness(invoice, transfer),
): Promise<void> {
  const payment = await lateTo(stray, invoice, transfer, note);
  await placeTransfers(stray.tx, [transfer.id], { payment_id: payment.id }, stray.now);
}

/** Records a transfer that matches nothing, with why. */
export async function recordUnmatched(
  stray: Stray,
  gateway: Gateway,
  transfer: TransferRow,
  reason: string,
): Promise<void> {
  const { app, tx, now } = stray;
  // Of several accounts at one address the one that goes before the others hears of it.
  const [owner] = await ownersAt(tx, transfer);
  const owner_id = owner?.owner_id ?? null;
  const payment = await insertPayment(tx, {
    ...strayValues(transfer, now),
    status: 'unmatched',
    invoice_id: null,
    main: null,
    listed_as: 'stray',
    listed_at: now,
    owner_id,
    currency: gateway.currency,
    decimals: gateway.decimals,
  });
  await placeTransfers(tx, [transfer.id], { payment_id: payment.id }, now);
  await logStray(tx, payment, reason, now);
  await writeEvent(app, tx, 'payment.unmatched', { merchant_id: owner_id, invoice: null, payment, now });
}

/** A payment made in time may be read when its invoice was cancelled, or confirmed by another, already. */
const lateness = (invoice: InvoiceRow, transfer: TransferRow): string =>
  transfer.earliest_at > invoice.expires_at
    ? 'made after the time of the invoice'
    : `found when the invoice was ${invoice.status}`;

const strayValues = (transfer: TransferRow, now: number) => ({
  chain: transfer.chain,
  blockchain: transfer.blockchain,
  txid: transfer.txid,
  received_atomic: transfer.amount_atomic,
  amount_match: 'none' as const,
  confirmations: transfer.confirmations,
  created_at: now,
  updated_at: now,
});

const logStray = (tx: Tx, payment: PaymentRow, note: string, now: number): Promise<void> =>
  insertLog(tx, {
    payment_id: payment.id,
    invoice_id: payment.invoice_id,
    from_status: null,
    to_status: payment.status,
    txid: payment.txid,
    confirmations: payment.confirmations,
    note,
    actor: 'observer',
    created_at: now,
  });

/** What a stray payment shows of the transfers that are left of it. */
export const strayParts = (left: readonly TransferRow[]) => ({
  txid: left.at(-1)?.txid ?? null,
  received_atomic: left.reduce((sum, row) => sum + BigInt(row.amount_atomic), 0n).toString(),
  confirmations: Math.min(...left.map((row) => row.confirmations)),
});

/** What its payment was booked without, because it had vanished, is listed by itself when it is back. */
async function listAgain(stray: Stray, transfer: TransferRow): Promise<void> {
  if (transfer.state === 'gone' || transfer.invoice_id === null) return;
  const invoice = await lockInvoice(stray.app.db, stray.tx, transfer.invoice_id);
  if (invoice) await recordLate(stray, invoice, transfer, 'back on the chain; it was booked without it');
}

/** A stray payment of which a transfer vanished, or came back, says so; it is orphaned when nothing is left of it. */
export async function followStray(stray: Stray, transfer: TransferRow, reason?: string): Promise<void> {
  const { tx, now } = stray;
  if (transfer.payment_id === null || transfer.disposition === 'matched') return;
  const payment = await tx
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', transfer.payment_id)
    .executeTakeFirst();
  if (!payment) return;
  if (payment.status === 'confirmed') return listAgain(stray, transfer);
  const left = (await transfersOfPayment(tx, payment.id)).filter((row) => row.state !== 'gone');
  const status = left.length === 0 ? 'orphaned' : transfer.disposition;
  const values = left.length === 0 ? { confirmations: 0 } : strayParts(left);
  await updatePayment(tx, payment.id, { status, ...values, updated_at: now });
  if (status !== payment.status)
    await insertLog(tx, {
      payment_id: payment.id,
      invoice_id: payment.invoice_id,
      from_status: payment.status,
      to_status: status,
      txid: payment.txid,
      confirmations: transfer.confirmations,
      note:
        status === 'orphaned'
          ? (reason ?? 'the transaction left the chain')
          : 'the transaction is back on the chain',
      actor: 'observer',
      created_at: now,
    });
}
