// The event by which a merchant learns that its limit does not cover a sale, before anyone has paid it.
import { takeLimitNote } from '../../data/merchants.ts';
import type { InvoiceRow, MerchantRow } from '../../data/schema/tables.ts';
import { seconds } from '../clock.ts';
import { writeEvent } from './event.ts';
import type { SettleDeps } from './step.ts';

/** A merchant is notified once in this time, however often its offers are asked for. */
const NOTE_SECONDS = 3600;

/** Writes `limit.exhausted` with the invoice that was made all the same; null where it was refused. */
export async function noteShortLimit(
  deps: SettleDeps,
  merchant: Pick<MerchantRow, 'id' | 'limit_noted_at'>,
  invoice: InvoiceRow | null,
): Promise<void> {
  const now = seconds(deps.clock);
  const before = now - NOTE_SECONDS;
  if (merchant.limit_noted_at !== null && merchant.limit_noted_at >= before) return;
  const merchant_id = merchant.id;
  const noted = await deps.db.transaction(async (tx) => {
    if (!(await takeLimitNote(tx, merchant_id, { now, before }))) return false;
    await writeEvent(deps, tx, 'limit.exhausted', { merchant_id, invoice, payment: null, now });
    return true;
  });
  if (noted)
    deps.log.warn({ merchant_id, invoice_id: invoice?.id }, 'a sale is above the limit of its merchant');
}
