// `gw user create\`: makes a user, for operators.
import { createUser } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(createUser, {
  examples: [
    'gw user create --email grace@example.com --password -',
    'gw user create --email root@example.com --password - --is-superuser --json id',
  ],
});
