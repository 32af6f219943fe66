// `gw config server\`: what the service says about itself.
import { getPublicConfig } from '../../../src/api/endpoints/buyer.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getPublicConfig, {
  examples: ['gw config server', 'gw config server --json demo_mode,network'],
});
