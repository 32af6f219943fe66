// `gw discovery robots`: rules for crawlers.
import { getRobotsTxt } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getRobotsTxt, {
  examples: ['gw discovery robots', 'gw discovery robots --json'],
});
