// `gw discovery openapi`: the OpenAPI document, always as JSON.
import { getOpenApi } from '../../../src/api/endpoints/discovery.ts';
import type { Command } from '../../engine/command.ts';
import { printJson } from '../../output/io.ts';
import { pick } from '../../output/view.ts';

export const command: Command = {
  endpoints: [getOpenApi],
  input: getOpenApi,
  fields: ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components'],
  examples: ['gw discovery openapi > openapi.json', 'gw discovery openapi --json info'],
  async run({ io, call }) {
    const document = await call(getOpenApi);
    printJson(io, Array.isArray(io.json) ? pick(document, io.json, 'none') : document);
  },
};
