// What one daemon tells about itself: catalog, search, texts and OpenAPI, each made once when first asked for.
import {
  catalog,
  type Deployment,
  type Entry,
  type Kind,
  type Selection,
  select,
} from '../../src/api/project/catalog.ts';
import { placeholders } from '../../src/api/project/example-call.ts';
import { API_VERSION, openapi } from '../../src/api/project/openapi.ts';
import { llmsTxt, manifest, markdown, robotsTxt } from '../../src/api/project/text.ts';
import type { App } from '../context.ts';
import {
  type Document,
  documentOf,
  JSON_TYPE,
  keepDocuments,
  MARKDOWN_TYPE,
  TEXT_TYPE,
} from './documents.ts';
import { pagesOf } from './pages.ts';
import { createSearch, type Search } from './search.ts';

export interface Discovery {
  deployment: Deployment;
  entries(): readonly Entry[];
  catalog(selection: Selection & { format: 'json' | 'markdown' }): Document;
  openapi(): Document;
  manifest(): Document;
  llmsTxt(): Document;
  llmsFullTxt(): Document;
  robotsTxt(): Document;
  search(): Search;
  pages(): { swagger: Document; redoc: Document };
}

const opened = new WeakMap<App, Discovery>();

export function discoveryOf(app: App): Discovery {
  const known = opened.get(app);
  if (known) return known;
  const made = openDiscovery({ base_url: app.config.public_url, network: app.config.network });
  opened.set(app, made);
  return made;
}

/** When a daemon that has started makes its documents, unless someone asks for one before. */
const WARM_AFTER_MS = 2_000;

/** Makes documents and index in the background, one at a time, so that no caller waits for them. */
export function warmDiscovery(app: App): void {
  const { catalog: list, openapi: document, llmsFullTxt, search } = discoveryOf(app);
  const steps = [() => list({ format: 'json' }), document, llmsFullTxt, search];
  const next = (): void => {
    steps.shift()?.();
    if (steps.length > 0) setTimeout(next, 0).unref();
  };
  setTimeout(next, WARM_AFTER_MS).unref();
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

export function openDiscovery(deployment: Deployment): Discovery {
  const documents = keepDocuments();
  const entries = once(() => catalog(deployment));
  const json = (name: string, make: () => unknown) =>
    documents.get(name, () => documentOf(JSON_TYPE, JSON.stringify(make())));
  const text = (name: string, make: () => string) => documents.get(name, () => documentOf(TEXT_TYPE, make()));
  return {
    deployment,
    entries,
    catalog({ format, ...selection }) {
      const name = `catalog ${format} ${JSON.stringify(normal(selection))}`;
      if (format === 'json')
        return json(name, () => catalogJson(deployment, select(entries(), selection), selection));
      return documents.get(name, () =>
        documentOf(MARKDOWN_TYPE, markdown(deployment, select(entries(), selection))),
      );
    },
    openapi: () => json('openapi', () => openapi(deployment)),
    manifest: () => json('manifest', () => manifest(deployment, API_VERSION)),
    llmsTxt: () => text('llms.txt', () => llmsTxt(deployment, entries())),
    llmsFullTxt: () =>
      text('llms-full.txt', () => markdown(deployment, select(entries(), { include_docs: true }))),
    robotsTxt: () => text('robots.txt', () => robotsTxt(deployment)),
    search: once(() => createSearch(entries())),
    pages: once(() => pagesOf(deployment.base_url)),
  };
}

/** The same choice under one name, however it was made. */
const normal = ({ kind, include_docs, brief, include_hidden }: Selection): [Kind | null, ...boolean[]] => [
  kind ?? null,
  include_docs === true && brief !== true,
  brief === true,
  include_hidden === true,
];

const catalogJson = ({ base_url, network }: Deployment, entries: Entry[], { brief }: Selection) => ({
  name: 'gatewayd',
  version: API_VERSION,
  base_url,
  network,
  count: entries.length,
  ...(brief ? {} : { placeholders: placeholders(network) }),
  entries,
});
