// `gw account pages\`: the payment pages, and what keeps buyers from paying there.
import { getPaymentPage } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getPaymentPage, {
  examples: ['gw account pages', 'gw account pages --json ready,problems'],
  view: { list: 'units', columns: ['title', 'amount_usd', 'active', 'chains', 'page_url'] },
});
