// `gw admin refill-wallets\`: where the deployment is paid.
import { getAdminRefillWallets } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getAdminRefillWallets, {
  examples: ['gw admin refill-wallets', 'gw admin refill-wallets --json missing'],
  view: { columns: ['blockchain', 'address', 'network', 'note', 'updated_at'] },
});
