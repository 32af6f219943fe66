// `gw unit get\`: a unit as its buyer sees it.
import { getUnit } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getUnit, {
  args: ['unit_id'],
  examples: ['gw unit get ID', 'gw unit get ID --json chains'],
});
