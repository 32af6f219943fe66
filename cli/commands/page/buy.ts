// `gw page buy`: buys a unit as the buttons of its page do.
import { buyOnPage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(buyOnPage, {
  args: ['merchant_slug', 'unit_slug', 'chain'],
  examples: ['gw page buy ada coffee ton', 'gw page buy ada coffee ton --json'],
});
