// `gw user update\`: changes a user, for operators.
import { updateUser } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(updateUser, {
  args: ['user_id'],
  examples: ['gw user update ID --no-is-active', 'gw user update ID --password - --json'],
});
