// `gw admin credit\`: credits prepaid balance by hand.
import { creditMerchant } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(creditMerchant, {
  args: ['user_id', 'prepaid_usd'],
  examples: ["gw admin credit USER_ID 25 --note 'welcome credit'", 'gw admin credit USER_ID 25 --yes --json'],
  destroys: ({ params, body }) => ({
    question: `Credit ${body.prepaid_usd} USD to ${params.user_id}? Entries of the ledger are for ever.`,
  }),
  view: { columns: ['merchant.slug', 'prepaid_usd', 'limit_of_payments', 'entry.seq', 'entry.note'] },
});
