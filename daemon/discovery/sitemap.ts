// The sitemap: it may list very many units, so one that was made is handed to all who ask soon after.
import type { Db } from '../../data/db/open.ts';
import { activeUnits } from '../../data/views/sitemap.ts';
import type { Deployment } from '../../src/api/project/catalog.ts';
import { sitemapXml } from '../../src/api/project/text.ts';
import type { Clock } from '../clock.ts';
import { type Document, documentOf, XML_TYPE } from './documents.ts';

/** Most units of the sitemap; the protocol takes 50,000 addresses. */
const MAX_SITEMAP_UNITS = 40_000;
/** How long a new unit may be missing, and a closed one listed. */
export const SITEMAP_CACHED_MS = 10_000;

/** Returns the sitemap as it was at most `SITEMAP_CACHED_MS` ago; those who ask at once wait for one query. */
export function openSitemap(
  deployment: () => Deployment,
  { db, clock }: { db: Db; clock: Clock },
): () => Promise<Document> {
  let made: { at_ms: number; document: Promise<Document> } | undefined;
  const make = async (): Promise<Document> =>
    documentOf(
      XML_TYPE,
      sitemapXml(deployment(), await db.readList(({ query }) => activeUnits(query, MAX_SITEMAP_UNITS))),
    );
  return () => {
    const now = clock.ms();
    // A clock that was set back makes a new one.
    if (made && now >= made.at_ms && now < made.at_ms + SITEMAP_CACHED_MS) return made.document;
    const document = make();
    made = { at_ms: now, document };
    // A failure reaches those who wait, and is not cached.
    document.catch(() => {
      made = undefined;
    });
    return document;
  };
}
