// A contradiction that nothing has closed, for what the operator is shown and may do.
import { noteContradiction } from '../../data/contradictions.ts';
import { newId } from '../../data/db/ids.ts';
import type { Db } from '../../data/db/open.ts';

/** Returns its id. */
export async function openContradiction(db: Db, { invoice_id }: { invoice_id: string }): Promise<string> {
  const subject = newId();
  await db.transaction((tx) =>
    noteContradiction(
      tx,
      {
        blockchain: 'ton',
        kind: 'transfer_amount',
        subject,
        txid: 'ab'.repeat(32),
        invoice_id,
        details: { stored_atomic: '1', read_atomic: '2' },
      },
      1_800_000_000,
    ),
  );
  const { id } = await db.query
    .selectFrom('contradictions')
    .select('id')
    .where('blockchain', '=', 'ton')
    .where('kind', '=', 'transfer_amount')
    .where('subject', '=', subject)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return id;
}
