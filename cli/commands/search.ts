// `gw search\`: what to call for an intent.
import { searchCatalog } from '../../src/api/endpoints/discovery.ts';
import { callCommand } from '../command.ts';

export const command = callCommand(searchCatalog, {
  args: ['q'],
  examples: ["gw search 'create an invoice'", "gw search 'refund' --limit 3 --json id,call"],
  view: { columns: ['id', 'kind', 'title', 'snippet'] },
});
