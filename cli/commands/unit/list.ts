// `gw unit list\`: your units.
import { listUnits } from '../../../src/api/endpoints/units.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(listUnits, {
  examples: ['gw unit list', 'gw units --json id,title,page_url'],
  view: { columns: ['id', 'title', 'amount_usd', 'currencies', 'active', 'page_url'] },
});
