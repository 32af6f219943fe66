// `gw admin transaction`: what a transaction paid to an invoice, as the chain has it now.
import { lookUpTransaction } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(lookUpTransaction, {
  args: ['invoice_id', 'txid'],
  examples: ['gw admin transaction ID TXID', 'gw admin transaction ID TXID --json found,received_amount'],
  view: {
    list: 'none',
    columns: [
      'found',
      'source',
      'received_amount',
      'amount',
      'amount_match',
      'currency',
      'booked_invoice_ids',
    ],
  },
});
