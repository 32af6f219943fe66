// `gw exit tg`: a link that opens a wallet with the payment filled in.
import { getTgExit } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getTgExit, {
  args: ['invoice_id'],
  examples: ['gw exit tg ID', 'gw exit tg ID --json url'],
});
