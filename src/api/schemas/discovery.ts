// What programs read to find out what the service can do.
import { z } from 'zod';
import { count, shape } from '../describe/shape.ts';

export const catalogKinds = ['flow', 'endpoint', 'page', 'embed', 'concept', 'guide'] as const;

export const CatalogCall = shape(
  'CatalogCall',
  {
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    curl: z.string().describe('The same call for a shell'),
    gw: z.string().describe('The same call as a command'),
  },
  'A call that works as written, apart from the values in braces.',
);

export const Placeholder = shape(
  'Placeholder',
  {
    name: z.string().describe('The text in braces'),
    description: z.string(),
    from: z
      .object({ operation: z.string().describe('operationId'), member: z.string() })
      .optional()
      .describe('The reply that holds it; your own to choose where there is none'),
    sample: z.string().optional().describe('Can be used as it is to try things out on testnet'),
  },
  'A value to fill in.',
);

export const CatalogEntry = shape('CatalogEntry', {
  id: z.string(),
  kind: z.enum(catalogKinds),
  title: z.string(),
  summary: z.string(),
  url: z.string(),
  auth: z.enum(['none', 'key', 'jwt', 'admin', 'any']),
  method: z.string().optional(),
  path: z.string().optional(),
  description: z.string().optional().describe('Markdown'),
  steps: z.array(z.string()).optional().describe('Of a flow: ids of entries, in order'),
  call: CatalogCall.nullable().optional(),
  errors: z.array(z.string()).optional().describe('Codes to expect'),
  extension: z.boolean().optional().describe('Not in the interface specification'),
  hidden: z.boolean().optional().describe('For operators'),
  docs: z.string().optional().describe('Full text, with `include_docs`'),
});

export const Catalog = shape('Catalog', {
  name: z.string(),
  version: z.string(),
  base_url: z.string(),
  network: z.string(),
  count: count(),
  placeholders: z.array(Placeholder).optional().describe('Where the values in braces of calls come from'),
  entries: z.array(CatalogEntry),
});

export const SearchResult = shape('SearchResult', {
  id: z.string(),
  kind: z.enum(catalogKinds),
  title: z.string(),
  score: z.number(),
  snippet: z.string(),
  call: CatalogCall.nullable().describe('Null where there is nothing to call'),
});

export const SearchResponse = shape('SearchResponse', {
  query: z.string(),
  count: count(),
  results: z.array(SearchResult).describe('Best first'),
});

export const Manifest = z
  .looseObject({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    url: z.string(),
    openapi: z.string(),
    catalog: z.string(),
    search: z.string(),
  })
  .meta({ id: 'Manifest', description: 'Where everything else is found.' });

export const OpenApiDocument = z
  .looseObject({ openapi: z.string() })
  .meta({ id: 'OpenApiDocument', description: 'OpenAPI 3.1.' });
