// Endpoints for the built gw: where a module of cli imports one, it gets facts in place of schemas, which take longer to load
// than a command to run. What checks values loads them whole (cli/engine/facts.ts).
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import type { Endpoint, Fields } from '../src/api/describe/endpoint.ts';

const CLI = resolve('dist/cli');
const FACTS = resolve('dist/cli/engine/schema-facts.js');
const ENDPOINTS = /\/src\/api\/endpoints\/(?!api\.|by-tag\.)([a-z]+)\.js$/;
/** These check a file of many values, and always need the schemas. */
const WHOLE = /\/cli\/journeys\/parts\/shop-/;
const PREFIX = '\0outline:';
/** Stands for what makes facts of schemas: outlines have theirs. */
export const NO_FACTS = `${PREFIX}none`;

const names = (fields: Fields | undefined) =>
  fields && Object.fromEntries(Object.keys(fields).map((name) => [name, {}]));

type FactsOf = (endpoint: Endpoint) => object;

function outlineOf(endpoint: Endpoint, factsOf: FactsOf): object {
  const { errors, keywords, secondary, hidden, cors, etag, limit, ...rest } = endpoint;
  const { params, query, body, response } = endpoint;
  return {
    ...rest,
    params: names(params),
    query: names(query),
    body: body && {},
    response: 'media' in response ? response : {},
    facts: factsOf(endpoint),
  };
}

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'id' in value && 'method' in value;

/** The exports of such a module: endpoints, lists of them, and limits. */
async function source(path: string): Promise<string> {
  const { schemaFacts } = (await import(pathToFileURL(FACTS).href)) as { schemaFacts: FactsOf };
  const module = Object.entries<unknown>(await import(pathToFileURL(path).href));
  const endpoints = Object.fromEntries(
    module.flatMap(([name, value]) => (isEndpoint(value) ? [[name, outlineOf(value, schemaFacts)]] : [])),
  );
  const nameOf = ({ id }: Endpoint) => module.find(([, value]) => isEndpoint(value) && value.id === id)?.[0];
  const lines = module.flatMap(([name, value]) => {
    if (isEndpoint(value)) return [`export const ${name} = all.${name};`];
    if (Array.isArray(value) && value.every(isEndpoint))
      return [`export const ${name} = [${value.map((one) => `all.${nameOf(one)}`).join(', ')}];`];
    return typeof value === 'number' ? [`export const ${name} = ${value};`] : [];
  });
  // Engines read JSON faster than the same as source.
  return [`const all = JSON.parse(${JSON.stringify(JSON.stringify(endpoints))});`, ...lines].join('\n');
}

export const outlines: Plugin = {
  name: 'outlines of endpoints',
  resolveId(given, importer) {
    if (!importer?.startsWith(CLI) || WHOLE.test(importer) || !given.startsWith('.')) return null;
    const path = resolve(importer, '..', given);
    if (path === FACTS && importer.endsWith('/engine/facts.js')) return NO_FACTS;
    return ENDPOINTS.test(path) ? PREFIX + path : null;
  },
  load(id) {
    if (id === NO_FACTS)
      return "export const schemaFacts = ({ id }) => { throw new Error('no facts of ' + id); };";
    return id.startsWith(PREFIX) ? source(id.slice(PREFIX.length)) : null;
  },
};
