// `gw page embed-script`: the script that mounts checkout in a page.
import { embedScript } from '../../../src/api/endpoints/checkout.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(embedScript, {
  examples: ['gw page embed-script', 'gw page embed-script --json'],
});
