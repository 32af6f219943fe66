// `gw page pay`: the checkout page at its short address.
import { payShort } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(payShort, {
  args: ['invoice_id'],
  examples: ['gw page pay ID', 'gw page pay ID --json'],
});
