// `gw admin merchant\`: one merchant with wallets, units and latest entries.
import { getAdminMerchant } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getAdminMerchant, {
  args: ['user_id'],
  examples: ['gw admin merchant USER_ID', 'gw admin merchant USER_ID --json ledger'],
  view: {
    list: 'none',
    columns: [
      'merchant.slug',
      'merchant.email',
      'merchant.is_active',
      'merchant.prepaid_usd',
      'merchant.limit_of_payments',
      'merchant.confirmed_usd',
      'merchant.fees_usd',
      'merchant.wallets',
      'webhook_url',
      'webhook_refills',
      'enabled_currencies',
    ],
  },
});
