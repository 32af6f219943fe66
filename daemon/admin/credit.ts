// Prepaid balance given by hand: booked like a refill, then held payments follow, oldest first.
import type { z } from 'zod';
import { latestEntries } from '../../data/admin-detail.ts';
import { figuresOf } from '../../data/admin-merchants.ts';
import { post } from '../../data/ledger.ts';
import { getMerchant } from '../../data/merchants.ts';
import type { LedgerRow } from '../../data/tables.ts';
import { getUser } from '../../data/users.ts';
import type { AdminCredit } from '../../src/api/admin-schemas.ts';
import { Refusal } from '../../src/errors.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd, parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { type App, seconds } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { HELD_BATCH, wakeHeld } from '../settle/moved.ts';
import { apply } from '../settle.ts';
import { presentLedgerEntry, presentMerchant } from './present.ts';
import { operatorName } from './resolve.ts';

/** Batches of held payments booked before the answer; the clock goes on with the rest. */
const MAX_BATCHES = 10;

/** Books the credit and answers AdminCredit. Refuses with `merchant_not_found`. */
export async function creditMerchant(
  { app, user, log }: UserContext,
  merchant_id: string,
  { prepaid_usd, note }: { prepaid_usd: string; note: string | null },
): Promise<z.output<typeof AdminCredit>> {
  const amount_micros = parseDecimal(prepaid_usd, USD_DECIMALS) ?? 0n;
  const actor = operatorName(user);
  const { entry, held } = await app.db.transaction(async (tx) => {
    if (!(await getUser(tx, merchant_id)) || !(await getMerchant(tx, merchant_id)))
      throw new Refusal('merchant_not_found');
    const now = seconds(app.clock);
    await post(app.db, tx, {
      merchant_id,
      kind: 'credit',
      amount_micros,
      invoice_id: null,
      note,
      actor,
      now,
    });
    const [entry] = await latestEntries(tx, merchant_id, 1);
    return { entry: entry as LedgerRow, held: await wakeHeld({ tx }, merchant_id) };
  });
  log.warn(
    { merchant_id, actor, prepaid_usd: formatUsd(amount_micros), note, entry_id: entry.id },
    'prepaid balance credited by hand',
  );
  await bookHeld(app, merchant_id, held);
  const [figures] = await figuresOf(app.db.query, [merchant_id]);
  if (!figures) throw new Refusal('merchant_not_found');
  return {
    merchant: presentMerchant(figures),
    prepaid_usd: formatUsd(entry.balance_micros),
    limit_of_payments: formatUsd(limitOf(entry.balance_micros)),
    entry: presentLedgerEntry(entry),
  };
}

/** Looks at held invoices, oldest first, batch by batch as long as the limit lasts. */
async function bookHeld(app: App, merchant_id: string, first: string[]): Promise<void> {
  let ids = first;
  for (let batch = 1; ids.length > 0; batch++) {
    let booked = 0;
    for (const invoice_id of ids) {
      try {
        const outcome = await apply(app, invoice_id, { fact: { kind: 'look' }, actor: 'observer' });
        if (outcome?.verdict.verdict === 'moved') booked++;
      } catch (error) {
        app.log.error(
          { invoice_id, err: error },
          'a held payment could not be booked; the clock tries again',
        );
      }
    }
    if (ids.length < HELD_BATCH || booked === 0 || batch === MAX_BATCHES) return;
    ids = await app.db.transaction((tx) => wakeHeld({ tx }, merchant_id));
  }
}
