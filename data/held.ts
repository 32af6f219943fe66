// Invoices whose payment waits for the limit: waking them lets the clock try each one again.
import { sql } from 'kysely';
import type { Tx } from './open.ts';

/** Taken from a Unix time it leaves a time before all others, in the same order. */
const BEFORE_ALL = 10_000_000_000;

/** Makes all of an owner's due at once, the oldest payment first, however many they are: whoever is left out waits until it expires. */
export async function wakeHeldInvoices(tx: Tx, owner_id: string): Promise<void> {
  await tx
    .updateTable('invoices')
    .set((of) => ({
      due_at: of
        .selectFrom('payments')
        .select(sql<number>`payments.created_at - ${sql.lit(BEFORE_ALL)}`.as('due_at'))
        .whereRef('payments.invoice_id', '=', 'invoices.id')
        .where('payments.main', '=', 1),
    }))
    .where('status', '=', 'created')
    .where('id', 'in', (of) =>
      of
        .selectFrom('payments')
        .select('invoice_id')
        .where('owner_id', '=', owner_id)
        .where('main', '=', 1)
        .where('status', '=', sql.lit('held'))
        .$castTo<{ invoice_id: string }>(),
    )
    .execute();
}
