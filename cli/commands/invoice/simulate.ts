// `gw invoice simulate\`: settles an invoice without a payment, on testnet in demo mode.
import { simulateInvoice } from '../../../src/api/endpoints/invoices.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(simulateInvoice, {
  args: ['invoice_id'],
  examples: ['gw invoice simulate ID', 'gw invoice simulate ID --json'],
  view: { columns: ['id', 'status', 'amount', 'currency', 'txid', 'paid_at'] },
});
