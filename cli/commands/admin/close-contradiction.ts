// `gw admin close-contradiction`: closes a contradiction that a person has understood.
import { closeContradiction } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(closeContradiction, {
  args: ['contradiction_id'],
  examples: [
    "gw admin close-contradiction ID --note 'the second provider was behind'",
    'gw admin close-contradiction ID --json',
  ],
  view: { columns: ['id', 'kind', 'closed_at', 'closed_by', 'note'] },
});
