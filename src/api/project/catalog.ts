// The catalog: every endpoint from its description, and every article, as entries of one form.
import type { z } from 'zod';
import type { ErrorCode } from '../../errors.ts';
import type { Article } from '../../guides/article.ts';
import { articles } from '../../guides/articles.ts';
import type { SignupMode } from '../../identity.ts';
import type { Endpoint, Fields } from '../describe/endpoint.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../describe/json-schema.ts';
import { isValidated, refusalsOf } from '../describe/refusals.ts';
import { api, findEndpoint } from '../endpoints/api.ts';
import type { CatalogEntry, catalogKinds } from '../schemas/discovery.ts';
import { exampleCall } from './example-call.ts';
import { errorTable } from './remedies.ts';

export type Kind = (typeof catalogKinds)[number];
export type CatalogItem = z.infer<typeof CatalogEntry>;

/** What entries are made for. */
export interface Deployment {
  /** Without a slash at its end. */
  base_url: string;
  network: string;
  /** Who may sign up; absent: anyone. */
  signup?: SignupMode;
}

export interface Selection {
  kind?: Kind | undefined;
  include_docs?: boolean;
  brief?: boolean;
  include_hidden?: boolean;
}

/** `string`, `integer`, `"usd" | "native"`, … for people. */
function typeOf(schema: JsonSchema): string {
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' \\| ');
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'any';
}

const row = (place: string, name: string, schema: JsonSchema, optional: boolean): string => {
  const notes = [
    optional ? '' : 'required',
    schema.default == null || schema.default === '' ? '' : `default ${JSON.stringify(schema.default)}`,
    typeof schema.description === 'string' ? schema.description : '',
  ];
  return `- \`${name}\` (${place}, ${typeOf(schema)}): ${notes.filter((text) => text !== '').join('; ') || 'optional'}`;
};

const rows = (fields: Fields | undefined, place: string): string[] =>
  Object.entries(fields ?? {}).map(([name, field]) =>
    row(place, name, jsonSchema(field), place === 'query' && isOptional(field)),
  );

function bodyRows(endpoint: Endpoint): string[] {
  if (!endpoint.body) return [];
  const { properties = {}, required = [] } = jsonSchema(endpoint.body);
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) =>
    row(endpoint.encoding === 'form' ? 'form' : 'body', name, schema, !(required as string[]).includes(name)),
  );
}

/** Everything about an endpoint, Markdown. */
function endpointDocs(endpoint: Endpoint, call: { curl: string; gw: string }): string {
  const input = [...rows(endpoint.params, 'path'), ...rows(endpoint.query, 'query'), ...bodyRows(endpoint)];
  const codes = refusalsOf(endpoint).map((code) => `\`${code}\``);
  if (isValidated(endpoint)) codes.push('422 for input that does not fit');
  return [
    `\`${endpoint.method} ${endpoint.path}\`, auth: ${endpoint.auth}`,
    endpoint.description,
    input.join('\n'),
    codes.length > 0 ? `Refusals: ${codes.join(', ')}` : '',
    `\`\`\`sh\n${call.curl}\n${call.gw}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function endpointEntry(endpoint: Endpoint, { base_url }: Deployment): CatalogItem {
  const call = exampleCall(endpoint, base_url);
  return {
    id: endpoint.id,
    kind: 'endpoint',
    title: endpoint.summary,
    summary: summaryOf(endpoint),
    url: `${base_url}${endpoint.path}`,
    auth: endpoint.auth,
    method: endpoint.method,
    path: endpoint.path,
    description: endpoint.description,
    call,
    errors: refusalsOf(endpoint) satisfies ErrorCode[],
    ...(endpoint.extension ? { extension: true } : {}),
    ...(endpoint.hidden ? { hidden: true } : {}),
    docs: endpointDocs(endpoint, call),
  };
}

/** A first sentence that is shorter says little without the rest. */
const MIN_SENTENCE = 40;

/** The first sentence of the description where it stands alone; descriptions may be paragraphs long. */
function summaryOf({ summary, description }: Endpoint): string {
  const sentence = /^\w[^\n]*?\.(?=\s|$)/.exec(description)?.[0].slice(0, -1) ?? '';
  return sentence.length >= MIN_SENTENCE ? sentence : summary;
}

const errorRows = (): string =>
  errorTable()
    .map(({ code, status, detail, hint, next }) => {
      const remedy = [hint, next ? `\`${next.method} ${next.path}\`` : undefined].filter(Boolean).join(': ');
      return `- \`${code}\` (${status}): ${detail}.${remedy ? ` ${remedy}.` : ''}`;
    })
    .join('\n');

function articleEntry(guide: Article, { base_url }: Deployment): CatalogItem {
  const example = guide.call ? exampleCall(findEndpoint(guide.call), base_url) : null;
  const text = `${base_url}/v1/catalog?kind=${guide.kind}&format=markdown&include_docs=true#${guide.id}`;
  return {
    id: guide.id,
    kind: guide.kind,
    title: guide.title,
    summary: guide.summary,
    url: guide.path ? `${base_url}${guide.path}` : text,
    auth: guide.auth,
    ...(guide.path ? { method: 'GET', path: guide.path } : {}),
    ...(guide.steps ? { steps: [...guide.steps] } : {}),
    call: guide.path ? pageCall(base_url, guide.path) : example,
    ...(guide.hidden ? { hidden: true } : {}),
    docs: guide.docs.replaceAll('{base_url}', base_url).replace('{error_table}', errorRows),
  };
}

const pageCall = (base_url: string, path: string): CatalogItem['call'] => ({
  method: 'GET',
  url: `${base_url}${path}`,
  curl: `curl -g '${base_url}${path}'`,
  gw: `gw api GET ${path}`,
});

/** All entries with their full texts, operator entries too, in the order people read them. */
export function catalog(deployment: Deployment): CatalogItem[] {
  const [first, others] = [articles.filter(isFlow), articles.filter((guide) => !isFlow(guide))];
  const list: readonly Endpoint[] = api;
  return [
    ...first.map((guide) => articleEntry(guide, deployment)),
    ...list.map((endpoint) => endpointEntry(endpoint, deployment)),
    ...others.map((guide) => articleEntry(guide, deployment)),
  ];
}

const isFlow = ({ kind }: Article): boolean => kind === 'flow';

/** The entries and members that were asked for. */
export function select(entries: readonly CatalogItem[], selection: Selection): CatalogItem[] {
  const { kind, include_docs = false, brief = false, include_hidden = false } = selection;
  return entries
    .filter((entry) => (!kind || entry.kind === kind) && (include_hidden || !entry.hidden))
    .map(({ docs, ...entry }) => {
      if (brief) {
        const { id, kind, title, summary, url, auth } = entry;
        return { id, kind, title, summary, url, auth };
      }
      return include_docs ? { ...entry, docs } : entry;
    });
}
