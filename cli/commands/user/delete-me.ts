// `gw user delete-me\`: deletes the signed-in user.
import { deleteMe } from '../../../src/api/endpoints/users.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(deleteMe, {
  examples: ['gw user delete-me', 'gw user delete-me --yes --json'],
  destroys: () => ({
    question: 'Delete the signed-in user? Its tokens and its merchant key end at once.',
    type: 'delete',
  }),
});
