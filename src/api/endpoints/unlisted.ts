// Endpoints that no list names: other protocols, and the parts of pages. OpenAPI, catalog and tools do not know them.
import { MAX_SLUG } from '../../slug.ts';
import { endpoint, media } from '../describe/endpoint.ts';
import { bool, text } from '../describe/fields.ts';

const MAX_NAME = 64;

const docsAsset = endpoint({
  id: 'docsAsset',
  method: 'GET',
  path: '/docs/{file}',
  auth: 'none',
  tag: 'discovery',
  summary: 'Get a file of the pages',
  effect: 'read',
  description: 'Scripts and styles of Swagger UI and ReDoc.',
  params: { file: text({ min: 1, max: MAX_NAME }) },
  response: media('text/javascript'),
});

const mcp = endpoint({
  id: 'mcp',
  method: 'POST',
  path: '/mcp',
  auth: 'none',
  tag: 'discovery',
  summary: 'Speak MCP',
  effect: 'write',
  description: 'Streamable HTTP, stateless: the revision of 2026-07-28 and those before it.',
  query: { include_hidden: bool().default(false) },
  reads_body: true,
  response: media('application/json'),
});

const metrics = endpoint({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  auth: 'none',
  tag: 'system',
  summary: 'Get the metrics of this daemon',
  effect: 'read',
  description:
    'For Prometheus, with the token of the settings; absent where there is none, or a port of their own.',
  response: media('text/plain'),
});

const guide = endpoint({
  id: 'guide',
  method: 'GET',
  path: '/guides/{name}',
  auth: 'none',
  tag: 'system',
  summary: 'Get what an operator reads when something is wrong',
  effect: 'read',
  description:
    '`run` is the runbook as a page, `alerts.yaml` the alert rules for Prometheus that lead to it.',
  params: { name: text({ min: 1, max: MAX_NAME }) },
  response: media('text/html'),
  errors: ['not_found'],
});

const picture = endpoint({
  id: 'picture',
  method: 'GET',
  path: '/pictures/{file}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get a picture that a merchant has uploaded',
  effect: 'read',
  description: 'What `image_url` and `logo_url` lead to, as it was uploaded.',
  params: { file: text({ max: MAX_NAME }) },
  response: media('image/png'),
  errors: ['not_found'],
  cors: true,
});

const unitCard = endpoint({
  id: 'unitCard',
  method: 'GET',
  path: '/u/{merchant_slug}/{unit_slug}/card.png',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the picture of a unit for messengers',
  effect: 'read',
  description:
    'Its price, name and shop with the code of its page: the `og:image` of a unit without a picture.',
  params: { merchant_slug: text({ max: MAX_SLUG }), unit_slug: text({ max: MAX_SLUG }) },
  response: media('image/png'),
  errors: ['unit_not_found', 'rate_limited'],
  cors: true,
});

export const unlisted = [docsAsset, mcp, metrics, guide, picture, unitCard] as const;
