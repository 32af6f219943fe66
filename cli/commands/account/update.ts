// `gw account update\`: changes webhook, currencies or slug.
import { updateMerchantAccount } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(updateMerchantAccount, {
  examples: [
    'gw account update --webhook-url https://shop.example.com/hooks --webhook-secret -',
    'gw account update --enabled-currencies TON,ton-usdt --json',
    'gw account update --unset webhook-url',
  ],
});
