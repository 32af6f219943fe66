// `gw refill create`: an invoice that raises the limit of payments.
import { createRefill } from '../../../src/api/endpoints/merchant.ts';
import type { Command } from '../../engine/command.ts';
import { issue, issueFlags } from '../parts/issue.ts';

export const command: Command = {
  endpoints: [createRefill],
  input: createRefill,
  flags: issueFlags,
  instead: { amount: 'amount_usd' },
  examples: [
    'gw refill create --chain ton --amount-usd 10',
    'gw refill create --chain ton --amount 10 --json id,pay_url',
  ],
  run: (context) => issue(createRefill, context),
};
