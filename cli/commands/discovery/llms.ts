// `gw discovery llms`: the text index.
import { getLlmsTxt } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getLlmsTxt, {
  examples: ['gw discovery llms', 'gw discovery llms --json'],
});
