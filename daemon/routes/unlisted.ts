// Endpoints that no list names: the files of the pages, MCP and metrics.
import type { unlisted as list } from '../../src/api/endpoints/unlisted.ts';
import { Refusal } from '../../src/errors.ts';
import { answerDocument } from '../discovery/documents.ts';
import { pageFile } from '../discovery/pages.ts';
import { Prepared } from '../http/exchange.ts';
import type { Handlers } from '../http/handler.ts';
import { answerMetrics } from '../metrics/serve.ts';

export const unlisted: Handlers<typeof list> = {
  async docsAsset({ params: { file } }, { app, request: { headers } }) {
    const own = pageFile(file);
    if (own) return answerDocument(own, headers);
    const packed = await app.discovery.assets.get(file);
    if (!packed) throw new Refusal('not_found');
    const vary = { vary: 'accept-encoding' };
    if (!/\bgzip\b/.test(headers.get('accept-encoding') ?? ''))
      return answerDocument(packed.plain, headers, vary);
    return answerDocument(packed.gzipped, headers, { ...vary, 'content-encoding': 'gzip' });
  },

  mcp: ({ query: { include_hidden } }, { app, request }) =>
    app.discovery.mcp.answer({ include_hidden, request }),

  async metrics(_, { app, request: { headers } }) {
    const { port, token } = app.config.metrics;
    // As any other path that is not there.
    if (port !== undefined || token === undefined) throw new Refusal('not_found');
    return new Prepared(await answerMetrics(app, headers));
  },
};
