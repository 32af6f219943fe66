// `gw user list\`: all users, for operators.
import { listUsers } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(listUsers, {
  examples: ['gw user list', 'gw users --limit 10 --json id,email'],
  view: { columns: ['id', 'email', 'full_name', 'is_active', 'is_superuser', 'source', 'created_at'] },
});
