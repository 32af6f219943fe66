// `gw invoice create`: an invoice, shown with its QR code, and followed where that is wanted.
import { createInvoice } from '../../../src/api/endpoints/invoices.ts';
import type { Command } from '../../engine/command.ts';
import { issue, issueFlags } from '../parts/issue.ts';

export const command: Command = {
  endpoints: [createInvoice],
  input: createInvoice,
  flags: issueFlags,
  examples: [
    'gw invoice create --chain ton --amount 12.50 --external-ref order-1001',
    'gw invoice create --chain bitcoin --amount 0.001 --amount-unit native --watch',
    'gw invoice create --chain ton --amount 12.50 --json id,pay_url',
  ],
  run: (context) => issue(createInvoice, context),
};
