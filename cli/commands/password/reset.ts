// `gw password reset\`: a new password with the token of a recovery mail.
import { resetPassword } from '../../../src/api/endpoints/login.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(resetPassword, {
  examples: ['gw password reset', 'gw password reset --recovery-token TOKEN --new-password - --json'],
});
