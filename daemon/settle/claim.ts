// Puts a payer's claim on record: in the lists of shop and operator, and in the log of the payment that it names.
import { type NewClaim, putClaim } from '../../data/claims.ts';
import { getPayment, insertLog } from '../../data/payments.ts';
import { lockTransfers } from '../../data/transfers.ts';
import { seconds } from '../clock.ts';
import type { SettleDeps } from './step.ts';

export interface ClaimNote {
  claim: NewClaim;
  /** Transfers of the late or unmatched payment: locked, so that its log has one order. */
  transfer_ids: readonly string[];
}

/** Stores it, and nothing else: neither what a transfer pays nor any status changes by it. */
export async function noteClaim(
  { db, clock }: Pick<SettleDeps, 'db' | 'clock'>,
  { claim, transfer_ids }: ClaimNote,
): Promise<void> {
  const now = seconds(clock);
  await db.transaction(async (tx) => {
    await lockTransfers(db, tx, transfer_ids);
    const stored = await putClaim(tx, claim, now);
    // Once, however often it is claimed.
    if (!stored || claim.payment_id == null || stored.before === claim.payment_id) return;
    const payment = await getPayment(tx, claim.payment_id);
    if (payment?.status !== 'late' && payment?.status !== 'unmatched') return;
    await insertLog(tx, {
      payment_id: payment.id,
      invoice_id: payment.invoice_id,
      from_status: payment.status,
      to_status: payment.status,
      txid: payment.txid,
      confirmations: payment.confirmations,
      note: `the payer claims it for invoice ${claim.invoice_id}`,
      actor: 'buyer',
      created_at: now,
    });
  });
}
