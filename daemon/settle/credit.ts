// Prepaid balance given by an operator: booked like a refill, then held payments follow, oldest first.
import { newId } from '../../data/db/ids.ts';
import { lockHead } from '../../data/ledger.ts';
import type { LedgerRow } from '../../data/schema/tables.ts';
import { getUser } from '../../data/users.ts';
import { getLedgerEntry } from '../../data/views/admin-detail.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import { apply } from './apply.ts';
import { HELD_BATCH, wakeHeld } from './held.ts';
import type { SettleDeps } from './step.ts';

/** Batches of held payments booked at once; the clock continues with the rest. */
const MAX_BATCHES = 10;

export interface Credit {
  /** Of the entry: a request repeated under it books nothing more. Null draws one. */
  id: string | null;
  merchant_id: string;
  amount_micros: bigint;
  note: string | null;
  actor: string;
}

/**
 * One transaction: the entry, and making due what waited for it. Returns the entry and the invoices to evaluate. Refuses
 * with `merchant_not_found`.
 */
export async function credit(
  { db, ledger, clock }: SettleDeps,
  { id: given, ...request }: Credit,
): Promise<{ entry: LedgerRow; held: string[] }> {
  const id = given ?? newId();
  const { merchant_id } = request;
  return db.transaction(async (tx) => {
    // Behind the lock, so that a first request of this key that is ending at this moment is seen.
    const head = await lockHead(db, tx, merchant_id);
    const made = await getLedgerEntry(tx, id);
    if (made) return { entry: made, held: await wakeHeld(db, tx, merchant_id) };
    if (!head || !(await getUser(tx, merchant_id))) throw new Refusal('merchant_not_found');
    await ledger.post(tx, { ...request, id, kind: 'credit', invoice_id: null, now: seconds(clock) });
    const entry = (await getLedgerEntry(tx, id)) as LedgerRow;
    return { entry, held: await wakeHeld(db, tx, merchant_id) };
  });
}

/** Evaluates held invoices, `first` and then the next oldest, batch by batch as long as the limit lasts. */
export async function evaluateHeld(deps: SettleDeps, merchant_id: string, first: string[]): Promise<void> {
  let ids = first;
  for (let batch = 1; ids.length > 0; batch++) {
    let booked = 0;
    for (const invoice_id of ids) {
      try {
        const outcome = await apply(deps, invoice_id, { fact: { kind: 'evaluate' }, actor: 'observer' });
        if (outcome?.verdict.verdict === 'moved') booked++;
      } catch (error) {
        deps.log.error(
          { invoice_id, err: error },
          'a held payment could not be booked; the clock tries again',
        );
      }
    }
    if (ids.length < HELD_BATCH || booked === 0 || batch === MAX_BATCHES) return;
    ids = await deps.db.transaction((tx) => wakeHeld(deps.db, tx, merchant_id));
  }
}
