// `gw page logo`: the logo.
import { logoImage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(logoImage, {
  examples: ['gw page logo --output logo.png', 'gw page logo --json'],
});
