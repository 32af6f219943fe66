// What a page costs who opens it for the first time: requests and bytes in headless Chromium.
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { CHROMIUM } from '../helpers/software.ts';

const LAUNCH_FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-quic'];
const PHONE = { width: 390, height: 844 };
/** What a page fetches after it has loaded, it fetches within this time. */
const SETTLED_MS = 5_000;
const LOAD_MS = 60_000;

export interface Weight {
  requests: number;
  /** As sent, headers included. */
  bytes: number;
  /** The bodies as a compressing proxy would send those that came uncompressed. */
  compressed_bytes: number;
}

/** Opens a page with nothing cached. */
export async function weighPage(url: string): Promise<Weight> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: LAUNCH_FLAGS });
  try {
    const context = await browser.newContext({ locale: 'en-US', viewport: PHONE });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const weight: Weight = { requests: 0, bytes: 0, compressed_bytes: 0 };
    const bodies: Promise<number>[] = [];
    await session.send('Network.enable');
    const fetched = new Set<string>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (/^https?:/.test(request.url)) fetched.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (fetched.has(requestId)) weight.bytes += encodedDataLength;
    });
    page.on('requestfinished', (request) => {
      const sized = request.response().then(async (response) => {
        const body = (await response?.body()) ?? Buffer.alloc(0);
        return Math.min(body.length, gzipSync(body).length);
      });
      // A redirect and an answer to a page that is gone have no body.
      bodies.push(sized.catch(() => 0));
    });
    await page.goto(url, { timeout: LOAD_MS, waitUntil: 'load' });
    await page.waitForTimeout(SETTLED_MS);
    weight.requests = fetched.size;
    for (const size of bodies) weight.compressed_bytes += await size;
    return weight;
  } finally {
    await browser.close();
  }
}
