// `gw unit update\`: changes a unit.
import { updateUnit } from '../../../src/api/endpoints/units.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(updateUnit, {
  args: ['unit_id'],
  examples: [
    'gw unit update ID --amount-usd 5.00',
    'gw unit update ID --no-active --json active',
    'gw unit update ID --unset description',
  ],
});
