// `gw invoice public\`: an invoice as its buyer sees it, without credentials.
import { getPublicInvoice } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getPublicInvoice, {
  args: ['invoice_id'],
  examples: ['gw invoice public ID', 'gw invoice public ID --json'],
});
