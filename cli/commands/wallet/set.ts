// `gw wallet set\`: where you are paid on a blockchain.
import { setMerchantWallet } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(setMerchantWallet, {
  args: ['blockchain', 'address'],
  examples: [
    'gw wallet set ton UQAREREREREREREREREREREREREREREREREREREREREREbvW',
    'gw wallet set --blockchain bitcoin --address tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx --json',
  ],
});
