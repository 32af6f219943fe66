// `gw catalog\`: everything the service can do.
import { getCatalog } from '../../src/api/endpoints/discovery.ts';
import { callCommand } from '../command.ts';

export const command = callCommand(getCatalog, {
  examples: ['gw catalog --kind flow', 'gw catalog --brief --json id,summary'],
  view: { columns: ['id', 'kind', 'title', 'summary', 'auth'] },
});
