// What tells people and programs what there is: catalog, search, texts, documents. All public.

import { endpoint, media } from '../describe/endpoint.ts';
import { bool, choice, int, text } from '../describe/fields.ts';
import { Catalog, catalogKinds, Manifest, OpenApiDocument, SearchResponse } from '../schemas/discovery.ts';

const MAX_QUERY = 500;
const kind = () => choice(catalogKinds).optional();
const includeHidden = () => bool().default(false).describe('Operator-only entries too');

export const getCatalog = endpoint({
  id: 'getCatalog',
  method: 'GET',
  path: '/v1/catalog',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'List everything the service can do',
  gw: 'catalog',
  effect: 'read',
  keywords: 'what can this service do, capabilities',
  description:
    'Flows, endpoints, pages, embeds, concepts and guides, with calls that work as written. `brief` is the index: id, kind, title, summary, url, auth.',
  query: {
    kind: kind(),
    format: choice(['json', 'markdown']).default('json'),
    include_docs: bool().default(false).describe('With full texts'),
    brief: bool().default(false),
    include_hidden: includeHidden(),
  },
  response: Catalog,
  also: ['text/markdown'],
  cors: true,
  example: { query: { kind: 'flow', brief: 'true' } },
});

export const searchCatalog = endpoint({
  id: 'searchCatalog',
  method: 'GET',
  path: '/v1/search',
  auth: 'none',
  tag: 'discovery',
  summary: 'Find the call for a task',
  gw: 'search {q}',
  effect: 'read',
  keywords: 'search an endpoint by intent',
  description:
    'Takes plain words, tolerates typos and returns the best entries first, each with a call to make.',
  query: {
    q: text({ max: MAX_QUERY, named: true }).default(''),
    limit: int({ gte: 1, lte: 50 }).default(8),
    kind: kind(),
    include_docs: bool().default(true).describe('Search the full texts too'),
    include_hidden: includeHidden(),
  },
  response: SearchResponse,
  cors: true,
  example: { query: { q: 'create an invoice' } },
});

export const getAgentManifest = endpoint({
  id: 'getAgentManifest',
  method: 'GET',
  path: '/.well-known/agent.json',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the manifest',
  gw: 'discovery manifest',
  effect: 'read',
  keywords: 'agent manifest, agent.json',
  description: 'Name, version and the addresses of catalog, search, texts and the OpenAPI document.',
  response: Manifest,
  cors: true,
  example: {},
});

export const getLlmsTxt = endpoint({
  id: 'getLlmsTxt',
  method: 'GET',
  path: '/llms.txt',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the text index',
  gw: 'discovery llms',
  effect: 'read',
  keywords: 'llms.txt',
  description: 'What the service is, with links to everything else, in Markdown.',
  response: media('text/plain'),
  cors: true,
  example: {},
});

export const getLlmsFullTxt = endpoint({
  id: 'getLlmsFullTxt',
  method: 'GET',
  path: '/llms-full.txt',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the full text',
  gw: 'discovery llms-full',
  effect: 'read',
  keywords: 'llms-full.txt full corpus',
  description: 'Every endpoint, flow, concept and guide in one Markdown text.',
  response: media('text/plain'),
  cors: true,
  example: {},
});

export const getRobotsTxt = endpoint({
  id: 'getRobotsTxt',
  method: 'GET',
  path: '/robots.txt',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the rules for crawlers',
  gw: 'discovery robots',
  effect: 'read',
  keywords: 'robots.txt crawlers',
  description: 'Allows discovery and unit pages, disallows the pages of invoices.',
  response: media('text/plain'),
  cors: true,
  example: {},
});

export const getSitemap = endpoint({
  id: 'getSitemap',
  method: 'GET',
  path: '/sitemap.xml',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the sitemap',
  gw: 'discovery sitemap',
  effect: 'read',
  keywords: 'sitemap.xml',
  description: 'Discovery pages and the pages of active units that their merchants list.',
  response: media('application/xml'),
  cors: true,
  example: {},
});

export const getOpenApi = endpoint({
  id: 'getOpenApi',
  method: 'GET',
  path: '/api/v1/openapi.json',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the OpenAPI document',
  gw: 'discovery openapi',
  effect: 'read',
  keywords: 'openapi spec, swagger json, download',
  description: 'OpenAPI 3.1, made from the same descriptions that requests are validated by.',
  response: OpenApiDocument,
  cors: true,
  example: {},
});

export const getDocs = endpoint({
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the Swagger UI page',
  gw: 'discovery docs',
  effect: 'read',
  keywords: 'swagger docs',
  description: 'The OpenAPI document as an interactive page on which calls can be tried.',
  response: media('text/html'),
  example: {},
});

export const getRedoc = endpoint({
  id: 'getRedoc',
  method: 'GET',
  path: '/redoc',
  auth: 'none',
  etag: true,
  tag: 'discovery',
  summary: 'Get the ReDoc page',
  gw: 'discovery redoc',
  effect: 'read',
  keywords: 'api reference to read',
  description: 'The OpenAPI document as a reference to read.',
  response: media('text/html'),
  example: {},
});

export const getLanding = endpoint({
  id: 'getLanding',
  method: 'GET',
  path: '/',
  auth: 'none',
  tag: 'discovery',
  summary: 'Get the first page',
  gw: 'discovery landing',
  effect: 'read',
  keywords: 'home page, who runs this, start here',
  description:
    'What this deployment is, who runs it (`operator_name` of the settings) and whether it works: to browsers as a page, to programs as JSON with the addresses of health, catalog, manifest and documents.',
  response: media('text/html'),
  also: ['application/json'],
  extension: true,
  cors: true,
  example: {},
});

export const discovery = [
  getLanding,
  getCatalog,
  searchCatalog,
  getAgentManifest,
  getLlmsTxt,
  getLlmsFullTxt,
  getRobotsTxt,
  getSitemap,
  getOpenApi,
  getDocs,
  getRedoc,
] as const;
