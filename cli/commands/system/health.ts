// `gw system health\`: whether the daemon answers.
import { getHealth } from '../../../src/api/endpoints/system.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getHealth, {
  examples: ['gw system health', 'gw system health --json'],
});
