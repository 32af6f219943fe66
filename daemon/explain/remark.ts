// What a merchant says of his own money that waits: a note, that it waits no longer, or that it waits again.
import type { z } from 'zod';
import { getInvoice } from '../../data/invoices.ts';
import { ownPayment } from '../../data/payments.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import type { PaymentRemark } from '../../src/api/schemas/explain.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { presentDismissal, presentPayment } from '../invoices/present.ts';
import { type Remark, remark } from '../settle/settle.ts';

/** How a merchant is named in logs. */
export const merchantName = (id: string): string => `merchant:${id}`;

/**
 * PaymentRemark, of a payment or of the one that an invoice shows. Another's is answered like an absent one. Refuses with
 * `payment_not_found`, `payment_not_waiting`, `operator_decides` or `bad_request`.
 */
export async function remarkOwn(
  app: App,
  id: string,
  request: Remark,
  owner_id: string | null,
): Promise<z.output<typeof PaymentRemark>> {
  const payment_id = (await getInvoice(app.db.query, id))?.payment_id ?? id;
  const find = async () => {
    const payment = owner_id === null ? undefined : await ownPayment(app.db.query, payment_id, owner_id);
    if (payment) return payment;
    throw new Refusal('payment_not_found', {
      extra: { hint: 'List what waits for you', next: nextCall('listInbox') },
    });
  };
  await find();
  await remark(app, payment_id, request, { actor: merchantName(owner_id ?? ''), owner_id });
  const payment = await find();
  const invoice =
    payment.invoice_id === null ? undefined : await getInvoice(app.db.query, payment.invoice_id);
  return {
    payment: presentPayment(payment, invoice ?? null),
    dismissed: presentDismissal(payment, 'merchant'),
  };
}
