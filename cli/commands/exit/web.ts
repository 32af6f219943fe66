// `gw exit web`: a link that opens a wallet with the payment filled in.
import { getWebExit } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getWebExit, {
  args: ['invoice_id'],
  examples: ['gw exit web ID', 'gw exit web ID --json url'],
});
