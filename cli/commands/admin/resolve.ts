// `gw admin resolve\`: puts an invoice right by hand.
import { resolvePayment } from '../../../src/api/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(resolvePayment, {
  args: ['invoice_id', 'action'],
  examples: ['gw admin resolve ID recheck', 'gw admin resolve ID confirm --txid HASH --yes --json'],
  destroys: ({ params, body }) =>
    body.action === 'recheck'
      ? undefined
      : { question: `${body.action} ${params.invoice_id} by hand?`, type: String(params.invoice_id) },
  view: {
    list: 'none',
    columns: ['payment.id', 'payment.status', 'payment.payment_status', 'payment.amount', 'payment.txid'],
  },
});
