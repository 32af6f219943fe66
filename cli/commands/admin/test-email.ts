// `gw admin test-email\`: whether mail goes out.
import { testEmail } from '../../../src/api/endpoints/system.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(testEmail, {
  args: ['email_to'],
  examples: ['gw admin test-email operator@example.com', 'gw admin test-email operator@example.com --json'],
});
