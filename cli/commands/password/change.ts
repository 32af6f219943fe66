// `gw password change\`: a new password for the signed-in user.
import { updateMyPassword } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';
import { say } from '../../io.ts';

export const command = callCommand(updateMyPassword, {
  examples: ['gw password change', 'gw password change --current-password - --json'],
  after: (_reply, { io }) => say(io, 'All tokens have ended. Sign in again: gw login'),
});
