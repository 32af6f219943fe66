// What tells people and programs what there is: documents made once, search, and the pages to read them on.
import type { discovery as list } from '../../src/api/endpoints/discovery.ts';
import { discoveryOf } from '../discovery/discovery.ts';
import { answerDocument } from '../discovery/documents.ts';
import { pageHeaders } from '../discovery/pages.ts';
import { sitemapOf } from '../discovery/sitemap.ts';
import type { Handlers } from '../http/handler.ts';

export const discovery: Handlers<typeof list> = {
  getCatalog: ({ query }, { app, request }) =>
    answerDocument(discoveryOf(app).catalog(query), request.headers),

  searchCatalog({ query: { q, ...options } }, { app }) {
    const results = discoveryOf(app)
      .search()(q, options)
      .map(({ entry: { id, kind, title, call = null }, score, snippet }) => ({
        id,
        kind,
        title,
        score,
        snippet,
        call,
      }));
    return { query: q, count: results.length, results };
  },

  getAgentManifest: (_, { app, request }) => answerDocument(discoveryOf(app).manifest(), request.headers),
  getLlmsTxt: (_, { app, request }) => answerDocument(discoveryOf(app).llmsTxt(), request.headers),
  getLlmsFullTxt: (_, { app, request }) => answerDocument(discoveryOf(app).llmsFullTxt(), request.headers),
  getRobotsTxt: (_, { app, request }) => answerDocument(discoveryOf(app).robotsTxt(), request.headers),
  getOpenApi: (_, { app, request }) => answerDocument(discoveryOf(app).openapi(), request.headers),

  getSitemap: async (_, { app, request }) => answerDocument(await sitemapOf(app), request.headers),
  getDocs: (_, { app, request }) =>
    answerDocument(discoveryOf(app).pages().swagger, request.headers, pageHeaders),
  getRedoc: (_, { app, request }) =>
    answerDocument(discoveryOf(app).pages().redoc, request.headers, pageHeaders),
};
