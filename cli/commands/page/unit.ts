// `gw page unit`: the page of a unit at its pretty address.
import { unitShort } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(unitShort, {
  args: ['merchant_slug', 'unit_slug'],
  examples: ['gw page unit ada coffee', 'gw page unit ada coffee --json'],
});
