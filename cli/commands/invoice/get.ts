// `gw invoice get\`: one of your invoices.
import { getInvoice } from '../../../src/api/endpoints/invoices.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getInvoice, {
  args: ['invoice_id'],
  examples: ['gw invoice get 7d1f6c1e-6f0f-4b44-9a0e-0f2f6a3c9b11', 'gw invoice get ID --json status,txid'],
});
