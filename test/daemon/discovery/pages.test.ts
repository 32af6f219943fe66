// Swagger UI and ReDoc in a real browser: complete, from this daemon alone, without a breach of their policy.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { api } from '../../../src/api/endpoints/api.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';
import { verifies } from '../../requirements.ts';

describe('files of the pages', () => {
  let daemon: TestApp;
  beforeAll(async () => {
    daemon = await startApp();
  });
  afterAll(() => daemon.stop());

  const files = [
    'swagger-ui.css',
    'swagger-ui.js',
    'swagger-start.js',
    'redoc.js',
    'redoc-start.js',
    'page.css',
  ];

  test.each(files)(
    '%s is served with its type, an ETag, and compressed where that is understood',
    async (file) => {
      const path = `/docs/${file}`;
      const plain = await daemon.fetch('GET', path);
      expect(plain.status).toBe(200);
      expect(plain.headers.get('content-type')).toMatch(
        file.endsWith('css') ? /^text\/css/ : /^text\/javascript/,
      );
      const etag = plain.headers.get('etag') ?? '';
      expect((await daemon.fetch('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304);
      const gzip = await daemon.fetch('GET', path, { headers: { 'accept-encoding': 'br, gzip' } });
      if (plain.text.length > 10_000) expect(gzip.headers.get('content-encoding')).toBe('gzip');
    },
  );

  test('other names are not found', async () => {
    for (const file of [
      'nothing.js',
      '..%2f..%2fpackage.json',
      '__proto__',
      'constructor',
      'swagger-ui-bundle.js',
    ])
      expect((await daemon.fetch('GET', `/docs/${file}`)).json?.code, file).toBe('not_found');
  });

  test.each(['/docs', '/redoc'])('%s may load nothing from elsewhere and may not be framed', async (path) => {
    verifies('get-docs');
    const { headers, text } = await daemon.fetch('GET', path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/<script>|onload=|style=/);
  });
});

describeInBrowser('the pages', () => {
  const browser = useBrowser();
  let daemon: TestApp;
  let serving: Serving;
  beforeAll(async () => {
    daemon = await startApp();
    serving = await listen(daemon);
  });
  afterAll(async () => {
    await serving.stop();
    await daemon.stop();
  });

  /** The page, with every request it made and everything it complained about. */
  async function open(path: string) {
    const context = await browser.open();
    const page: Page = await context.newPage();
    const messages: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (message) => {
      if (message.type() === 'error' || /content security policy/i.test(message.text()))
        messages.push(message.text());
    });
    page.on('pageerror', (error) => messages.push(error.message));
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (/^https?:$/.test(protocol)) hosts.add(host);
    });
    await page.goto(`${serving.url}${path}`);
    return { page, messages, hosts, close: () => context.close() };
  }

  const count = api.length;

  test('Swagger UI shows every operation and makes a call', async () => {
    verifies('get-docs');
    const { page, messages, hosts, close } = await open('/docs');
    await page.waitForSelector('#operations-buyer-listGateways', { timeout: 20_000 });
    expect(await page.locator('.opblock').count()).toBeGreaterThanOrEqual(count);
    await page.click('#operations-buyer-listGateways .opblock-summary');
    await page.click('#operations-buyer-listGateways .try-out__btn');
    await page.click('#operations-buyer-listGateways .execute');
    await page.waitForSelector('#operations-buyer-listGateways .live-responses-table .response-col_status');
    const status = await page
      .locator('#operations-buyer-listGateways .live-responses-table tbody .response-col_status')
      .first()
      .textContent();
    expect(status).toContain('200');
    expect(messages).toEqual([]);
    expect([...hosts]).toEqual([new URL(serving.url).host]);
    await close();
  });

  test('ReDoc shows every operation, styled', async () => {
    verifies('get-docs');
    const { page, messages, hosts, close } = await open('/redoc');
    await page.waitForSelector('[data-section-id="tag/invoices/operation/createInvoice"]', {
      timeout: 20_000,
    });
    expect(await page.locator('[data-section-id*="/operation/"]').count()).toBeGreaterThan(0);
    const width = await page
      .locator('.menu-content')
      .first()
      .evaluate((node) => node.clientWidth);
    expect(width).toBeGreaterThan(100);
    expect(width).toBeLessThan(500);
    expect(messages).toEqual([]);
    expect([...hosts]).toEqual([new URL(serving.url).host]);
    await close();
  });
});
