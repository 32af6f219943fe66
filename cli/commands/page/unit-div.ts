// `gw page unit-div`: the chooser of a unit as a fragment.
import { unitDiv } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(unitDiv, {
  args: ['unit_id'],
  examples: ['gw page unit-div ID', 'gw page unit-div ID --json'],
});
