// `gw invoice check\`: looks for the payment now.
import { checkInvoice } from '../../../src/api/endpoints/invoices.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(checkInvoice, {
  args: ['invoice_id'],
  examples: ['gw invoice check ID', 'gw invoice check ID --json status,confirmations'],
});
