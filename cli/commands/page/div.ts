// `gw page div`: the checkout of an invoice as a fragment.
import { payDiv } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(payDiv, {
  args: ['invoice_id'],
  examples: ['gw page div ID --width 360', 'gw page div ID --json'],
});
