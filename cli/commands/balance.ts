// `gw balance\`: prepaid balance and confirmed income per currency.
import { getBalances } from '../../src/api/endpoints/merchant.ts';
import { callCommand } from '../command.ts';

export const command = callCommand(getBalances, {
  examples: ['gw balance', 'gw balance --json'],
  view: { columns: ['currency', 'amount'] },
});
