// `gw unit checkout\`: buys a unit, as a buyer does.
import { checkoutUnit } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(checkoutUnit, {
  args: ['unit_id'],
  examples: ['gw unit checkout ID --chain ton', 'gw unit checkout ID --chain ton --json id,pay_url'],
});
