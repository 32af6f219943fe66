// What tells people and programs what there is: documents made once, search, and the pages to read them on.
import { activeUnits } from '../../data/sitemap.ts';
import type { discovery as list } from '../../src/api/discovery.ts';
import { sitemapXml } from '../../src/api/text.ts';
import { discoveryOf } from '../discovery/discovery.ts';
import { answerDocument, documentOf, XML_TYPE } from '../discovery/documents.ts';
import { pageHeaders } from '../discovery/pages.ts';
import type { Handlers } from '../http/handler.ts';

/** Most units of the sitemap; the protocol takes 50,000 addresses. */
const MAX_SITEMAP_UNITS = 40_000;

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

  async getSitemap(_, { app, request }) {
    const units = await activeUnits(app.db.query, MAX_SITEMAP_UNITS);
    const text = sitemapXml(discoveryOf(app).deployment, units);
    return answerDocument(documentOf(XML_TYPE, text), request.headers);
  },

  getDocs: (_, { app, request }) =>
    answerDocument(discoveryOf(app).pages().swagger, request.headers, pageHeaders),
  getRedoc: (_, { app, request }) =>
    answerDocument(discoveryOf(app).pages().redoc, request.headers, pageHeaders),
};
