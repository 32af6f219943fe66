// `gw discovery sitemap`: the sitemap.
import { getSitemap } from '../../../src/api/endpoints/discovery.ts';
import { rawCommand } from '../../raw.ts';

export const command = rawCommand(getSitemap, {
  examples: ['gw discovery sitemap', 'gw discovery sitemap --json'],
});
