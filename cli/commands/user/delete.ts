// `gw user delete\`: deletes a user, for operators.
import { deleteUser } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(deleteUser, {
  args: ['user_id'],
  examples: ['gw user delete ID', 'gw user delete ID --yes --json'],
  destroys: ({ params }) => ({
    question: `Delete the user ${params.user_id}? Books and invoices stay.`,
    type: String(params.user_id),
  }),
});
