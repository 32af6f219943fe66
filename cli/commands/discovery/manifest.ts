// `gw discovery manifest\`: addresses of catalog, search and documents.
import { getAgentManifest } from '../../../src/api/endpoints/discovery.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getAgentManifest, {
  examples: ['gw discovery manifest', 'gw discovery manifest --json'],
});
