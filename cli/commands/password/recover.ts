// `gw password recover\`: a recovery mail.
import { recoverPassword } from '../../../src/api/endpoints/login.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(recoverPassword, {
  args: ['email'],
  examples: ['gw password recover ada@example.com', 'gw password recover ada@example.com --json'],
});
