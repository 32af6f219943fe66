// `gw admin set-refill-wallet\`: changes where the deployment is paid.
import { setAdminRefillWallet } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(setAdminRefillWallet, {
  args: ['chain', 'address'],
  examples: [
    "gw admin set-refill-wallet ton ADDRESS --note 'cold wallet'",
    "gw admin set-refill-wallet ton '' --yes --json",
  ],
  destroys: ({ body }) =>
    body.address === '' ? { question: `Remove the wallet of ${body.chain}?` } : undefined,
  view: { columns: ['blockchain', 'address', 'network', 'note', 'updated_at'] },
});
