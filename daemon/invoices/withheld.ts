// What the public no longer reads of an order that ended long ago.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { isWithheld } from '../../src/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Config } from '../settings/config.ts';

interface WithheldBy {
  clock: Clock;
  config: Pick<Config, 'public_days'>;
}

export const isWithheldNow = (
  { clock, config: { public_days } }: WithheldBy,
  invoice: Pick<InvoiceRow, 'ended_at'>,
): boolean => isWithheld(invoice, { now: seconds(clock), public_days });

/** How it ended is all that is left to say. */
export const withheldRefusal = ({ status }: Pick<InvoiceRow, 'status'>): Refusal =>
  new Refusal('invoice_withheld', { extra: { invoice_status: status } });

/** Refuses with `invoice_withheld` where the public reads no more of it than how it ended. */
export function requirePublic(by: WithheldBy, invoice: Pick<InvoiceRow, 'status' | 'ended_at'>): void {
  if (isWithheldNow(by, invoice)) throw withheldRefusal(invoice);
}
