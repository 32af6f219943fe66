// `gw discovery redoc`: the page to read.
import { getRedoc } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getRedoc, {
  examples: ['gw discovery redoc --output redoc.html', 'gw discovery redoc --json'],
});
