// Every call of the catalog is made: as its parts, in a shell, and as a command; and all lists name the same endpoints.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRegistry } from '../../../cli/commands.ts';
import { allFlags } from '../../../cli/engine/input.ts';
import { readLine } from '../../../cli/engine/resolve.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { api } from '../../../src/api/endpoints/api.ts';
import { type CatalogItem, catalog } from '../../../src/api/project/catalog.ts';
import { placeholders } from '../../../src/api/project/example-call.ts';
import { openapi } from '../../../src/api/project/openapi.ts';
import { toolsOf } from '../../../src/api/project/tools.ts';
import { filled, openWorld, type World } from '../../api/world.ts';
import { listen } from '../../helpers/browser.ts';
import { verifies } from '../../requirements.ts';

const run = promisify(execFile);
const registry = await openRegistry();
const base_url = 'http://127.0.0.1:4020';
const ids = api.map(({ id }) => id).sort();
const entries = catalog({ base_url, network: 'testnet' });
const callable = entries.filter((entry) => entry.call);

/** Part of the router, described by no document: files of pages, and another protocol. */
const unlisted = ['docsAsset', 'mcp', 'metrics', 'guide', 'picture', 'unitCard'];

/** Calls that are refused without a provider of the blockchain, as described. */
const refused: Record<string, number> = {
  checkInvoice: 503,
  composePayment: 503,
  resolvePayment: 503,
  lookUpTransaction: 503,
};
const success: Record<string, number> = {
  testEmail: 201,
  cancelOnPage: 303,
  buyOnPage: 303,
  switchOnPage: 303,
};

const expected = ({ id }: CatalogItem): number => refused[id] ?? success[id] ?? 200;
const callOf = (entry: CatalogItem) => {
  if (!entry.call) throw new Error(`${entry.id} has no call`);
  return entry.call;
};
/** Parts of a flow or concept show an endpoint: they are that endpoint's call. */
const endpointOf = (entry: CatalogItem): CatalogItem =>
  entries.find((other) => other.kind === 'endpoint' && other.call?.curl === entry.call?.curl) ?? entry;

describe('one list', () => {
  test('router, OpenAPI, catalog, MCP tools and gw commands name the same endpoints', async () => {
    const loaded = await Promise.all(registry.entries.map((entry) => entry.load()));
    const { paths } = openapi({ base_url });
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const named = {
      router: routes.map(({ endpoint }) => endpoint.id).filter((id) => !unlisted.includes(id)),
      openapi: operations.map(({ operationId }) => operationId),
      catalog: entries.filter(({ kind }) => kind === 'endpoint').map(({ id }) => id),
      tools: toolsOf({ include_hidden: true }).map(({ name }) => name),
      commands: [...new Set(loaded.flatMap((command) => command.endpoints.map(({ id }) => id)))],
    };
    for (const [list, found] of Object.entries(named)) expect(found.sort(), list).toEqual(ids);
  });

  test('an endpoint is hidden everywhere or nowhere, and marked as an extension everywhere or nowhere', () => {
    verifies('extension-marked', 'extension-catalog');
    const { paths } = openapi({ base_url });
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    for (const endpoint of api) {
      const { id } = endpoint;
      const hidden = 'hidden' in endpoint;
      const entry = entries.find((each) => each.id === id);
      expect(entry?.hidden === true, id).toBe(hidden);
      expect(
        toolsOf().every(({ name }) => name !== id),
        id,
      ).toBe(hidden);
      const extension = 'extension' in endpoint;
      expect(entry?.extension === true, id).toBe(extension);
      expect(operations.find(({ operationId }) => operationId === id)?.['x-extension'] === true, id).toBe(
        extension,
      );
    }
  });

  test('no endpoint has one name in two places, so tools can take them side by side', () => {
    for (const endpoint of toolsOf({ include_hidden: true })) {
      const described = routes.find((route) => route.endpoint.id === endpoint.name)?.endpoint;
      const names = [...Object.keys(described?.params ?? {}), ...Object.keys(described?.query ?? {})];
      expect(new Set(names).size, endpoint.name).toBe(names.length);
      const { required = [], properties = {} } = endpoint.inputSchema;
      for (const name of required as string[]) expect(properties, endpoint.name).toHaveProperty(name);
    }
  });

  test('whatever stands in braces in a call is explained', () => {
    const known = placeholders('testnet').map(({ name }) => name);
    for (const entry of callable)
      for (const [, name] of callOf(entry).curl.matchAll(/\{(\w+)\}/g))
        expect(known, entry.id).toContain(name);
    for (const { name, from } of placeholders('testnet'))
      if (from) expect(ids, name).toContain(from.operation);
  });
});

describe('a call of the catalog', () => {
  let world: World;
  let url: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    world = await openWorld();
    const serving = await listen(world.service);
    url = serving.url;
    stop = () => serving.stop();
  });
  afterAll(async () => {
    await stop();
    await world.stop();
  });

  /** What a call's placeholders stand for: what a new merchant has, or an operator where the call is for one. */
  const valuesFor = async ({ auth }: CatalogItem) => {
    const { values, operator } = await world.cast();
    return auth === 'admin' ? { ...values, access_token: operator.token } : values;
  };

  test.each(callable.map((entry) => [entry.id, entry] as const))(
    '%s works as its parts',
    async (_, entry) => {
      const values = await valuesFor(entry);
      const call = callOf(entry);
      const headers = JSON.parse(filled(JSON.stringify(call.headers ?? {}), values));
      const body = call.body && JSON.parse(filled(JSON.stringify(call.body), values));
      const form = headers['Content-Type'] === 'application/x-www-form-urlencoded';
      const reply = await world.service.fetch(call.method, filled(call.url, values).replace(base_url, ''), {
        headers,
        ...(body ? { body: form ? new URLSearchParams(body).toString() : JSON.stringify(body) } : {}),
      });
      expect(reply.status, reply.text).toBe(expected(endpointOf(entry)));
    },
  );

  // An event stream has no end: curl is ended.
  const curled = callable.filter(({ id, kind }) => kind === 'endpoint' || id.startsWith('page.'));
  test.each(curled.map((entry) => [entry.id, entry] as const))('%s works in a shell', async (_, entry) => {
    const values = await valuesFor(entry);
    // The addresses of the examples were taken by the calls above.
    const line = filled(callOf(entry).curl, values)
      .replaceAll(base_url, url)
      .replace(/(ada|grace)@/, 'another-$1@');
    const options = `-s -o /dev/null -w '%{http_code}' ${entry.id === 'payEvents' ? '--max-time 1' : ''}`;
    const { stdout } = await run('sh', [
      '-c',
      `${line.replace(/^curl /, `curl ${options} `)} || test $? = 28`,
    ]);
    expect(Number(stdout)).toBe(expected(entry));
  });

  test.each(callable.map((entry) => [entry.id, entry] as const))(
    '%s is a command of gw',
    async (_, entry) => {
      const { gw } = callOf(entry);
      const words = [...gw.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
        ([, quoted, word]) => quoted?.replaceAll("'\\''", "'") ?? word ?? '',
      );
      expect(words[0]).toBe('gw');
      const { entry: found, rest } = readLine(words.slice(1), registry);
      const command = await found?.load();
      if (!found || !command) throw new Error(`no command: ${gw}`);
      if (found.path !== 'api' && entry.kind === 'endpoint')
        expect(command.endpoints.map(({ id }) => id)).toContain(entry.id);
      const flags = allFlags(command).map(({ name }) => name);
      for (const word of rest.filter((each) => each.startsWith('--')))
        expect(flags, gw).toContain(word.replace(/^--(no-)?/, ''));
      const required = allFlags(command).filter((flag) => flag.required && found.path !== 'api');
      for (const { name } of required) expect(rest, gw).toContain(`--${name}`);
    },
  );
});
