// `gw admin contradictions`: what two sources state differently of one thing.
import { listContradictions } from '../../../src/api/endpoints/admin.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(listContradictions, {
  examples: ['gw admin contradictions', 'gw admin contradictions --no-open --json id,kind,details'],
  view: {
    list: 'data',
    columns: ['id', 'kind', 'blockchain', 'count', 'created_at', 'invoice_id', 'txid', 'details'],
  },
});
