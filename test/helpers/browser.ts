// Headless Chromium for the tests: one browser for a file, a context for each question. Without Chromium the tests
// that need it are skipped.
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { createHttp } from '../../daemon/http/mount.ts';
import { type Serving, serve } from '../../daemon/process/serve.ts';
import { routes } from '../../daemon/routes/routes.ts';
import type { TestApp } from './app.ts';
import { CHROMIUM, hasBrowser } from './software.ts';
import { until } from './until.ts';

/** A machine that is busy with other tests may take seconds for one frame, and many for a page. */
const WAIT_MS = 40_000;

const LAUNCH_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `describe`, skipped where there is no browser. */
export function describeInBrowser(name: string, tests: () => void): void {
  describe.skipIf(!hasBrowser)(name, tests);
}

/** One browser for the tests around it; `open` makes a context that is closed with it. */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<BrowserContext> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: LAUNCH_FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    async open(options = {}) {
      if (!browser) throw new Error('the browser is not open');
      const context = await browser.newContext({ locale: 'en-US', ...options });
      context.setDefaultTimeout(WAIT_MS);
      return context;
    },
  };
}

/**
 * Waits until an expression holds on the page. Asked from outside each time: the browser's own waiting evaluates again
 * inside, which the policy of a page forbids from the second time on.
 */
export async function holds(page: Page, expression: string): Promise<void> {
  await until(`${expression} on the page`, async () =>
    (await page.evaluate(expression)) ? true : undefined,
  );
}

/** Puts an app behind a socket of its own; its public URL is that address from then on. */
export async function listen({ app }: TestApp, port = 0): Promise<Serving> {
  const serving = await serve({ host: '127.0.0.1', port });
  app.config.public_url = serving.url;
  serving.open(createHttp(app, routes));
  return serving;
}
