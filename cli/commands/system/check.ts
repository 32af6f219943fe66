// `gw system check\`: the same as a boolean.
import { healthCheck } from '../../../src/api/endpoints/system.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(healthCheck, {
  examples: ['gw system check', 'gw system check --json'],
});
