// `gw refill wallets\`: where refills are paid to.
import { getRefillWallets } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getRefillWallets, {
  examples: ['gw refill wallets', 'gw refill wallets --json blockchain,address'],
  view: { columns: ['blockchain', 'address', 'currencies', 'network'] },
});
