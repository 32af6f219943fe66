// `gw user update-me\`: changes your name or mail address.
import { updateMe } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(updateMe, {
  examples: ["gw user update-me --full-name 'Ada Lovelace'", 'gw user update-me --unset full-name --json'],
});
