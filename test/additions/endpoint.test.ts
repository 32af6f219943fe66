// What an endpoint costs: its description and its handler. Document, tool, search, client and command are derived.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Copy, copyRooms } from '../helpers/copy.ts';

/** A busy machine compiles slowly. */
const LIMIT_MS = 300_000;

const description = `export const getTopIncome = endpoint({
  id: 'getTopIncome',
  method: 'GET',
  path: '/api/v1/merchant/income/top',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List your largest sales',
  gw: 'income top {size}',
  effect: 'read',
  keywords: 'best customers, biggest payments',
  description: 'Confirmed sales, largest first.',
  query: { size: int({ gte: 1, lte: 100 }).describe('How many') },
  response: IncomeHistoryPublic,
  example: { query: { size: '10' } },
});

export const listEvents = endpoint({`;

const program = `
import { api } from './src/api/endpoints/api.js';
import { keywords } from './src/api/project/keywords.js';
import { catalog } from './src/api/project/catalog.js';
import { openapi } from './src/api/project/openapi.js';
import { toolsOf } from './src/api/project/tools.js';
import { createClient } from './src/api/client/client.js';
import { routes } from './daemon/routes/routes.js';
const base_url = 'http://127.0.0.1:4020';
const id = 'getTopIncome';
const tool = toolsOf().find(({ name }) => name === id);
console.log(JSON.stringify({
  routed: routes.some(({ endpoint }) => endpoint.id === id),
  document: openapi({ base_url }).paths['/api/v1/merchant/income/top']?.get?.operationId,
  call: catalog({ base_url, network: 'testnet' }).find((entry) => entry.id === id)?.call.gw,
  read_only: tool?.annotations.readOnlyHint,
  keywords: keywords[id],
  client: typeof createClient({ base_url, fetch })[id],
}));
`;

let copy: Copy;
beforeAll(() => {
  copy = copyRooms();
}, LIMIT_MS);
afterAll(() => copy.remove());

test(
  'a described endpoint has everything but a handler, and the compiler asks for that',
  async () => {
    const path = 'src/api/endpoints/merchant.ts';
    copy.edit(path, 'export const listEvents = endpoint({', description);
    copy.edit(
      path,
      '  listIncome,\n  getRefillWallets,',
      '  listIncome,\n  getTopIncome,\n  getRefillWallets,',
    );
    expect((await copy.compile()).join('\n')).toMatch(/daemon\/routes\/merchant\.ts.*getTopIncome/);
    copy.edit(
      'daemon/routes/merchant.ts',
      'export const merchant: Handlers<typeof list> = {',
      'export const merchant: Handlers<typeof list> = {\n  getTopIncome: () => ({ data: [], count: 0, skip: 0, limit: 0 }),\n',
    );
    expect(await copy.compile()).toEqual([]);
    expect(copy.touched).toEqual([path, 'daemon/routes/merchant.ts']);
  },
  LIMIT_MS,
);

test(
  'it is routed, documented, found, a tool, a method of the client and a command',
  async () => {
    await copy.run('dist/cli/write-commands.js');
    const help = await copy.run('bin/gw.js', ['income', 'top', '--help']);
    expect(help.stdout).toContain('Usage: gw income top [options] [size]');
    expect(help.stdout).toContain('List your largest sales.');
    expect(help.stdout).toContain('gw income top 10 --json');
    expect((await copy.run('bin/gw.js', ['income', '--help'])).stdout).toContain('List your largest sales');
    copy.write('dist/projected.mjs', program);
    const { stdout, stderr } = await copy.run('dist/projected.mjs');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      routed: true,
      document: 'getTopIncome',
      call: 'gw income top --size 10',
      read_only: true,
      keywords: 'best customers, biggest payments',
      client: 'function',
    });
  },
  LIMIT_MS,
);
