// `gw page checkout`: the checkout page of an invoice.
import { payPage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(payPage, {
  args: ['invoice_id'],
  examples: ['gw page checkout ID --size mobile --output page.html', 'gw page checkout ID --json'],
});
