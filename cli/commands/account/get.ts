// `gw account get\`: key, webhook, currencies and limit.
import { getMerchantAccount } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getMerchantAccount, {
  examples: ['gw account get', 'gw account get --json api_key,limit_of_payments'],
});
