// `gw page cancel`: cancels an invoice as the button of its page does.
import { cancelOnPage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(cancelOnPage, {
  args: ['invoice_id'],
  examples: ['gw page cancel ID', 'gw page cancel ID --json'],
});
