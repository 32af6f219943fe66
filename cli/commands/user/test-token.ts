// `gw user test-token\`: whether the token still works.
import { testToken } from '../../../src/api/endpoints/login.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(testToken, {
  examples: ['gw user test-token', 'gw user test-token --json email'],
});
