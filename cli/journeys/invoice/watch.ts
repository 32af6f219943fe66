// `gw invoice watch`: follows an invoice until it ends.
import { getInvoicePayment, getPublicInvoice } from '../../../src/api/endpoints/buyer.ts';
import type { Command } from '../../engine/command.ts';
import { intervalFlag } from '../parts/follow.ts';
import { watchInvoice } from '../parts/watch.ts';

export const command: Command = {
  endpoints: [getPublicInvoice, getInvoicePayment],
  input: getPublicInvoice,
  args: ['invoice_id'],
  flags: [intervalFlag],
  about:
    'Shows a screen on a terminal, otherwise a line for each change; with --json each line is the whole invoice. Exits when the invoice ends: 0 if confirmed, 6 if it ended unpaid. Needs no credentials.',
  examples: ['gw invoice watch ID', 'gw invoice watch ID --json status,confirmations'],
  stream: true,
  async run(context) {
    const { input, own } = await context.input();
    await watchInvoice(context, { id: String(input.params.invoice_id) }, own);
  },
};
