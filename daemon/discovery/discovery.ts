// What one daemon publishes about itself: catalog, search, texts and OpenAPI, each made once, when first requested.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import {
  type CatalogItem,
  catalog,
  type Deployment,
  type Kind,
  type Selection,
  select,
} from '../../src/api/project/catalog.ts';
import { placeholders } from '../../src/api/project/example-call.ts';
import { API_VERSION, openapi } from '../../src/api/project/openapi.ts';
import { llmsTxt, manifest, markdown, robotsTxt } from '../../src/api/project/text.ts';
import type { Clock } from '../clock.ts';
import { rest } from '../process/rest.ts';
import { alertRules } from '../runbook/alerts.ts';
import { runbookPage } from '../runbook/page.tsx';
import type { Config } from '../settings/config.ts';
import { type Assets, openAssets } from './assets.ts';
import {
  type Document,
  documentOf,
  JSON_TYPE,
  MARKDOWN_TYPE,
  openDocuments,
  TEXT_TYPE,
  YAML_TYPE,
} from './documents.ts';
import { type Mcp, openMcp } from './mcp.ts';
import { pagesOf } from './pages.ts';
import type { Search } from './search.ts';
import { openSitemap } from './sitemap.ts';

export interface Discovery {
  entries(): readonly CatalogItem[];
  catalog(selection: Selection & { format: 'json' | 'markdown' }): Document;
  openapi(): Document;
  manifest(): Document;
  llmsTxt(): Document;
  llmsFullTxt(): Document;
  robotsTxt(): Document;
  search(): Promise<Search>;
  /** One of `/guides`; undefined for another name. */
  guide(name: string): Document | undefined;
  pages(): { swagger: Document; redoc: Document };
  /** As it was some seconds ago at most. */
  sitemap(): Promise<Document>;
  /** The files of the pages that are not our own. */
  assets: Assets;
  mcp: Mcp;
}

export interface DiscoveryOptions {
  config: Pick<Config, 'public_url' | 'network' | 'host' | 'signup'>;
  db: Db;
  clock: Clock;
  log: Logger;
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

export function openDiscovery({ config, db, clock, log }: DiscoveryOptions): Discovery {
  // When it is first needed: a port that the system chooses is part of the address.
  const deployment = once(
    (): Deployment => ({ base_url: config.public_url, network: config.network, signup: config.signup }),
  );
  const documents = openDocuments();
  const entries = once(() => catalog(deployment()));
  const json = (name: string, make: () => unknown) =>
    documents.get(name, () => documentOf(JSON_TYPE, JSON.stringify(make())));
  const text = (name: string, make: () => string) => documents.get(name, () => documentOf(TEXT_TYPE, make()));
  return {
    entries,
    catalog({ format, ...selection }) {
      const name = `catalog ${format} ${JSON.stringify(normal(selection))}`;
      if (format === 'json')
        return json(name, () => catalogJson(deployment(), select(entries(), selection), selection));
      return documents.get(name, () =>
        documentOf(MARKDOWN_TYPE, markdown(deployment(), select(entries(), selection))),
      );
    },
    openapi: () => json('openapi', () => openapi(deployment())),
    manifest: () => json('manifest', () => manifest(deployment(), API_VERSION)),
    llmsTxt: () => text('llms.txt', () => llmsTxt(deployment(), entries())),
    llmsFullTxt: () =>
      text('llms-full.txt', () => markdown(deployment(), select(entries(), { include_docs: true }))),
    robotsTxt: () => text('robots.txt', () => robotsTxt(deployment())),
    search: once(async () => (await rest.search()).createSearch(entries())),
    guide(name) {
      if (name === 'run') return documents.get('guide run', runbookPage);
      if (name !== 'alerts.yaml') return undefined;
      return documents.get('guide alerts', () => documentOf(YAML_TYPE, alertRules(deployment().base_url)));
    },
    pages: once(() => pagesOf(deployment().base_url)),
    sitemap: openSitemap(deployment, { db, clock }),
    assets: openAssets(),
    mcp: openMcp({ config, log }),
  };
}

/** The same choice under one name, however it was made. */
const normal = ({ kind, include_docs, brief, include_hidden }: Selection): [Kind | null, ...boolean[]] => [
  kind ?? null,
  include_docs === true && brief !== true,
  brief === true,
  include_hidden === true,
];

const catalogJson = ({ base_url, network }: Deployment, entries: CatalogItem[], { brief }: Selection) => ({
  name: 'gatewayd',
  version: API_VERSION,
  base_url,
  network,
  count: entries.length,
  ...(brief ? {} : { placeholders: placeholders(network) }),
  entries,
});
