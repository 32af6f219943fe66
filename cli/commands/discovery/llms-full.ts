// `gw discovery llms-full`: the full text.
import { getLlmsFullTxt } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getLlmsFullTxt, {
  examples: ['gw discovery llms-full', 'gw discovery llms-full --json'],
});
