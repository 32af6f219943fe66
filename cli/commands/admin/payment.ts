// `gw admin payment\`: everything about an invoice or a payment.
import { getAdminPayment } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getAdminPayment, {
  args: ['invoice_id'],
  examples: ['gw admin payment ID', 'gw admin payment ID --json transfers,logs'],
  view: {
    list: 'none',
    columns: [
      'payment.id',
      'payment.status',
      'payment.payment_status',
      'payment.owner_slug',
      'payment.chain',
      'payment.amount',
      'payment.received_amount',
      'payment.amount_match',
      'payment.txid',
      'payment.confirmations',
      'payment.created_at',
      'payment.expires_at',
      'payment.paid_at',
    ],
  },
});
