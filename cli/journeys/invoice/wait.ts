// `gw invoice wait`: blocks until an invoice is in a state, for scripts.
import { getInvoicePayment, getPublicInvoice } from '../../../src/api/endpoints/buyer.ts';
import type { Command, Context } from '../../engine/command.ts';
import { GwError, milliseconds, usage } from '../../engine/errors.ts';
import { timeoutAfter } from '../../engine/timeout.ts';
import { invoiceView } from '../../output/columns.ts';
import type { Invoice } from '../../output/invoice-card.ts';
import { printReply } from '../../output/view.ts';
import { follow, hasEnded, intervalFlag, intervalOf, requirePaid } from '../parts/follow.ts';

const targets = ['confirmed', 'detected', 'expired', 'cancelled', 'failed', 'ended'] as const;
const DEFAULT_TIMEOUT = '60s';

export const command: Command = {
  endpoints: [getPublicInvoice, getInvoicePayment],
  input: getPublicInvoice,
  args: ['invoice_id'],
  flags: [
    {
      field: 'for',
      name: 'for',
      place: 'own',
      kind: 'text',
      value: 'state',
      help: `${targets.join(', ')}; also as status=confirmed (default: confirmed)`,
    },
    {
      field: 'timeout',
      name: 'timeout',
      place: 'own',
      kind: 'text',
      value: 'duration',
      help: `how long to wait (default: ${DEFAULT_TIMEOUT})`,
    },
    intervalFlag,
  ],
  about:
    'Exits 0 in the awaited state, 6 if the invoice ended in another one, 124 if time ran out. detected means that a transfer was seen. Needs no credentials.',
  examples: [
    'gw invoice wait ID --for confirmed --timeout 60s',
    'gw invoice wait ID --for detected --json status',
  ],
  async run(context) {
    const { input, own } = await context.input();
    const target = String(own.for ?? 'confirmed').replace(/^status=/, '');
    if (!(targets as readonly string[]).includes(target)) throw usage(`--for takes ${targets.join(', ')}`);
    const limit = milliseconds(String(own.timeout ?? DEFAULT_TIMEOUT), '--timeout');
    const invoice = await waitFor(context, String(input.params.invoice_id), {
      target,
      limit_ms: limit,
      interval_ms: intervalOf(own),
    });
    await printReply(context.io, invoice, { card: invoiceView });
    if (!isReached(invoice, target)) requirePaid(invoice);
    if (!isReached(invoice, target))
      throw new GwError('ended', `the invoice is ${invoice.status}, not ${target}`, {
        code: `invoice_${invoice.status}`,
      });
  },
};

const isReached = (invoice: Invoice, target: string): boolean =>
  target === 'ended'
    ? hasEnded(invoice)
    : target === 'detected'
      ? invoice.status === 'confirmed' || invoice.payment_id !== null
      : invoice.status === target;

/** The invoice in the awaited state, or as it ended; throws `timeout`. */
async function waitFor(
  context: Context,
  id: string,
  { target, limit_ms, interval_ms }: { target: string; limit_ms: number; interval_ms: number },
): Promise<Invoice> {
  const deadline = timeoutAfter(limit_ms);
  let last: Invoice | undefined;
  for await (const invoice of follow(context, id, {
    interval_ms,
    signal: deadline,
  })) {
    last = invoice;
    if (isReached(invoice, target) || hasEnded(invoice)) return invoice;
  }
  throw new GwError(
    'timeout',
    `not ${target} after ${limit_ms / 1000} s; ${last ? `the invoice is ${last.status}` : 'the service did not answer'}`,
    {
      code: 'wait_timeout',
      hint: `gw invoice check ${id} checks the chain at once; a longer --timeout waits longer`,
    },
  );
}
