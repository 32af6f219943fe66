// The sitemap: it may list very many units, so one that was made is handed to all who ask soon after.
import { activeUnits } from '../../data/views/sitemap.ts';
import { sitemapXml } from '../../src/api/project/text.ts';
import type { App } from '../context.ts';
import { discoveryOf } from './discovery.ts';
import { type Document, documentOf, XML_TYPE } from './documents.ts';

/** Most units of the sitemap; the protocol takes 50,000 addresses. */
const MAX_SITEMAP_UNITS = 40_000;
/** How long a new unit may be missing, and a closed one listed. */
export const SITEMAP_KEPT_MS = 10_000;

const kept = new WeakMap<App, { at_ms: number; document: Promise<Document> }>();

/** The sitemap as it was at most `SITEMAP_KEPT_MS` ago; those who ask at once wait for one query. */
export function sitemapOf(app: App): Promise<Document> {
  const now = app.clock.ms();
  const known = kept.get(app);
  // A clock that was set back makes a new one.
  if (known && now >= known.at_ms && now < known.at_ms + SITEMAP_KEPT_MS) return known.document;
  const document = makeSitemap(app);
  kept.set(app, { at_ms: now, document });
  // A failure is told to those who wait, and not kept.
  document.catch(() => kept.delete(app));
  return document;
}

async function makeSitemap(app: App): Promise<Document> {
  const units = await activeUnits(app.db.query, MAX_SITEMAP_UNITS);
  return documentOf(XML_TYPE, sitemapXml(discoveryOf(app).deployment, units));
}
