// Who may read the metrics: on a port of their own anyone who reaches it, elsewhere who has the token.
import { createHash, timingSafeEqual } from 'node:crypto';
import { H3 } from 'h3';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import type { Http } from '../http/mount.ts';
import { METRICS_TYPE } from './scrape.ts';

const HEADERS = { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' };

/** What is answered to one who asks with these headers. Throws Refusal `not_authenticated` where a token is wrong or missing. */
export async function answerMetrics({ config, scrape }: Pick<App, 'config' | 'scrape'>, headers: Headers) {
  const { token } = config.metrics;
  if (token !== undefined && !isToken(headers, token)) throw new Refusal('not_authenticated');
  return { status: 200, headers: HEADERS, body: await scrape() };
}

function isToken(headers: Headers, token: string): boolean {
  const given = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
  // Hashes have one length and show nothing of how much was right.
  return timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Answers `GET /metrics` and nothing else, on a port of its own. */
export function createMetricsHttp(app: Pick<App, 'config' | 'scrape'>): Http {
  const h3 = new H3({ silent: true }).get('/metrics', async (event) => {
    try {
      const { body, ...rest } = await answerMetrics(app, event.req.headers);
      return new Response(body, rest);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return new Response(`${error.message}\n`, {
        status: 401,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'www-authenticate': 'Bearer' },
      });
    }
  });
  return { h3, drain() {}, stop() {} };
}
