// `gw income list\`: confirmed sales.
import { listIncome } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(listIncome, {
  examples: ['gw income', 'gw income list --from-date 2026-01-01 --limit 100 --json'],
  view: {
    columns: ['created_at', 'amount', 'currency', 'chain', 'fee_charged', 'webhook_status', 'invoice_id'],
  },
});
