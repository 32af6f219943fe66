// What describes the API to people and programs: documents made once, search, and the pages to read them on.
import type { discovery as list } from '../../src/api/endpoints/discovery.ts';
import { landing } from '../checkout/landing.tsx';
import { answerDocument } from '../discovery/documents.ts';
import { pageHeaders } from '../discovery/pages.ts';
import type { Handlers } from '../http/handler.ts';

export const discovery: Handlers<typeof list> = {
  getLanding: (_, { app, request }) => landing(app, request.headers),
  getCatalog: ({ query }, { app, request }) => answerDocument(app.discovery.catalog(query), request.headers),

  async searchCatalog({ query: { q, ...options } }, { app }) {
    const search = await app.discovery.search();
    const results = search(q, options).map(({ entry: { id, kind, title, call = null }, score, snippet }) => ({
      id,
      kind,
      title,
      score,
      snippet,
      call,
    }));
    return { query: q, count: results.length, results };
  },

  getAgentManifest: (_, { app, request }) => answerDocument(app.discovery.manifest(), request.headers),
  getLlmsTxt: (_, { app, request }) => answerDocument(app.discovery.llmsTxt(), request.headers),
  getLlmsFullTxt: (_, { app, request }) => answerDocument(app.discovery.llmsFullTxt(), request.headers),
  getRobotsTxt: (_, { app, request }) => answerDocument(app.discovery.robotsTxt(), request.headers),
  getOpenApi: (_, { app, request }) => answerDocument(app.discovery.openapi(), request.headers),

  getSitemap: async (_, { app, request }) => answerDocument(await app.discovery.sitemap(), request.headers),
  getDocs: (_, { app, request }) =>
    answerDocument(app.discovery.pages().swagger, request.headers, pageHeaders),
  getRedoc: (_, { app, request }) =>
    answerDocument(app.discovery.pages().redoc, request.headers, pageHeaders),
};
