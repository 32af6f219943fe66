// `gw user identity-source\`: which way an identity signs in.
import { detectIdentitySource } from '../../../src/api/endpoints/login.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(detectIdentitySource, {
  args: ['q'],
  examples: ['gw user identity-source ada@example.com', 'gw user identity-source 12345 --json source'],
});
