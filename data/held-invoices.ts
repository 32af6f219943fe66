// Invoices whose payment waits for the limit: waking them lets the clock try each one again.
import { sql } from 'kysely';
import type { Db, Tx } from './db/database.ts';

/** Taken from a Unix time it leaves a time before all others, in the same order. */
const BEFORE_ALL = 10_000_000_000;

/** Makes all of an owner's due at once, the oldest payment first, however many they are: one that is left out waits until it expires. */
export async function wakeHeldInvoices({ dialect }: Db, tx: Tx, owner_id: string): Promise<void> {
  // In the order in which all others lock several invoices.
  const lock = dialect === 'postgres' ? sql`for no key update of invoices` : sql``;
  await sql`update invoices set due_at = held.due_at
    from (select invoices.id, payments.created_at - ${sql.lit(BEFORE_ALL)} as due_at
      from payments join invoices on invoices.id = payments.invoice_id
      where payments.owner_id = ${owner_id} and payments.status = 'held' and payments.main = 1
        and invoices.status = 'created'
      order by invoices.id ${lock}) as held
    where invoices.id = held.id`.execute(tx);
}
