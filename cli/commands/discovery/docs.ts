// `gw discovery docs`: the page to try calls on.
import { getDocs } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getDocs, {
  examples: ['gw discovery docs --output docs.html', 'gw discovery docs --json'],
});
