// Marks a merchant as the operator's own shop, or takes the mark back: what was held by the limit follows, oldest first.
import type { Db } from '../../data/db/open.ts';
import { lockHead } from '../../data/ledger.ts';
import { markHouse } from '../../data/merchants.ts';
import { getUser } from '../../data/users.ts';
import { Refusal } from '../../src/errors.ts';
import { type Clock, seconds } from '../clock.ts';
import { wakeHeld } from './held.ts';

export interface HouseMark {
  /** Whether anything was changed. */
  changed: boolean;
  /** Invoices to evaluate, oldest payment first. */
  held: string[];
}

/**
 * One transaction: the mark, and making due what waited for the limit. What is open is judged by the mark that stands
 * when its payment is final; what is booked stays as it was booked. Refuses with `merchant_not_found`.
 */
export function markAsHouse(
  { db, clock }: { db: Db; clock: Clock },
  { merchant_id, house }: { merchant_id: string; house: boolean },
): Promise<HouseMark> {
  return db.transaction(async (tx) => {
    // Behind the lock of those who book for it: no sale is judged half by the old mark.
    const head = await lockHead(db, tx, merchant_id);
    if (!head || !(await getUser(tx, merchant_id))) throw new Refusal('merchant_not_found');
    const changed = await markHouse(tx, merchant_id, house ? seconds(clock) : null);
    return { changed, held: house ? await wakeHeld(db, tx, merchant_id) : [] };
  });
}
