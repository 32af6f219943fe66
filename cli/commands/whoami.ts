// `gw whoami\`: the signed-in user.
import { getMe } from '../../src/api/endpoints/users.ts';
import { callCommand } from '../command.ts';

export const command = callCommand(getMe, {
  examples: ['gw whoami', 'gw whoami --json id,email'],
});
