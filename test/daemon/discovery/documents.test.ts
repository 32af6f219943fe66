// The discovery documents as they are served.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SITEMAP_CACHED_MS } from '../../../daemon/discovery/sitemap.ts';
import { api } from '../../../src/api/endpoints/api.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { verifies } from '../../requirements.ts';

/** Sizes that readers with small contexts can take. */
const MAX_LLMS_BYTES = 8 * 1024;
const MAX_LLMS_FULL_BYTES = 200 * 1024;

const documents = [
  '/v1/catalog',
  '/v1/catalog?brief=true',
  '/v1/catalog?include_docs=true&include_hidden=true',
  '/v1/catalog?format=markdown&include_docs=true',
  '/.well-known/agent.json',
  '/llms.txt',
  '/llms-full.txt',
  '/robots.txt',
  '/sitemap.xml',
  '/api/v1/openapi.json',
  '/docs',
  '/redoc',
];

describe('discovery', () => {
  const public_url = 'https://pay.some-merchant.test';
  let daemon: TestApp;
  beforeAll(async () => {
    daemon = await startApp({ settings: { public_url } });
  });
  afterAll(() => daemon.stop());

  const get = (path: string, headers?: Record<string, string>) => daemon.fetch('GET', path, { headers });
  const entriesOf = async (query: string) => (await get(`/v1/catalog${query}`)).json.entries;

  test.each(documents)('%s has an ETag, and 304 for a caller who has it', async (path) => {
    const first = await get(path);
    expect(first.status).toBe(200);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const second = await get(path, { 'if-none-match': `"other", W/${etag}` });
    expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test.each(documents)('%s names no host but the configured one', async (path) => {
    const { text } = await get(path);
    // Namespaces and dialects are names, not places.
    const names = /^https?:\/\/(www\.sitemaps\.org\/schemas|json-schema\.org\/)/;
    const urls = (text.match(/\b(?:https?|wss?):\/\/[^\s"'`<>)\]]+/g) ?? []).filter(
      (url) => !names.test(url),
    );
    for (const url of urls) expect(url).toMatch(/^https:\/\/pay\.some-merchant\.test(?![\w.-])/);
    expect(text).not.toContain('127.0.0.1');
  });

  test('the catalog has every kind, operator entries only when asked for', async () => {
    verifies('get-catalog-hidden', 'auth-none', 'get-catalog');
    const entries = await entriesOf('');
    expect([...new Set(entries.map((entry: { kind: string }) => entry.kind))].sort()).toEqual(
      ['concept', 'embed', 'endpoint', 'flow', 'guide', 'page'].sort(),
    );
    expect(entries.filter((entry: { auth: string }) => entry.auth === 'admin')).toEqual([]);
    const hidden = (await entriesOf('?include_hidden=true')).filter(
      (entry: { hidden?: true }) => entry.hidden,
    );
    expect(hidden.map((entry: { id: string }) => entry.id)).toEqual(
      expect.arrayContaining(['flow.operate', 'resolvePayment', 'listUsers']),
    );
    expect(entries.length + hidden.length).toBe((await entriesOf('?include_hidden=true')).length);
  });

  test.each(['flow', 'endpoint', 'page', 'embed', 'concept', 'guide'])(
    'kind=%s has that kind only',
    async (kind) => {
      const { status, json } = await get(`/v1/catalog?kind=${kind}`);
      expect(status).toBe(200);
      expect(json.count).toBe(json.entries.length);
      expect(json.count).toBeGreaterThan(0);
      for (const entry of json.entries) expect(entry.kind).toBe(kind);
    },
  );

  test('every id is there once, and every step of a flow is an endpoint', async () => {
    const entries: { id: string; kind: string; steps?: string[] }[] = await entriesOf('?include_hidden=true');
    const ids = entries.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const endpoints = new Set(entries.filter(({ kind }) => kind === 'endpoint').map(({ id }) => id));
    for (const { id, kind, steps = [] } of entries) {
      if (kind === 'flow') expect(steps.length, id).toBeGreaterThan(2);
      for (const step of steps) expect(endpoints, `${id}: ${step}`).toContain(step);
    }
  });

  test('brief is the index and nothing else; include_docs has full texts', async () => {
    verifies('get-catalog');
    for (const entry of await entriesOf('?brief=true'))
      expect(Object.keys(entry)).toEqual(['id', 'kind', 'title', 'summary', 'url', 'auth']);
    for (const entry of await entriesOf('?include_docs=true'))
      expect(entry.docs.length, entry.id).toBeGreaterThan(20);
    for (const entry of await entriesOf('')) expect(entry.docs).toBe(undefined);
  });

  test('format=markdown has the same entries as headings, and one line each when brief', async () => {
    verifies('get-catalog');
    const { headers, text } = await get('/v1/catalog?format=markdown&include_docs=true');
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    const entries = await entriesOf('');
    expect(text.match(/^### .+$/gm)?.length).toBe(entries.length);
    for (const { id, title } of entries) expect(text).toContain(`### ${title}\n\n\`${id}\``);
    const brief = (await get('/v1/catalog?format=markdown&brief=true')).text;
    expect(brief.match(/^- \[.+\]\(.+\): .+$/gm)?.length).toBe(entries.length);
  });

  test('a value that a switch does not take is refused', async () => {
    for (const query of ['kind=nothing', 'format=xml', 'brief=maybe', 'include_docs=2'])
      expect((await get(`/v1/catalog?${query}`)).status, query).toBe(422);
  });

  test('llms.txt has the form of its specification, and its links lead somewhere', async () => {
    verifies('get-texts');
    const { text, headers } = await get('/llms.txt');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_LLMS_BYTES);
    const [title, , summary] = text.split('\n');
    expect(title).toMatch(/^# \S+$/);
    expect(summary).toMatch(/^> .+/);
    const sections = text.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual([
      'Start',
      'Flows',
      'Guides',
      'Optional',
    ]);
    for (const section of sections)
      for (const line of section
        .split('\n')
        .slice(1)
        .filter((each) => each !== ''))
        expect(line).toMatch(/^- \[[^\]]+\]\(https:[^)]+\): .+$/);
    for (const [, url = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      const { status } = await get(url.replace(public_url, '').replace(/#.*/, ''));
      expect(status, url).toBe(200);
    }
  });

  test('every member of a request has a type', async () => {
    for (const { id, docs } of await entriesOf('?kind=endpoint&include_docs=true&include_hidden=true'))
      expect(docs, id).not.toMatch(/\((?:path|query|body|form), any\)/);
  });

  test('llms-full.txt tells of every entry that is not hidden', async () => {
    const { text } = await get('/llms-full.txt');
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_LLMS_FULL_BYTES);
    for (const endpoint of api)
      expect(text.includes(`\`${endpoint.id}\` ·`), endpoint.id).toBe(!('hidden' in endpoint));
  });

  test('the manifest leads everywhere', async () => {
    verifies('get-agent-json');
    const { json } = await get('/.well-known/agent.json');
    expect(json).toMatchObject({ name: 'gatewayd', url: public_url, network: 'testnet' });
    const urls = [
      json.openapi,
      json.catalog,
      json.flows,
      json.llms_txt,
      json.llms_full_txt,
      json.sitemap,
      json.config,
    ];
    for (const url of [...urls, ...json.docs, json.health])
      expect((await get(url.replace(public_url, ''))).status, url).toBe(200);
  });

  test('the sitemap lists active units whose merchants list them, robots.txt names it', async () => {
    verifies('get-texts');
    const merchant = await daemon.merchant();
    const unit = async (title: string) =>
      (
        await daemon.fetch('POST', '/api/v1/merchant/units', {
          token: merchant.token,
          body: { title, amount_usd: 5, currencies: ['TON'], listed: title !== 'Unlisted' },
        })
      ).json;
    const [open, closed] = [await unit('Open for sale'), await unit('Closed')];
    const unlisted = await unit('Unlisted');
    daemon.clock.advance(SITEMAP_CACHED_MS / 1000);
    await daemon.fetch('PATCH', `/api/v1/merchant/units/${closed.id}`, {
      token: merchant.token,
      body: { active: false },
    });
    const { text, headers } = await get('/sitemap.xml');
    expect(headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(text).toContain(`<loc>${open.page_url}</loc>`);
    expect(text).not.toContain('closed');
    expect(text).not.toContain('unlisted');
    await daemon.fetch('DELETE', `/api/v1/merchant/units/${unlisted.id}`, { token: merchant.token });
    // Who asks again soon costs no query; who asks later sees what is new.
    const later = await unit('Later');
    expect((await get('/sitemap.xml')).text).toBe(text);
    daemon.clock.advance(SITEMAP_CACHED_MS / 1000);
    expect((await get('/sitemap.xml')).text).toContain(`<loc>${later.page_url}</loc>`);
    const robots = (await get('/robots.txt')).text;
    expect(robots).toContain(`Sitemap: ${public_url}/sitemap.xml`);
    expect(robots).toContain('Disallow: /pay/');
  });

  test('everything can be read from any origin and with HEAD', async () => {
    verifies('discovery-open');
    for (const path of documents.filter((each) => !/docs$|redoc/.test(each)))
      expect((await get(path)).headers.get('access-control-allow-origin'), path).toBe('*');
    const head = await daemon.fetch('HEAD', '/llms.txt');
    expect([head.status, head.text]).toEqual([200, '']);
  });
});
