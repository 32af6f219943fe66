// Everything that is described is mounted, and nothing else.
import { expect, test } from 'vitest';
import { routes } from '../../daemon/routes/routes.ts';
import { api } from '../../src/api/endpoints/api.ts';

/** Files of the pages of documents, and another protocol: served, but no operations of the interface. */
const besides = ['docsAsset', 'mcp', 'metrics', 'guide', 'picture', 'unitCard'];

test('every described operation is mounted once, and nothing else is', () => {
  const mounted = routes.map(({ endpoint }) => endpoint.id);
  expect([...mounted].sort()).toEqual([...api.map(({ id }) => id), ...besides].sort());
});
