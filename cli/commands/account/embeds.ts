// `gw account embeds\`: markup that mounts checkout in your own pages.
import { getEmbedPreview } from '../../../src/api/endpoints/merchant.ts';
import { callCommand } from '../../command.ts';

export const command = callCommand(getEmbedPreview, {
  examples: ['gw account embeds', 'gw account embeds --json snippets'],
  view: { list: 'snippets', columns: ['id', 'unit_id', 'html'] },
});
