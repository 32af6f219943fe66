// Prepaid balance given by hand: booked like a refill, then held payments follow, oldest first.
import type { z } from 'zod';
import { figuresOf } from '../../data/views/merchants.ts';
import type { AdminCredit } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd, parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import type { UserContext } from '../http/handler.ts';
import { credit, evaluateHeld } from '../settle/settle.ts';
import { presentLedgerEntry, presentMerchant } from './present.ts';
import { operatorName } from './resolve.ts';

interface Credit {
  prepaid_usd: string;
  note: string | null;
}

/** Books the credit and answers AdminCredit. Refuses with `merchant_not_found`. */
export async function creditMerchant(
  context: UserContext,
  merchant_id: string,
  { prepaid_usd, note }: Credit,
): Promise<z.output<typeof AdminCredit>> {
  const { app, user, log, request } = context;
  const actor = operatorName(user);
  const amount_micros = parseDecimal(prepaid_usd, USD_DECIMALS) ?? 0n;
  const { entry, held } = await credit(app, {
    id: request.resource_id,
    merchant_id,
    amount_micros,
    note,
    actor,
  });
  log.warn(
    { merchant_id, actor, prepaid_usd: formatUsd(amount_micros), note, entry_id: entry.id },
    'prepaid balance credited by hand',
  );
  await evaluateHeld(app, merchant_id, held);
  const [figures] = await figuresOf(app.db.query, [merchant_id]);
  if (!figures) throw new Refusal('merchant_not_found');
  return {
    merchant: presentMerchant(figures),
    prepaid_usd: formatUsd(entry.balance_micros),
    limit_of_payments: formatUsd(limitOf(entry.balance_micros)),
    entry: presentLedgerEntry(entry),
  };
}
