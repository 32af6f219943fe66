// Prepaid balance given by hand: booked like a refill, then held payments follow, oldest first.
import type { z } from 'zod';
import { newId } from '../../data/db/ids.ts';
import { lockHead } from '../../data/ledger.ts';
import type { LedgerRow } from '../../data/schema/tables.ts';
import { getUser } from '../../data/users.ts';
import { getLedgerEntry } from '../../data/views/admin-detail.ts';
import { figuresOf } from '../../data/views/merchants.ts';
import type { AdminCredit } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd, parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { HELD_BATCH, wakeHeld } from '../settle/moved.ts';
import { apply } from '../settle/settle.ts';
import { presentLedgerEntry, presentMerchant } from './present.ts';
import { operatorName } from './resolve.ts';

/** Batches of held payments booked before the answer; the clock goes on with the rest. */
const MAX_BATCHES = 10;

interface Credit {
  prepaid_usd: string;
  note: string | null;
}

/** Books the credit and answers AdminCredit. Refuses with `merchant_not_found`. */
export async function creditMerchant(
  context: UserContext,
  merchant_id: string,
  credit: Credit,
): Promise<z.output<typeof AdminCredit>> {
  const { app } = context;
  const { entry, held } = await bookCredit(context, merchant_id, credit);
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

/** One transaction: the entry and the waking of what waited for it. Repeated under its id it changes nothing. */
async function bookCredit(
  { app, user, log, request }: UserContext,
  merchant_id: string,
  { prepaid_usd, note }: Credit,
): Promise<{ entry: LedgerRow; held: string[] }> {
  const id = request.resource_id ?? newId();
  const amount_micros = parseDecimal(prepaid_usd, USD_DECIMALS) ?? 0n;
  const actor = operatorName(user);
  const booked = await app.db.transaction(async (tx) => {
    // Behind the lock, so that a first request of this key that is ending at this moment is seen.
    const head = await lockHead(app.db, tx, merchant_id);
    const made = await getLedgerEntry(tx, id);
    if (made) return { entry: made, held: await wakeHeld({ app, tx }, merchant_id) };
    if (!head || !(await getUser(tx, merchant_id))) throw new Refusal('merchant_not_found');
    const now = seconds(app.clock);
    const entry = {
      id,
      merchant_id,
      kind: 'credit',
      amount_micros,
      invoice_id: null,
      note,
      actor,
      now,
    } as const;
    await app.ledger.post(tx, entry);
    return {
      entry: (await getLedgerEntry(tx, id)) as LedgerRow,
      held: await wakeHeld({ app, tx }, merchant_id),
    };
  });
  log.warn(
    { merchant_id, actor, prepaid_usd: formatUsd(amount_micros), note, entry_id: id },
    'prepaid balance credited by hand',
  );
  return booked;
}

/** Looks at held invoices, oldest first, batch by batch as long as the limit lasts. */
async function bookHeld(app: App, merchant_id: string, first: string[]): Promise<void> {
  let ids = first;
  for (let batch = 1; ids.length > 0; batch++) {
    let booked = 0;
    for (const invoice_id of ids) {
      try {
        const outcome = await apply(app, invoice_id, { fact: { kind: 'evaluate' }, actor: 'observer' });
        if (outcome?.verdict.verdict === 'moved') booked++;
      } catch (error) {
        app.log.error(
          { invoice_id, err: error },
          'a held payment could not be booked; the clock tries again',
        );
      }
    }
    if (ids.length < HELD_BATCH || booked === 0 || batch === MAX_BATCHES) return;
    ids = await app.db.transaction((tx) => wakeHeld({ app, tx }, merchant_id));
  }
}
