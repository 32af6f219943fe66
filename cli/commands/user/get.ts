// `gw user get\`: a user.
import { getUser } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getUser, {
  args: ['user_id'],
  examples: ['gw user get ID', 'gw user get ID --json email'],
});
