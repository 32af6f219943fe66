// `gw page unit-page`: the page of a unit.
import { unitPage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(unitPage, {
  args: ['unit_id'],
  examples: ['gw page unit-page ID', 'gw page unit-page ID --json'],
});
