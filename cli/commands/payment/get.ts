// `gw payment get\`: what was seen on the chain for an invoice, with every change.
import { getInvoicePayment } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getInvoicePayment, {
  args: ['invoice_id'],
  examples: ['gw payment get INVOICE_ID', 'gw payment get INVOICE_ID --json payment'],
  view: {
    columns: [
      'payment.status',
      'payment.received_amount',
      'payment.currency',
      'payment.amount_match',
      'payment.confirmations',
      'payment.min_confirmations',
      'payment.txid',
      'payment.updated_at',
    ],
  },
});
