// `gw admin merchants\`: merchants with balance, limit and figures.
import { listAdminMerchants } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(listAdminMerchants, {
  examples: ['gw admin merchants', 'gw admin merchants --q ada --json user_id,limit_of_payments'],
  view: {
    columns: [
      'user_id',
      'slug',
      'email',
      'limit_of_payments',
      'confirmed_usd',
      'confirmed_invoices',
      'last_invoice_at',
    ],
  },
});
