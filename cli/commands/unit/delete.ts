// `gw unit delete\`: ends an offer.
import { deleteUnit } from '../../../src/api/endpoints/units.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(deleteUnit, {
  args: ['unit_id'],
  examples: ['gw unit delete ID', 'gw unit delete ID --yes --json'],
  destroys: ({ params }) => ({ question: `Delete the unit ${params.unit_id}? Its pages stop working.` }),
});
