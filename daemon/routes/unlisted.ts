// Endpoints that no list names: the files of the pages, MCP and metrics.
import { getPicture } from '../../data/pictures.ts';
import type { unlisted as list } from '../../src/api/endpoints/unlisted.ts';
import { Refusal } from '../../src/errors.ts';
import { PICTURE_ID } from '../../src/picture.ts';
import { unitCard } from '../checkout/serve.tsx';
import { answerDocument } from '../discovery/documents.ts';
import { pageFile } from '../discovery/pages.ts';
import { Prepared } from '../http/exchange.ts';
import type { Handlers } from '../http/handler.ts';
import { answerMetrics } from '../metrics/serve.ts';
import { runbookHeaders } from '../runbook/page.tsx';

/** Its name is made of its bytes. Opened alone it is a picture and nothing else. */
const PICTURE_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

/** What is sold may change its name and its price. */
const CARD_HEADERS = {
  'cache-control': 'public, max-age=3600',
  'cross-origin-resource-policy': 'cross-origin',
};

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

  guide({ params: { name } }, { app, request: { headers } }) {
    const found = app.discovery.guide(name);
    if (!found) throw new Refusal('not_found');
    return answerDocument(found, headers, runbookHeaders);
  },

  async picture({ params }, { app }) {
    const found = PICTURE_ID.test(params.file) ? await getPicture(app.db.query, params.file) : undefined;
    if (!found) throw new Refusal('not_found');
    return {
      body: Buffer.from(found.data, 'base64'),
      headers: { ...PICTURE_HEADERS, 'content-type': found.type },
    };
  },

  async unitCard({ params }, { app, request: { ip } }) {
    return { body: await unitCard(app, params, ip), headers: CARD_HEADERS };
  },
};
