// `gw page currency-logo`: the logo of a currency.
import { currencyLogo } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(currencyLogo, {
  args: ['file'],
  examples: ['gw page currency-logo ton.svg --output ton.svg', 'gw page currency-logo ton.svg --json'],
});
