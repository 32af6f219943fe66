// `gw password mail`: the recovery mail of a user, for operators.
import { recoverPasswordHtml } from '../../../src/api/endpoints/login.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(recoverPasswordHtml, {
  args: ['email'],
  examples: ['gw password mail ada@example.com', 'gw password mail ada@example.com --json'],
});
