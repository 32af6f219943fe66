// Invoices whose payment waits for the prepaid limit: made due in the transaction that raises it.
import type { Db, Tx } from '../../data/db/open.ts';
import { wakeHeldInvoices } from '../../data/held-invoices.ts';
import { heldInvoices } from '../../data/payments.ts';

/** Held invoices returned to the caller that raises the limit; the clock continues with the rest. */
export const HELD_BATCH = 100;

/**
 * Makes all invoices due that waited for the limit, in the transaction that raised it: the oldest payment first. Returns
 * the first `HELD_BATCH` of them in that order.
 */
export async function wakeHeld(db: Db, tx: Tx, merchant_id: string): Promise<string[]> {
  await wakeHeldInvoices(db, tx, merchant_id);
  return heldInvoices(tx, merchant_id, HELD_BATCH);
}
