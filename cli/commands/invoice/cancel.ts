// `gw invoice cancel\`: ends an invoice that nobody has paid.
import { cancelInvoice } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(cancelInvoice, {
  args: ['invoice_id'],
  examples: ['gw invoice cancel ID', 'gw invoice cancel ID --json status'],
  view: { columns: ['id', 'status', 'amount', 'currency', 'external_ref'] },
});
