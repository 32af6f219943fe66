// `gw page reset`: the page that the recovery mail links to.
import { getResetPage } from '../../../src/api/endpoints/login.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getResetPage, {
  examples: ['gw page reset --output reset.html', 'gw page reset --json'],
});
