// `gw page favicon`: the favicon.
import { faviconImage } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(faviconImage, {
  examples: ['gw page favicon --output favicon.png', 'gw page favicon --json'],
});
