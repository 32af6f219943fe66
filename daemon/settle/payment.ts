// Writes the payment that an invoice shows, and the log row of each change of its status.

import { insertLog, insertPayment, mainPayment, updatePayment } from '../../data/payments.ts';
import type { PaymentRow, TransferRow } from '../../data/schema/tables.ts';
import { placeTransfers } from '../../data/transfers.ts';
import type { PaymentStatus, Sum } from '../../src/invoice.ts';
import type { Step } from './step.ts';

export interface WrittenPayment {
  payment: PaymentRow;
  /** Whether its status is another than before. */
  moved: boolean;
}

/** Creates or moves the invoice's payment and ties the transfers to it. */
export async function writePayment(
  step: Step,
  status: PaymentStatus,
  sum: Sum,
  transfers: readonly TransferRow[],
): Promise<WrittenPayment> {
  const { tx, invoice, now } = step;
  const known = await mainPayment(tx, invoice.id);
  const values = {
    status,
    txid: sum.txid,
    received_atomic: sum.received_atomic.toString(),
    amount_match: sum.amount_match,
    confirmations: sum.confirmations,
    updated_at: now,
  };
  const payment = known
    ? { ...known, ...values }
    : await insertPayment(tx, {
        ...values,
        invoice_id: invoice.id,
        main: 1,
        owner_id: invoice.owner_id,
        chain: invoice.chain,
        blockchain: invoice.blockchain,
        currency: invoice.currency,
        decimals: invoice.decimals,
        listed_as: invoice.kind,
        listed_at: invoice.created_at,
        created_at: now,
      });
  if (known && differs(known, values)) await updatePayment(tx, known.id, values);
  const moved = known?.status !== status;
  if (moved) await logChange(step, payment, known?.status ?? null);
  const unassigned = transfers.filter((row) => row.payment_id !== payment.id);
  await placeTransfers(
    tx,
    unassigned.map((row) => row.id),
    { payment_id: payment.id },
    now,
  );
  return { payment, moved };
}

const differs = (known: PaymentRow, values: Partial<PaymentRow>): boolean =>
  known.status !== values.status ||
  known.txid !== values.txid ||
  known.received_atomic !== values.received_atomic ||
  known.amount_match !== values.amount_match ||
  known.confirmations !== values.confirmations;

/** A log row for a payment that has just got its status. */
export async function logChange(step: Step, payment: PaymentRow, from: PaymentStatus | null): Promise<void> {
  await insertLog(step.tx, {
    payment_id: payment.id,
    invoice_id: step.invoice.id,
    from_status: from,
    to_status: payment.status,
    txid: payment.txid,
    confirmations: payment.confirmations,
    note: step.note,
    actor: step.actor,
    created_at: step.now,
  });
}
